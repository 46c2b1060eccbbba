"""Slices: small machines that stand for a large one in proofs about any size, and the check that they do.

A slice forgets variables of the full machine and permits more steps. What holds in every run of the slice holds in
every run of the full machine, if the full machine starts where the slice starts, and each of its steps is a step of the
slice or changes nothing that the slice sees. `check_slice` looks at all states and steps of one size.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.explore.traces.steps import Steps
from model.export.columns import Columns
from model.export.graph import all_steps, whole_search
from model.language import Expr, Machine, Read, Sort, describe_domain
from model.language.expressions import lift
from model.language.types import domain_type
from model.language.walking import walk
from model.semantics import Fault, Semantics
from model.semantics import State as Raw
from model.trace import NamedState, named_state
from specs.editions import of_edition

View: TypeAlias = Callable[[Machine], Mapping[str, Callable[..., "Expr | int"]]]
"""For a full machine, what each variable of the slice is there: of the elements that index it, an expression."""

MOST_STATES: Final = 2_000_000
_PART: Final = 1 << 16


class SliceError(Exception):
    """A slice that does not speak of all of the full machine, or of something that this does not have."""


@dataclass(frozen=True)
class Slice:
    """``small`` is a slice of ``full``.

    ``scale``: the parameters of the slice for those of the full spec, all of them, and ValueError for a scope that it
    is no slice of. ``view``: the state of the slice in a state of the full machine. A sort of both machines has the
    same elements in both; one of ``elements`` has an element for each combination of elements of these sorts of the
    full machine, and the view is given those; an element of another one is given as its number, from 0. ``actions``:
    for an action of the full spec those of the slice that its steps are. ``removed``: variables that the slice does not
    see, and actions that change nothing that it sees, each with the reason.
    """

    full: Callable[..., Machine]
    small: Callable[..., Machine]
    scale: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    view: View
    actions: Mapping[str, tuple[str, ...]]
    removed: Mapping[str, str]
    elements: Mapping[type[Sort], tuple[type[Sort], ...]] = field(default_factory=dict)

    def parameters(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters of the full spec, as given or by default."""
        defaults = {n: p.default for n, p in inspect.signature(self.full).parameters.items()}
        return of_edition(self.full, {**defaults, **given})


@dataclass(frozen=True, slots=True)
class BadStep:
    """A step of the full machine, after ``distance`` others, that is none of the slice: the states as the slice sees
    them, and why. ``call`` is empty for an initial state."""

    call: str
    distance: int
    full_before: NamedState
    full_after: NamedState
    before: NamedState
    after: NamedState
    why: str

    @property
    def text(self) -> str:
        """The step for people: what changes in the full machine, then in the slice."""
        if not self.call:
            return f"an initial state is none of the slice: {self.why}\n" + _told("state", self.after, {})
        return (
            f"step {self.distance + 1}, {self.call}, is no step of the slice: {self.why}\n"
            + _told("in the full spec", self.full_after, self.full_before)
            + _told("in the slice", self.after, self.before)
        )


def _told(title: str, after: NamedState, before: NamedState) -> str:
    changed = [
        f"    {cell}: {before[cell]} -> {value}" if before else f"    {cell}: {value}"
        for cell, value in after.items()
        if not before or before[cell] != value
    ]
    return "\n".join([f"  {title}:", *(changed or ["    nothing changes"])]) + "\n"


@dataclass(frozen=True, slots=True)
class SliceReport:
    """What was compared: all ``states`` and ``steps`` of the full machine. ``stutters`` change nothing that the slice
    sees, and are among the steps. ``seen_as``: for each action of the full machine those of the slice that its steps
    were. ``first_bad`` is a nearest step that is none of the slice."""

    parameters: Mapping[str, Any]
    states: int
    slice_states: int
    steps: int
    stutters: int
    seen_as: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first_bad: BadStep | None = None

    @property
    def is_slice(self) -> bool:
        """Whether every step was one of the slice."""
        return self.first_bad is None


def one_number(name: str, value: int | Sequence[int]) -> int:
    """``value`` if it is the same for all. ValueError if it is not."""
    values = {value} if isinstance(value, int) else set(value)
    if len(values) != 1:
        raise ValueError(f"a slice has one {name} for all; found {value}")
    return int(next(iter(values)))


def check_slice(slice_: Slice, *, max_states: int = MOST_STATES, **parameters: Any) -> SliceReport:
    """Compare every step of the full spec, in the scope of ``parameters``, with the slice.

    SliceError if something of the full spec is neither seen nor said to be removed; ValueError for a scope that the
    slice does not have; GraphTooLarge past ``max_states``.
    """
    given = slice_.parameters(parameters)
    return compare(slice_, slice_.full(**given), slice_.small(**slice_.scale(given)), given, max_states=max_states)


