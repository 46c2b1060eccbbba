"""Reports on nodes that go, on quotas and users, and on restarts."""

from __future__ import annotations

from typing import Any, Final

from model.language import Expr, Machine, Op, Operand, all_, require, sum_
from model.language.expressions import lift
from model.language.mutation import disabled, rewritten, with_guard, with_update, without_guard, without_update
from specs.yunikorn.current.mutants.edits import counts_only_if, report
from specs.yunikorn.current.parameters import Recovery, Style
from specs.yunikorn.current.recovery import goes_on, live_pods, restarted, started
from specs.yunikorn.current.state import App, Core, Member, Node, Queue, Shim, State, Task, least
from specs.yunikorn.parameters import Queues, Timers

NODE: Final = {"node_removals": 1, "repaired": True}
THREE: Final = {"apps": 3, "size": 1, "nodes": 1, "capacity": 3, "timers": Timers.OFF}
RESTART: Final = {"restarts": 1, "repaired": True, "style": Style.HARD}


def _root_first(m: Machine) -> Any:
    s = m.attached(State)

    def remove_node(n: Node) -> None:
        require(s.node_removals > 0, s.serves(n), ~s.removing())
        s.node_removals.next -= 1
        s.leaving[n] = True
        s.total.next -= s.scope.capacity

    return remove_node


def _nothing_allocated(guard: Expr) -> Operand:
    """From "nothing is allocated or parked on it" to "nothing is allocated on it"."""
    assert isinstance(guard, Op)
    assert isinstance(guard.args[0], Op)
    return guard.args[0].args[0] == 0


def _nothing_where_nothing_is_listed(guard: Expr) -> Operand:
    """From "with it the parent has no more than its maximum" to "it fits the least head room on the path", of which the
    leaf, that lists nothing, has 0."""
    assert isinstance(guard, Op)
    with_it, maximum = guard.args
    assert isinstance(with_it, Op)
    used, units = with_it.args
    return units <= least(lift(0), maximum - used)


def _least_of_all_levels(m: Machine) -> Any:
    s = m.attached(State)

    def accept_application(a: App) -> None:
        require(s.shim[a] == Shim.SUBMITTED)
        fits = s.scope.size * s.scope.placeholder <= min(s.scope.leaf_quota, s.scope.quota)
        s.core[a] = s.core[a] if fits else Core.REJECTED
        s.shim[a] = Shim.ACCEPTED if fits else Shim.REJECTED

    return accept_application


def _each_leaf(m: Machine) -> Any:
    s = m.attached(State)

    def tell_autoscaler() -> None:
        room = s.scope.quota - s.parent_used
        s.wanted.next = sum_(least(s.outstanding(q), room) for q in Queue)

    return tell_autoscaler


def _whatever_the_time(m: Machine) -> Any:
    s = m.attached(State)

    def restart() -> None:
        restarted(s, lambda s, a: ~started(s, a))

    return restart


def _placeholders_count(m: Machine) -> Any:
    s = m.attached(State)

    def restart() -> None:
        restarted(s, lambda s, a: goes_on(s, a) & all_(s.task[a, p] != Task.BOUND for p in Member))

    return restart


def _ended_too(m: Machine) -> Any:
    s = m.attached(State)

    def restart() -> None:
        restarted(s, pods=lambda s, a: live_pods(s, a) + s.ended[a])

    return restart


def _whatever_runs(m: Machine) -> Any:
    s = m.attached(State)

    def restart() -> None:
        restarted(s, lambda s, a: ~s.late[a])

    return restart


