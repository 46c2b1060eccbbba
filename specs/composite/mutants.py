"""Faults of the composite spec, at least one for each property."""

from __future__ import annotations

from typing import Final

from model.language import Machine, all_, implies, ite, require
from model.language.mutation import (
    Body,
    disabled,
    rewritten,
    with_action,
    with_update,
    without_guard,
    without_update,
)
from specs.composite.machine import composite
from specs.composite.state import Block, Child, Middle, Outcome, Rack, Tree
from specs.kubernetes.state import Queue
from specs.mutant import Faults, Mutant

_QUIET: Final = {"changes": 0}
_THREE: Final = {"children": 3, "slots": (1, 2, 3, 2), "changes": 0}
_TWO_RACKS: Final = {
    "children": 1,
    "min_count": 1,
    "min_groups": 1,
    "blocks": 1,
    "slots": (1, 2),
    "busy": 0,
    "failures": 0,
    "changes": 0,
}
_FREE_SLOTS: Final = {"slots": (1, 2, 3, 3), "changes": 0}
_TWO_BLOCKS_FIT: Final = {"blocks": 3, "slots": (1, 2, 2, 2, 2, 2), "busy": 4, "changes": 0}
_MORE_PODS: Final = {"pods": (2, 2), "min_count": 1, "blocks": 3, "slots": (1, 0, 2, 1, 2, 2), "busy": 5, "changes": 0}
_NO_SLOT_TO_STEAL: Final = {"pods": (1, 1), "min_count": 1, "slots": (1, 0, 2, 0), "busy": 2, "changes": 0}
_NESTED: Final = {
    "children": 4,
    "middles": 2,
    "middle_min": 2,
    "min_groups": 1,
    "pods": 1,
    "min_count": 1,
    "blocks": 1,
    "slots": (1, 1, 1),
    "busy": 2,
    "failures": 0,
    "changes": 0,
}
_DEEP: Final = {**_NESTED, "middles": (2, 4), "middle_min": (2, 1)}
"""Two composites of two composites each, all of which they need, with one leaf group each."""


_STUCK: Final = ("the_root_can_finish", "a_complete_hierarchy_finishes", "deadlock_free")
"""What breaks where the hierarchy waits for ever."""
_mutant: Final = Faults(composite, _QUIET)


def _commits_all_blocks(m: Machine) -> Body:
    t = m.attached(Tree)

    def decide_success(b: Block) -> None:
        """All that was found in any block goes on to binding."""
        require(t.cycles(), t.all_tried(), t.outcome[b] == Outcome.FEASIBLE, t.score(b) > 0)
        t.queue.next = Queue.OUTSIDE
        for c in Child:
            for r in Rack:
                t.assumed[c, r] += t.proposed[c, r]
        t.end_cycle()

    return decide_success


def _places_in_a_second_rack(m: Machine) -> Body:
    t = m.attached(Tree)

    def place_rest(c: Child, r: Rack) -> None:
        """Pods that were left find a rack of their own."""
        require(t.is_next(c), t.is_tried(r), t.placed(c) > 0, t.queued[c] > 0, t.fill(c, r) > 0)
        t.proposed[c, r] = 1
        t.judged[c] = True

    return place_rest


def _forgets_siblings(m: Machine) -> Body:
    t = m.attached(Tree)

    def place_child(c: Child, r: Rack) -> None:
        """The child is judged against the snapshot alone."""
        require(t.is_next(c), t.is_tried(r), t.snapshot[r] + t.queued[c] <= t.slots[r], t.queued[c] >= t.min_count)
        require(t.placed(c) == 0, all_(t.proposed[c, q] + t.busy[q] >= 0 for q in Rack))
        t.proposed[c, r] = t.queued[c]
        t.judged[c] = True

    return place_child


def _judges_late_pods(m: Machine) -> Body:
    t = m.attached(Tree)

    def place_child(c: Child, r: Rack) -> None:
        """As many pods of the child as have room, of those that there are now."""
        require(t.is_next(c), t.is_tried(r), t.fits(c, r))
        pending = t.seen[c] - t.placed(c)
        t.proposed[c, r] = ite(pending < t.room(r), pending, t.room(r))
        t.judged[c] = True

    return place_child


def _keeps_groups(m: Machine) -> Body:
    t = m.attached(Tree)

    def accept_block(b: Block) -> None:
        """All children are judged; composites of composites may have failed and keep what they were given."""
        require(t.outcome[b] == Outcome.TRYING, all_(t.judged[c] for c in Child), t.can_succeed(b))
        require(all_(implies((t.level[g] > 0) & t.fails(g, b), t.is_rolled_back(g, b)) for g in Middle))
        t.outcome[b] = Outcome.FEASIBLE

    return accept_block


