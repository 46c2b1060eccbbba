"""Traces that come from outside, in ITF: whether they are runs of a machine, and the first step that is none.

A state may be told as `model.export.itf` writes it, or variable by variable, as other tools have it that read an export
of the machine. Where no action is told, any that leads from one state to the next will do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from model.errors import FileError
from model.export.itf import cells_of, plain_value, trace_of_itf
from model.language import Machine
from model.language.types import BOOL, INT, domain_type
from model.semantics import Fault, Semantics, State
from model.trace import NamedState, Step, Trace, named_state

Told: TypeAlias = "State | NamedState"
"""A state as the file tells it: raw, or in the words of traces."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """``problem`` says why it is no run, and ``step`` at which step that shows, 0 at the initial state; None if it is.

    ``trace`` is the run, as far as it is one; None if not even its first state is.
    """

    steps: int
    trace: Trace | None
    problem: str | None = None
    step: int | None = None


def replay_itf(machine: Machine, whole: object) -> Replayed:
    """Whether the ITF object ``whole`` is a run of ``machine``. FileError for what is no trace of its variables."""
    if not isinstance(whole, Mapping) or not isinstance(whole.get("states"), list) or not whole["states"]:
        raise FileError("not a trace in ITF: it is an object with states")
    metas = [s.get("#meta") if isinstance(s, Mapping) else None for s in whole["states"]]
    tells_actions = all(isinstance(m, Mapping) and "action" in m for m in metas[1:])
    if len(metas) > 1 and isinstance(metas[0], Mapping) and tells_actions:
        return _replay_told(machine, whole)
    return _Search(machine, whole).run()


def _replay_told(machine: Machine, whole: Mapping[str, Any]) -> Replayed:
    try:
        trace = trace_of_itf(whole)
    except ValueError as error:
        raise FileError(str(error)) from None
    _check_cells(machine, trace.initial)
    problem = Semantics(machine).replay(trace)
    if problem is None:
        return Replayed(len(trace), trace)
    found = re.match(r"step (\d+):", problem)
    if found is None:
        initial = "first state" in problem
        return Replayed(len(trace), None if initial else trace, problem, 0 if initial else len(trace))
    step = int(found[1])
    return Replayed(len(trace), Trace(trace.initial, trace.steps[: step - 1]), problem, step)


def _check_cells(machine: Machine, state: NamedState) -> None:
    """FileError where ``state`` tells of other cells than ``machine`` has."""
    mine = named_state(machine, Semantics(machine).initial_states()[0])
    if state.keys() != mine.keys():
        other = sorted(state.keys() ^ mine.keys())
        whose = "no such cell" if other[0] in state else "not in the trace"
        raise FileError(f"this is no trace of {machine.name} with these parameters: {other[0]} is {whose}")


class _Search:
    """For a trace without actions: some that lead from each state to the next."""

    def __init__(self, machine: Machine, whole: Mapping[str, Any]) -> None:
        self.machine = machine
        self.semantics = Semantics(machine)
        raw_names = {v.name for v in machine.variables}
        named = whole.get("vars")
        names = named if isinstance(named, list) else [n for n in whole["states"][0] if not n.startswith("#")]
        try:
            if raw_names <= set(names):
                self.told: list[Told] = [self._raw(s) for s in whole["states"]]
            else:
                self.told = [cells_of(names, s) for s in whole["states"]]
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise FileError(f"not a trace of {machine.name}: {type(error).__name__}: {error}") from error
        if isinstance(self.told[0], Mapping):
            _check_cells(machine, self.told[0])
        self.loop = whole.get("loop")
        if self.loop is not None and not (isinstance(self.loop, int) and 0 <= self.loop < len(self.told)):
            raise FileError(f"loop is {self.loop!r}, and there are {len(self.told)} states")

    def run(self) -> Replayed:
        """Step by step."""
        told = list(self.told)
        if self.loop is not None and told[self.loop] != told[-1]:
            told.append(told[self.loop])
        steps = len(told) - 1
        found = next((s for s in self.semantics.initial_states() if self._is(s, told[0])), None)
        if found is None:
            return Replayed(steps, None, "the trace's first state is not an initial state", 0)
        initial = named_state(self.machine, found)
        taken: list[Step] = []
        for number, wanted in enumerate(told[1:], 1):
            step = self._step(found, wanted)
            if step is None:
                why = "no action leads from the state before to this one"
                return Replayed(steps, Trace(initial, tuple(taken)), f"step {number}: {why}", number)
            found, by = step
            taken.append(by)
        return Replayed(steps, Trace(initial, tuple(taken), self.loop))

    def _step(self, state: State, wanted: Told) -> tuple[State, Step] | None:
        for instance in self.semantics.instances:
            if self.semantics.is_enabled(instance, state):
                new = self.semantics.fire(instance, state)
                if not isinstance(new, Fault) and self._is(new, wanted):
                    return new, self.semantics.step(instance, new)
        return None

    def _is(self, state: State, told: Told) -> bool:
        return named_state(self.machine, state) == told if isinstance(told, Mapping) else state == told

    def _raw(self, told: Mapping[str, Any]) -> State:
        """A state that is told variable by variable: functions over elements and over tuples of them."""
        values: list[int] = []
        for cell in self.machine.cells():
            names = [self.machine.sorts[s].names[i] for s, i in zip(cell.variable.sorts, cell.indices, strict=True)]
            value = told[cell.variable.name]
            if names:
                value = _at(value, names)
            values.append(self._value(cell.variable.domain, value, self.machine.show_cell(cell)))
        return tuple(values)

    def _value(self, domain: Any, value: Any, cell: str) -> int:
        """The raw form; a value outside the domain is one that no state has."""
        plain = plain_value(value)
        kind = domain_type(domain)
        if kind in (BOOL, INT):
            if isinstance(plain, bool) is not (kind == BOOL) or not isinstance(plain, int):
                raise TypeError(f"{cell} is {plain!r}")
            return int(plain)
        for raw in self.machine.values(domain):
            if self.machine.show(domain, raw) == plain:
                return raw
        raise ValueError(f"{cell} is {plain!r}")


def _at(function: Any, names: Sequence[str]) -> Any:
    """The value of a function, written as a map or as a record, at an element or a tuple of elements."""
    if "#map" not in function:
        return function[names[0]] if len(names) == 1 else _at(function[names[0]], names[1:])
    for key, value in function["#map"]:
        elements = key["#tup"] if isinstance(key, Mapping) else [key]
        if elements == list(names):
            return value
        if elements == [names[0]] and len(names) > 1:
            return _at(value, names[1:])
    raise KeyError(", ".join(names))


__all__ = ["Replayed", "replay_itf"]
