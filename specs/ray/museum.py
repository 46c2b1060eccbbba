"""Faults that people really met, each by what its report names as the cause. README.md lists those left out.

``repaired`` scopes are those in which the current edition itself holds: see README.md, "Findings".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.language import Machine, among, count_, ite, require
from model.language.mutation import Write, disabled, rewritten, with_action, with_update, without_guard, without_update
from specs.mutant import Faults
from specs.ray.life_cycle import Status
from specs.ray.machine import Phases, ray
from specs.ray.parameters import CALM, Timers
from specs.ray.state import Instance, Loop, Node, Order, State

_RECONFIGURED: Final = {**CALM, "reconfigure": True, "repaired": True, "retries": 0}


_report: Final = Faults(ray).report


def _drains_installing(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def terminate_unstarted(i: Instance) -> None:
        require(s.loop == Loop.SCALE, s.staying() > s.most, among(s.status[i], Status.ALLOCATED, Status.RAY_INSTALLING))
        installing = s.status[i] == Status.RAY_INSTALLING
        s.status[i] = ite(installing, Status.RAY_STOP_REQUESTED, Status.TERMINATING)
        s.order[i] = ite(installing, Order.FORCED, Order.ASKED)

    return terminate_unstarted


def _refuses(status: Status) -> Write:
    """The assertion on the table fails: the row stays, and the rest of the loop is left out."""

    def write(m: Machine) -> Callable[[Instance], None]:
        s = m.attached(State)

        def terminated(i: Instance) -> None:
            require(s.loop == Loop.SYNC, s.has_cloud(i), ~s.seen_cloud[i])
            s.loop.next = ite(s.status[i] == status, Loop.REST, Loop.SYNC)
            s.status[i] = ite(s.status[i] == status, status, Status.TERMINATED)
            s.order[i] = Order.NONE

        return terminated

    return write


def _resends_nothing(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def launch(i: Instance) -> None:
        require(s.loop == Loop.LAUNCH, s.status[i] == Status.QUEUED)
        require(s.requested() < s.scope.max_concurrent_launches, s.chosen < s.launch_limit(i))
        s.status[i] = Status.REQUESTED
        s.order[i] = ite(s.tries[i] == 0, Order.ASKED, Order.NONE)
        s.chosen.next = s.chosen + 1

    return launch


def _scales_with_running(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def launch(i: Instance) -> None:
        require(s.loop == Loop.LAUNCH, s.status[i] == Status.QUEUED)
        require(s.requested() < s.scope.max_concurrent_launches, s.chosen < s.running())
        s.status[i] = Status.REQUESTED
        s.order[i] = Order.ASKED
        s.chosen.next = s.chosen + 1

    return launch


def _swallows_capped_requests(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def take_as_done(i: Instance) -> None:
        """The group has its maximum of instances: nothing is patched, nothing is said, no retry will be looked at."""
        require(s.loop == Loop.REST, s.status[i] == Status.REQUESTED, s.order[i] == Order.ASKED)
        require(count_(s.cloud[j] for j in Instance) + s.extra >= s.most)
        s.order[i] = Order.NONE

    return take_as_done


def _launches_first(m: Machine) -> Callable[[], None]:
    s, phases = m.attached(State), m.attached(Phases)

    def next_phase() -> None:
        require(phases.done())
        s.loop.next = phases.following([*phases.order[:3], Loop.LAUNCH, Loop.TERMINATE, *phases.order[5:]])
        s.chosen.next = 0

    return next_phase


def _terminates_what_is_idle(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def terminate_idle(i: Instance) -> None:
        require(s.loop == Loop.SCALE, s.status[i] == Status.RAY_RUNNING, s.seen_node[i] == Node.IDLE)
        require(s.needed() < s.counted() - s.chosen)
        s.status[i] = Status.TERMINATING
        s.order[i] = Order.ASKED

    return terminate_idle


def _counts_running_jobs_again(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def queue_instance(i: Instance) -> None:
        require(s.loop == Loop.SCALE, s.status[i] == Status.ABSENT)
        require(s.counted() < s.most, s.counted() < s.needed() + s.busy())
        s.status[i] = Status.QUEUED

    return queue_instance


def _needs_no_job(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def terminate_idle(i: Instance) -> None:
        require(s.loop == Loop.SCALE, s.status[i] == Status.RAY_RUNNING, s.seen_node[i] == Node.IDLE)
        require(s.counted() - s.chosen > s.scope.min_workers)
        s.status[i] = Status.RAY_STOP_REQUESTED
        s.order[i] = Order.ASKED
        s.chosen.next = s.chosen + 1

    return terminate_idle


def _reads_nodes_later(m: Machine) -> Callable[[Instance], None]:
    s = m.attached(State)

    def read_node_again(i: Instance) -> None:
        require(s.loop == Loop.SYNC)
        s.seen_node[i] = s.node[i]

    return read_node_again


_TABLE = (
    _report(
        "ray#59219",
        "queued_rows_are_drained",
        "rows over the maximum are terminated by one event, whatever their status: QUEUED becomes RAY_STOP_REQUESTED",
        "queued_is_left_as_published",
        with_update("cancel_queued", "status", lambda _: Status.RAY_STOP_REQUESTED),
        parameters=_RECONFIGURED,
        consequences=("subscribers_are_told",),
    ),
    _report(
        "ray#50868",
        "pending_pods_are_drained",
        "a maximum lowered while pods are pending drains ALLOCATED rows, which run no Ray",
        "allocated_is_left_as_published",
        with_update("terminate_unstarted", "status", lambda _: Status.RAY_STOP_REQUESTED),
        parameters={**_RECONFIGURED, "kuberay": True},
        consequences=(
            "running_rows_have_a_node",
            "needed_nodes_are_not_idle",
            "everything_can_end",
        ),
    ),
    _report(
        "ray#60412",
        "installing_rows_are_drained",
        "of the rows that run no Ray yet, only ALLOCATED ones are terminated at once; RAY_INSTALLING is drained",
        "ray_installing_is_left_as_published",
        rewritten("terminate_unstarted", _drains_installing, "terminate_unstarted drains RAY_INSTALLING rows"),
        parameters=_RECONFIGURED,
        consequences=(
            "running_rows_have_a_node",
            "everything_can_end",
        ),
    ),
    _report(
        "ray#53938",
        "terminating_without_instance",
        "the event TERMINATING lacks the id of the cloud instance, so nothing is terminated",
        "subscribers_are_told",
        without_update("terminate_unstarted", "order"),
        parameters=_RECONFIGURED,
    ),
    _report(
        "ray#63424",
        "running_with_a_stale_node",
        "a drain that timed out goes back to RAY_RUNNING though the GCS has forgotten its node",
        "running_rows_have_a_node",
        disabled("ray_node_missing"),
        consequences=("pending_jobs_run",),
    ),
)

_EDGES = (
    _report(
        "ray#60566",
        "failed_termination_is_gone",
        "the table has no edge from TERMINATION_FAILED to TERMINATED, so each loop ends where sync finds the "
        "instance gone",
        "everything_can_end",
        rewritten("terminated", _refuses(Status.TERMINATION_FAILED), "terminated ends the loop for such a row"),
        parameters={"crash": False, "errors": True, "retries": 0},
    ),
    _report(
        "ray#61382",
        "timed_out_allocation_is_gone",
        "the table has no edge from ALLOCATION_TIMEOUT to TERMINATED, so each loop ends where sync finds the "
        "instance gone",
        "everything_can_end",
        rewritten("terminated", _refuses(Status.ALLOCATION_TIMEOUT), "terminated ends the loop for such a row"),
        parameters={"crash": False, "errors": True, "retries": 0, "timers": Timers.FREE},
    ),
)

_LAUNCHES = (
    _report(
        "ray#63766",
        "launches_first",
        "one loop launches before it terminates, so what is about to go still counts at the maximum",
        "releases_before_launches",
        rewritten("next_phase", _launches_first, "the launches come before the terminations"),
        parameters=CALM,
    ),
    _report(
        "ray#60655",
        "request_id_before_success",
        "the id of a launch request is recorded before the cloud has taken it, so a retry is not sent again",
        "subscribers_are_told",
        rewritten("launch", _resends_nothing, "launch tells the cloud about first tries only"),
        parameters=CALM,
    ),
    _report(
        "ray#65694",
        "capped_requests_for_ever",
        "a request that the maximum capped is marked as processed: nothing is launched, said, or tried again",
        "requests_are_answered",
        with_action("launch_instance", _swallows_capped_requests, "a request at the maximum is taken as done"),
        parameters={**CALM, "timers": Timers.OFF, "max_workers": 1},
        consequences=(
            "everything_can_end",
            "pending_jobs_run",
        ),
    ),
    _report(
        "ray#50259",
        "conservative_mode_ignored",
        "the limit of upscaling_speed is not applied: all queued rows are launched in one loop",
        "launches_within_speed",
        without_guard("launch", "chosen"),
        parameters=CALM,
    ),
    _report(
        "kuberay#3794",
        "stuck_in_queued",
        "the limiter multiplies by the running nodes, of which a cold cluster has none",
        "pending_jobs_run",
        rewritten("launch", _scales_with_running, "launch is limited by the running nodes, without a floor of one"),
        parameters=CALM,
        consequences=(
            "everything_can_end",
            "a_drain_finds_a_job",
            "a_launch_is_tried_again",
            "the_maximum_runs",
        ),
    ),
    _report(
        "kuberay#4226",
        "boots_longer_than_the_timeout",
        "a default, no line of code: ALLOCATED times out after 300 seconds, and the pods boot for eight minutes",
        "pending_jobs_run",
        parameters={**CALM, "kuberay": True},
        changed={"timers": Timers.FREE},
    ),
)

_SCALING = (
    _report(
        "ray#52264",
        "subscriber_raises",
        "the subscriber raises after the row was stored as TERMINATING: nobody asks the cloud",
        "released_instances_leave",
        without_update("terminate", "order"),
        parameters=CALM,
        consequences=(
            "subscribers_are_told",
            "everything_can_end",
            "pending_jobs_run",
        ),
    ),
    _report(
        "ray#50783",
        "needed_node_is_idle",
        "an idle node that a pending placement group needs is terminated, and launched again",
        "needed_nodes_are_not_idle",
        rewritten("terminate_idle", _needs_no_job, "terminate_idle looks at the minimum only"),
        parameters=CALM,
    ),
    _report(
        "ray#40212",
        "placed_bundles_count_again",
        "what is placed already is counted as pending too, so more is launched than is needed",
        "queued_for_a_need",
        rewritten("queue_instance", _counts_running_jobs_again, "queue_instance counts running jobs as pending"),
        parameters={**CALM, "jobs": 1},
    ),
    _report(
        "ray#34019",
        "terminated_without_drain",
        "an idle node is terminated without a drain, so a job that comes meanwhile dies with it",
        "terminated_instances_are_idle",
        rewritten("terminate_idle", _terminates_what_is_idle, "terminate_idle terminates at once"),
        parameters=CALM,
        consequences=("a_drain_finds_a_job",),
    ),
    _report(
        "ray#36926",
        "snapshots_of_different_age",
        "usage and load are read at different times: a job counts as running and as waiting",
        "queued_for_a_job_that_may_be",
        with_action("begin_loop", _reads_nodes_later, "the nodes are read again after the pending jobs"),
        parameters={**CALM, "timers": Timers.OFF, "split": True, "jobs": 1, "kuberay": True},
        consequences=("snapshot_is_of_one_age",),
    ),
)

MUSEUM: Final = (*_TABLE, *_EDGES, *_LAUNCHES, *_SCALING)