def compare(
    slice_: Slice, full: Machine, small: Machine, parameters: Mapping[str, Any], *, max_states: int = MOST_STATES
) -> SliceReport:
    """The same for machines at hand: ``full`` may be a mutant."""
    projection = _Projection(slice_, full.finish(), small.finish())
    _check_names(slice_, full, small, projection.reads)
    search = whole_search(full, max_states)
    return _Comparison(slice_, full, projection, Steps(search)).report(parameters)


def _check_names(slice_: Slice, full: Machine, small: Machine, reads: set[str]) -> None:
    removed, mapped = slice_.removed.keys(), slice_.actions.keys()
    every = {v.name for v in full.variables}
    found = [
        *(f"variable {v.name} is neither seen nor removed" for v in full.variables if v.name not in reads | removed),
        *(f"variable {name} is removed, and yet seen" for name in sorted(reads & removed & every)),
        *(f"action {a.name} is neither mapped nor removed" for a in full.actions if a.name not in mapped | removed),
        *(f"action {name} is removed, and yet mapped" for name in sorted(mapped & removed)),
    ]
    if found:
        raise SliceError(f"{small.name} is no slice of {full.name}: " + "; ".join(found))


class _Projection:
    """From raw states of the full machine to raw states of the slice."""

    def __init__(self, slice_: Slice, full: Machine, small: Machine) -> None:
        self.small: Final = small
        self._columns: Final = Columns(full)
        self._cells: Final = small.cells()
        self._exprs: Final = list(_cells(slice_, full, small))
        self.reads: Final = {e.variable.name for expr, _ in self._exprs for e in walk(expr) if isinstance(e, Read)}

    def of(self, raw: NDArray[np.int64]) -> NDArray[np.int64]:
        """Shape (n, cells of the slice), for states of shape (n, cells of the full machine)."""
        return np.stack([self._columns.value(expr, raw, env) for expr, env in self._exprs], axis=1)

    def outside(self, raw: Raw) -> str:
        """Which value the slice has no room for, if any."""
        for cell, value in zip(self._cells, raw, strict=True):
            if value not in self.small.values(cell.variable.domain):
                return f"{self.small.show_cell(cell)} is {value}, outside {describe_domain(cell.variable.domain)}"
        return ""

    def named(self, raw: Raw) -> NamedState:
        """A state of the slice in its words; of one that is outside, in numbers."""
        if self.outside(raw):
            return {self.small.show_cell(c): v for c, v in zip(self._cells, raw, strict=True)}
        return named_state(self.small, raw)


def _cells(slice_: Slice, full: Machine, small: Machine) -> Iterator[tuple[Expr, Mapping[int, int]]]:
    """For each cell of ``small`` its expression over ``full``, and the elements that its symbols stand for."""
    view, names = slice_.view(full), [v.name for v in small.variables]
    if differ := sorted(view.keys() ^ set(names)):
        raise SliceError(f"{small.name}: the view of {full.name} and the slice differ in {', '.join(differ)}")
    for cell in small.cells():
        elements = [
            pair
            for sort, position in zip(cell.variable.sorts, cell.indices, strict=True)
            for pair in _elements(slice_, full, small, sort, position)
        ]
        expr = lift(view[cell.variable.name](*(p if s is None else s for s, p in elements)))
        if expr.type != domain_type(cell.variable.domain):
            raise SliceError(f"{small.name}: the view of {cell.variable.name} is {expr.type}")
        yield expr, {s.uid: p for s, p in elements if s is not None}


def _elements(
    slice_: Slice, full: Machine, small: Machine, sort: type[Sort], position: int
) -> list[tuple[Sort | None, int]]:
    """The elements of ``full`` that an element of the slice stands for, each as a symbol and its number; or no symbol
    and its own number."""
    if sort not in slice_.elements and sort not in full.sorts:
        return [(None, position)]
    sorts = slice_.elements.get(sort, (sort,))
    every = list(itertools.product(*(range(full.sorts[s].size) for s in sorts)))
    if len(every) != small.sorts[sort].size:
        raise SliceError(f"{small.name} has {small.sorts[sort].size} {sort.__name__}, {full.name} has {len(every)}")
    return [(s(s.__name__.lower()), p) for s, p in zip(sorts, every[position], strict=True)]


