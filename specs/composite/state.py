"""What a state of the composite spec consists of."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

from model.language import Expr, Machine, Sort, all_, any_, count_, first, implies, ite, sum_, when
from specs.composite.parameters import Levels
from specs.kubernetes.state import Queue


class Child(Sort):
    """A PodGroup with the gang policy below the root. They are judged in this order."""


class Middle(Sort):
    """A CompositePodGroup between the root and some leaf groups, of any level; it is placed where the root is."""


class Rack(Sort):
    """A topology domain of a leaf group."""


class Block(Sort):
    """A topology domain of the root: some racks."""


class Outcome(enum.Enum):
    """What became of a block in the cycle that runs."""

    UNTRIED = 0
    TRYING = 1
    FEASIBLE = 2
    INFEASIBLE = 3


class Tree:
    """The variables. Of a child, ``seen`` pods exist; ``assumed`` ones are being bound, ``bound`` ones run. In a cycle
    ``proposed`` pods have a rack in the ``snapshot``, for every block that was tried, of those that were ``queued`` as
    it began; ``judged`` is about the block that is being tried."""

    def __init__(
        self,
        m: Machine,
        pods: Sequence[int],
        min_count: int,
        levels: Levels,
        blocks: int,
        slots: Sequence[int],
        busy: int,
        failures: int,
        changes: int,
    ) -> None:
        self.min_count, self.levels = min_count, levels
        m.sort(Child, len(pods), ordered=True)
        if levels.sizes:
            self._composites(m, levels)
        m.sort(Rack, len(slots))
        m.sort(Block, blocks)
        count, room = range(max(pods) + 1), range(max(slots) + 1)
        per_block = len(slots) // blocks
        self.pods = m.constant("pods", Child, pods)
        self.slots = m.constant("slots", Rack, slots)
        self.block = m.constant("block", Rack, [i // per_block for i in range(len(slots))])
        self.number = m.constant("number", Block, list(range(blocks)))
        self.seen = m.variable("seen", Child, count, init=0)
        self.queued = m.variable("queued", Child, count, init=0)
        self.queue = m.scalar("queue", Queue, init=Queue.OUTSIDE)
        self.outcome = m.variable("outcome", Block, Outcome, init=Outcome.UNTRIED)
        self.judged = m.variable("judged", Child, bool, init=False)
        self.proposed = m.variable("proposed", (Child, Rack), count, init=0)
        self.assumed = m.variable("assumed", (Child, Rack), count, init=0)
        self.bound = m.variable("bound", (Child, Rack), count, init=0)
        full = [slots[i] if i >= len(slots) - busy else 0 for i in range(len(slots))]
        self.busy = m.variable("busy", Rack, room, init=full)
        self.snapshot = m.variable("snapshot", Rack, room, init=0)
        self.event_seen = m.scalar("event_seen", bool, init=False)
        self.changed = m.scalar("changed", bool, init=False)
        self.changes = m.scalar("changes", range(changes + 1), init=0)
        self.failures = m.scalar("failures", range(failures + 1), init=0)
        self.done = m.scalar("done", bool, init=False)

    def _composites(self, m: Machine, levels: Levels) -> None:
        places = list(levels.places())
        m.sort(Middle, len(places))
        self.level = m.constant("level", Middle, [level for level, _ in places])
        above = [
            [int(levels.above_child(c, level) == place) for level, place in places] for c in range(levels.children)
        ]
        self.above = m.constant("above", (Child, Middle), above)
        inside = [[int(levels.above(*h) == g) for g in places] for h in places]
        self.inside = m.constant("inside", (Middle, Middle), inside)

    # ---- pods

    def placed_in(self, c: Child, r: Rack) -> Expr:
        """Pods of a child in a rack."""
        return self.assumed[c, r] + self.bound[c, r]

    def placed(self, c: Child) -> Expr:
        """Pods of a child that have a rack."""
        return sum_(self.placed_in(c, r) for r in Rack)

    def used(self, r: Rack) -> Expr:
        """Slots of a rack that are taken."""
        return self.busy[r] + sum_(self.placed_in(c, r) for c in Child)

    def is_placed(self, c: Child) -> Expr:
        """Whether the child has its gang."""
        return self.placed(c) >= self.min_count

    def is_below(self, c: Child, g: Middle) -> Expr:
        """Whether the child is below the composite, on whatever level that is."""
        return self.above[c, g] == 1

    def enough_below(self, g: Middle, has: Callable[[Child], Expr]) -> Expr:
        """Whether enough below the composite have something: of its children, or of composites that have enough."""
        lowest = len(self.levels.sizes) - 1
        found = self._enough_below(g, has, lowest)
        for level in range(lowest):
            found = ite(self.level[g] == level, self._enough_below(g, has, level), found)
        return found

    def _enough_below(self, g: Middle, has: Callable[[Child], Expr], level: int) -> Expr:
        if level == len(self.levels.sizes) - 1:
            return count_(ite(self.is_below(c, g), has(c), False) for c in Child) >= self.levels.least[level]
        within = count_(ite(self.inside[h, g] == 1, self._enough_below(h, has, level + 1), False) for h in Middle)
        return within >= self.levels.least[level]

    def enough(self, has: Callable[[Child], Expr]) -> Expr:
        """Whether enough children have something, for the root: on each level below it enough of what is there."""
        if not self.levels.sizes:
            return count_(has(c) for c in Child) >= self.levels.min_groups
        return (
            count_(ite(self.level[g] == 0, self._enough_below(g, has, 0), False) for g in Middle)
            >= self.levels.min_groups
        )

    def has_quorum(self) -> Expr:
        """Whether enough children have enough pods to be judged."""
        return self.enough(lambda c: self.seen[c] >= self.min_count)

    def runs(self) -> Expr:
        """Whether enough gangs are bound."""
        return self.enough(lambda c: sum_(self.bound[c, r] for r in Rack) >= self.min_count)

    # ---- the cycle

    def cycles(self) -> Expr:
        """Whether the root's cycle runs."""
        return self.queue == Queue.POPPED

    def is_trying(self) -> Expr:
        """Whether a block is being tried."""
        return any_(self.outcome[b] == Outcome.TRYING for b in Block)

    def holds_placed(self, b: Block) -> Expr:
        """Whether all pods that are placed are in this block."""
        return all_(implies(self.placed_in(c, r) > 0, self.block[r] == self.number[b]) for c in Child for r in Rack)

    def is_open(self, b: Block) -> Expr:
        """Whether the block is still to be tried."""
        return (self.outcome[b] == Outcome.UNTRIED) & self.holds_placed(b)

    def all_tried(self) -> Expr:
        """Whether every candidate block was tried."""
        return ~self.is_trying() & all_(~self.is_open(b) for b in Block) & ~self.changed

    def is_tried(self, r: Rack) -> Expr:
        """Whether the rack is in the block that is being tried."""
        return any_((self.outcome[b] == Outcome.TRYING) & (self.number[b] == self.block[r]) for b in Block)

    def is_next(self, c: Child) -> Expr:
        """Whether the child is the next to be judged in a block that is being tried, and not hopeless."""
        trying = any_((self.outcome[b] == Outcome.TRYING) & self.can_succeed(b) for b in Block)
        return trying & first(c, lambda d: ~self.judged[d])

    def room(self, r: Rack) -> Expr:
        """Slots of a rack that the snapshot and what is proposed leave."""
        return self.slots[r] - self.snapshot[r] - sum_(self.proposed[c, r] for c in Child)

    def fill(self, c: Child, r: Rack) -> Expr:
        """How many of a child's pods that this cycle judges a rack takes."""
        return ite(self.queued[c] < self.room(r), self.queued[c], self.room(r))

    def fits(self, c: Child, r: Rack) -> Expr:
        """Whether a rack takes the child's gang; pods that are placed already leave no choice."""
        elsewhere = any_((s != r) & (self.placed_in(c, s) > 0) for s in Rack)
        return ~elsewhere & (self.fill(c, r) + self.placed(c) >= self.min_count)

    def has_gang(self, c: Child, b: Block) -> Expr:
        """Whether the child has its gang with what is proposed in a block."""
        return self.score_of(c, b) + self.placed(c) >= self.min_count

    def may_have_gang(self, c: Child, b: Block) -> Expr:
        """Whether the child is still to be judged in a block, or has its gang there."""
        return ~self.judged[c] | self.has_gang(c, b)

    def can_succeed(self, b: Block) -> Expr:
        """PlacementFeasible of the root: enough children are placed, counting those that are still to be judged."""
        return self.enough(lambda c: self.may_have_gang(c, b))

    def fails(self, g: Middle, b: Block) -> Expr:
        """A composite below the root is not feasible in a block any more."""
        return ~self.enough_below(g, lambda c: self.may_have_gang(c, b))

    def settled(self) -> tuple[Expr, ...]:
        """Guards: every composite that fails in the block that is being tried was rolled back there. None are needed
        where the block fails with any of them."""
        settled = (
            ite(self.outcome[b] == Outcome.TRYING, ~self.fails(g, b) | self.is_rolled_back(g, b), True)
            for g in Middle
            for b in Block
        )
        return (all_(settled),) if self.levels.spares else ()

    def is_rolled_back(self, g: Middle, b: Block) -> Expr:
        """Whether nothing in a block is, or will be, proposed for the composite's children."""
        return all_(implies(self.is_below(c, g), self.judged[c] & (self.score_of(c, b) == 0)) for c in Child)

    def score_of(self, c: Child, b: Block) -> Expr:
        """Pods of a child that are proposed in a block."""
        return sum_(ite(self.block[r] == self.number[b], self.proposed[c, r], 0) for r in Rack)

    def score(self, b: Block) -> Expr:
        """Pods of all leaves that are proposed in a block."""
        return sum_(self.score_of(c, b) for c in Child)

    # ---- parts of actions

    def wake(self) -> None:
        """Something happened that may help: the root leaves the unschedulable ones, or its cycle takes note."""
        waits = self.queue == Queue.UNSCHEDULABLE
        with when(self.cycles()):
            self.event_seen.next = True
        with when(waits):
            self.queue.next = Queue.ACTIVE

    def end_cycle(self) -> None:
        """The snapshot and what was tried in it are dropped."""
        self.event_seen.next = False
        for b in Block:
            self.outcome[b] = Outcome.UNTRIED
        for r in Rack:
            self.snapshot[r] = 0
        for c in Child:
            self.judged[c] = False
            self.queued[c] = 0
            for r in Rack:
                self.proposed[c, r] = 0
