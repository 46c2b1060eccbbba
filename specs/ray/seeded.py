"""Seeded faults of the ray spec: what the museum leaves without a mutant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.language import Machine, count_, require
from model.language.mutation import Edit, disabled, rewritten, with_action, with_update, without_guard
from specs.mutant import Faults
from specs.ray.life_cycle import Status
from specs.ray.machine import ray
from specs.ray.parameters import CALM, Timers
from specs.ray.state import Instance, Loop, Node, Order, State

_mutant: Final = Faults(ray, CALM)


def _moves(source: Status, target: Status, phase: Loop) -> Edit:
    """One more action, which takes a row where it does not belong."""

    def write(m: Machine) -> Callable[[Instance], None]:
        s = m.attached(State)

        def moved(i: Instance) -> None:
            require(s.loop == phase, s.status[i] == source)
            s.status[i] = target

        return moved

    return with_action("terminated", write, f"a row moves from {source.name} to {target.name} in {phase.name}")


def _choosing_again(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def terminate_idle_again(i: Instance) -> None:
        require(s.loop == Loop.SCALE, s.status[i] == Status.RAY_STOP_REQUESTED, s.needed() < s.counted() - s.chosen)
        s.chosen.next = s.chosen + 1

    return terminate_idle_again


def _counts_drains(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def terminate_idle(i: Instance) -> None:
        draining = count_(s.status[j] == Status.RAY_STOP_REQUESTED for j in Instance)
        require(s.loop == Loop.SCALE, s.status[i] == Status.RAY_RUNNING, s.seen_node[i] == Node.IDLE)
        require(s.needed() < s.counted() + draining)
        s.status[i] = Status.RAY_STOP_REQUESTED
        s.order[i] = Order.ASKED

    return terminate_idle


def _reads_jobs_later(m: Machine) -> Callable[[], None]:
    s = m.attached(State)

    def read_jobs_again() -> None:
        require(s.loop == Loop.SYNC)
        s.seen_pending.next = s.pending

    return read_jobs_again


_TABLE = (
    _mutant(
        "jobs_are_read_later",
        "R4: the nodes are read at the start of the loop, the pending jobs at any time in its sync phase",
        "snapshot_is_of_one_age",
        with_action("begin_loop", _reads_jobs_later, "the pending jobs are read again after the nodes"),
        parameters={**CALM, "timers": Timers.OFF, "split": True, "max_workers": 1, "instances": 1, "jobs": 1},
    ),
    _mutant(
        "starts_as_requested",
        "R10: a new row is not queued first",
        "new_rows_begin_as_published",
        with_update("queue_instance", "status", lambda _: Status.REQUESTED),
        consequences=("subscribers_are_told",),
    ),
    _mutant(
        "request_ends_in_terminated",
        "a launch that took too long is marked as terminated",
        "requested_is_left_as_published",
        with_update("request_timed_out", "status", lambda _: Status.TERMINATED),
    ),
    _mutant(
        "timeout_is_queued_again",
        "an instance that never ran Ray is launched again in the same row, which forgets the instance",
        "allocation_timeout_is_left_as_published",
        _moves(Status.ALLOCATION_TIMEOUT, Status.QUEUED, Loop.TERMINATE),
        parameters={"timers": Timers.FREE, "retries": 0},
        consequences=(
            "instances_belong_to_rows",
            "released_instances_leave",
        ),
    ),
    _mutant(
        "installs_again",
        "a failed installation is tried again by the reconciler, after the installer's own three attempts",
        "ray_install_failed_is_left_as_published",
        _moves(Status.RAY_INSTALL_FAILED, Status.RAY_INSTALLING, Loop.STUCK),
        consequences=(
            "subscribers_are_told",
            "released_instances_leave",
            "pending_jobs_run",
        ),
    ),
    _mutant(
        "running_is_installed",
        "a node that runs Ray is installed anew",
        "ray_running_is_left_as_published",
        _moves(Status.RAY_RUNNING, Status.RAY_INSTALLING, Loop.INSTALL),
        consequences=("subscribers_are_told",),
    ),
    _mutant(
        "refused_drain_terminates",
        "R14: a node that refuses to drain is terminated",
        "ray_stop_requested_is_left_as_published",
        with_update("drain_rejected", "status", lambda _: Status.TERMINATING),
        consequences=(
            "subscribers_are_told",
            "terminated_instances_are_idle",
        ),
    ),
    _mutant(
        "stopping_runs_on",
        "a node that drains is taken to run on",
        "ray_stopping_is_left_as_published",
        _moves(Status.RAY_STOPPING, Status.RAY_RUNNING, Loop.STUCK),
    ),
    _mutant(
        "stopped_runs_on",
        "a raylet that is started again brings its stopped row back",
        "ray_stopped_is_left_as_published",
        _moves(Status.RAY_STOPPED, Status.RAY_RUNNING, Loop.SCALE),
        consequences=(
            "released_instances_leave",
            "pending_jobs_run",
        ),
    ),
    _mutant(
        "failed_termination_stops",
        "a termination that failed starts over from RAY_STOPPED",
        "terminating_is_left_as_published",
        with_update("termination_failed", "status", lambda _: Status.RAY_STOPPED),
    ),
    _mutant(
        "failed_termination_runs",
        "an instance that could not be terminated is used again",
        "termination_failed_is_left_as_published",
        _moves(Status.TERMINATION_FAILED, Status.RAY_RUNNING, Loop.SCALE),
        consequences=(
            "running_rows_have_a_node",
            "everything_can_end",
            "released_instances_leave",
            "pending_jobs_run",
        ),
    ),
    _mutant(
        "terminated_twice",
        "a row that is over asks the cloud again",
        "terminated_is_left_as_published",
        _moves(Status.TERMINATED, Status.TERMINATING, Loop.TERMINATE),
        consequences=(
            "subscribers_are_told",
            "pending_jobs_run",
        ),
    ),
    _mutant(
        "failed_launch_is_queued",
        "a row whose launch was given up is queued again, without end",
        "allocation_failed_is_left_as_published",
        _moves(Status.ALLOCATION_FAILED, Status.QUEUED, Loop.SCALE),
    ),
)

_LOOP = (
    _mutant(
        "rows_move_between_loops",
        "R15: a side effect moves the row, before any sync",
        "only_loops_move_rows",
        _moves(Status.RAY_INSTALLING, Status.RAY_INSTALL_FAILED, Loop.REST),
        consequences=(
            "ray_install_failed_is_left_as_published",
            "released_instances_leave",
        ),
    ),
    _mutant(
        "sync_drains_again",
        "R4: a refused drain is repeated from within the sync phase",
        "sync_is_passive",
        with_update("drain_rejected", "order", lambda _: Order.ASKED),
    ),
    _mutant(
        "over_before_it_is_gone",
        "R11: a row is TERMINATED while the cloud still lists its instance",
        "instances_belong_to_rows",
        without_guard("terminated", "cloud"),
        consequences=(
            "a_drain_finds_a_job",
            "everything_can_end",
            "the_maximum_runs",
            "pending_jobs_run",
        ),
    ),
)

_LIMITS = (
    _mutant(
        "maximum_ignored",
        "R9: rows are queued beyond the maximum",
        "queued_within_maximum",
        without_guard("queue_instance", "most"),
        parameters={**CALM, "max_workers": 1},
    ),
    _mutant(
        "maximum_of_a_group_ignored",
        "R1: the maximum of all groups is looked at, and that of the group is not",
        "queued_within_maximum",
        without_guard("queue_instance", "< most"),
        parameters={**CALM, "types": 2, "instances": 3, "max_workers": 1, "kuberay": True, "timers": Timers.OFF},
    ),
    _mutant(
        "maximum_of_all_ignored",
        "R9: each group stays within its own maximum, and all together exceed that of the cluster",
        "queued_within_maximum_of_all",
        without_guard("queue_instance", "< 1)"),
        parameters={**CALM, "types": 2, "max_workers": 1, "max_nodes": 1},
    ),
    _mutant(
        "concurrency_ignored",
        "R13: max_concurrent_launches is not looked at",
        "launches_within_concurrency",
        without_guard("launch", "REQUESTED"),
        parameters={**CALM, "max_concurrent_launches": 1},
    ),
    _mutant(
        "drains_in_flight_count",
        "a drain that is under way counts toward the minimum: what the current edition does, see findings/",
        "idle_termination_keeps_minimum",
        rewritten("terminate_idle", _counts_drains, "terminate_idle counts nodes that are asked to drain already"),
        parameters={**CALM, "min_workers": 1, "repaired": True},
        consequences=("needed_nodes_are_not_idle",),
    ),
)

_ONE_MORE = (
    _mutant(
        "chosen_twice",
        "a row that is asked to drain is chosen again: what the current edition does when the maximum is lowered",
        "every_choice_moves_a_row",
        with_action("terminate_idle", _choosing_again, "terminate_idle may choose a row that drains"),
    ),
)

_REACHABLE = (
    _mutant(
        "cloud_never_terminates",
        "R16: the cloud keeps every instance",
        "everything_can_end",
        disabled("terminate_instance"),
        consequences=(
            "released_instances_leave",
            "pending_jobs_run",
        ),
    ),
    _mutant(
        "never_idle",
        "R5: no node is ever idle for too long",
        "a_drain_finds_a_job",
        disabled("terminate_idle"),
        consequences=("everything_can_end",),
    ),
    _mutant(
        "never_retried",
        "a launch that takes too long is left alone",
        "a_launch_is_tried_again",
        disabled("request_timed_out"),
        consequences=(
            "everything_can_end",
            "requests_are_answered",
            "pending_jobs_run",
        ),
    ),
    _mutant(
        "ray_never_seen",
        "R11: Ray nodes that run are not looked at",
        "the_maximum_runs",
        disabled("ray_running"),
        consequences=(
            "a_drain_finds_a_job",
            "terminated_instances_are_idle",
        ),
    ),
    _mutant(
        "requests_unheard",
        "R19: request_resources does not reach the GCS",
        "a_request_is_granted",
        disabled("request_resources"),
        parameters={**CALM, "request_resources": 1},
    ),
)

SEEDED: Final = (*_TABLE, *_LOOP, *_LIMITS, *_ONE_MORE, *_REACHABLE)
