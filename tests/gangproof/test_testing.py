"""``gangproof.testing``: what users write in their tests, and what they see where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from command_line import TOY
from hypothesis import settings

from gangproof.testing import CaughtBy, assert_caught, assert_holds, mutants_of, state_machine
from model.trace import Value
from specs.gang.machine import gang
from specs.gang.mutants import MUTANTS
from specs.walking import Divergence


class Slots:
    """A scheduler of one slot; ``most`` is how many jobs it lets run."""

    def __init__(self, most: int = 1) -> None:
        self.most = most
        self.running: set[str] = set()

    def perform(self, action: str, *arguments: str) -> None:
        (job,) = arguments
        if action == "start" and len(self.running) < self.most:
            self.running.add(job)
        elif action == "stop":
            self.running.discard(job)

    def observed(self) -> Mapping[str, Value]:
        return {f"running[job{i}]": f"job{i}" in self.running for i in (1, 2)}


class Forgetful(Slots):
    """It forgets the second job."""

    def perform(self, action: str, *arguments: str) -> None:
        if arguments != ("job2",):
            super().perform(action, *arguments)


@pytest.fixture
def toy(tmp_path: Path) -> str:
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    return f"{path}:toy"


def test_a_spec_that_holds(toy: str) -> None:
    assert assert_holds(gang, apps=1).coverage.distinct_states > 5
    assert assert_holds("gang", apps=1, symmetry=True).spec == "gang"
    assert_holds(gang(apps=1), only=["quota_never_exceeded"])
    assert assert_holds(toy, jobs=3).coverage.distinct_states == 4


def test_a_violation_is_told_with_its_trace(toy: str) -> None:
    with pytest.raises(AssertionError, match=r"(?s)slots_suffice violated: .*start\(job1\)"):
        assert_holds(toy, leak=True)
    assert_holds(toy, leak=True, only=["deadlock_free"])
    with pytest.raises(ValueError, match="has no property 'slots'"):
        assert_holds(toy, only=["slots"])
    with pytest.raises(TypeError, match="takes no parameters: apps"):
        assert_holds(gang(), apps=2)


def test_undecided_is_no_pass() -> None:
    with pytest.raises(AssertionError, match="unknown"):
        assert_holds("gang", apps=5, nodes=3, capacity=4, quota=8, time_limit=0.01)


@pytest.mark.parametrize("mutant", mutants_of("gang")[2:4], ids=str)
def test_mutants_are_caught(mutant: CaughtBy) -> None:
    assert_caught(mutant)


def test_a_mutant_that_survives_is_told() -> None:
    fine = next(m for m in MUTANTS if m.name == "runs_one_early")
    (harmless,) = mutants_of("mine", [type(fine)("harmless", "nothing", "quota_never_exceeded", gang, fine.edits)])
    with pytest.raises(AssertionError, match="mine-harmless: survives: quota_never_exceeded holds with the fault"):
        assert_caught(harmless)


def run_beside(toy: str, system: Callable[[], Slots]) -> None:
    case = state_machine(toy, system).TestCase
    case.settings = settings(max_examples=20, stateful_step_count=10)
    case().runTest()


def test_code_that_does_what_the_spec_says(toy: str) -> None:
    run_beside(toy, Slots)


def test_a_spec_that_comes_to_an_end(tmp_path: Path) -> None:
    once = tmp_path / "once.py"
    once.write_text(TOY[: TOY.index("    @m.action\n    def stop")].replace("slots + leak", "2") + "    return m\n")
    run_beside(f"{once}:toy", lambda: Slots(2))


def test_code_that_shows_what_the_spec_does_not_have(toy: str) -> None:
    class Chatty(Slots):
        def observed(self) -> Mapping[str, Value]:
            return {"mood": 1}

    with pytest.raises(ValueError, match="'mood', which is no cell of the spec: running"):
        run_beside(toy, Chatty)


def test_code_that_does_not(toy: str) -> None:
    with pytest.raises(Divergence, match=r"start\(job2\): running\[job2\]: spec True, code False"):
        run_beside(toy, Forgetful)
    with pytest.raises(ValueError, match="toy has no action 'begin': start, stop"):
        state_machine(toy, Slots, actions=["begin"])
