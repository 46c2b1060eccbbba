"""Gang reservation over nodes that come and go: does the queue's order survive the autoscaler?

Two documents in one machine. Applications, placeholders and their order are YuniKorn's gang scheduling design: an
accepted application stays Accepted while its placeholders are allocated, and starts when all are. The nodes are
instances with the life cycle of Ray's autoscaler v2 (`life_cycle`): launched for placeholders that are pending, drained
and terminated when idle. Simplified: one queue, placeholders of one size, one instance type; a started application's
real pods stand where its placeholders stood (the replacement is the subject of the spec ``yunikorn``).

Applications are numbered in the order in which they are submitted.
"""

from __future__ import annotations

import enum

from model.language import (
    Expr,
    Machine,
    Sort,
    after,
    all_,
    among,
    any_,
    count_,
    first,
    implies,
    ite,
    require,
    sum_,
    when,
)
from specs.autoscaled_gang.life_cycle import (
    ACCEPTS_PLACEHOLDERS,
    GONE,
    IN_THE_CLOUD,
    ON_THE_WAY,
    Instance,
    declare_transitions,
)
from specs.parameters import check_member, check_product, check_size
from specs.ray.life_cycle import Status

MOST = 100


class App(Sort):
    """An application: one gang. Earlier elements are submitted earlier."""


class AppState(enum.Enum):
    """Life cycle of an application."""

    NEW = 0
    ACCEPTED = 1
    RUNNING = 2
    FINISHED = 3


class Policy(enum.Enum):
    """How the queue sorts its applications."""

    FIFO = "fifo"
    FAIR = "fair"


