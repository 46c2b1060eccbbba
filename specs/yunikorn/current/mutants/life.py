"""Reports on the life of an application: when it runs, completes, resumes and fails."""

from __future__ import annotations

from typing import Any, Final

from model.language import Expr, Machine, Op, Operand, ite, require
from model.language.mutation import rewritten, with_action, with_update, without_guard, without_update
from specs.yunikorn.current.core import ask_removed, handled, left_by_placeholder, nothing_else, swap_on_same_node
from specs.yunikorn.current.moves import by_complete, by_run, move
from specs.yunikorn.current.mutants.edits import keeps_state, report
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.current.state import App, Core, Member, Node, Placeholder, Queue, Reason, State
from specs.yunikorn.parameters import Timers

ONE: Final = {"size": 1}
HARD: Final = {"style": Style.HARD}


def _no_way_back(m: Machine) -> Any:
    s = m.attached(State)

    def confirm_on_same_node(a: App, p: Member, n: Node) -> None:
        require(handled(s, a, p, Reason.REPLACED), s.placed[a, p, n], s.linked[a, p, n])
        left = left_by_placeholder(s, a)
        move(s, a, ite(s.running_pods(a) > 0, by_run(left), left), Core.COMPLETED, Core.FAILED)
        swap_on_same_node(s, a, p, n)

    return confirm_on_same_node


def _no_placeholder_counts(m: Machine) -> Any:
    s = m.attached(State)

    def confirm_ask_removal(a: App, p: Member) -> None:
        ask_removed(s, a, p, nothing_else(s, a))

    return confirm_ask_removal


def _of_real_pods(amount: Expr) -> Operand:
    """From "less its placeholders and its real pods" to "less its real pods"."""
    assert isinstance(amount, Op)
    assert isinstance(amount.args[1], Op)
    return 0 - amount.args[1].args[1]


def _second_event(m: Machine) -> Any:
    s = m.attached(State)

    def release_ask(a: App, p: Member) -> None:
        """The release of a deleted placeholder's ask, before that of its allocation."""
        require(handled(s, a, p, Reason.STOPPED), s.placeholder[a, p] == Placeholder.ALLOCATED)
        require(s.core[a] == Core.COMPLETING, s.idle(a))
        move(s, a, by_complete(s.core[a]))

    return release_ask


def _late_queue(m: Machine) -> Any:
    s = m.attached(State)

    def queue_step(a: App) -> None:
        require(s.due_queue[a] > 0, s.no_node_due())
        for q in Queue:
            s.leaf_used[q] -= ite(s.in_leaf(a, q) & ~s.over(a), s.due_queue[a], 0)
        s.parent_used.next -= ite(s.over(a), 0, s.due_queue[a])
        s.due_queue[a] = 0

    return queue_step


LIFE = (
    report(
        "1900",
        "orphan_of_a_gang_of_one",
        "the removal of its placeholder makes a gang of one Completing, and the real pod does not bring it back",
        "running_application_has_its_gang",
        rewritten("confirm_on_same_node", _no_way_back, "a replacement does not bring back what is Completing"),
        parameters=ONE,
        consequences=(
            "completing_application_is_idle",
            "terminal_holds_nothing",
        ),
    ),
    report(
        "574",
        "completes_with_placeholders",
        "the end of an application does not wait for the shim to confirm that its placeholders are gone",
        "terminal_holds_nothing",
        with_update("completing_timeout", "core", lambda _: Core.COMPLETED),
    ),
    report(
        "724",
        "completes_twice",
        "the release of an ask completes an application that is completing, before its placeholders are gone",
        "terminal_holds_nothing",
        with_action("confirm_removal", _second_event, "the release of an ask completes what is completing already"),
        parameters={"deletions": 1, "repaired": True},
    ),
    report(
        "582",
        "resumes_for_ever",
        "no event leads from Resuming back to Accepted once the last placeholder is gone",
        "running_application_has_its_gang",
        keeps_state("confirm_removal", Core.RESUMING),
    ),
    report(
        "577",
        "fails_with_asks",
        "pending placeholder asks are kept at the timeout, and scheduled while the application fails",
        "failing_application_asks_for_nothing",
        without_update("placeholder_timeout", "placeholder"),
        parameters=HARD,
        consequences=(
            "gone_pods_are_released",
            "group_counters_add_up",
            "terminal_holds_nothing",
        ),
    ),
    report(
        "1205",
        "completes_beside_placeholders",
        "the removal of the last pending ask completes the application though placeholders of it are allocated",
        "accepted_application_keeps_its_placeholders",
        rewritten("confirm_ask_removal", _no_placeholder_counts, "the removal of an ask does not look at placeholders"),
        parameters={"deletions": 1, "repaired": True},
        consequences=("every_admitted_gang_is_decided",),
    ),
    report(
        "1337",
        "accepted_for_ever",
        "the removal of the last placeholder raises no event, so an application that lost its pods stays Accepted",
        "every_application_can_end",
        keeps_state("confirm_removal", Core.ACCEPTED),
        keeps_state("confirm_ask_removal", Core.ACCEPTED),
        parameters={"size": 1, "deletions": 1, "repaired": True},
        consequences=("deadlock_free",),
    ),
    report(
        "1919",
        "running_apps_only_grow",
        "a direct move from Running to Completing does not count the application out of its queue",
        "running_applications_are_counted",
        without_update("finish_pod", "running_apps"),
    ),
    report(
        "1993",
        "queue_looked_up_too_late",
        "a removal asks the application for its queue in its last step, when it may have completed and left it",
        "queue_usage_is_what_its_applications_hold",
        rewritten("queue_step", _late_queue, "the queue of an application that is over is not told of a removal"),
        parameters={"timers": Timers.FREE},
    ),
    report(
        "567",
        "queue_keeps_placeholders",
        "the removal of an application takes its real pods from the queue and not its placeholders",
        "queue_usage_is_what_its_applications_hold",
        with_update("remove_application", "leaf_used", _of_real_pods),
        with_update("remove_application", "parent_used", _of_real_pods),
        parameters={"app_removals": 1},
    ),
    report(
        "521",
        "placeholders_outlive_the_job",
        "placeholder pods have no owner, so nothing deletes them with the job",
        "no_pod_outlives_its_application",
        without_update("remove_application", "task"),
        parameters={"app_removals": 1},
    ),
    report(
        "1704",
        "rejected_for_ever",
        "the shim's table has no edge to Rejected from the state in which an application waits for the core's answer",
        "rejected_application_fails",
        without_update("reject_application", "shim"),
        parameters={"size": 5},
    ),
    report(
        "",
        "runs_over_the_limit",
        "whether the application may run is not asked when a placeholder is allocated",
        "running_applications_within_limit",
        without_guard("allocate_placeholder", "<= 1)"),
        parameters={"apps": 2, "size": 1, "max_apps": 1, "timers": Timers.OFF},
        consequences=("running_applications_are_counted",),
    ),
)
