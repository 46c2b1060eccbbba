"""Runs of a machine by hand: the state after each call, as the golden interpreter has it."""

from __future__ import annotations

from model.language import Machine
from model.semantics import Fault, Instance, Semantics, State
from model.trace import Step, Trace, named_state


def instance(semantics: Semantics, call: str) -> Instance:
    """The instance that ``act(app1, 2)`` names."""
    return next(i for i in semantics.instances if call_of(semantics, i) == call)


def call_of(semantics: Semantics, each: Instance) -> str:
    return f"{each.action.name}({', '.join(value for _, value in semantics.arguments(each))})"


def fire(machine: Machine, state: State, call: str) -> State | Fault:
    """What the call does in ``state``; it must be enabled."""
    semantics = Semantics(machine)
    found = instance(semantics, call)
    assert semantics.is_enabled(found, state), call
    return semantics.fire(found, state)


def enabled(machine: Machine, state: State) -> list[str]:
    """The calls that ``state`` enables, in order."""
    semantics = Semantics(machine)
    return [call_of(semantics, i) for i in semantics.instances if semantics.is_enabled(i, state)]


def run(machine: Machine, *calls: str) -> Trace:
    """The trace of ``calls`` from the first initial state; a fault ends it."""
    semantics = Semantics(machine)
    state = semantics.initial_states()[0]
    initial = named_state(machine, state)
    steps = []
    for call in calls:
        found = instance(semantics, call)
        assert semantics.is_enabled(found, state), call
        result = semantics.fire(found, state)
        if isinstance(result, Fault):
            shown = named_state(machine, state)
            steps.append(Step(found.action.name, semantics.arguments(found), shown, result.message))
            break
        state = result
        steps.append(Step(found.action.name, semantics.arguments(found), named_state(machine, state)))
    return Trace(initial, tuple(steps))