def autoscaled_gang(
    apps: int = 2,
    size: int = 3,
    instances: int = 2,
    capacity: int = 2,
    policy: Policy = Policy.FIFO,
    vanish: bool = False,
    retries: int = 1,
    max_concurrent_launches: int = 1,
    kuberay: bool = False,
    spare_rows: int = 1,
) -> Machine:
    """A gang queue over cloud instances; its order survives failed launches and refused drains, not vanished instances.

    ``apps`` gangs of ``size`` placeholders each; at most ``instances`` instances at a time, each with room for
    ``capacity`` placeholders. ``vanish``: the cloud may take an instance away, and what it held is pending again.
    ``retries``: how often a failed launch goes back to QUEUED before the row is given up. ``max_concurrent_launches``:
    rows that may be REQUESTED at a time. ``kuberay``: Ray is not installed, it comes with the image. ``spare_rows``:
    rows beyond ``instances``, for those that are TERMINATED: so the autoscaler keeps the maximum, not the sort's size.
    ValueError for sizes that make no sense.
    """
    for name, value in (("apps", apps), ("size", size), ("instances", instances)):
        check_size(name, value, most=MOST)
    check_size("capacity", capacity)
    check_size("retries", retries, least=0, most=9)
    check_size("max_concurrent_launches", max_concurrent_launches, most=MOST)
    check_size("spare_rows", spare_rows, least=0, most=MOST)
    check_product({"apps": apps, "(instances + spare_rows)": instances + spare_rows}, MOST)
    check_member("policy", policy, Policy)
    m = Machine("autoscaled_gang")
    m.sort(App, apps, ordered=True)
    m.sort(Instance, instances + spare_rows, symmetric=True)
    app = m.variable("app", App, AppState, init=AppState.NEW)
    instance = m.variable("instance", Instance, Status, init=Status.ABSENT)
    placeholders = m.variable("placeholders", (App, Instance), range(size + 1), init=0)
    failures = m.variable("failures", Instance, range(retries + 1), init=0)

    # ---- words

    def reserved(a: App) -> Expr:
        return sum_(placeholders[a, i] for i in Instance)

    def waits(a: App) -> Expr:
        """Submitted, and some placeholder is pending."""
        return (app[a] == AppState.ACCEPTED) & (reserved(a) < size)

    def demand() -> Expr:
        """Pending placeholders, of all applications: the autoscaler knows no order."""
        return sum_(ite(app[a] == AppState.ACCEPTED, size - reserved(a), 0) for a in App)

    def used(i: Instance) -> Expr:
        return sum_(placeholders[a, i] for a in App)

    def gone(i: Instance) -> Expr:
        return among(instance[i], *GONE)

    def accepts(i: Instance) -> Expr:
        return among(instance[i], *ACCEPTS_PLACEHOLDERS)

    def supply() -> Expr:
        """Room for placeholders, now and on the way."""
        return sum_(ite(accepts(i) | among(instance[i], *ON_THE_WAY), capacity - used(i), 0) for i in Instance)

    def next_by_policy(a: App) -> Expr:
        """Whether the queue's order lets ``a`` have a node now.

        FIFO works on one waiting application at a time: it begins with the next one when no earlier one waits, and goes
        on with what it has begun. FAIR serves whoever holds least; ties are free.
        """
        if policy is Policy.FIFO:
            return (reserved(a) > 0) | first(a, waits)
        return all_(implies(waits(b), reserved(a) <= reserved(b)) for b in App)

    # ---- the queue

    @m.action
    def submit(a: App) -> None:
        """The next application comes, with all of its placeholder asks (Y12, Y13)."""
        require(first(a, lambda b: app[b] == AppState.NEW))
        app[a] = AppState.ACCEPTED

    @m.action
    def allocate(a: App, i: Instance) -> None:
        """A pending placeholder of a gets room on i, by the order of the queue (Y7, Y13), with FAIR by shares (Y6). A
        node whose drain is only requested still takes it."""
        require(waits(a), next_by_policy(a), accepts(i), used(i) < capacity)
        placeholders[a, i] += 1

    @m.action
    def start(a: App) -> None:
        """All placeholders of a are allocated: its gang runs, in their place (Y1)."""
        require(app[a] == AppState.ACCEPTED, reserved(a) == size)
        app[a] = AppState.RUNNING

    @m.action
    def finish(a: App) -> None:
        """The gang is done and leaves its nodes (Y26)."""
        require(app[a] == AppState.RUNNING)
        app[a] = AppState.FINISHED
        for i in Instance:
            placeholders[a, i] = 0

    # ---- up: an instance is launched for demand

    @m.action
    def queue_instance(i: Instance) -> None:
        """Pending placeholders fit nowhere, now or soon, and the maximum allows one more: a new row (R5, R9,
        R11)."""
        require(gone(i), demand() > supply(), count_(~gone(j) for j in Instance) < instances)
        instance[i] = Status.QUEUED

    @m.action
    def request_launch(i: Instance) -> None:
        """The cloud is asked for the instance; not for too many at a time (R11, R13)."""
        require(instance[i] == Status.QUEUED)
        require(count_(instance[j] == Status.REQUESTED for j in Instance) < max_concurrent_launches)
        instance[i] = Status.REQUESTED

    @m.action
    def launched(i: Instance) -> None:
        """The cloud lists the instance (R11, R15)."""
        require(instance[i] == Status.REQUESTED)
        instance[i] = Status.ALLOCATED
        failures[i] = 0

    if retries:

        @m.action
        def launch_failed(i: Instance) -> None:
            """The launch failed or took too long, which is seen later, and is tried again (R15)."""
            require(instance[i] == Status.REQUESTED, failures[i] < retries)
            instance[i] = Status.QUEUED
            failures[i] += 1

    @m.action
    def launch_given_up(i: Instance) -> None:
        """The launch failed once too often (R15)."""
        require(instance[i] == Status.REQUESTED, failures[i] == retries)
        instance[i] = Status.ALLOCATION_FAILED
        failures[i] = 0

    if not kuberay:

        @m.action
        def install_ray(i: Instance) -> None:
            """Ray is installed on the new instance (R11, R12)."""
            require(instance[i] == Status.ALLOCATED)
            instance[i] = Status.RAY_INSTALLING

    @m.action
    def ray_started(i: Instance) -> None:
        """Ray reports the node: it takes placeholders from now on (R11, R12)."""
        require(instance[i] == (Status.ALLOCATED if kuberay else Status.RAY_INSTALLING))
        instance[i] = Status.RAY_RUNNING

    # ---- down: an idle instance is drained, then terminated

    @m.action
    def request_drain(i: Instance) -> None:
        """The node was idle for too long, and pending placeholders do not need it: Ray is asked to leave (R5,
        R11)."""
        require(instance[i] == Status.RAY_RUNNING, used(i) == 0, demand() <= supply() - capacity)
        instance[i] = Status.RAY_STOP_REQUESTED

    if apps > 1:  # else nobody comes between the request and its arrival

        @m.action
        def drain_refused(i: Instance) -> None:
            """The node is no longer idle when the request arrives (R14)."""
            require(instance[i] == Status.RAY_STOP_REQUESTED, used(i) > 0)
            instance[i] = Status.RAY_RUNNING

    @m.action
    def drain_accepted(i: Instance) -> None:
        """The node is still idle when the request arrives, and takes nothing from now on (R11)."""
        require(instance[i] == Status.RAY_STOP_REQUESTED, used(i) == 0)
        instance[i] = Status.RAY_STOPPING

    @m.action
    def ray_stopped(i: Instance) -> None:
        """Ray has left the instance (R11)."""
        require(instance[i] == Status.RAY_STOPPING)
        instance[i] = Status.RAY_STOPPED

    @m.action
    def terminate(i: Instance) -> None:
        """The cloud is asked to take the instance back (R11)."""
        require(instance[i] == Status.RAY_STOPPED)
        instance[i] = Status.TERMINATING

    @m.action
    def terminated(i: Instance) -> None:
        """The cloud no longer lists the instance (R11)."""
        require(instance[i] == Status.TERMINATING)
        instance[i] = Status.TERMINATED

    unasked = []
    if vanish:

        @m.action
        def instance_vanishes(i: Instance) -> None:
            """The cloud takes the instance away unasked; all it held is pending again, also of a gang that runs
            (R15)."""
            require(among(instance[i], *IN_THE_CLOUD))
            for a in App:
                with when((app[a] == AppState.RUNNING) & (placeholders[a, i] > 0)):
                    app[a] = AppState.ACCEPTED
            for a in App:
                placeholders[a, i] = 0
            instance[i] = Status.TERMINATED

        unasked.append(instance_vanishes)

    # ---- properties of the queue

    if apps > 1:

        @m.step
        def no_later_application_overtakes() -> Expr:
            """None takes a node while one that was submitted earlier waits for placeholders (Y7)."""
            return all_(
                implies((b < a) & waits(b) & waits(a), after(reserved(a)) <= reserved(a)) for a in App for b in App
            )

        @m.always
        def one_gang_is_reserved_at_a_time() -> Expr:
            """No two applications hold a part of their gang: neither may be able to complete it (Y7)."""
            return count_((reserved(a) > 0) & (reserved(a) < size) for a in App) <= 1

    @m.always
    def no_partial_gang_runs() -> Expr:
        """A running application holds its whole gang (Y1)."""
        return all_(implies(app[a] == AppState.RUNNING, reserved(a) == size) for a in App)

    @m.always
    def finished_applications_hold_nothing() -> Expr:
        """A finished application left no placeholder behind (Y26)."""
        return all_(implies(app[a] == AppState.FINISHED, reserved(a) == 0) for a in App)

    @m.always
    def waiting_applications_are_not_stuck() -> Expr:
        """While an application waits for placeholders, something can happen beside the loss of an instance (Y7,
        Y10)."""
        return implies(any_(waits(a) for a in App), m.any_enabled(but=unasked))

    @m.possible
    def every_gang_can_finish() -> Expr:
        """Whatever happened, all applications can still finish, for the cluster scales up (Y10)."""
        return all_(app[a] == AppState.FINISHED for a in App)

    # ---- properties of the instances

    @m.always
    def instance_capacity() -> Expr:
        """No instance holds more than it has room for (R1)."""
        return all_(used(i) <= capacity for i in Instance)

    @m.always
    def instances_within_maximum() -> Expr:
        """No more instances than allowed, whatever state they are in (R9)."""
        return count_(~gone(i) for i in Instance) <= instances

    @m.always
    def launches_within_limit() -> Expr:
        """The cloud never works on more launches than allowed (R13)."""
        return count_(instance[i] == Status.REQUESTED for i in Instance) <= max_concurrent_launches

    @m.always
    def placeholders_only_where_ray_runs() -> Expr:
        """What holds a placeholder runs Ray, and no drain request was accepted there (R11, R14)."""
        return all_(implies(used(i) > 0, accepts(i)) for i in Instance)

    @m.always
    def drained_instances_are_idle() -> Expr:
        """From an accepted drain request to the end, an instance holds nothing (R14)."""
        draining = (Status.RAY_STOPPING, Status.RAY_STOPPED, Status.TERMINATING)
        return all_(implies(among(instance[i], *draining), used(i) == 0) for i in Instance)

    @m.always
    def terminated_instances_hold_nothing() -> Expr:
        """Nothing is on an instance that is no more (R11)."""
        return all_(implies(instance[i] == Status.TERMINATED, used(i) == 0) for i in Instance)

    @m.step
    def instances_are_queued_for_demand() -> Expr:
        """A new row has a pending placeholder as its reason (R5)."""
        return all_(implies(gone(i) & ~after(gone(i)), demand() > 0) for i in Instance)

    declare_transitions(m, instance, kuberay=kuberay, retries=retries, vanish=vanish, again=apps > 1 or vanish)

    # ---- what must be reachable

    @m.sometimes
    def every_application_finishes() -> Expr:
        """All applications finish, and all instances are gone (Y1)."""
        return all_(app[a] == AppState.FINISHED for a in App) & all_(gone(i) for i in Instance)

    if retries:

        @m.sometimes
        def a_failed_launch_is_retried() -> Expr:
            """A launch is under way again after it failed: demand is packed all the same (R9)."""
            return any_((instance[i] == Status.REQUESTED) & (failures[i] > 0) for i in Instance)

    if apps > 1:

        @m.sometimes
        def a_drain_request_finds_a_busy_node() -> Expr:
            """A placeholder was faster than the drain request: it will be refused (R14)."""
            return any_((instance[i] == Status.RAY_STOP_REQUESTED) & (used(i) > 0) for i in Instance)

        @m.sometimes
        def an_instance_terminates_while_an_application_waits() -> Expr:
            """Scaling down and scaling up meet (R11)."""
            return any_(instance[i] == Status.TERMINATED for i in Instance) & any_(waits(a) for a in App)

    @m.terminal
    def all_done() -> Expr:
        """All applications are finished, and all instances are gone."""
        return all_(app[a] == AppState.FINISHED for a in App) & all_(gone(i) for i in Instance)

    return m
