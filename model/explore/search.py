"""Breadth-first search over packed states, level by level; the inner loop is compiled, growth and budgets are decided
here.

States lie in one array in the order in which they were found, so a level is a range of numbers and states nearer to
the start come first. A state's predecessor is not stored: the batch that found it is known, and expanding that batch
again tells which state and which instance led to it.
"""

from __future__ import annotations

import bisect
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore import context as c
from model.explore.initial import initial_batches
from model.explore.lower import Program
from model.explore.memory import Array, default_budget
from model.explore.native import Native

_LOAD = 3 / 4  # the table grows beyond this
_FULL = 15 / 16  # and, if it may not grow, takes no more than this
_FIRST_BITS = 14
_MOST_BITS = 32
_ROWS = 4096
_CHUNK = 1 << 14
_BATCH = 1024
_PROGRESS_SECONDS = 0.1
_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an exploration is. ``queue``: states found, not yet expanded. ``depth``: of the level being expanded."""

    states: int
    transitions: int
    depth: int
    queue: int
    memory_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets; None is no limit, but for ``memory`` (bytes) a share of what is free. ``seconds`` of search."""

    memory: int | None = None
    states: int | None = None
    seconds: float | None = None
    stop_at_first: bool = False


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where an event occurred first: in this state, or in the step of this instance from it."""

    state: int
    instance: int | None


class Context:
    """The words that compiled code reads and writes, and the arrays that belong to one user of the code."""

    def __init__(self, program: Program, records: int) -> None:
        self.words = np.zeros(c.SIZE, np.int64)
        self.record_words: Final = program.layout.words + 1
        self.batch: Final = records
        self.out = np.zeros((records, self.record_words), np.uint64)
        self.ends = np.zeros(_ROWS, np.uint32)
        self.indices = np.zeros(records, np.uint32)
        self.seen = np.zeros(len(program.events) // 64 + 1, np.uint64)
        self.fired = np.zeros(program.actions, np.int64)
        self.log = np.zeros((len(program.events) + 1, c.LOG_WORDS), np.int64)
        self.rows: Final = _ROWS
        for slot, array in (
            (c.OUT, self.out),
            (c.ENDS, self.ends),
            (c.SEEN, self.seen),
            (c.FIRED, self.fired),
            (c.LOG, self.log),
            (c.INDICES, self.indices),
        ):
            self.words[slot] = array.ctypes.data
        self.words[c.OUT_END] = self.out.ctypes.data + self.out.nbytes
        self.words[c.BATCH] = records
        self.words[c.ROWS] = _ROWS
        self.address: Final = int(self.words.ctypes.data)

    @property
    def nbytes(self) -> int:
        """All its memory."""
        arrays = (self.words, self.out, self.ends, self.indices, self.seen, self.fired, self.log)
        return sum(a.nbytes for a in arrays)


def batch_records(program: Program) -> int:
    """Records that a batch has room for: those of one state fit in any case."""
    return _BATCH + len(program.instances)


class Search:
    """One exploration. After `run`: ``complete``, or ``budget`` says what ran out."""

    def __init__(
        self,
        program: Program,
        native: Native,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
        first_bits: int = _FIRST_BITS,
    ) -> None:
        self.program = program
        self.native = native
        self.limits = limits
        self.width: Final = 8 * program.layout.words
        self.first: dict[int, Occurrence] = {}
        self.starts: list[int] = [0]
        self.budget: str | None = None
        self.seconds = 0.0
        self._report = progress
        self._context = Context(program, batch_records(program))
        self._bits = first_bits
        self._table = Array(4 << first_bits)
        self._states = Array(self.width * (2 * self._context.batch + (1 << first_bits)))
        # Parallel: from mark i on, parents from number _parents[i] found states from number _children[i].
        self._parents: list[int] = []
        self._children: list[int] = []
        self._improving: threading.Thread | None = None
        self._started = 0.0
        self._reported = 0.0
        self._peak = 0
        # Why nothing can grow any more, and where states were first dropped for it.
        self._final: str | None = None
        self._lost: int | None = None
        if self.memory + self._context.batch * self.width > self._memory_limit():
            self._final = self._memory_words()
        self._connect()

    # ---- what was found

    @property
    def count(self) -> int:
        """Number of states."""
        return int(self._context.words[c.COUNT_STATES])

    @property
    def expanded(self) -> int:
        """Number of states whose steps were computed."""
        return int(self._context.words[c.NEXT])

    @property
    def fired(self) -> list[int]:
        """How often each action was enabled, with any arguments."""
        return [int(n) for n in self._context.fired]

    @property
    def transitions(self) -> int:
        """Enabled instances over all expanded states."""
        return int(self._context.fired.sum())

    @property
    def complete(self) -> bool:
        """Whether all reachable states were found and expanded."""
        return self.budget is None

    @property
    def initial_count(self) -> int:
        """Number of initial states; they come first."""
        return self.starts[1] if len(self.starts) > 1 else self.count

    @property
    def memory(self) -> int:
        """Bytes in use now: states, table, buffers, marks."""
        marks = 16 * len(self._parents)
        return self.count * self.width + self._table.size + self._context.nbytes + marks

    @property
    def peak_memory(self) -> int:
        """Most bytes in use at any moment."""
        return max(self._peak, self.memory)

    @property
    def spare_memory(self) -> int:
        """Bytes of the memory budget that are not in use."""
        return self._memory_limit() - self.memory

    @property
    def states(self) -> NDArray[np.uint64]:
        """The packed states in the order found: shape (count, words)."""
        words = self.program.layout.words
        return self._states.view(self.count * words).reshape(self.count, words)

    def depth_of(self, state: int) -> int:
        """Steps of a shortest path to state number ``state``."""
        return bisect.bisect_right(self.starts, state) - 1

    @property
    def depth(self) -> int:
        """Steps to the farthest state found."""
        return self.depth_of(self.count - 1) if self.count else 0

    @property
    def complete_depth(self) -> int:
        """All states up to this depth were found; -1 if not even all initial ones."""
        if self.complete:
            return self.depth
        lost = self.expanded if self._lost is None else min(self._lost, self.expanded)
        return self.depth_of(lost) if len(self.starts) > 1 and lost >= 0 else -1

    def parents_of(self, state: int) -> range:
        """Numbers of states one of which leads to ``state``, which is not initial, on a shortest path."""
        mark = bisect.bisect_right(self._children, state) - 1
        end = self._parents[mark + 1] if mark + 1 < len(self._parents) else self.expanded
        return range(self._parents[mark], end)

    def scratch(self, records: int = 0) -> Context:
        """A context of its own over this search's states and table, for looking things up."""
        context = Context(self.program, max(records, self._context.batch))
        for slot in (c.STATES, c.COUNT_STATES, c.TABLE, c.BITS):
            context.words[slot] = self._context.words[slot]
        # All events count as seen, so nothing is noted.
        context.seen[:] = np.uint64(2**64 - 1)
        return context

    # ---- the search

    def run(self) -> None:
        """Explore until done, or until a budget runs out."""
        self._started = time.perf_counter()
        try:
            self._find_initial()
            while self.budget is None and self.expanded < self.count:
                if self.expanded == self.starts[-1]:
                    self.starts.append(self.count)
                self._advance(self.starts[-1])
            if self.budget is None and self._context.words[c.DROPPED]:
                self.budget = self._budget_words
        finally:
            if self._improving is not None:
                self._improving.join()
            self.seconds = time.perf_counter() - self._started
        self._tell(last=True)

    def _find_initial(self) -> None:
        words = self._context.words
        for batch in initial_batches(self.program, self.native, self._context.batch):
            while words[c.PAUSE] < self.count + len(batch):
                self._grow()
            words[c.COUNT] = len(batch)
            self.native.kernels.records(self._context.address, batch.ctypes.data)
            self.native.kernels.insert(self._context.address)
            if words[c.DROPPED]:
                self._lost = -1
                return
            self._check_time(True)
            if self.budget is not None:
                self._lost = -1
                return

    def _advance(self, level_end: int) -> None:
        """Expand some states of the level; grow if there is need."""
        words = self._context.words
        words[c.END] = min(level_end, self.expanded + _CHUNK)
        self._parents.append(self.expanded)
        self._children.append(self.count)
        words[c.EXPAND] = self.native.expand_address
        must_grow = self.native.kernels.run(self._context.address)
        if words[c.DROPPED] and self._lost is None:
            self._lost = self._parents[-1]
        self._read_log()
        if self.limits.stop_at_first and any(self.program.events[e].is_violation for e in self.first):
            if self.expanded < self.count or words[c.DROPPED]:
                self.budget = "stopped at the first violation"
        elif must_grow:
            self._grow()
        self._check_time(self.expanded < self.count)
        self._consider_improving()
        self._tell()

    def _consider_improving(self) -> None:
        """Start to compile well once the search has lasted as long as that takes."""
        waited = time.perf_counter() - self._started
        if self._improving is None and self.expanded < self.count and waited > self.native.improving_seconds:
            self._improving = threading.Thread(target=self.native.improve)
            self._improving.start()

    def _read_log(self) -> None:
        """Take over what compiled code noted."""
        words = self._context.words
        for word, bits, state, instance in self._context.log[: words[c.LOG_COUNT]].tolist():
            for bit in range(64):
                if bits >> bit & 1:
                    self.first[64 * word + bit] = Occurrence(state, instance if instance >= 0 else None)
        words[c.LOG_COUNT] = 0

    def _check_time(self, more: bool) -> None:
        limit = self.limits.seconds
        if more and limit is not None and self.budget is None and time.perf_counter() - self._started > limit:
            self.budget = f"time limit of {limit:g} s ran out"

    def _tell(self, last: bool = False) -> None:
        now = time.perf_counter()
        if self._report is None or not (last or now - self._reported >= _PROGRESS_SECONDS):
            return
        self._reported = now
        level, queue = max(0, len(self.starts) - 2), self.count - self.expanded
        self._report(Progress(self.count, self.transitions, level, queue, self.memory, now - self._started))

    # ---- growth

    def _memory_limit(self) -> int:
        """Bytes that may be in use. Without a budget: what is used and a share of what is free now."""
        return self.memory + default_budget() if self.limits.memory is None else self.limits.memory

    def _memory_words(self) -> str:
        if self.limits.memory is None:
            return "memory ran out"
        return f"memory budget of {self.limits.memory:,} bytes ran out"

    def _grow(self) -> None:
        """A larger table, or more room for states. What cannot grow makes everything final."""
        try:
            if self.count + self._context.batch > int(_LOAD * (1 << self._bits)):
                self._grow_table()
            if self._final is None and self.count + self._context.batch > self._states.size // self.width:
                self._grow_states()
        except MemoryError:
            self._final = self._memory_words()
        self._connect()

    def _grow_table(self) -> None:
        bits, size = self._bits + 1, 8 << self._bits
        if bits > _MOST_BITS:
            self._final = f"the room for {int(_FULL * (1 << _MOST_BITS)):,} states, which is the most, ran out"
            return
        if self.memory + size > self._memory_limit():
            self._final = self._memory_words()
            return
        larger = Array(size)
        self._peak = max(self._peak, self.memory + size)
        words = self._context.words
        words[c.NEW_TABLE], words[c.NEW_BITS] = larger.address, bits
        self.native.kernels.rehash(self._context.address)
        self._table, self._bits = larger, bits

    def _grow_states(self) -> None:
        rows = min(2 * (self._states.size // self.width), self._affordable())
        if rows < self.count + self._context.batch:
            self._final = self._memory_words()
        else:
            self._states.grow(rows * self.width)

    def _affordable(self) -> int:
        """The most states that the memory budget has room for beside everything else."""
        return max(0, self._memory_limit() - (self.memory - self.count * self.width)) // self.width

    def _connect(self) -> None:
        """Tell compiled code where the arrays are, when to come back for growth, and how many states there may be."""
        words = self._context.words
        most = _NEVER if self.limits.states is None else self.limits.states
        if self._final is None:
            words[c.PAUSE] = min(self._states.size // self.width, int(_LOAD * (1 << self._bits)))
        else:
            words[c.PAUSE] = _NEVER
            last = max(self.count, min(int(_FULL * (1 << self._bits)), self._affordable()))
            if last > self._states.size // self.width:
                try:
                    self._states.grow(last * self.width)
                except MemoryError:
                    last = self._states.size // self.width
            most = min(most, last)
        words[c.LIMIT] = most
        words[c.STATES], words[c.TABLE], words[c.BITS] = self._states.address, self._table.address, self._bits

    @property
    def _budget_words(self) -> str:
        """Which budget made compiled code drop states."""
        most = self.limits.states
        if most is not None and self.count >= most:
            return f"state budget of {most:,} ran out"
        return self._final or self._memory_words()


__all__ = ["Context", "Limits", "Occurrence", "Progress", "Search", "batch_records"]
