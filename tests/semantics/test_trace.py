"""Traces: as a table for people, as JSON for programs, and replayed."""

from __future__ import annotations

import enum
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runs import run

from model.language import Machine, Sort, choose, one_of, require
from model.semantics import Semantics
from model.strategies import machines
from model.trace import Step, Trace, named_state
from specs.gang import gang


class Pod(Sort):
    """A pod."""


class Mode(enum.Enum):
    OFF = 0
    ON = 1


def toy() -> Machine:
    """Two pods that are moved about; the counter overflows."""
    m = Machine("toy")
    m.sort(Pod, names=["web", "db-0"])
    x = m.variable("x", Pod, range(4), init=one_of(0, 1))
    ready = m.variable("ready", Pod, bool, init=[True, False])
    mode = m.scalar("mode", Mode, init=Mode.OFF)

    @m.action
    def grow(p: Pod) -> None:
        x[p] += choose(range(1, 3), "by")
        ready[p] = True

    @m.action
    def switch() -> None:
        require(mode == Mode.OFF)
        mode.next = Mode.ON

    @m.action
    def both(p: Pod, q: Pod) -> None:
        x[p] = 1
        x[q] = 2

    return m


GANG = """\
step  action                 what changed
----  ---------------------  ---------------------------------------------------
   0  initial state          state = NEW; placeholders = 0; reals = 0
   1  submit(app2)           state[app2]: NEW -> PENDING
   2  allocate(app2, node1)  placeholders[app2, node1]: 0 -> 1
   3  allocate(app2, node2)  state[app2]: PENDING -> RUNNING
                             placeholders[app2, node2]: 0 -> 1
   4  replace(app2, node2)   placeholders[app2, node2]: 1 -> 0
                             reals[app2, node2]: 0 -> 1
   5  replace(app2, node1)   placeholders[app2, node1]: 1 -> 0
                             reals[app2, node1]: 0 -> 1
   6  finish(app2)           state[app2]: RUNNING -> FINISHED
                             reals[app2, node1]: 1 -> 0
                             reals[app2, node2]: 1 -> 0"""

FAULTY = """\
step  action         what changed
----  -------------  -----------------------------------------------------------
   0  initial state  x = 0; ready[web] = true; ready[db-0] = false; mode = OFF
   1  switch()       mode: OFF -> ON
   2  grow(web, 2)   x[web]: 0 -> 2
   3  grow(web, 2)   FAULT: x[web] becomes 4, outside 0..3"""


def gang_run() -> Trace:
    calls = ("submit(app2)", "allocate(app2, node1)", "allocate(app2, node2)")
    return run(gang(), *calls, "replace(app2, node2)", "replace(app2, node1)", "finish(app2)")


def faulty_run() -> Trace:
    return run(toy(), "switch()", "grow(web, 2)", "grow(web, 2)")


def test_the_table_of_a_gang() -> None:
    assert gang_run().table() == GANG


def test_the_table_of_a_fault() -> None:
    assert faulty_run().table() == FAULTY


def test_the_table_of_a_trace_without_steps() -> None:
    assert run(toy()).table().splitlines()[2:] == [
        "   0  initial state  x = 0; ready[web] = true; ready[db-0] = false; mode = OFF"
    ]


def test_a_step_that_changes_nothing_says_so() -> None:
    assert run(toy(), "both(web, db-0)", "both(web, db-0)").table().splitlines()[-1].split() == [
        "2",
        "both(web,",
        "db-0)",
        "nothing",
    ]


