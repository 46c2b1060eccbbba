"""What a finished search did not see: see `model.coverage`. Everything is computed from the table of states.

Idle steps (that leave a state as it was) are found without expanding anything: for each instance there is a condition
that it fires and changes nothing, and for nearly all instances it folds to FALSE before anything is computed. The rest
is looked at in every state, however many there are: of a part of them the counts would be false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.coverage import Blocked, Idle, Stuck, Unseen
from model.explore.coverage.blocked import Blockers
from model.explore.coverage.values import Values
from model.explore.search.budget import Budget, OutOfTime
from model.explore.search.search import Found, Occurrence, Search
from model.explore.traces.recover import Recovery
from model.lowering.ground import Node, equality
from model.lowering.grounding import Grounder
from model.lowering.lower import Instance, Write
from model.semantics import Semantics

_PART: Final = 1 << 16
_LEAST_CASES: Final = 20_000_000
_CASES_A_STEP: Final = 2  # a case costs a small part of what a step of the search does


def unseen(search: Search, recovery: Recovery, budget: Budget) -> Unseen:
    """What ``search`` did not see, as far as the time of ``budget`` allows; values, which take the least, always.

    Of a search that is not complete only the values are told, those of the states found.
    """
    machine = search.program.machine
    values = Values(machine, search.program.layout)
    for _, _, states in _parts(search):
        values.look(states)
    if not search.complete:
        return Unseen((), values.taken() if search.count else (), (), None, search.budget)
    grounder = Grounder(machine, search.program.graph)
    most_cases = max(_LEAST_CASES, _CASES_A_STEP * search.transitions)
    silent = [a for a, fired in zip(machine.actions, search.fired, strict=True) if not fired]
    blocked: list[Blocked] = []
    idle: tuple[Idle, ...] = ()
    stuck: Stuck | None = None

    def timed() -> Iterator[tuple[int, int, NDArray[np.uint64]]]:
        for part in _parts(search):
            budget.check_time()
            yield part

    try:
        budget.check_time()
        steps = _IdleSteps(search, grounder)
        steps.count(timed)
        idle = steps.found()
        stuck = steps.stuck(recovery)
        semantics = Semantics(machine)
        cases_each = most_cases // max(1, len(silent))
        blockers = Blockers(semantics, search.program, search.native, grounder, search.count, cases_each)
        for action in silent:
            blocked.append(blockers.explain(action, lambda: (states for _, _, states in timed())))
    except OutOfTime as out:
        return Unseen(tuple(blocked), values.taken(), idle, stuck, str(out))
    return Unseen(tuple(blocked), values.taken(), idle, stuck)


def _parts(search: Search) -> Iterator[tuple[int, int, NDArray[np.uint64]]]:
    """All packed states: shard, number of the first, and some of its states, in the order found."""
    for shard, each in enumerate(search.shards):
        states = each.states
        for first in range(0, len(states), _PART):
            yield shard, first, np.ascontiguousarray(states[first : first + _PART])


class _IdleSteps:
    """Counts the steps that change nothing, action by action; and finds the states with no others."""

    def __init__(self, search: Search, grounder: Grounder) -> None:
        self._search = search
        self._grounder = grounder
        self._graph = search.program.graph
        self._unchanged = {i.number: self._nothing_changes(i) for i in search.program.instances}
        conditions = [
            (i.action, self._graph.both([*i.conjuncts, self._unchanged[i.number]])) for i in search.program.instances
        ]
        self._conditions: Final = [(action, node) for action, node in conditions if node is not self._graph.false]
        self._counts = np.zeros(search.program.actions, np.int64)
        # Of each part the rows of states that some step leaves as they are.
        self._rows: Final[list[tuple[int, int, NDArray[np.int64]]]] = []

    def _nothing_changes(self, instance: Instance) -> Node:
        """Where the instance, if it fires, has a state after it and that is the one before."""
        graph = self._graph
        known = {
            node.value: value for node, value in filter(None, map(equality, instance.conjuncts)) if node.op == "cell"
        }
        same = [self._kept(write, known) for write in instance.writes]
        # A cell that leaves its range changes.
        return graph.both([*same, graph.no(instance.write_fault)])

    def _kept(self, write: Write, known: dict[int, int]) -> Node:
        graph = self._graph
        if write.delta is not None:
            return graph.equal(write.delta, graph.const(0))
        old = self._grounder.read(write.cell)
        if write.cell in known:
            value = known[write.cell]
            old = graph.truth(bool(value)) if old.boolean else graph.const(value)
        return graph.equal(write.value, old)

    def count(self, parts: Callable[[], Iterator[tuple[int, int, NDArray[np.uint64]]]]) -> None:
        """Look at all states, ``parts``."""
        if not self._conditions:
            return
        looks = [
            self._search.native.predicates_of([node for _, node in self._conditions[first : first + 64]])
            for first in range(0, len(self._conditions), 64)
        ]
        for shard, start, states in parts():
            some = np.zeros(len(states), bool)
            words = np.empty(len(states), np.uint64)
            for number, look in enumerate(looks):
                look(states.ctypes.data, len(states), words.ctypes.data)
                hit = words != 0
                if hit.any():
                    some |= hit
                    self._add(number * 64, words[hit])
            if some.any():
                self._rows.append((shard, start, np.flatnonzero(some)))

    def _add(self, first: int, words: NDArray[np.uint64]) -> None:
        bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").sum(axis=0)
        for (action, _), n in zip(self._conditions[first : first + 64], bits.tolist(), strict=False):
            self._counts[action] += n

    def found(self) -> tuple[Idle, ...]:
        """The actions with such steps."""
        return tuple(
            Idle(action.name, int(n), fired)
            for action, n, fired in zip(
                self._search.program.machine.actions, self._counts, self._search.fired, strict=True
            )
            if n
        )

    def stuck(self, recovery: Recovery) -> Stuck | None:
        """The states with only such steps that are no end; None if there is none."""
        if not self._rows:
            return None
        graph, program = self._graph, self._search.program
        moving = graph.either(
            [graph.both([*i.conjuncts, graph.no(self._unchanged[i.number])]) for i in program.instances]
        )
        look = self._search.native.predicates_of([graph.both([graph.no(moving), graph.no(program.terminal)])])
        total, nearest = 0, list[Found]()
        for shard, start, rows in self._rows:
            states = np.ascontiguousarray(self._search.shards[shard].states[rows + start])
            words = np.empty(len(states), np.uint64)
            look(states.ctypes.data, len(states), words.ctypes.data)
            hits = rows[words != 0]
            total += len(hits)
            if len(hits):
                nearest.append(Found(shard, start + int(hits[0])))
        if not nearest:
            return None
        at = min(nearest, key=lambda each: (self._search.depth_of(each), each.number, each.shard))
        return Stuck(total, recovery.trace(Occurrence(at, None)))


__all__ = ["unseen"]