NODES = (
    report(
        "854",
        "replacement_forgotten",
        "the removal of a node drops a placeholder, and forgets the real pod that is parked behind it",
        "real_pods_are_counted_once",
        without_update("remove_placeholder_of_node", "real_asks"),
        parameters=NODE,
        consequences=(
            "deadlock_free",
            "every_application_can_end",
        ),
    ),
    report(
        "854",
        "parked_pod_forgotten",
        "the removal of a node does not look for real pods that are parked on it, their placeholder elsewhere",
        "lost_nodes_are_empty",
        disabled("unpark_real_pod_of_node"),
        with_guard("node_removed", "== 0", _nothing_allocated),
        parameters=NODE,
    ),
    report(
        "2171",
        "root_shrinks_first",
        "the maximum of the root queue is lowered before the allocations of the node are removed",
        "quota_on_every_level",
        rewritten("remove_node", _root_first, "the root's maximum shrinks when the removal begins"),
        without_update("node_removed", "total"),
        parameters={**NODE, "capacity": 1},
    ),
    report(
        "",
        "user_usage_leaks",
        "the removal of an application leaves the user's usage as it is if a real ask is pending",
        "user_usage_is_what_applications_hold",
        counts_only_if("remove_application", "user_used", lambda cell: cell("real_asks") == 0),
        parameters={"app_removals": 1, "reals": 2, "repaired": True},
    ),
    report(
        "2562",
        "no_counters_after_restart",
        "recovered placeholders are not counted in their task group",
        "group_counters_add_up",
        counts_only_if("restart", "count", lambda _: False),
        parameters=RESTART,
    ),
    report(
        "3332",
        "reserves_when_time_is_up",
        "after a restart placeholders are created although their time is up, and time out at once",
        "reservation_ends_with_its_time",
        rewritten("restart", _whatever_the_time, "a reservation is gone on with whether its time is over or not"),
        # Soft: an application whose time is up goes on. With a pod for each placeholder none has but placeholders left.
        parameters={"restarts": 1, "repaired": True, "reals": 2},
    ),
    report(
        "686",
        "reserves_again",
        "after a restart placeholders are created for an application whose real pods run",
        "no_reservation_beside_real_pods",
        rewritten("restart", _whatever_runs, "a reservation is gone on with whether real pods were started or not"),
        parameters=RESTART,
        consequences=("deadlock_free", "every_application_can_end"),
    ),
    report(
        "1161",
        "no_timer_after_restart",
        "the timeout of the placeholders is not passed on at recovery, so a gang in part waits for ever",
        "every_admitted_gang_is_decided",
        counts_only_if("restart", "placeholder_timer", lambda _: False),
        parameters={"restarts": 1, "repaired": True, "style": Style.HARD, "nodes": 1, "capacity": 1},
        consequences=("deadlock_free", "every_application_can_end"),
    ),
    report(
        "1197",
        "replaced_during_recovery",
        "a recovered placeholder counts as a pod that was started, so real pods are submitted before all are there",
        "real_pods_wait_for_the_gang",
        rewritten("restart", _placeholders_count, "a placeholder that is bound counts as a real pod that was started"),
        parameters=RESTART,
    ),
    report(
        "1555",
        "terminated_pods_recovered",
        "pods that have ended are recovered, and bring their application back",
        "ends_are_final",
        rewritten("restart", _ended_too, "pods that have ended are not left out of what is recovered"),
        parameters=RESTART,
        consequences=(
            "deadlock_free",
            "every_application_can_end",
        ),
    ),
    report(
        "",
        "gang_fields_lost",
        "Y29: the placeholder flag is lost at recovery, so a placeholder counts as a real pod",
        "real_pods_are_counted_once",
        changed={"recovery": Recovery.LOST},
        parameters=RESTART,
        consequences=(
            "accepted_application_keeps_its_placeholders",
            "no_reservation_beside_real_pods",
            "running_application_has_its_gang",
            "terminal_holds_nothing",
        ),
    ),
    report(
        "1920",
        "parent_limit_without_usage",
        "all of the user's limit in a parent queue is taken to be free, whatever is used of it",
        "user_within_limit",
        without_guard("allocate_placeholder", "user_used"),
        parameters={"apps": 2, "size": 1, "queues": Queues.TWO_LEAVES, "user_limit": 1, "timers": Timers.OFF},
    ),
    report(
        "2012",
        "limit_reset",
        "when the configuration is read anew a limit is reset, though it is still in it",
        "user_within_limit",
        with_update("update_configuration", "limit", lambda _: 0),
        parameters={**THREE, "user_limit": 1, "config_updates": 1},
    ),
    report(
        "631",
        "nothing_of_a_type_not_listed",
        "a type that the maximum of a queue does not list is taken for one of which it may use nothing",
        "every_admitted_gang_is_decided",
        with_guard("allocate_placeholder", "(parent_used + 1) <= 4", _nothing_where_nothing_is_listed),
        with_guard("allocate_real", "(parent_used + 1) <= 4", _nothing_where_nothing_is_listed),
        parameters={"leaf_quota": 0},
        consequences=(
            "an_application_completes",
            "deadlock_free",
            "every_application_can_end",
            "every_real_pod_runs",
            "no_starving_gangs",
        ),
    ),
    report(
        "2789",
        "rejected_for_a_type_not_listed",
        "the least maximum on a path is nothing of a type that one level does not list, so a gang is too large",
        "oversized_gangs_are_rejected",
        rewritten("accept_application", _least_of_all_levels, "a leaf that lists no maximum counts as one of 0"),
        parameters={"leaf_quota": 0},
        consequences=("an_application_completes", "every_real_pod_runs"),
    ),
    report(
        "3148",
        "head_room_used_twice",
        "each leaf asks the autoscaler for nodes as if all of the parent's head room were its own",
        "nodes_are_wanted_for_head_room",
        rewritten("tell_autoscaler", _each_leaf, "what one leaf asks for is not taken from the parent's head room"),
        parameters={
            "apps": 2,
            "queues": Queues.TWO_LEAVES,
            "quota": 3,
            "leaf_quota": 2,
            "timers": Timers.OFF,
            "autoscaler": True,
        },
    ),
    report(
        "",
        "no_quota",
        "the head room of a queue is not looked at when a placeholder is allocated",
        "quota_on_every_level",
        without_guard("allocate_placeholder", "leaf_used"),
        parameters={"apps": 2, "leaf_quota": 2, "timers": Timers.OFF},
    ),
)
