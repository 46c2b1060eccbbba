"""Takes a log record by record through a spec, with every state that the spec may be in."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.conform.avoiding import Avoiding
from model.conform.candidates import NO_STEP, BudgetSpent, Builder, History, Layer, Steps, both, expand, rows_of
from model.conform.diverging import Place
from model.conform.log import Log, Record
from model.conform.matching import States
from model.conform.matching import Steps as StepNumbers
from model.conform.naming import Naming, World
from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram
from model.explore.search.initial import initial_batches
from model.explore.walks.stepper import Stepper
from model.language import Property
from model.semantics import Semantics

_BATCH: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets. ``candidates``: states that the spec may be in at one place of the log; ``seconds``: of the whole check;
    ``kept``: candidates of the whole log that are remembered to tell runs."""

    candidates: int = 200_000
    seconds: float | None = None
    kept: int = 5_000_000


@dataclass(frozen=True, slots=True)
class Work:
    """What one check, and the checks that avoid a property, share."""

    program: PackedProgram
    native: Native
    semantics: Semantics
    naming: Naming
    log: Log
    limits: Limits


class Follower:
    """One pass over the log. With ``avoid``, over runs that do not violate that property.

    ``tell`` is called with the records of a group that are explained, and the candidates, where a group is long.
    """

    def __init__(self, work: Work, avoid: Property | None = None, deadline: float | None = None) -> None:
        self._work: Final = work
        self.stepper: Final = Stepper(work.program, work.native)
        self.steps: Final = StepNumbers(work.semantics, work.naming)
        self.states: Final = States(work.program, work.naming)
        self._avoiding: Final = None if avoid is None else Avoiding(work.program, work.native, work.semantics, avoid)
        self.history: Final = History(work.limits.kept)
        self.worlds: Final[list[World]] = [work.naming.start]
        self._world_numbers: Final[dict[World, int]] = {work.naming.start: 0}
        self._silent: Final = self.steps.fitting(work.log.unobserved, work.naming.start, "unobserved")
        limits = work.limits
        start = time.perf_counter()
        self.deadline: Final = deadline if deadline or limits.seconds is None else start + limits.seconds
        self.most = 0
        self.checked = 0
        self.tell: Callable[[int, int], None] = lambda done, candidates: None

    def _check_time(self) -> None:
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise BudgetSpent(f"time limit of {self._work.limits.seconds:g} s ran out")

    # -- layers

    def _builder(self) -> Builder:
        return Builder(self.history.next, self._work.program.layout.words, self._work.limits.candidates)

    def initial(self) -> Layer:
        builder = self._builder()
        for batch in initial_batches(self._work.program, self._work.native, _BATCH):
            if self._avoiding is not None:
                batch = batch[self._avoiding.states(batch)]
            for state in batch:
                builder.add(state.tobytes(), 0, 0, NO_STEP, NO_STEP)
        return self.history.keep(builder.layer())

    def _quiet(self, layer: Layer, steps: Steps) -> NDArray[np.bool_]:
        """For each of the ``steps`` whether it may be taken without a record."""
        return self._silent[steps.instances]

    def _closed(self, layer: Layer, *, gap: bool = False) -> tuple[Layer, Steps]:
        """``layer`` (kept already) with all that steps without a record lead to from it, in a gap all steps: the new
        candidates, not yet kept, and of old and new ones all steps, with rows counted over both."""
        builder = self._builder_after(layer)
        frontier = layer
        every: list[Steps] = []
        base = 0
        while len(frontier):
            self._check_time()
            steps = self._sound(frontier, expand(self.stepper, frontier))
            quiet = np.ones(len(steps.rows), np.bool_) if gap else self._quiet(frontier, steps)
            every.append(Steps(steps.rows + base, steps.instances, steps.targets))
            begin = len(builder)
            worlds, matched = frontier.worlds.tolist(), frontier.matched.tolist()
            for row, instance, target in zip(
                steps.rows[quiet].tolist(), steps.instances[quiet].tolist(), steps.targets[quiet], strict=True
            ):
                builder.add(target.tobytes(), worlds[row], matched[row], frontier.first + row, instance)
            base += len(frontier)
            frontier = builder.layer(begin)
        new = builder.layer(len(layer))
        self.most = max(self.most, len(builder))
        rows = np.concatenate([e.rows for e in every])
        instances = np.concatenate([e.instances for e in every])
        return new, Steps(rows, instances, np.concatenate([e.targets for e in every]))

    def _builder_after(self, layer: Layer) -> Builder:
        """A builder that knows the candidates of ``layer``, the last that was kept, and numbers new ones after them."""
        builder = Builder(layer.first, self._work.program.layout.words, self._work.limits.candidates)
        for state, world, matched, _ in rows_of(layer):
            builder.add(state, world, matched, NO_STEP, NO_STEP)
        return builder

    def _sound(self, layer: Layer, steps: Steps) -> Steps:
        """Those that keep to the property that is to be avoided, if there is one."""
        if self._avoiding is None:
            return steps
        kept = self._avoiding.steps(layer.states[steps.rows], steps.targets)
        return Steps(steps.rows[kept], steps.instances[kept], steps.targets[kept])

    def at_end(self, layer: Layer) -> Layer:
        """All candidates, when no record is left."""
        return both(layer, self.history.keep(self._closed(layer)[0]))

    # -- records

    def after(self, layer: Layer, group: Sequence[Record]) -> Layer | Place:
        """The candidates after the records of ``group``, in any order; or the place where there are none."""
        if group[0].forget:
            return self._moved(layer, [[(w.forget(group[0].forget))] for w in self.worlds])
        if group[0].gap:
            new, _ = self._closed(layer, gap=True)
            self.history.keep(new)
            return self._joined(layer, new, matched=False)
        layer = self._named(layer, group)
        if group[0].end:
            return self._ended(layer, group)
        self.checked += sum(r.says_something for r in group)
        for level in range(len(group)):
            new, steps = self._closed(layer)
            self.history.keep(new)
            closed = both(layer, new)
            after = self._consumed(closed, steps, group)
            if not len(after):
                return self._place(closed, steps, group, level)
            layer = self.history.keep(after)
        return layer if len(group) == 1 else self._joined(layer, None, matched=True)

    def _place(self, closed: Layer, steps: Steps, group: Sequence[Record], matched: int) -> Place:
        loud = ~self._quiet(closed, steps)
        told = Steps(steps.rows[loud], steps.instances[loud], steps.targets[loud])
        return Place(closed, told, tuple(group), matched, self.worlds)

    def _ended(self, layer: Layer, group: Sequence[Record]) -> Layer | Place:
        self.checked += 1
        new, steps = self._closed(layer)
        self.history.keep(new)
        closed = both(layer, new)
        unpack, terminal = self._work.program.layout.unpack, self._work.semantics.is_terminal
        builder = self._builder()
        for (state, world, _, number), row in zip(rows_of(closed), closed.states, strict=True):
            if terminal(unpack(row.tolist())):
                builder.add(state, world, 0, number, NO_STEP)
        return self.history.keep(builder.layer()) if len(builder) else self._place(closed, steps, group, 0)

    def _named(self, layer: Layer, group: Sequence[Record]) -> Layer:
        """The candidates in every world in which the names of ``group`` stand for something."""
        keys = list(dict.fromkeys(key for record in group for key in self._work.naming.names_of(record)))
        there = sorted(set(layer.worlds.tolist()))
        if all(self.worlds[w].element(*key) is not None for w in there for key in keys):
            return layer
        worlds = [
            self._work.naming.worlds(world, keys, group[0].where) if number in there else [world]
            for number, world in enumerate(self.worlds)
        ]
        return self._moved(layer, worlds)

    def _moved(self, layer: Layer, worlds: Sequence[Sequence[World]]) -> Layer:
        """The candidates of each world in those that come of it."""
        numbers = [[self._number(w) for w in some] for some in worlds]
        builder = self._builder()
        for state, world, _, number in rows_of(layer):
            for new in numbers[world]:
                builder.add(state, new, 0, number, NO_STEP)
        return self.history.keep(builder.layer())

    def _number(self, world: World) -> int:
        number = self._world_numbers.setdefault(world, len(self.worlds))
        if number == len(self.worlds):
            self.worlds.append(world)
        return number

    def _joined(self, layer: Layer, new: Layer | None, *, matched: bool) -> Layer:
        """One layer of both, each candidate once; all records of one time are done."""
        builder = self._builder()
        for part in (layer, *(() if new is None else (new,))):
            for state, world, _, number in rows_of(part):
                builder.add(state, world, 0, number, NO_STEP)
        return self.history.keep(builder.layer())

    def _consumed(self, closed: Layer, steps: Steps, group: Sequence[Record]) -> Layer:
        """The candidates after one more record of ``group``."""
        builder = self._builder()
        for bit, record in enumerate(group):
            for world in sorted(set(closed.worlds.tolist())):
                here = (closed.worlds == world) & ((closed.matched >> bit) & 1 == 0)
                self._take(builder, closed, steps, record, 1 << bit, world, here, len(group) == 1)
        return builder.layer()

    def _take(
        self,
        builder: Builder,
        closed: Layer,
        steps: Steps,
        record: Record,
        bit: int,
        world: int,
        here: NDArray[np.bool_],
        alone: bool,
    ) -> None:
        """Add what ``record`` makes of the candidates that are ``here``."""
        if record.patterns:
            fits = self.steps.fitting(record.patterns, self.worlds[world], record.where)
            taken = here[steps.rows] & fits[steps.instances]
            rows, instances, targets = steps.rows[taken], steps.instances[taken], steps.targets[taken]
        else:
            rows = np.flatnonzero(here)
            instances, targets = np.full(len(rows), NO_STEP), closed.states[rows]
        kept = self.states.fitting(targets, record, self.worlds[world])
        matched = closed.matched
        for row, instance, target in zip(rows[kept].tolist(), instances[kept].tolist(), targets[kept], strict=True):
            done = 0 if alone else int(matched[row]) | bit
            builder.add(target.tobytes(), world, done, closed.first + row, instance)

    # -- what is said at the end

    def first_refused(self, records: Sequence[Sequence[Record]]) -> Record | None:
        """The first of ``records`` (those of one time together) that no run explains which keeps to the property."""
        layer = self.initial()
        for group in records:
            place = self.after(layer, group) if len(layer) else None
            if not isinstance(place, Layer):
                return group[0]
            layer = place
        return None

    def names(self, layer: Layer) -> dict[str, str]:
        """The names that stand for one element in all worlds of ``layer``, and which."""
        first, *others = sorted(set(layer.worlds.tolist()))
        shared = set(self.worlds[first].elements)
        for world in others:
            shared &= set(self.worlds[world].elements)
        return {name: self._work.naming.own_name(sort, e) for (sort, name), e in sorted(shared)}


__all__ = ["Follower", "Limits", "Work"]
