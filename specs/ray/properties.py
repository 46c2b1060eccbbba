"""What must hold of the ray spec in every state and step, and what must be reachable so that it says something."""

from __future__ import annotations

from model.language import Expr, Machine, after, all_, among, any_, count_, implies
from specs.ray.life_cycle import HAS_CLOUD_INSTANCE, STARTS, TO_TERMINATE, Status, published
from specs.ray.parameters import Scope, Timers
from specs.ray.state import Instance, Loop, Node, Order, State

ACTIVE = (Status.REQUESTED, Status.RAY_INSTALLING, Status.RAY_STOP_REQUESTED, Status.TERMINATING)
"""States on whose entry a subscriber is told to do something."""


def declare_properties(m: Machine, s: State) -> None:
    """All of these."""
    for source, targets in published(s.scope.edition).items():
        if can_be(s.scope, source):
            _is_left_as_published(m, source, s, tuple(t for t in targets if can_be(s.scope, t)))
    _rows(m, s)
    _loop(m, s)
    _limits(m, s)
    _nodes(m, s)
    _reachable(m, s)


def can_be(scope: Scope, status: Status) -> bool:
    """Whether rows of this scope can be in a state."""
    if status in (Status.RAY_INSTALLING, Status.RAY_INSTALL_FAILED):
        return not scope.kuberay
    return status is not Status.ALLOCATION_TIMEOUT or scope.timers is Timers.FREE


def _is_left_as_published(m: Machine, source: Status, s: State, targets: tuple[Status, ...]) -> None:
    allowed = targets or (Status.ABSENT,)

    def legal() -> Expr:
        return all_(
            implies((s.status[i] == source) & (after(s.status[i]) != source), among(after(s.status[i]), *allowed))
            for i in Instance
        )

    legal.__name__ = f"{source.name.lower()}_is_left_as_published"
    legal.__doc__ = f"From {source.name} only to {' or '.join(x.name for x in allowed)} (R11)."
    m.step(legal)


def _enters(s: State, i: Instance, *statuses: Status) -> Expr:
    return ~among(s.status[i], *statuses) & among(after(s.status[i]), *statuses)


def _rows(m: Machine, s: State) -> None:
    @m.step
    def new_rows_begin_as_published() -> Expr:
        """A new row begins as ALLOCATED, QUEUED or TERMINATING (R10)."""
        return all_(
            implies(
                (s.status[i] == Status.ABSENT) & (after(s.status[i]) != Status.ABSENT),
                among(after(s.status[i]), *STARTS),
            )
            for i in Instance
        )

    @m.step
    def subscribers_are_told() -> Expr:
        """A row enters a state that asks a subscriber for something only together with the order (R5, R11)."""
        told = (Order.ASKED, Order.FORCED)
        return all_(implies(_enters_active(s, i), among(after(s.order[i]), *told)) for i in Instance)

    @m.always
    def instances_belong_to_rows() -> Expr:
        """What a row's place knows of the cloud, the row names (R16)."""
        return all_(implies(s.cloud[i], among(s.status[i], *HAS_CLOUD_INSTANCE)) for i in Instance)


def _enters_active(s: State, i: Instance) -> Expr:
    """Whether the row enters any of the states in which a subscriber works for it."""
    entered = _enters(s, i, ACTIVE[0])
    for status in ACTIVE[1:]:
        entered = entered | _enters(s, i, status)
    return entered


def _loop(m: Machine, s: State) -> None:
    @m.step
    def sync_is_passive() -> Expr:
        """The sync phase asks nobody for anything (R4, R5)."""
        asked = (Order.ASKED, Order.FORCED)
        return implies(
            s.loop == Loop.SYNC,
            all_(implies(among(after(s.order[i]), *asked), after(s.order[i]) == s.order[i]) for i in Instance),
        )

    if not s.scope.split:

        @m.step
        def only_loops_move_rows() -> Expr:
            """Between two loops, whatever happens, no row moves: the next sync sees it (R15)."""
            return implies(
                (s.loop == Loop.REST) & (after(s.loop) == Loop.REST),
                all_(after(s.status[i]) == s.status[i] for i in Instance),
            )

    if s.scope.split:

        @m.always
        def snapshot_is_of_one_age() -> Expr:
            """Jobs that run and jobs that wait, in the snapshot, are no more than there are (R4, R18)."""
            return s.seen_pending + count_(s.seen_node[i] == Node.BUSY for i in Instance) <= s.scope.jobs

        if s.scope.jobs < s.scope.all_nodes and not (s.scope.min_workers or s.scope.request_resources):

            @m.step
            def queued_for_a_job_that_may_be() -> Expr:
                """No row is queued where as many rows as there may be jobs count already, whatever the snapshot says:
                there is no job for its node (R5, R18)."""
                return all_(
                    implies(
                        (s.status[i] == Status.ABSENT) & (after(s.status[i]) == Status.QUEUED),
                        s.counted() < s.scope.jobs,
                    )
                    for i in Instance
                )

    @m.always
    def releases_before_launches() -> Expr:
        """When launches are decided, the cloud has been asked to take back all that is done with (ray#63766)."""
        return implies(s.loop == Loop.LAUNCH, all_(~among(s.status[i], *TO_TERMINATE) for i in Instance))