@pytest.mark.parametrize("width", [80, 60, 100])
def test_the_table_keeps_its_width(width: int) -> None:
    m = Machine("long")
    names = ["a-very-long-name-of-a-pod-in-some-namespace-0", "another-very-long-name-of-a-pod-in-some-namespace-1"]
    m.sort(Pod, names=names)
    x = m.variable("number_of_placeholders_that_wait", Pod, range(4), init=[0, 1])

    @m.action
    def allocate_the_next_placeholder(p: Pod, q: Pod) -> None:
        x[p] += 1

    table = run(m, f"allocate_the_next_placeholder({names[0]}, {names[1]})").table(width)
    assert max(map(len, table.splitlines())) <= width
    lines = table.splitlines()
    _, left, _ = (len(dashes) for dashes in lines[1].split("  "))
    step = lines.index(next(line for line in lines if line.startswith("   1  ")))
    call = "".join("".join(line[6 : 6 + left].split()) for line in lines[step:])
    change = "".join("".join(line[6 + left :].split()) for line in lines[step:])
    assert call == f"allocate_the_next_placeholder({names[0]},{names[1]})"
    assert change == f"number_of_placeholders_that_wait[{names[0]}]:0->1"


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(machines(100), st.data())
def test_every_table_of_a_random_run_keeps_its_width(machine: Machine, data: st.DataObject) -> None:
    trace = random_run(machine, data)
    table = trace.table()
    assert max(map(len, table.splitlines())) <= 80
    for number, step in enumerate(trace.steps, 1):
        assert any(line.startswith(f"{number:>4}  {step.action}(") for line in table.splitlines())


def random_run(machine: Machine, data: st.DataObject) -> Trace:
    """Up to four random steps."""
    semantics = Semantics(machine)
    state = data.draw(st.sampled_from(semantics.initial_states()))
    initial = named_state(machine, state)
    steps: list[Step] = []
    for _ in range(data.draw(st.integers(0, 4))):
        able = [i for i in semantics.instances if semantics.is_enabled(i, state)]
        if not able:
            break
        instance = data.draw(st.sampled_from(able))
        result = semantics.fire(instance, state)
        arguments = semantics.arguments(instance)
        if not isinstance(result, tuple):
            steps.append(Step(instance.action.name, arguments, named_state(machine, state), result.message))
            break
        state = result
        steps.append(Step(instance.action.name, arguments, named_state(machine, state)))
    return Trace(initial, tuple(steps))


# ---- JSON


def test_json() -> None:
    rows = faulty_run().to_json()
    start = {"x[web]": 0, "x[db-0]": 0, "ready[web]": True, "ready[db-0]": False, "mode": "OFF"}
    on = {**start, "mode": "ON"}
    grown = {**on, "x[web]": 2}
    assert rows == [
        {"step": 0, "action": None, "arguments": {}, "changed": {}, "state": start},
        {"step": 1, "action": "switch", "arguments": {}, "changed": {"mode": "ON"}, "state": on},
        {"step": 2, "action": "grow", "arguments": {"p": "web", "by": "2"}, "changed": {"x[web]": 2}, "state": grown},
        {
            "step": 3,
            "action": "grow",
            "arguments": {"p": "web", "by": "2"},
            "changed": {},
            "state": grown,
            "fault": "x[web] becomes 4, outside 0..3",
        },
    ]
    assert json.loads(json.dumps(rows)) == rows
    # a boolean stays one, it is not told as a number
    assert rows[0]["state"]["ready[web]"] is True


def test_length_last_and_changes() -> None:
    trace = faulty_run()
    assert len(trace) == 3
    assert trace.last["x[web]"] == 2
    assert run(toy()).last == run(toy()).initial
    assert trace.changes() == [{"mode": ("OFF", "ON")}, {"x[web]": (0, 2)}, {}]


# ---- replay


@pytest.mark.parametrize("trace", [run(toy()), run(toy(), "grow(db-0, 1)"), faulty_run()])
def test_a_run_replays(trace: Trace) -> None:
    assert Semantics(toy()).replay(trace) is None


def test_a_run_from_another_initial_state_replays() -> None:
    start = {"x[web]": 0, "x[db-0]": 1, "ready[web]": True, "ready[db-0]": False, "mode": "OFF"}
    assert Semantics(toy()).replay(Trace(start, ())) is None


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(machines(100), st.data())
def test_random_runs_replay(machine: Machine, data: st.DataObject) -> None:
    assert Semantics(machine).replay(random_run(machine, data)) is None


