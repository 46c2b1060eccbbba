"""Breadth-first search over packed states, level by level; the inner loop is compiled, budgets are kept here.

In each shard states lie in the order in which they were found, so a level is a range of numbers in every shard. A
state's predecessor is not stored: which states were being expanded when it was found is known, and expanding those
again tells which of them, and which instance, led to it. What is found, and its order, is the same for any number of
threads; only how far a search gets before time or memory runs out is not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from model.explore.codegen import context as c
from model.explore.codegen.native import Native, nap_address
from model.explore.packing import PackedProgram
from model.explore.search.batches import batch_ends
from model.explore.search.growth import Growth
from model.explore.search.initial import initial_batches
from model.explore.search.limits import Limits, Progress
from model.explore.search.shard import Block, Rows, Shard
from model.explore.search.spill import Spill

# States of a batch, and the least that are worth a second thread; fewer if each successor's arrangements are tried.
_CHUNK = 1 << 14
_ALONE = 1 << 11
_ROOM = 1 << 10
# More than one round can fill.
_FIRST_BITS = 13
_LEVELS = 1 << 10
_PROGRESS_SECONDS = 0.1
INTERRUPTED: Final = "interrupted"


@dataclass(frozen=True, slots=True)
class Found:
    """A state: its number in its shard."""

    shard: int
    number: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where an event occurred first: in this state, or in the step of this instance from it."""

    state: Found
    instance: int | None


class Keeper(Protocol):
    """Writes checkpoints, see `saving`."""

    def at_start(self, search: Search, /) -> None:
        """Nothing was explored yet."""

    def before_losing(self, search: Search, /) -> None:
        """From now on states may be dropped."""

    def now_and_then(self, search: Search, /) -> None:
        """A moment between two batches."""

    def at_end(self, search: Search, interrupted: bool, /) -> None:
        """A budget ran out."""


