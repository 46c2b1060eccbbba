"""Reports on placeholders: replacement, release, confirmation, preemption, and the counters of their group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from model.language import Machine, Op, among, ite, require
from model.language.mutation import rewritten, with_action, with_guard, without_update
from specs.yunikorn.current.core import found_no_more, handled, removed, replaced_by_nothing
from specs.yunikorn.current.mutants.edits import also, counts_only_if, first_half, report
from specs.yunikorn.current.state import App, Member, Node, Placeholder, Reason, State
from specs.yunikorn.current.timers import (
    asks_at_timeout,
    count_timed_out,
    release_reserved,
    take_real_asks,
    time_is_up,
)

PREEMPTION: Final = {"preemptions": 1, "repaired": True}
DELETION: Final = {"deletions": 1, "repaired": True}
RELEASED_TOO: Final = "a victim is chosen, released or not"
MEMORY: Final = {"nodes": 3, "memory": 3, "placeholder_memory": 2, "real_memory": 1}
SMALLER: Final = {"placeholder": 2, "capacity": 4}


def _trusting(m: Machine) -> Any:
    s = m.attached(State)

    def ignore_confirmation(a: App, p: Member) -> None:
        found_no_more(s, a, p, True)

    return ignore_confirmation


def _ask_release(m: Machine) -> Any:
    s = m.attached(State)

    def release_ask(a: App, p: Member, n: Node) -> None:
        """The release of an ask finds that it is allocated, and does nothing."""
        require(handled(s, a, p, Reason.STOPPED), s.placed[a, p, n], s.told[a, p])
        s.confirm[a, p] = Reason.NONE

    return release_ask


def _all_of_the_group(guard: Any) -> Any:
    """From "not all are replaced or timed out" to "the group has no placeholder at all"."""
    assert isinstance(guard, Op)
    assert isinstance(guard.args[0], Op)
    return guard.args[0].args[0] == 0


def _unchecked(m: Machine) -> Any:
    s = m.attached(State)

    def confirm_without_real_pod(a: App, p: Member, n: Node) -> None:
        replaced_by_nothing(s, a, p, n, True)

    return confirm_without_real_pod


def _echoes(m: Machine) -> Any:
    s = m.attached(State)

    def confirm_removal(a: App, p: Member, n: Node) -> None:
        s.release[a, p] = ite(s.confirm[a, p] == Reason.PREEMPTED, Reason.PREEMPTED, s.release[a, p])
        removed(s, a, p, n)

    return confirm_removal


class _Victims:
    """The placeholders that are chosen as victims, and not marked yet."""

    def __init__(self, m: Machine) -> None:
        self.chosen: Final = m.variable("chosen", (App, Member), bool, init=False)


def _choose(*passed: Reason) -> Callable[[Machine], Any]:
    """Choosing a victim, apart from marking it: a placeholder whose mark is one of ``passed``."""

    def write(m: Machine) -> Any:
        s, victims = m.attached(State), _Victims(m)
        m.attach(victims)

        def preempt_placeholder(a: App, p: Member) -> None:
            """A placeholder is chosen as a victim."""
            require(s.preemptions > 0, s.placeholder[a, p] == Placeholder.ALLOCATED, among(s.mark[a, p], *passed))
            victims.chosen[a, p] = True

        return preempt_placeholder

    return write


def _mark(m: Machine) -> Any:
    s, victims = m.attached(State), m.attached(_Victims)

    def mark_victim(a: App, p: Member) -> None:
        """A chosen victim that is still there is marked; nobody looks again whether it is released by now."""
        require(s.preemptions > 0, victims.chosen[a, p], s.placeholder[a, p] == Placeholder.ALLOCATED)
        s.preemptions.next -= 1
        s.mark[a, p] = Reason.PREEMPTED
        s.release[a, p] = Reason.PREEMPTED

    return mark_victim


def _takes_all(m: Machine) -> Any:
    s = m.attached(State)

    def placeholder_timeout(a: App) -> None:
        keeps = time_is_up(s, a)
        count_timed_out(s, a, keeps, lambda g: s.pending_placeholders(a, g) + s.real_asks[a, g])
        take_real_asks(s, a, keeps)
        release_reserved(s, a, keeps)

    return placeholder_timeout


def _counts_all(m: Machine) -> Any:
    s = m.attached(State)

    def placeholder_timeout(a: App) -> None:
        keeps = time_is_up(s, a)
        count_timed_out(s, a, keeps, lambda g: asks_at_timeout(s, a, g) + s.allocated(a, g))
        release_reserved(s, a, keeps)

    return placeholder_timeout


PLACEHOLDERS = (
    report(
        "528",
        "second_release",
        "a replacement that is confirmed twice is looked up in the core without asking whether it is still there",
        "core_does_not_crash",
        rewritten("ignore_confirmation", _trusting, "whether the replaced placeholder is still there is not asked"),
        parameters={"duplicates": 1},
    ),
    report(
        "3379",
        "replacement_without_a_pod",
        "a confirmed replacement whose real pod is parked no more is taken for one that has it",
        "core_does_not_crash",
        rewritten("confirm_without_real_pod", _unchecked, "whether a real pod is parked is not asked"),
        parameters={"node_removals": 1, "repaired": True},
    ),
    report(
        "677",
        "messages_cross",
        "the release of a pod that ends while the core allocates it is taken for that of an ask",
        "gone_pods_are_released",
        with_action("confirm_removal", _ask_release, "the core ignores the release of an ask that is allocated"),
        without_update("hear_allocation", "confirm"),
        parameters=DELETION,
        consequences=(
            "deadlock_free",
            "every_application_can_end",
            "every_real_ask_is_served",
        ),
    ),
    report(
        "3316",
        "lost_bind",
        "a task fails because its pod cannot be bound, and the core keeps the allocation",
        "gone_pods_are_released",
        without_update("fail_to_bind", "confirm"),
        parameters={"bind_failures": 1, "repaired": True},
        consequences=(
            "deadlock_free",
            "every_application_can_end",
            "every_real_ask_is_served",
        ),
    ),
    report(
        "2146",
        "replaces_a_victim",
        "the replacement does not look at the mark of a preempted placeholder",
        "released_for_one_reason",
        with_guard("replace_on_same_node", "mark[a, p]", also(Reason.PREEMPTED)),
        with_guard("replace_on_other_node", "mark[a, p]", also(Reason.PREEMPTED)),
        parameters=PREEMPTION,
    ),
    report(
        "3188",
        "victim_is_released",
        "victims for the pod of a daemon set are chosen and marked without looking whether they are released already",
        "released_for_one_reason",
        rewritten("preempt_placeholder", _choose(Reason.NONE, Reason.REPLACED, Reason.TIMEOUT), RELEASED_TOO),
        with_action("preempt_placeholder", _mark, "the victim is marked in a step of its own"),
        parameters=PREEMPTION,
        consequences=(
            "parked_pod_has_its_placeholder",
            "victims_are_preempted_once",
        ),
    ),
    report(
        "3190",
        "released_before_it_is_marked",
        "that a victim is not released is checked first and marked later, when a replacement or a timeout has taken it",
        "released_for_one_reason",
        rewritten("preempt_placeholder", _choose(Reason.NONE), "a victim is chosen if it is not released"),
        with_action("preempt_placeholder", _mark, "the victim is marked later, whatever became of it"),
        parameters=PREEMPTION,
        consequences=(
            "parked_pod_has_its_placeholder",
            "victims_are_preempted_once",
        ),
    ),
    report(
        "3003",
        "preempts_twice",
        "what is preempted already is not left out of the victims",
        "victims_are_preempted_once",
        with_guard("preempt_placeholder", "Reason.NONE", also(Reason.PREEMPTED)),
        parameters={"preemptions": 2, "repaired": True},
    ),
    report(
        "2025",
        "echo",
        "the shim's confirmation of a preemption is sent back to it as one more release",
        "confirmations_are_not_echoed",
        rewritten("confirm_removal", _echoes, "a confirmed preemption is told to the shim once more"),
        parameters=PREEMPTION,
    ),
    report(
        "2926",
        "removed_at_once_not_counted",
        "placeholders that go with all that their application has, when it is removed, are not counted as timed out",
        "placeholders_that_go_are_counted",
        without_update("remove_application", "timed_out"),
        parameters={"app_removals": 1},
    ),
    report(
        "2953",
        "counted_twice",
        "an allocated placeholder is counted at the timeout, and again when its release is confirmed",
        "group_counters_add_up",
        rewritten("placeholder_timeout", _counts_all, "the timeout counts allocated placeholders, too"),
        consequences=(
            "accepted_application_keeps_its_placeholders",
            "every_admitted_gang_is_decided",
            "running_application_has_its_gang",
        ),
    ),
    report(
        "1242",
        "waits_for_used_placeholders",
        "whether a real ask has to wait for a placeholder is judged by all of the group, not by those that are left",
        "every_real_ask_is_served",
        with_guard("allocate_real", "count[a] >", _all_of_the_group),
        parameters={"size": 1, "reals": 2},
        consequences=(
            "deadlock_free",
            "every_application_can_end",
            "every_real_pod_runs",
        ),
    ),
    report(
        "1395",
        "preempted_not_counted",
        "a preempted placeholder is not counted as gone, so a real ask waits for it",
        "every_real_ask_is_served",
        counts_only_if("confirm_removal", "timed_out", lambda cell: cell("confirm") != Reason.PREEMPTED),
        parameters=PREEMPTION,
        consequences=(
            "deadlock_free",
            "every_application_can_end",
            "group_counters_add_up",
            "placeholders_that_go_are_counted",
        ),
    ),
    report(
        "1712",
        "node_keeps_the_difference",
        "when a smaller pod replaces its placeholder the node changes one of its two totals only",
        "node_usage_is_what_is_on_it",
        without_update("confirm_on_same_node", "due_node"),
        parameters=SMALLER,
    ),
    report(
        "",
        "no_room_looked_at",
        "Y18: the room of another node is not looked at when a replacement goes there",
        "node_capacity",
        with_guard("replace_on_other_node", "node_used", first_half),
        parameters={"apps": 2, "size": 1, "capacity": 1},
    ),
    report(
        "",
        "no_memory_looked_at",
        "whether a pod fits on a node is judged by the first resource only",
        "node_capacity",
        with_guard("allocate_placeholder", "due_memory", first_half),
        with_guard("replace_on_other_node", "due_memory", first_half),
        with_guard("allocate_real", "due_memory", first_half),
        parameters=MEMORY,
    ),
    report(
        "",
        "loses_the_ask",
        "a parked pod whose placeholder is deleted by hand stays parked behind nothing",
        "parked_pod_has_its_placeholder",
        without_update("confirm_removal", "linked"),
        parameters=DELETION,
        consequences=(
            "node_usage_is_what_is_on_it",
            "real_pods_are_counted_once",
            "terminal_holds_nothing",
        ),
    ),
    report(
        "",
        "times_out_real_asks",
        "the placeholder timeout takes whatever is pending for a placeholder ask",
        "only_placeholders_time_out",
        rewritten("placeholder_timeout", _takes_all, "the timeout takes real asks, too"),
        parameters=PREEMPTION,
        consequences=(
            "deadlock_free",
            "every_application_can_end",
            "group_counters_add_up",
        ),
    ),
)