def with_step(trace: Trace, number: int, **changes: Any) -> Trace:
    step = replace(trace.steps[number - 1], **changes)
    return replace(trace, steps=(*trace.steps[: number - 1], step, *trace.steps[number:]))


def state_with(trace: Trace, number: int, **cells: Any) -> dict[str, Any]:
    names = {"x_web": "x[web]", "mode": "mode"}
    return {**trace.steps[number - 1].state, **{names[k]: v for k, v in cells.items()}}


SOUND = faulty_run()
CORRUPTED = {
    "another first state": (
        replace(SOUND, initial={**SOUND.initial, "x[web]": 3}),
        "the trace's first state is not an initial state",
    ),
    "a cell missing at the start": (
        replace(SOUND, initial={k: v for k, v in SOUND.initial.items() if k != "mode"}),
        "the trace's first state is not an initial state",
    ),
    "an unknown action": (with_step(SOUND, 1, action="swich"), "step 1: swich() is not enabled"),
    "an action that is not enabled": (
        replace(SOUND, steps=(SOUND.steps[0], SOUND.steps[0])),
        "step 2: switch() is not enabled",
    ),
    "another argument": (
        with_step(SOUND, 2, arguments=(("p", "web"), ("by", "1"))),
        "step 2: grow(web, 1) leads to another state",
    ),
    "an argument outside its domain": (
        with_step(SOUND, 2, arguments=(("p", "web"), ("by", "9"))),
        "step 2: grow(web, 9) is not enabled",
    ),
    "an argument missing": (with_step(SOUND, 2, arguments=(("p", "web"),)), "step 2: grow(web) is not enabled"),
    "an argument of another name": (
        with_step(SOUND, 2, arguments=(("q", "web"), ("by", "2"))),
        "step 2: grow(web, 2) is not enabled",
    ),
    "another state after a step": (
        with_step(SOUND, 2, state=state_with(SOUND, 2, x_web=1)),
        "step 2: grow(web, 2) leads to another state",
    ),
    "a change that did not happen": (
        with_step(SOUND, 1, state=state_with(SOUND, 1, x_web=1)),
        "step 1: switch() leads to another state",
    ),
    "a member as a number": (
        with_step(SOUND, 1, state=state_with(SOUND, 1, mode=1)),
        "step 1: switch() leads to another state",
    ),
    "a step left out": (
        replace(SOUND, steps=SOUND.steps[1:]),
        "step 1: grow(web, 2) leads to another state",
    ),
    "a fault kept secret": (
        with_step(SOUND, 3, fault=None),
        "step 3: x[web] becomes 4, outside 0..3",
    ),
    "a fault that is none": (
        with_step(SOUND, 1, fault="mode becomes 7"),
        "step 1: the trace tells of a fault, there is none: mode becomes 7",
    ),
    "another fault": (
        with_step(SOUND, 3, fault="x[db-0] becomes 4, outside 0..3"),
        "step 3: the trace tells of another fault: x[db-0] becomes 4, outside 0..3",
    ),
    "a state after a fault": (
        with_step(SOUND, 3, state=state_with(SOUND, 3, x_web=3)),
        "step 3: a faulty step has no state after it, the trace must repeat the one before",
    ),
    "a step after a fault": (
        replace(SOUND, steps=(*SOUND.steps, SOUND.steps[1])),
        "step 3: x[web] becomes 4, outside 0..3",
    ),
}


@pytest.mark.parametrize(("trace", "said"), CORRUPTED.values(), ids=CORRUPTED.keys())
def test_a_corrupted_trace_is_told(trace: Trace, said: str) -> None:
    assert Semantics(toy()).replay(trace) == said


def test_two_writes_replay_as_a_fault() -> None:
    trace = run(toy(), "both(web, web)")
    (step,) = trace.steps
    assert step.fault is not None
    assert step.fault.startswith("x[web] is written at line")
    assert Semantics(toy()).replay(trace) is None


def test_a_trace_of_another_machine() -> None:
    assert Semantics(gang(apps=3)).replay(gang_run()) == "the trace's first state is not an initial state"
