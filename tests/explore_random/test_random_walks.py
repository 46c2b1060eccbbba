"""Random walks against the golden interpreter, on random machines: every walk replays, and what it saw is true."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram, pack
from model.explore.search.initial import initial_batches
from model.explore.walks.simulate import simulate
from model.explore.walks.walks import BatchResult, Walker
from model.language import Machine
from model.lowering.lower import EventKind
from model.semantics import Fault, Semantics, State, explore
from model.strategies import machines
from model.verdict import Outcome

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

RANDOM = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
STEPS = 12


def one_batch(machine: Machine, seed: int = 5) -> tuple[PackedProgram, BatchResult]:
    program = pack(machine)
    native = Native(program)
    initial = np.concatenate(list(initial_batches(program, native, 1 << 14)))
    return program, Walker(program, native, initial, STEPS, seed, None).batch(0, 40)


@RANDOM
@given(machines(300))
def test_every_walk_is_a_run(machine: Machine) -> None:
    program, result = one_batch(machine)
    s = Semantics(machine)
    visited: set[State] = set()
    taken, dead_ends, longest = Counter[str](), 0, 0
    violated: dict[str, int] = {}
    initial = set(s.initial_states())
    for walk in range(result.walks):
        state = program.layout.unpack(result.starts[walk].tolist())
        assert state in initial
        steps = 0
        for round_ in range(STEPS + 1):
            visited.add(state)
            enabled = [i for i in s.instances if s.is_enabled(i, state)]
            targets = {s.instances.index(i): s.fire(i, state) for i in enabled}
            sound = {n for n, target in targets.items() if not isinstance(target, Fault)}
            for p in machine.properties:
                if p.kind.value == "always" and not s.evaluate(p.condition, state, {}):
                    violated[p.name] = min(violated.get(p.name, round_), round_)
                if p.kind.value == "step":
                    for n in sound:
                        if not s.evaluate(p.condition, state, {}, targets[n]):  # type: ignore[arg-type]
                            violated[p.name] = min(violated.get(p.name, round_ + 1), round_ + 1)
            for target in targets.values():
                if isinstance(target, Fault):
                    violated[target.kind.value] = min(violated.get(target.kind.value, round_ + 1), round_ + 1)
            if not enabled and not s.is_terminal(state):
                violated["deadlock_free"] = min(violated.get("deadlock_free", round_), round_)
            chosen = int(result.choices[round_][walk]) if round_ < len(result.choices) else -1
            dead_ends += not sound
            if chosen < 0:
                assert not sound or round_ == STEPS
                break
            assert chosen in sound
            taken[s.instances[chosen].action.name] += 1
            state = targets[chosen]  # type: ignore[assignment]
            steps += 1
        longest = max(longest, steps)
    assert dead_ends == result.dead_ends
    assert longest == result.longest
    assert dict(zip((a.name for a in machine.actions), result.steps.tolist(), strict=True)) == {
        a.name: taken[a.name] for a in machine.actions
    }
    seen = {program.layout.unpack(state) for states in result.states for state in states.tolist()}
    assert seen == visited
    told = {program.events[x.event].name: x.length for x in result.sightings if program.events[x.event].is_violation}
    assert told == violated


def test_what_is_told_is_true_and_most_is_found() -> None:
    expected, found = Counter[str](), Counter[str]()

    @RANDOM
    @given(machines(300))
    def each(machine: Machine) -> None:
        golden = explore(machine)
        answer = simulate(machine, walks=300, steps=40, threads=1)
        s = Semantics(machine)
        assert answer.seen.exact
        assert answer.seen.distinct_states <= len(golden.distance)
        for p in answer.properties:
            assert p.outcome is not Outcome.HOLDS or p.kind == "sometimes"
            watched = p.kind not in ("possible", "eventually", "leads_to", "sometimes")
            if watched and p.name in golden.violated:
                expected[p.kind] += 1
                found[p.kind] += p.outcome is Outcome.VIOLATED
            if p.trace is None:
                continue
            assert s.replay(p.trace) is None
            if p.kind == "sometimes":
                assert len(p.trace) >= golden.reached[p.name]
            else:
                assert len(p.trace) >= golden.violated[p.name]

    each()
    assert found.total() >= 9 * expected.total() // 10
    assert {EventKind.ALWAYS.value, EventKind.STEP.value, EventKind.RANGE.value, EventKind.DEADLOCK.value} <= set(found)