class _Comparison:
    """All steps of the full machine, merged by what the slice sees of them."""

    def __init__(self, slice_: Slice, full: Machine, projection: _Projection, steps: Steps) -> None:
        self._slice: Final = slice_
        self._projection: Final = projection
        self._steps: Final = steps
        self._full: Final = Semantics(full)
        self._small: Final = Semantics(projection.small)
        self._actions: Final = [a.name for a in full.actions]
        self._rows, self._classes = self._classified()
        self._after: dict[tuple[int, str], frozenset[Raw]] = {}

    def _classified(self) -> tuple[list[Raw], NDArray[np.int64]]:
        known: dict[Raw, int] = {}
        classes = np.empty(self._steps.count, np.int64)
        for first in range(0, self._steps.count, _PART):
            numbers = np.arange(first, min(first + _PART, self._steps.count), dtype=np.int64)
            rows, inverse = np.unique(self._projection.of(self._steps.raw(numbers)), axis=0, return_inverse=True)
            place = np.array([known.setdefault(tuple(row), len(known)) for row in rows.tolist()], np.int64)
            classes[numbers] = place[inverse.reshape(-1)]
        return list(known), classes

    def report(self, parameters: Mapping[str, Any]) -> SliceReport:
        """Everything compared."""
        counts = {"steps": 0, "stutters": 0}
        seen: dict[str, set[str]] = {}
        bad = [self._bad_start()]
        number_of = {name: i for i, name in enumerate(self._actions)}
        action_of = np.array([number_of[i.action.name] for i in self._full.instances], np.int64)
        judged: set[tuple[int, int, int]] = set()
        nearest: BadStep | None = bad[0]
        for batch in all_steps(self._steps):
            ends = np.stack(
                [self._classes[batch.sources], self._classes[batch.targets], action_of[batch.instances]], axis=1
            )
            counts["steps"] += len(ends)
            counts["stutters"] += int((ends[:, 0] == ends[:, 1]).sum())
            distinct, first = np.unique(ends, axis=0, return_index=True)
            for (source, target, action), at in zip(distinct.tolist(), first.tolist(), strict=True):
                if source == target or (source, target, action) in judged:
                    continue
                judged.add((source, target, action))
                name = self._actions[action]
                found = [other for other in self._slice.actions.get(name, ()) if self._leads(source, target, other)]
                seen.setdefault(name, set()).update(found)
                if not found:
                    step = self._bad(int(batch.sources[at]), int(batch.targets[at]), int(batch.instances[at]))
                    if nearest is None or step.distance < nearest.distance:
                        nearest = step
        return SliceReport(
            parameters=parameters,
            states=self._steps.count,
            slice_states=len(self._rows),
            steps=counts["steps"],
            stutters=counts["stutters"],
            seen_as={name: tuple(sorted(others)) for name, others in seen.items()},
            first_bad=nearest,
        )

    def _leads(self, source: int, target: int, action: str) -> bool:
        """Whether ``action`` of the slice leads from one of its states to another."""
        if self._projection.outside(self._rows[source]):
            return False
        key = (source, action)
        if key not in self._after:
            row = self._rows[source]
            results = [
                self._small.fire(i, row)
                for i in self._small.instances
                if i.action.name == action and self._small.is_enabled(i, row)
            ]
            self._after[key] = frozenset(r for r in results if not isinstance(r, Fault))
        return self._rows[target] in self._after[key]

    def _bad_start(self) -> BadStep | None:
        starts = set(self._small.initial_states())
        for number in self._steps.at_depth(0).tolist():
            row = self._rows[self._classes[number]]
            if row not in starts:
                state = self._named(number)
                why = self._projection.outside(row) or "the slice starts otherwise"
                return BadStep("", 0, state, state, {}, self._projection.named(row), why)
        return None

    def _bad(self, source: int, target: int, instance: int) -> BadStep:
        before, after = (self._rows[self._classes[number]] for number in (source, target))
        called = self._full.instances[instance]
        others = self._slice.actions.get(called.action.name, ())
        why = (
            self._projection.outside(after)
            or (
                f"neither by {' nor by '.join(others)}"
                if len(others) > 1
                else f"not by {''.join(others)}" * bool(others)
            )
            or f"{called.action.name} is to change nothing that it sees"
        )
        return BadStep(
            self._full.call(called),
            self._steps.depth_of(source),
            self._named(source),
            self._named(target),
            self._projection.named(before),
            self._projection.named(after),
            why,
        )

    def _named(self, number: int) -> NamedState:
        raw = self._steps.raw(np.array([number], np.int64))[0]
        return named_state(self._full.machine, raw.tolist())


__all__ = ["BadStep", "Slice", "SliceError", "SliceReport", "View", "check_slice", "compare", "one_number"]
