"""Specs and schedulers under pytest: a spec holds, each of its mutants is caught, and running code does what it says.

    from gangproof.testing import assert_caught, assert_holds, mutants_of, state_machine

    def test_my_spec() -> None:
        assert_holds("specs/mine.py:mine", jobs=3)

    @pytest.mark.parametrize("mutant", mutants_of("gang"), ids=str)
    def test_a_fault_of_the_spec_is_caught(mutant: CaughtBy) -> None:
        assert_caught(mutant)

    TestMyScheduler = state_machine(load_spec("specs/mine.py:mine"), MyScheduler).TestCase

A spec is a shipped name, a path ``FILE.py:FUNCTION``, a function that returns a machine, or a machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from model.explore import explore
from model.language import Machine
from model.trace import Value
from model.verdict import Outcome, Verdict
from specs.loading import load_spec
from specs.mutant import Mutant
from specs.registry import mutants
from specs.trials import Fate, tried
from specs.walking import Call, SpecWalk

Spec: TypeAlias = str | Machine | Callable[..., Machine]

__all__ = [
    "CaughtBy",
    "Spec",
    "System",
    "assert_caught",
    "assert_holds",
    "machine_of",
    "mutants_of",
    "state_machine",
]


def machine_of(spec: Spec, **parameters: Any) -> Machine:
    """The machine of ``spec``. SpecLoadError or SpecError say what is wrong with it; TypeError for a machine that is
    given parameters."""
    if isinstance(spec, Machine):
        if parameters:
            raise TypeError(f"{spec.name} is a machine already, and takes no parameters: {', '.join(parameters)}")
        return spec
    if isinstance(spec, str):
        return load_spec(spec, [f"{name}={_text(value)}" for name, value in parameters.items()])
    return spec(**parameters)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(getattr(value, "value", value))


def assert_holds(
    spec: Spec, *, only: Sequence[str] = (), symmetry: bool = False, time_limit: float | None = None, **parameters: Any
) -> Verdict:
    """Every property of ``spec`` (or ``only`` these) holds in all reachable states, and none is vacuous; the verdict.

    AssertionError with what is violated and its shortest trace, or with what is not decided: a budget that ran out
    (``time_limit``, in seconds) is no pass.
    """
    verdict = explore(machine_of(spec, **parameters), symmetry=symmetry, time_limit=time_limit)
    known = [p.name for p in verdict.properties]
    for name in only:
        if name not in known:
            raise ValueError(f"{verdict.spec} has no property {name!r}: {', '.join(known)}")
    failing = [p for p in verdict.properties if p.outcome is not Outcome.HOLDS and (not only or p.name in only)]
    if failing:
        told = [f"{p.name} {p.outcome.value}: {p.how}" for p in failing]
        shown = next((p.trace for p in failing if p.trace is not None), None)
        raise AssertionError(
            f"{verdict.spec} does not hold\n" + "\n".join(told) + ("" if shown is None else f"\n\n{shown.table()}")
        )
    return verdict


@dataclass(frozen=True, slots=True)
class CaughtBy:
    """A mutant of a spec, to be caught by the property that it names."""

    spec: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.spec}-{self.mutant.name}"


def mutants_of(spec: str, of: Iterable[Mutant] | None = None) -> list[CaughtBy]:
    """The mutants of a shipped spec, or those ``of`` a spec of one's own that is called ``spec``; for parametrize."""
    return [CaughtBy(spec, mutant) for mutant in (mutants(spec) if of is None else of)]


def assert_caught(case: CaughtBy, *, time_limit: float | None = None) -> None:
    """The property that the mutant names holds without it, and is violated with it.

    AssertionError where it survives, or where ``time_limit`` (seconds, for each of both) left it undecided.
    """
    base = explore(case.mutant.base(), time_limit=time_limit)
    trial = tried(case.spec, case.mutant, base, time_limit)
    if trial.fate is not Fate.CAUGHT:
        raise AssertionError(f"{case}: {trial.fate.value}: {trial.because}")


class System(Protocol):
    """Running code beside a spec. ``perform`` makes an action of the spec happen to it, with the names of its
    arguments; ``observed`` is what it shows of the spec's state, by cell, as traces show cells: as much as it has."""

    def perform(self, action: str, *arguments: str) -> None:
        """Make it happen."""

    def observed(self) -> Mapping[str, Value]:
        """What is there now."""


def state_machine(
    spec: Spec, make: Callable[[], System], *, actions: Sequence[str] | None = None, **parameters: Any
) -> type[RuleBasedStateMachine]:
    """A stateful test of Hypothesis: any steps that the spec enables (of ``actions``, or of all) are made to happen to
    the system that ``make`` returns, and afterwards both must show the same. Its ``TestCase`` is what pytest runs.

    A failure is shrunk to few steps, and tells the cell that differs. ValueError for an action that the spec does not
    have, or a spec with several initial states.
    """
    machine = machine_of(spec, **parameters)
    known = [a.name for a in machine.finish().actions]
    for name in actions or ():
        if name not in known:
            raise ValueError(f"{machine.name} has no action {name!r}: {', '.join(known)}")
    wanted = set(known if actions is None else actions)

    class Beside(RuleBasedStateMachine):
        """A system and its spec."""

        def __init__(self) -> None:
            super().__init__()
            self.walk = SpecWalk(machine)
            self.system = make()
            self.walk.compare("at the start", self.system.observed())

        def options(self) -> list[Call]:
            """What may happen now."""
            return sorted(call for call in self.walk.enabled() if call[0] in wanted)

        @precondition(lambda self: bool(self.options()))
        @rule(data=st.data())
        def step(self, data: st.DataObject) -> None:
            """One of the enabled steps."""
            action, arguments = data.draw(st.sampled_from(self.options()), label="step")
            self.walk.fire((action, arguments))
            self.system.perform(action, *arguments)
            self.walk.compare(f"{action}({', '.join(arguments)})", self.system.observed())

        @precondition(lambda self: not self.options())
        @rule()
        def nothing_left_to_do(self) -> None:
            """The spec may stop here; Hypothesis wants a step wherever a run is not over."""

    Beside.__name__ = Beside.__qualname__ = f"{machine.name.title().replace('_', '')}Beside"
    return Beside