MUTANTS: Final = (
    _mutant(
        "no_snapshot",
        "K15: the cycle begins with an empty snapshot",
        "rack_capacity",
        without_update("pop_root", "snapshot"),
    ),
    _mutant(
        "late_pods_are_judged",
        "K4: pods that are created while the cycle runs are judged in it",
        "what_was_popped_is_judged",
        rewritten("place_child", _judges_late_pods, "place_child takes all pods that there are now"),
        parameters=_MORE_PODS,
    ),
    _mutant(
        "second_rack",
        "K11: pods of a group that is placed in part are not bound to its domain",
        "a_child_is_in_one_rack",
        with_action("place_child", _places_in_a_second_rack, "left pods may go to another rack"),
        parameters=_FREE_SLOTS,
    ),
    _mutant(
        "all_blocks_win",
        "K18: what was found in every feasible block is committed",
        "the_root_is_in_one_block",
        rewritten("decide_success", _commits_all_blocks, "decide_success commits every block"),
        parameters=_TWO_BLOCKS_FIT,
        consequences=("a_child_is_in_one_rack",),
    ),
    _mutant(
        "candidates_from_all_nodes",
        "K16: a group's candidates are taken from all racks, not from those of the parent's candidate",
        "children_stay_inside_the_candidate",
        without_guard("place_child", "any_(((outcome[b] == Outcome.TRYING) & (number[b] == block[r]))"),
        consequences=(
            "infeasible_blocks_are_rolled_back",
            *_STUCK,
        ),
    ),
    _mutant(
        "no_rollback_of_a_block",
        "K17: what was assumed for a failed block stays in the snapshot",
        "infeasible_blocks_are_rolled_back",
        without_update("revert_block", "proposed"),
    ),
    _mutant(
        "siblings_are_not_seen",
        "K18: a child does not see what was found for the child before it",
        "proposals_fit_the_snapshot",
        rewritten("place_child", _forgets_siblings, "place_child reads the snapshot without proposals"),
        consequences=(
            "rack_capacity",
            *_STUCK,
            "values_in_range",
        ),
    ),
    _mutant(
        "any_rack_is_taken",
        "K18: the first rack that fits a child is taken, whatever the others take",
        "a_child_takes_the_best_rack",
        without_guard("place_child", "all_(((~any_((("),
        parameters=_TWO_RACKS,
    ),
    _mutant(
        "parent_is_not_asked",
        "K17: whether the parent can still succeed is not asked after each child",
        "the_decision_has_enough_children",
        without_guard("accept_block", "count_("),
        consequences=_STUCK,
    ),
    _mutant(
        "failed_child_keeps_pods",
        "K17: a child that misses minCount keeps the pods that fit",
        "a_failed_child_gets_nothing",
        without_guard("place_child", "(~any_(((s != r)"),
        parameters=_THREE,
        consequences=(
            "a_child_is_in_one_rack",
            *_STUCK,
        ),
    ),
    _mutant(
        "failed_group_keeps_pods",
        "K17: a composite that misses minGroupCount keeps what its children were given, where the root can do without",
        "a_failed_group_gets_nothing",
        without_guard("accept_block", "=> all_("),
        parameters=_NESTED,
    ),
    _mutant(
        "failed_group_keeps_groups",
        "K17: of composites below the root only those right above leaf groups are rolled back",
        "a_failed_group_gets_nothing",
        rewritten("accept_block", _keeps_groups, "accept_block waits for the rollback of the lowest composites only"),
        parameters=_DEEP,
    ),
    _mutant(
        "no_group_falls",
        "K17: the case that a composite below the root fails is forgotten",
        "a_group_falls_with_the_one_above",
        disabled("fail_child"),
        parameters=_DEEP,
    ),
    _mutant(
        "no_group_fails",
        "K17: the case that a composite below the root fails is forgotten",
        "a_group_is_rolled_back",
        disabled("fail_child"),
        parameters=_NESTED,
    ),
    _mutant(
        "any_block_wins",
        "K18: the first feasible block is taken, whatever its score",
        "the_best_block_wins",
        without_guard("decide_success", "all_(((outcome[d]"),
        parameters=_MORE_PODS,
    ),
    _mutant(
        "no_quorum",
        "K14: the root is queued with its first pod",
        "quorum_comes_first",
        without_guard("reach_quorum", "count_("),
    ),
    _mutant(
        "shape_is_not_compared",
        "K15: the hierarchy of the queue is taken for that of the snapshot",
        "a_changed_hierarchy_is_not_judged",
        without_guard("try_block", "~changed"),
        parameters={},
    ),
    Mutant(
        "stealing",
        "KEP-6012, an acknowledged limit: a child places pods beyond its minCount and the next one finds no room",
        "the_root_can_finish",
        composite,
        parameters=_NO_SLOT_TO_STEAL,
        changed={"pods": (2, 1)},
        consequences=(
            "a_complete_hierarchy_finishes",
            "deadlock_free",
        ),
    ),
    _mutant(
        "events_during_a_cycle_are_lost",
        "what happens during the root's cycle does not keep it from the unschedulable ones",
        "a_complete_hierarchy_finishes",
        with_update("decide_unschedulable", "queue", lambda _: Queue.UNSCHEDULABLE),
        consequences=(
            "the_root_can_finish",
            "deadlock_free",
        ),
    ),
    _mutant(
        "no_child_fails",
        "K17: the case that a child fits nowhere is forgotten",
        "a_block_is_given_up",
        disabled("fail_child"),
        consequences=("the_root_runs", *_STUCK),
    ),
    _mutant(
        "nothing_is_bound",
        "K19: the decision is not followed by bindings",
        "the_root_runs",
        disabled("bind"),
        consequences=_STUCK,
    ),
)
"""Each breaks the property that it names, where the spec itself holds."""
