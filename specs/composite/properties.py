"""What must hold in the composite spec."""

from __future__ import annotations

from model.language import Expr, Machine, after, all_, any_, count_, implies, sum_
from specs.composite.state import Block, Child, Middle, Outcome, Rack, Tree
from specs.kubernetes.state import Queue


def declare_placements(m: Machine, t: Tree) -> None:
    """Where pods may be, and what a cycle may propose."""

    @m.always
    def what_was_popped_is_judged() -> Expr:
        """Of a leaf group no more pods are proposed in a block than were pending when the cycle began (K3, K4)."""
        return all_(t.score_of(c, b) <= t.queued[c] for c in Child for b in Block)

    @m.always
    def rack_capacity() -> Expr:
        """No rack has more pods than it has slots (K16)."""
        return all_(t.used(r) <= t.slots[r] for r in Rack)

    @m.always
    def a_child_is_in_one_rack() -> Expr:
        """The pods of a leaf group are in one candidate placement, which is a rack (K11)."""
        return all_(count_(t.placed_in(c, r) > 0 for r in Rack) <= 1 for c in Child)

    @m.always
    def the_root_is_in_one_block() -> Expr:
        """The pods of all leaves are in one candidate placement of the root, which is a block (K11, K16)."""
        return any_(t.holds_placed(b) for b in Block)

    @m.step
    def children_stay_inside_the_candidate() -> Expr:
        """Pods are proposed only in racks of the block that is being tried (K16)."""
        return all_(implies(after(t.proposed[c, r]) > t.proposed[c, r], t.is_tried(r)) for c in Child for r in Rack)

    @m.always
    def infeasible_blocks_are_rolled_back() -> Expr:
        """Nothing stays assumed in the snapshot for a block that was given up (K17)."""
        return all_(implies(t.outcome[b] == Outcome.INFEASIBLE, t.score(b) == 0) for b in Block)

    @m.always
    def proposals_fit_the_snapshot() -> Expr:
        """Siblings see what was found for a child before them: together they fit (K18)."""
        return all_(
            implies(t.cycles(), t.snapshot[r] + sum_(t.proposed[c, r] for c in Child) <= t.slots[r]) for r in Rack
        )

    @m.step
    def a_child_takes_the_best_rack() -> Expr:
        """No child goes to a rack while another one of the block that is tried takes more of its pods (K18)."""
        return all_(
            implies(
                (after(t.proposed[c, r]) > t.proposed[c, r]) & t.is_tried(q) & t.fits(c, q),
                t.fill(c, q) <= t.fill(c, r),
            )
            for c in Child
            for r in Rack
            for q in Rack
        )


def declare_decision(m: Machine, t: Tree, changes: int) -> None:
    """All or nothing, on two levels."""

    def decided() -> Expr:
        return sum_(after(t.placed(c)) - t.placed(c) for c in Child) > 0

    @m.step
    def the_decision_has_enough_children() -> Expr:
        """When pods go on to binding, minGroupCount children have minCount pods each (K19)."""
        return implies(decided(), t.enough(lambda c: after(t.placed(c)) >= t.min_count))

    @m.step
    def a_failed_child_gets_nothing() -> Expr:
        """When pods of a child go on to binding, it has minCount pods: a failed one was rolled back (K17)."""
        return all_(implies(after(t.placed(c)) > t.placed(c), after(t.placed(c)) >= t.min_count) for c in Child)

    if t.levels.sizes:

        @m.step
        def a_failed_group_gets_nothing() -> Expr:
            """When pods below a composite go on to binding, enough of its children have their gang: what a failed one
            was given was rolled back (K17)."""
            return all_(
                implies(
                    any_(t.is_below(c, g) & (after(t.placed(c)) > t.placed(c)) for c in Child),
                    t.enough_below(g, lambda c: after(t.placed(c)) >= t.min_count),
                )
                for g in Middle
            )

    @m.step
    def the_best_block_wins() -> Expr:
        """No block was found in which more pods are placed (K11, K18)."""
        new = sum_(after(t.placed(c)) - t.placed(c) for c in Child)
        return implies(decided(), all_(t.score(b) <= new for b in Block))

    @m.step
    def quorum_comes_first() -> Expr:
        """The root enters the queue when minGroupCount children have seen minCount pods (K14)."""
        return implies((t.queue == Queue.OUTSIDE) & (after(t.queue) == Queue.ACTIVE), t.has_quorum())

    if changes:

        @m.always
        def a_changed_hierarchy_is_not_judged() -> Expr:
            """No block is tried for a hierarchy that is not the snapshot's (K15)."""
            return implies(t.cycles() & t.changed, all_(t.outcome[b] == Outcome.UNTRIED for b in Block))


def declare_progress(m: Machine, t: Tree, failures: int, busy: int) -> None:
    """The hierarchy runs at last."""

    @m.terminal
    def the_root_is_done() -> Expr:
        """Here a run may stop."""
        return t.done

    @m.possible
    def the_root_can_finish() -> Expr:
        """From every reachable state the hierarchy can run to its end, where greed finds a placement at all (K1,
        K20)."""
        return t.done

    @m.leads_to(fairness=[m.progress()])
    def a_complete_hierarchy_finishes() -> tuple[Expr, Expr]:
        """With its quorum reached the hierarchy runs at last, if only a run never stops while something can happen
        (K1, K14)."""
        return t.has_quorum(), t.done

    if busy:

        @m.sometimes
        def a_block_is_given_up() -> Expr:
            """A block fails after a child of it was placed (K17)."""
            return any_((t.outcome[b] == Outcome.TRYING) & ~t.can_succeed(b) & (t.score(b) > 0) for b in Block)

    if t.levels.spares:

        @m.sometimes
        def a_group_is_rolled_back() -> Expr:
            """A composite below the root fails after a child of it was placed, and the root can do without (K17)."""
            return any_(
                (t.outcome[b] == Outcome.TRYING)
                & t.can_succeed(b)
                & t.fails(g, b)
                & any_(t.is_below(c, g) & (t.score_of(c, b) > 0) for c in Child)
                for g in Middle
                for b in Block
            )

    if len(t.levels.sizes) > 1 and t.levels.sizes[0] > t.levels.min_groups and t.levels.least[0] > 1:

        @m.sometimes
        def a_group_falls_with_the_one_above() -> Expr:
            """A composite of which enough children have their gang is rolled back, as the one above it fails (K17)."""
            return any_(
                (t.outcome[b] == Outcome.TRYING)
                & t.can_succeed(b)
                & t.fails(g, b)
                & (t.inside[h, g] == 1)
                & t.enough_below(h, lambda c: t.has_gang(c, b) & (t.score_of(c, b) > 0))
                for h in Middle
                for g in Middle
                for b in Block
            )

    @m.sometimes
    def the_root_runs() -> Expr:
        """There is a run in which enough children run (K19)."""
        return t.runs()
