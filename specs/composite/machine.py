"""CompositePodGroup: a root of several PodGroups is placed top-down, in a block of racks, each group in one rack.

Candidate placements of the root are blocks, those of a group the racks of the block that is being tried. Children are
judged in a fixed order and nothing that was found for one is given up for the next: there is no backtracking. What a
candidate found is kept beside that of the others, on its own racks, until the best is chosen.
"""

from __future__ import annotations

from model.language import Machine, all_, any_, implies, ite, require, sum_, when
from specs.composite.parameters import levels
from specs.composite.properties import declare_decision, declare_placements, declare_progress
from specs.composite.state import Block, Child, Middle, Outcome, Rack, Tree
from specs.kubernetes.state import Queue
from specs.parameters import check_each, check_product, check_size


def composite(
    children: int = 2,
    pods: int | tuple[int, ...] = 2,
    min_count: int = 2,
    min_groups: int = 2,
    middles: int | tuple[int, ...] = 0,
    middle_min: int | tuple[int, ...] = 1,
    blocks: int = 2,
    slots: tuple[int, ...] = (1, 2, 2, 2),
    busy: int = 1,
    failures: int = 1,
    changes: int = 1,
) -> Machine:
    """Kubernetes' CompositePodGroup cycle: quorum, candidates inside candidates, rollback of a child, best placement.

    ``children`` PodGroups of ``pods`` pods (one number, or one per child), each a gang of ``min_count``; ``min_groups``
    of them are needed. ``middles``: so many CompositePodGroups stand between the root and the children, which are dealt
    out to them in order; then ``min_groups`` of those are needed, each with ``middle_min`` children. Two numbers, of
    each of both, are two levels of composites, from the top. ``slots``: pods that each rack has room for; racks are
    dealt out to ``blocks`` in order. ``busy``: so many of the last racks are full at first. ``failures``: bindings that
    may fail; ``changes``: how often the hierarchy may change while it waits for its cycle. ValueError for sizes that
    make no sense.
    """
    each = (pods,) * children if isinstance(pods, int) else tuple(pods)
    for name, value, least in (("children", children, 1), ("blocks", blocks, 1), ("min_count", min_count, 1)):
        check_size(name, value, least=least, most=8)
    composites = levels(children, min_groups, middles, middle_min)
    check_size("failures", failures, least=0, most=8)
    check_size("changes", changes, least=0, most=8)
    check_size("the number of racks in slots", len(slots), most=32)
    check_product({"children": children, "racks": len(slots)}, 96)
    check_each("slots", slots, len(slots), "rack", least=0, most=16)
    check_size("busy", busy, least=0, most=len(slots))
    check_each("pods", each, children, "child", least=min_count, most=16)
    if len(slots) % blocks:
        raise ValueError(f"slots has the same number of racks for each of {blocks} blocks, found {len(slots)}")
    m = Machine("composite", doc="Kubernetes CompositePodGroup scheduling, alpha in 1.37")
    t = Tree(m, each, min_count, composites, blocks, slots, busy, failures, changes)
    m.attach(t)
    _queue(m, t, changes)
    _place(m, t)
    _decide(m, t)
    _bind(m, t, failures, busy)
    declare_placements(m, t)
    declare_decision(m, t, changes)
    declare_progress(m, t, failures, busy)
    return m


def _queue(m: Machine, t: Tree, changes: int) -> None:
    @m.action
    def create_pod(c: Child) -> None:
        """The scheduler sees one more pod of a leaf group; an unschedulable root is tried again (K14)."""
        require(t.seen[c] < t.pods[c], ~t.done)
        t.seen[c] += 1
        t.wake()

    @m.action
    def reach_quorum() -> None:
        """minGroupCount children have seen minCount pods each: the root enters activeQ (K14)."""
        require(t.queue == Queue.OUTSIDE, ~t.done, t.has_quorum(), any_(t.seen[c] > t.placed(c) for c in Child))
        t.queue.next = Queue.ACTIVE

    @m.action
    def backoff_expires() -> None:
        """The root was held back long enough (K8)."""
        require(t.queue == Queue.BACKOFF)
        t.queue.next = Queue.ACTIVE

    @m.action
    def pop_root() -> None:
        """The root's cycle begins with all pods that are pending, and one snapshot for the whole hierarchy: pods that
        come later are of the next cycle (K3, K15)."""
        require(t.queue == Queue.ACTIVE)
        t.queue.next = Queue.POPPED
        for c in Child:
            t.queued[c] = t.seen[c] - t.placed(c)
        for r in Rack:
            t.snapshot[r] = t.used(r)

    if changes:

        @m.action
        def change_hierarchy() -> None:
            """A group is added or taken away between the queue and the snapshot (K15)."""
            require(t.queue == Queue.ACTIVE, t.changes < changes)
            t.changes.next = t.changes + 1
            t.changed.next = True

        @m.action
        def stop_changed() -> None:
            """The snapshot shows another hierarchy than the queue had: the cycle stops, the root is queued again
            (K15)."""
            require(t.cycles(), t.changed)
            t.queue.next = Queue.ACTIVE
            t.changed.next = False
            t.end_cycle()


