"""Among the shortest runs into an event one that changes few cells: easier to read than the first that is found.

A run costs the cells that its steps change, added up; among the cheapest, one that changes the fewest different cells
is taken, and among those the one whose instances come first in order. The costs are found backwards, level by level:
what is left to pay from a state is the least over its steps into the next level. That expands every state nearer than
the event once more, so it is done only while those are few, and the same bound for all events of a search keeps it
small beside the search. If more sets of cells are as good as can be followed, some of them are let go, and that is
told. Nothing here depends on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from model.explore.search.budget import Budget, OutOfTime
from model.explore.search.search import Found, Occurrence, Search
from model.explore.traces.changes import Changes, counted
from model.explore.traces.endings import Endings, Finder, NoEndings
from model.explore.traces.steps import Batch, Numbers, Steps
from model.lowering.lower import Event

MOST_STATES = 1 << 19
"""States that are expanded again for all runs of one search together."""
MOST_BEFORE_GOAL = 1 << 15
"""The same for the run to one goal, which is seldom looked at."""
_LEVEL = 1 << 10  # what a level costs besides its states, counted in states
_ROW_BYTES = 24  # for each state of the levels that are kept
_SMALL_BYTES = 1 << 24
_MOST_LABELS = 1 << 14
_FEW_LABELS = 1 << 6
FAR: Final = np.iinfo(np.int32).max

Path = list[tuple[Found, int | None]]


@dataclass(frozen=True, slots=True)
class SimpleRun:
    """A run: its states, each with the instance that leads to it; ``last``: an instance that acts at the end.

    ``note`` says what was not looked for, None if this is a run that changes the fewest cells.
    """

    path: Path
    last: int | None
    note: str | None


class Level(Protocol):
    """What is left to pay from the states of one level: FAR where no run to an ending leads through a state."""

    @property
    def left(self) -> NDArray[np.int32]:
        """One entry for each state."""

    def rows(self, numbers: Numbers, /) -> Numbers:
        """The rows of ``left`` of these states; -1 for those of other levels."""


class _Level:
    """The states of one depth."""

    def __init__(self, search: Search, depth: int, offsets: Numbers) -> None:
        starts = search.starts
        ends = starts[depth + 1] if depth + 1 < len(starts) else search.counts
        low, high = np.array(starts[depth], np.int64), np.array(ends, np.int64)
        self._offsets: Final = offsets
        self._low: Final = low
        self._high: Final = high
        self._first: Final = np.concatenate([[0], np.cumsum(high - low)]).astype(np.int64)
        self.left = np.full(int(self._first[-1]), FAR, np.int32)

    def rows(self, numbers: Numbers) -> Numbers:
        """The rows of ``left`` of these states; -1 for those of other depths."""
        shard = np.searchsorted(self._offsets[1:-1], numbers, side="right")
        inside = numbers - self._offsets[shard]
        rows = inside - self._low[shard] + self._first[shard]
        return np.where((inside >= self._low[shard]) & (inside < self._high[shard]), rows, -1)


class Simplest:
    """Finds simple runs of one finished search; see the module."""

    def __init__(self, search: Search, most_states: int = MOST_STATES, budget: Budget | None = None) -> None:
        self._search: Final = search
        self._spare = most_states
        self._budget: Final = budget
        self._changes: Final = Changes(search.program.layout)
        self._steps: Final = Steps(search)
        self._finder: Final = Finder(search, self._steps, self._changes)

    def run(self, event: Event, first: Occurrence, most: int | None = None) -> SimpleRun | str:
        """A simple one of the shortest runs into ``event``, which occurred at ``first``; or why none is looked for.

        ``most``: look for none where more states than these would have to be expanded again.
        """
        refusal = self._take(first, self._spare if most is None else most)
        if refusal is not None:
            return refusal
        try:
            return self._through(self._finder.endings(event, first))
        except (NoEndings, OutOfTime) as error:
            return str(error)

    def run_to(self, state: Found) -> SimpleRun | str:
        """The same for the runs to one state."""
        refusal = self._take(Occurrence(state, None), self._spare)
        if refusal is not None:
            return refusal
        number = int(self._steps.offsets[state.shard]) + state.number
        try:
            return self._through(Endings(self._search.depth_of(state), np.array([number], np.int64)))
        except OutOfTime as error:
            return str(error)

    def run_along(self, steps: Steps, levels: Sequence[Level], endings: Endings) -> SimpleRun | str:
        """The same for the runs through ``levels``, which were paid for, by ``steps``."""
        try:
            return self._between(steps, levels, endings)
        except OutOfTime as error:
            return str(error)

    def pay(self, states: int, levels: int) -> str | None:
        """Account for ``states`` in some levels that have to be expanded again; why not, if that is too much."""
        return self._pay(states, levels, self._spare)

    def _take(self, at: Occurrence, most: int) -> str | None:
        """Account for what has to be expanded again; why not, if it is too much."""
        depth = self._search.depth_of(at.state)
        nearer = sum(self._search.starts[depth])
        ends = self._search.starts[depth + 1] if depth + 1 < len(self._search.starts) else self._search.counts
        size = _ROW_BYTES * sum(ends)
        if size > _SMALL_BYTES and self._search.memory + size > self._search.growth.limit:
            return "memory does not suffice"
        return self._pay(nearer, depth, most)

    def _pay(self, states: int, levels: int, most: int) -> str | None:
        price = states + levels * _LEVEL
        if price > min(most, self._spare):
            return f"{states:,} states in {levels} levels lie before the end"
        self._spare -= price
        return None

    def _through(self, endings: Endings) -> SimpleRun:
        levels = [_Level(self._search, depth, self._steps.offsets) for depth in range(endings.depth + 1)]
        return self._between(self._steps, levels, endings)

    def _between(self, steps: Steps, levels: Sequence[Level], endings: Endings) -> SimpleRun:
        check = (lambda: None) if self._budget is None else self._budget.check_time
        _backwards(steps, self._changes, levels, endings, check)
        return _Forwards(steps, self._changes, levels, check).run(endings)


def _backwards(
    steps: Steps, changes: Changes, levels: Sequence[Level], endings: Endings, check: Callable[[], None]
) -> None:
    """Fill the ``levels``, from the initial states to the endings, with what is left to pay."""
    last = levels[-1]
    rows = last.rows(endings.states)
    last.left[rows] = 0
    if endings.steps is not None:
        costs = counted(endings.steps.marks).astype(np.int32)
        last.left[rows] = FAR
        np.minimum.at(last.left, last.rows(endings.steps.sources), costs)
    for depth in range(len(levels) - 2, -1, -1):
        before, level = levels[depth], levels[depth + 1]
        for batch in steps.batches(steps.at_depth(depth)):
            check()
            some, left = leading(batch, level)
            if len(left):
                changed = changes.count(steps.packed(some.sources), steps.packed(some.targets))
                np.minimum.at(before.left, before.rows(some.sources), (changed + left).astype(np.int32))


def leading(batch: Batch, level: Level) -> tuple[Batch, NDArray[np.int64]]:
    """The steps of ``batch`` to states of ``level`` from which an ending can be reached, and what is left there."""
    rows = level.rows(batch.targets)
    left = np.where(rows >= 0, level.left[rows], FAR)
    chosen = left != FAR
    return batch.only(chosen), left[chosen].astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Label:
    """A cheapest way to a state: the cells that it changed, and its last step."""

    state: int
    changed: int
    before: _Label | None
    instance: int | None


class _Forwards:
    """Follows the cheapest runs from the initial states on, with all sets of changed cells that none is part of."""

    def __init__(self, steps: Steps, changes: Changes, levels: Sequence[Level], check: Callable[[], None]) -> None:
        self._check: Final = check
        self._steps: Final = steps
        self._changes: Final = changes
        self._levels: Final = levels
        self._spare = _MOST_LABELS

    def run(self, endings: Endings) -> SimpleRun:
        """The run to one of the ``endings``."""
        first = self._steps.at_depth(0)
        left = self._levels[0].left
        cheapest = first[left[self._levels[0].rows(first)] == left.min()]
        packed = [tuple(map(int, row)) for row in self._steps.packed(cheapest)]
        labels = [_Label(int(n), 0, None, None) for _, n in sorted(zip(packed, cheapest.tolist(), strict=True))]
        for depth in range(len(self._levels) - 1):
            labels = self._next(labels, depth)
        last: int | None = None
        if endings.steps is None:
            best = min(labels, key=lambda x: x.changed.bit_count())
        else:
            best, last = self._last(labels, endings)
        note = None if self._spare >= 0 else "too many change as few cells to find the fewest different ones"
        return SimpleRun(self._path(best), last, note)

    def _next(self, labels: list[_Label], depth: int) -> list[_Label]:
        """The labels one step on, those that come first in order first."""
        here, level = self._levels[depth], self._levels[depth + 1]
        by_state: dict[int, list[int]] = {}
        for order, label in enumerate(labels):
            by_state.setdefault(label.state, []).append(order)
        # Source label, instance: so that ways come in order, and the first to bring a set of cells keeps it.
        reached: list[tuple[int, int, int, int]] = []
        for batch in self._steps.batches(np.array(sorted(by_state), np.int64)):
            self._check()
            some, left = leading(batch, level)
            marks = self._changes.marks(self._steps.packed(some.sources), self._steps.packed(some.targets))
            costs = counted(marks)
            tight = here.left[here.rows(some.sources)] == costs + left
            steps = some.only(tight)
            listed = zip(
                steps.sources.tolist(),
                steps.targets.tolist(),
                steps.instances.tolist(),
                _joined(marks[tight]),
                strict=True,
            )
            for source, target, instance, changed in listed:
                reached += [(order, instance, target, changed) for order in by_state[source]]
        reached.sort()
        kept: dict[int, list[_Label]] = {}
        found: list[_Label] = []
        for order, instance, target, changed in reached:
            label = _Label(target, labels[order].changed | changed, labels[order], instance)
            known = kept.setdefault(target, [])
            if any(k.changed & ~label.changed == 0 for k in known):
                continue
            known.append(label)
            found.append(label)
        # A smaller set may have come after a larger one.
        found = [x for x in found if not any(_is_part(k.changed, x.changed) for k in kept[x.state])]
        self._spare -= len(found)
        if self._spare < 0:
            # Each of them is on a cheapest run, so any may be left out.
            smallest = sorted(range(len(found)), key=lambda i: found[i].changed.bit_count())[:_FEW_LABELS]
            found = [found[i] for i in sorted(smallest)]
        return found

    def _last(self, labels: list[_Label], endings: Endings) -> tuple[_Label, int]:
        """The label and the last instance of the run whose last step is one of the endings'."""
        assert endings.steps is not None
        level, steps = self._levels[-1], endings.steps
        costs = counted(steps.marks)
        tight = np.flatnonzero(level.left[level.rows(steps.sources)] == costs)
        listed = zip(
            steps.sources[tight].tolist(), steps.instances[tight].tolist(), _joined(steps.marks[tight]), strict=True
        )
        by_state: dict[int, list[tuple[int, int]]] = {}
        for source, instance, changed in listed:
            by_state.setdefault(source, []).append((instance, changed))
        ends = (
            ((label.changed | changed).bit_count(), order, instance)
            for order, label in enumerate(labels)
            for instance, changed in by_state.get(label.state, ())
        )
        _, order, instance = min(ends)
        return labels[order], instance

    def _path(self, label: _Label) -> Path:
        path: Path = []
        at: _Label | None = label
        while at is not None:
            path.append((self._steps.found(at.state), at.instance))
            at = at.before
        return path[::-1]


def _is_part(some: int, of: int) -> bool:
    return some != of and some & ~of == 0


def _joined(marks: NDArray[np.uint64]) -> list[int]:
    """The words of each row as one integer."""
    columns = [marks[:, k].tolist() for k in range(marks.shape[1])]
    joined = [0] * len(marks)
    for k, column in enumerate(columns):
        joined = [whole | part << (64 * k) for whole, part in zip(joined, column, strict=True)]
    return joined


__all__ = ["FAR", "MOST_STATES", "Level", "SimpleRun", "Simplest"]