def _limits(m: Machine, s: State) -> None:
    @m.step
    def queued_within_maximum() -> Expr:
        """A row is queued only while the rows of its group that count are fewer than the group's maximum (R1, R9)."""
        return all_(
            implies((s.status[i] == Status.ABSENT) & (after(s.status[i]) == Status.QUEUED), s.counted_of(i) < s.most)
            for i in Instance
        )

    if s.scope.types > 1:

        @m.step
        def queued_within_maximum_of_all() -> Expr:
            """A row is queued only while all rows that count are fewer than the maximum of the cluster (R9)."""
            return all_(
                implies(
                    (s.status[i] == Status.ABSENT) & (after(s.status[i]) == Status.QUEUED),
                    s.counted() < s.scope.all_nodes,
                )
                for i in Instance
            )

    @m.step
    def queued_for_a_need() -> Expr:
        """A row is queued only if jobs, minimum or request_resources need more than there is (R5)."""
        return all_(
            implies(
                (s.status[i] == Status.ABSENT) & (after(s.status[i]) == Status.QUEUED),
                (s.counted() < s.needed()) | (s.counted_of(i) < s.scope.min_workers),
            )
            for i in Instance
        )

    @m.always
    def launches_within_concurrency() -> Expr:
        """No more launches are under way than max_concurrent_launches (R13)."""
        return s.requested() <= s.scope.max_concurrent_launches

    @m.always
    def launches_within_speed() -> Expr:
        """One loop launches no more than upscaling_speed allows (R13)."""
        return implies(s.loop == Loop.LAUNCH, all_(s.chosen_of(i) <= s.launch_limit(i) for i in Instance))


def _nodes(m: Machine, s: State) -> None:
    @m.always
    def running_rows_have_a_node() -> Expr:
        """The scheduler finds a Ray node for each row that is RAY_RUNNING (ray#63424)."""
        return implies(
            s.loop == Loop.SCALE,
            all_(implies(s.status[i] == Status.RAY_RUNNING, s.seen_node[i] != Node.NONE) for i in Instance),
        )

    @m.step
    def needed_nodes_are_not_idle() -> Expr:
        """A node that can refuse is asked to drain only if it is idle, and minimum, request_resources and jobs can do
        without it (R5)."""
        return all_(
            implies(
                _enters(s, i, Status.RAY_STOP_REQUESTED) & (after(s.order[i]) == Order.ASKED),
                (s.seen_node[i] == Node.IDLE) & (s.needed() < s.counted() - s.chosen),
            )
            for i in Instance
        )

    @m.always
    def terminated_instances_are_idle() -> Expr:
        """No job runs on an instance that the cloud was asked to terminate (ray#34019)."""
        return all_(implies(s.status[i] == Status.TERMINATING, s.node[i] != Node.BUSY) for i in Instance)

    if not s.scope.repaired:

        @m.step
        def every_choice_moves_a_row() -> Expr:
            """What the scheduler chooses to drain moves to RAY_STOP_REQUESTED; no edge leads from there to itself (R5,
            R11)."""
            chosen = (s.loop == Loop.SCALE) & (after(s.chosen) > s.chosen)
            return implies(chosen, any_(_enters(s, i, Status.RAY_STOP_REQUESTED) for i in Instance))

    if s.scope.min_workers:

        @m.step
        def idle_termination_keeps_minimum() -> Expr:
            """After a node was found idle for too long, at least min_workers rows are left that stay (R1, R5)."""
            return all_(
                implies(
                    _enters(s, i, Status.RAY_STOP_REQUESTED) & (after(s.order[i]) == Order.ASKED),
                    after(s.staying_of(i)) >= s.scope.min_workers,
                )
                for i in Instance
            )


def _reachable(m: Machine, s: State) -> None:
    @m.possible
    def everything_can_end() -> Expr:
        """From every state the cluster can become empty, with nothing to do (R5)."""
        return (s.pending == 0) & all_(s.status[i] == Status.ABSENT for i in Instance) & (s.extra == 0)

    @m.sometimes
    def the_maximum_runs() -> Expr:
        """All that the configuration allows and jobs need is running, and works (R9)."""
        return (s.running() == min(s.scope.all_nodes, s.scope.jobs)) & (s.busy() >= 1)

    @m.sometimes
    def a_drain_finds_a_job() -> Expr:
        """A job was faster than the request to drain: it will be refused (R14)."""
        return any_(
            (s.order[i] == Order.ASKED) & (s.status[i] == Status.RAY_STOP_REQUESTED) & (s.node[i] == Node.BUSY)
            for i in Instance
        )

    if s.scope.timeouts and s.scope.retries:

        @m.sometimes
        def a_launch_is_tried_again() -> Expr:
            """A launch is under way for a row whose first one timed out (R11)."""
            return any_((s.status[i] == Status.REQUESTED) & (s.tries[i] > 0) for i in Instance)

    if s.scope.request_resources:

        @m.sometimes
        def a_request_is_granted() -> Expr:
            """All nodes that request_resources asked for run, and no job waits or runs (R19)."""
            return (
                (s.constraint > s.scope.types * s.scope.min_workers)
                & (s.running() >= s.constraint)
                & (s.pending + s.busy() == 0)
            )