def _place(m: Machine, t: Tree) -> None:
    @m.action
    def try_block(b: Block) -> None:
        """A block is the next candidate placement of the root; pods that are placed already leave no choice (K11,
        K16)."""
        require(t.cycles(), ~t.changed, ~t.is_trying(), t.outcome[b] == Outcome.UNTRIED)
        require(t.holds_placed(b))
        t.outcome[b] = Outcome.TRYING
        for c in Child:
            t.judged[c] = False

    @m.action
    def place_child(c: Child, r: Rack) -> None:
        """The next child fits a rack of the block, none better: as many of its pods as have room are assumed in the
        snapshot, also beyond minCount (K16, K17, K18, K20)."""
        require(t.is_next(c), t.is_tried(r), t.fits(c, r), *t.settled())
        require(all_(~t.is_tried(q) | ~t.fits(c, q) | (t.fill(c, q) <= t.fill(c, r)) for q in Rack))
        t.proposed[c, r] = t.fill(c, r)
        t.judged[c] = True

    @m.action
    def fail_child(c: Child) -> None:
        """The next child fits no rack of the block: nothing of it stays assumed (K17)."""
        require(t.is_next(c), all_(~t.is_tried(r) | ~t.fits(c, r) for r in Rack), *t.settled())
        t.judged[c] = True

    if t.levels.spares:  # else the root fails with any of them

        @m.action
        def revert_group(g: Middle, b: Block) -> None:
            """Too few children of a composite below the root can still be placed: all that they were given in the block
            is rolled back, and the rest of them is not judged (K17)."""
            require(t.outcome[b] == Outcome.TRYING, t.can_succeed(b), t.fails(g, b), ~t.is_rolled_back(g, b))
            for c in Child:
                with when(t.is_below(c, g)):
                    t.judged[c] = True
                for r in Rack:
                    with when(t.is_below(c, g) & (t.block[r] == t.number[b])):
                        t.proposed[c, r] = 0

    @m.action
    def revert_block(b: Block) -> None:
        """Too few children can still be placed: all that the block was tried for is rolled back (K17)."""
        require(t.outcome[b] == Outcome.TRYING, ~t.can_succeed(b))
        t.outcome[b] = Outcome.INFEASIBLE
        for r in Rack:
            for c in Child:
                t.proposed[c, r] = ite(t.block[r] == t.number[b], 0, t.proposed[c, r])

    @m.action
    def accept_block(b: Block) -> None:
        """All children are judged and enough of them are placed: the block is feasible, and scored (K11, K18)."""
        require(t.outcome[b] == Outcome.TRYING, all_(t.judged[c] for c in Child), t.can_succeed(b))
        if t.levels.spares:
            require(all_(implies(t.fails(g, b), t.is_rolled_back(g, b)) for g in Middle))
        t.outcome[b] = Outcome.FEASIBLE


def _decide(m: Machine, t: Tree) -> None:
    @m.action
    def decide_success(b: Block) -> None:
        """The block with the highest score wins: what was found in it goes on to binding (K18, K19)."""
        require(t.cycles(), t.all_tried(), t.outcome[b] == Outcome.FEASIBLE, t.score(b) > 0)
        require(all_((t.outcome[d] != Outcome.FEASIBLE) | (t.score(d) <= t.score(b)) for d in Block))
        won = sum_(t.score_of(c, b) for c in Child)
        left = sum_(t.seen[c] - t.placed(c) for c in Child)
        t.queue.next = ite(left > won, Queue.BACKOFF, Queue.OUTSIDE)
        for r in Rack:
            for c in Child:
                t.assumed[c, r] += ite(t.block[r] == t.number[b], t.proposed[c, r], 0)
        t.end_cycle()

    @m.action
    def decide_unschedulable() -> None:
        """No block is feasible, or nothing new is placed: the whole root is unschedulable (K19)."""
        require(t.cycles(), t.all_tried())
        require(all_((t.outcome[b] != Outcome.FEASIBLE) | (t.score(b) == 0) for b in Block))
        t.queue.next = ite(t.event_seen, Queue.BACKOFF, Queue.UNSCHEDULABLE)
        t.end_cycle()


def _bind(m: Machine, t: Tree, failures: int, busy: int) -> None:
    @m.action
    def bind(c: Child, r: Rack) -> None:
        """One assumed pod is bound, on its own (K19)."""
        require(t.assumed[c, r] > 0)
        t.assumed[c, r] -= 1
        t.bound[c, r] += 1

    if failures:

        @m.action
        def bind_fails(c: Child, r: Rack) -> None:
            """One binding fails, not during the root's next cycle: the pod is forgotten and the root is queued again
            (K5)."""
            require(t.assumed[c, r] > 0, t.failures < failures, ~t.cycles())
            t.failures.next = t.failures + 1
            t.assumed[c, r] -= 1
            with when((t.queue == Queue.OUTSIDE) | (t.queue == Queue.UNSCHEDULABLE)):
                t.queue.next = Queue.BACKOFF

    if busy:

        @m.action
        def others_leave(r: Rack) -> None:
            """Whoever filled the rack is gone, and its nodes are available to the root, which is tried again (K16)."""
            require(t.busy[r] > 0)
            t.busy[r] = 0
            t.wake()

    @m.action
    def finish() -> None:
        """minGroupCount children run with minCount pods each, and all ends (K14)."""
        require(~t.done, ~t.cycles(), t.runs(), all_(t.assumed[c, r] == 0 for c in Child for r in Rack))
        t.done.next = True
        t.queue.next = Queue.OUTSIDE
        for c in Child:
            t.seen[c] = 0
            for r in Rack:
                t.bound[c, r] = 0