class Search:
    """One exploration. After `run`: ``complete``, or ``budget`` says what ran out.

    ``first`` has the first occurrence of each event. ``starts`` has, for each depth, the number in each shard of the
    first state of that depth. ``parents`` and ``children`` are parallel: from mark i on, parents from numbers
    ``parents[i]`` found states from numbers ``children[i]``. ``resumed``: all this was taken from a checkpoint.

    ``stop`` is asked between two batches whether to end with the budget `INTERRUPTED`; so is the clock for the limit.
    A batch is up to 131,072 states: mostly milliseconds, but tenths of a second where many steps lead from each.
    """

    def __init__(
        self,
        program: PackedProgram,
        native: Native,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
        *,
        threads: int = 1,
        stop: Callable[[], bool] | None = None,
        saving: Keeper | None = None,
        spill: Spill | None = None,
        first_bits: int = _FIRST_BITS,
        room: int = _ROOM,
    ) -> None:
        if threads < 1:
            raise ValueError(f"threads is at least 1, found {threads}")
        self.program: Final = program
        self.native: Final = native
        self.limits: Final = limits
        shards, beyond = native.shards, spill is not None
        self.shards: Final = [Shard(program, shards, room, first_bits, beyond) for _ in range(shards)]
        self.first: dict[int, Occurrence] = {}
        self.starts: Final = Rows(native.shards)
        self.starts.append((0,) * native.shards)
        self.budget: str | None = None
        self.seconds = 0.0
        self.resumed = self._warned = False
        self._stop = stop
        self._saving = saving
        self._report = progress
        self._threads = min(threads, native.shards)
        arrangements = 1 if program.canonical is None else 1 + len(program.canonical.moves)
        self._chunk: Final = max(native.shards, _CHUNK // arrangements)
        self._alone: Final = _ALONE // arrangements
        self._blocks = np.array([s.block.address for s in self.shards], np.int64)
        self._shared = np.zeros(c.STATUS + c.STATUS_STRIDE * self._threads, np.int64)
        self._shared[c.NAP] = nap_address()
        self._levels = np.zeros((_LEVELS, native.shards), np.int64)
        self._shared[c.LEVELS] = self._levels.ctypes.data
        self.parents: Final = Rows(native.shards)
        self.children: Final = Rows(native.shards)
        self._lost: int | None = None
        self._improving: threading.Thread | None = None
        self._started = self._reported = 0.0
        self.growth: Final = Growth(self.shards, native.kernels, limits.memory, limits.states, spill, self._threads)

    # ---- what was found

    @property
    def counts(self) -> tuple[int, ...]:
        """States of each shard."""
        return tuple(s.count for s in self.shards)

    @property
    def count(self) -> int:
        """Number of states."""
        return sum(self.counts)

    @property
    def expanded(self) -> tuple[int, ...]:
        """States of each shard whose steps were computed."""
        return tuple(s.expanded for s in self.shards)

    @property
    def fired(self) -> list[int]:
        """How often each action was enabled, with any arguments."""
        return [int(n) for n in np.sum([s.block.fired for s in self.shards], axis=0)]

    @property
    def transitions(self) -> int:
        """Enabled instances over all expanded states."""
        return sum(int(s.block.fired.sum()) for s in self.shards)

    @property
    def complete(self) -> bool:
        """Whether all reachable states were found and expanded."""
        return self.budget is None

    @property
    def stopped(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop is not None and self._stop()

    @property
    def can_go_on(self) -> bool:
        """Whether nothing that was found was lost: from here it can be taken up again."""
        return self.count > 0 and self._lost is None and not self.growth.dropped

    @property
    def memory(self) -> int:
        """Bytes in use now: states, tables, buffers, levels, marks."""
        return self.growth.memory

    @property
    def peak_memory(self) -> int:
        """Most bytes in use at any moment."""
        return max(self.growth.peak, self.memory)

    def depth_of(self, state: Found) -> int:
        """Steps of a shortest path to ``state``."""
        return self.starts.last_at_most(state.shard, state.number)

    @property
    def depth(self) -> int:
        """Steps to the farthest state found."""
        return max((self.depth_of(Found(s, n - 1)) for s, n in enumerate(self.counts) if n), default=0)

    @property
    def complete_depth(self) -> int:
        """All states up to this depth were found; -1 if not even all initial ones."""
        if self.complete:
            return self.depth
        if self._lost is not None:
            return self._lost
        # When a level is expanded, the next one was found.
        return self._level + (self.expanded == self.starts[-1])

    @property
    def _level(self) -> int:
        """The depth of the states that are being expanded; -1 before there are any."""
        return len(self.starts) - 2

    def parents_of(self, state: Found) -> list[range]:
        """For each shard numbers of states; one of them leads to ``state``, not an initial one, on a shortest path."""
        mark = self.children.last_at_most(state.shard, state.number)
        ends = self.parents[mark + 1] if mark + 1 < len(self.parents) else self.expanded
        # A mark may cover several levels.
        depth = self.depth_of(state)
        nearer = zip(self.parents[mark], ends, self.starts[depth - 1], self.starts[depth], strict=True)
        return [range(max(first, low), min(last, high)) for first, last, low, high in nearer]

    def scratch(self, room: int = 0) -> list[Block]:
        """Blocks of its own over this search's states and tables, to look things up with."""
        blocks = []
        for shard in self.shards:
            block = Block(self.program, self.native.shards, max(room, _ROOM))
            for slot in (c.STATES, c.COUNT, c.TABLE, c.BITS):
                block.words[slot] = shard.block.words[slot]
            # All events count as seen, so nothing is noted.
            block.seen[:] = np.uint64(2**64 - 1)
            blocks.append(block)
        return blocks

    # ---- the search

    def run(self) -> None:
        """Explore until done, or until a budget runs out."""
        self._started = time.perf_counter()
        if self._saving is not None:
            self._saving.at_start(self)
        helpers = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None
        try:
            if not self.resumed:
                self._find_initial()
            while self.budget is None and self.expanded != self.counts:
                if self.expanded == self.starts[-1]:
                    self.starts.append(self.counts)
                self._advance(helpers)
            if self.budget is None and self.growth.dropped:
                self.budget = self.growth.words
            if self._saving is not None and self.budget is not None:
                self._saving.at_end(self, self.budget == INTERRUPTED)
        finally:
            if helpers is not None:
                helpers.shutdown()
            if self._improving is not None:
                self._improving.join()
            self.seconds = time.perf_counter() - self._started
        self._tell(last=True)

    def _find_initial(self) -> None:
        kernels, first = self.native.kernels, self.shards[0].block
        batches = initial_batches(self.program, self.native, int(first.words[c.ROOM]))
        for i, batch in enumerate(batches):
            if i:
                self._check_time(True)
            if self.growth.dropped or self.budget is not None:
                self._lost = -1
                return
            first.rewind()
            self.native.records(first.address, batch.ctypes.data, len(batch))
            for number, shard in enumerate(self.shards):
                records = first.records(number)
                self.growth.prepare(number, len(records))
                kernels.insert(shard.block.address, records.ctypes.data, len(records))
        self._check_time(True)
        if self.growth.dropped:
            self._lost = -1

    def _advance(self, helpers: ThreadPoolExecutor | None) -> None:
        """Expand some states of the level; grow if there is need."""
        self.parents.append(self.expanded)
        self.children.append(self.counts)
        self.growth.marks = 2 * self.parents.nbytes + self.starts.nbytes
        if self.growth.final:
            self.growth.update()
        ends = batch_ends(self.starts[-2], self.starts[-1], self.parents[-1], self._chunk)
        for shard, end in zip(self.shards, ends, strict=True):
            shard.block.words[c.END] = end
            shard.block.words[c.EXPAND] = self.native.expand_address
        if self._saving is not None and not self._warned and (self.growth.final or self.growth.tight):
            self._warned = True
            self._saving.before_losing(self)
        must_grow = self._run_exactly() if self.growth.tight else self._run_threads(helpers)
        if self.growth.dropped and self._lost is None:
            self._lost = self._level
        self._read_logs()
        more = self.expanded != self.counts
        if self.limits.stop_at_first and any(self.program.events[e].is_violation for e in self.first):
            if more or self.growth.dropped:
                self.budget = "stopped at the first violation"
        elif self.limits.until is not None and any(
            self.program.events[e].kind is self.limits.until for e in self.first
        ):
            self.budget = self.budget or f"stopped at the first {self.limits.until.value}"
        elif must_grow:
            self.growth.grow()
        self._check_time(more)
        if self._saving is not None and more and self.budget is None:
            self._saving.now_and_then(self)
        self._consider_improving(more)
        self._tell()

    def _run_threads(self, helpers: ThreadPoolExecutor | None) -> bool:
        """Let compiled code run to the END of each shard, or some levels on; whether something has to grow."""
        ends = [int(s.block.words[c.END]) for s in self.shards]
        expanded = sum(self.parents[-1])
        small = sum(ends) - expanded < self._alone
        # Who may stop after any batch does so after the same one with any number of threads.
        lonely = helpers is None and not self.limits.stop_at_first and self.limits.until is None
        shared = self._shared
        shared[c.ARRIVED] = shared[c.LEVEL_COUNT] = 0
        deepen = (lonely or small) and tuple(ends) == self.starts[-1] and not self.growth.final
        shared[c.LEVEL_MOST] = _LEVELS if deepen else 0
        shared[c.STOP] = expanded + (self._chunk if lonely else self._alone)
        shared[c.EACH] = self._chunk // len(self.shards)
        threads = 1 if helpers is None or small else self._threads
        share = len(self.shards) // threads
        run, blocks = self.native.kernels.run, self._blocks.ctypes.data

        def part(me: int) -> int:
            last = len(self.shards) if me == threads - 1 else (me + 1) * share
            return run(blocks, me * share, last, shared.ctypes.data, threads, me)

        try:
            others = [helpers.submit(part, me) for me in range(1, threads)] if helpers else []
            answer = part(0)
            for other in others:
                other.result()
        except BaseException:
            # Those that were submitted would wait for this thread forever, and whoever ends `helpers` for them.
            shared[c.ABORT] = 1
            raise
        for level in self._levels[: shared[c.LEVEL_COUNT]].tolist():
            self.starts.append(level)
        return bool(answer)

    def _run_exactly(self) -> bool:
        """One round, shard by shard, such that no state beyond the state budget is kept."""
        for shard in self.shards:
            words, first = shard.block.words, shard.expanded
            last = min(int(words[c.END]), first + c.ROWS)
            if last > first:
                words[c.NEXT] = self.native.expand(shard.block.address, first, last)
            else:
                shard.block.rewind()
        for number, shard in enumerate(self.shards):
            for source in self.shards:
                records = source.block.records(number)
                # On a long chain of single states most shards have none, and asking for room takes the longest.
                if len(records):
                    self.growth.prepare(number, len(records))
                    self.native.kernels.insert(shard.block.address, records.ctypes.data, len(records))
        self.growth.update()
        return False

    def _read_logs(self) -> None:
        """Take over what compiled code noted; of occurrences in several shards the nearest to the start counts."""
        for number, shard in enumerate(self.shards):
            words = shard.block.words
            for word, bits, state, instance in shard.block.log[: words[c.LOG_COUNT]].tolist():
                found = Occurrence(Found(number, state), instance if instance >= 0 else None)
                for bit in range(64):
                    if bits >> bit & 1:
                        known = self.first.get(64 * word + bit)
                        if known is None or self._order(found) < self._order(known):
                            self.first[64 * word + bit] = found
            words[c.LOG_COUNT] = 0

    def _order(self, at: Occurrence) -> tuple[int, int, int]:
        return self.depth_of(at.state), at.state.number, at.state.shard

    def _check_time(self, more: bool) -> None:
        limit = self.limits.seconds
        if more and limit is not None and self.budget is None and time.perf_counter() - self._started > limit:
            self.budget = f"time limit of {limit:g} s ran out"
        if more and self.budget is None and self.stopped:
            self.budget = INTERRUPTED

    def _consider_improving(self, more: bool) -> None:
        """Start to compile well once the search has lasted as long as that takes."""
        waited = time.perf_counter() - self._started
        if more and self._improving is None and waited > self.native.improving_seconds:
            self._improving = threading.Thread(target=self.native.improve)
            self._improving.start()

    def _tell(self, last: bool = False) -> None:
        now = time.perf_counter()
        if self._report is None or not (last or now - self._reported >= _PROGRESS_SECONDS):
            return
        self._reported = now
        queue = self.count - sum(self.expanded)
        level = max(0, self._level)
        self._report(Progress(self.count, self.transitions, level, queue, self.memory, now - self._started))


__all__ = ["INTERRUPTED", "Found", "Keeper", "Occurrence", "Search"]
