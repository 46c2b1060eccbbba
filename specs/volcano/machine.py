"""Volcano's allocate action with namespace fair share: queues by deserved share, namespaces by weight, jobs as gangs.

The design is "Namespace fair share" of May 2019; it was released and in 2023 removed again. README.md beside this file
lists its rules (V1 to V11), what of this spec follows each, and where today's code differs (parameter ``edition``).
Every task takes one unit of the cluster, and, where wanted, some memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Machine, all_, any_, require, sum_
from specs.parameters import check_size
from specs.volcano.events import declare_events
from specs.volcano.parameters import Edition, Events, Layout, Sizes, scope
from specs.volcano.properties import Life, declare
from specs.volcano.state import Job, Namespace, Phase, Queue, Session, State


def volcano(
    edition: Edition = Edition.SEED,
    layout: Layout = Layout.GRID,
    queues: int = Sizes.queues,
    namespaces: int = Sizes.namespaces,
    jobs: int = Sizes.jobs,
    size: int = Sizes.size,
    minimum: int = Sizes.minimum,
    capacity: int = Sizes.capacity,
    queue_weight: int | tuple[int, ...] = Sizes.queue_weight,
    namespace_weight: int | tuple[int, ...] = Sizes.namespace_weight,
    memory: int | tuple[int, ...] = Sizes.memory,
    memory_capacity: int = Sizes.memory_capacity,
    repaired: bool = False,
    quota_changes: int = 0,
    drains: int = 0,
    scale_ups: int = 0,
    bind_failures: int = 0,
    slow_ends: int = 0,
) -> Machine:
    """Volcano's allocate action: proportion, namespace fair share, DRF, gangs, statements.

    ``jobs``: of each namespace in each queue; ``minimum``: minAvailable of their ``size`` tasks; weights and memory:
    one number, or one for each. ``repaired`` mends what the findings show. The last five say how often each event
    happens. Layouts other than grid bring their own numbers. ValueError for sizes that make no sense.
    """
    sizes = Sizes(
        queues,
        namespaces,
        jobs,
        size,
        minimum,
        capacity,
        queue_weight,
        namespace_weight,
        memory,
        memory_capacity,
    )
    checked = scope(layout, edition, sizes)
    counts = {
        "quota_changes": quota_changes,
        "drains": drains,
        "scale_ups": scale_ups,
        "bind_failures": bind_failures,
        "slow_ends": slow_ends,
    }
    for name, value in counts.items():
        check_size(name, value, least=0, most=2)
        if value and checked.static:
            raise ValueError(f"{name} is for layout=grid, as layout={layout.value} is one session; found {value}")
    if quota_changes and edition is Edition.CURRENT:
        raise ValueError(f"quota_changes is 0 with edition=current, which has no weights; found {quota_changes}")
    if slow_ends and memory_capacity:
        raise ValueError(f"slow_ends is for memory_capacity=0: what runs down has units only; found {memory_capacity}")
    events = Events(**counts)
    m = Machine("volcano", doc="Volcano's allocate action with namespace fair share")
    s = State(m, checked, edition, repaired, events)
    m.attach(s)
    _session(m, s, events)
    _statement(m, s)
    life = None
    if not checked.static:
        finish = _life(m, s)
        life = Life(finish, declare_events(m, s, events))
    declare(m, s, events, life)
    return m


def _session(m: Machine, s: State, events: Events) -> None:
    @m.action
    def open_session() -> None:
        """A session begins with a snapshot: what is bound, what each namespace weighs: the highest of its quotas,
        and 1 if none is valid (V2, V3)."""
        require(s.session == Session.CLOSED)
        require(any_(s.wants(q, n, j) for q in Queue for n in Namespace for j in Job))
        s.session.next = Session.OPEN
        for q in Queue:
            s.in_queue[q] = sum_(s.bound[q, n, j] for n in Namespace for j in Job)
            for n in Namespace:
                s.in_namespace[q, n] = sum_(s.bound[q, n, j] for j in Job)
                for j in Job:
                    s.tried[q, n, j] = False
                    s.tentative[q, n, j] = 0
                    if events.slow_ends:
                        s.piped[q, n, j] = 0
        if events.quota_changes:
            for n in Namespace:
                s.weight[n] = s.highest_quota(n)

    @m.action
    def close_session() -> None:
        """No job is left that may be popped (V4)."""
        require(s.session == Session.OPEN, ~s.someone_has_the_turn())
        require(all_(~s.is_candidate(q, n, j) for q in Queue for n in Namespace for j in Job))
        s.session.next = Session.OVER if s.scope.static else Session.CLOSED
        if s.loses:
            for q in Queue:
                for n in Namespace:
                    for j in Job:
                        s.lost[q, n, j] = 0


def _statement(m: Machine, s: State) -> None:
    @m.action
    def pop_job(q: Queue, n: Namespace, j: Job) -> None:
        """The turn goes to a queue that is not overused, there to the namespace with the smallest share by weight,
        there to the first job. All three were pushed back after the last turn, so each order is that of now (V4, V5,
        V6, V7)."""
        require(s.session == Session.OPEN, ~s.someone_has_the_turn())
        require(s.is_in_line(q, n, j), ~s.is_overused(q))
        require(s.queue_is_first(q, n))
        if s.edition is not Edition.CURRENT:
            require(s.namespace_is_first(q, n))
        require(s.job_is_first(q, n, j))
        s.turn[q, n, j] = True

    @m.action
    def allocate(q: Queue, n: Namespace, j: Job) -> None:
        """The statement places a task; it goes on until the job is ready, and is one task for a job that is (V4)."""
        require(s.turn[q, n, j], s.placed(q, n, j) < s.goal(q, n, j), s.fits(q, n))
        if s.loses:
            require(s.has_task(q, n, j))
        s.tentative[q, n, j] += 1
        s.in_queue[q] += 1
        s.in_namespace[q, n] += 1

    @m.action
    def commit(q: Queue, n: Namespace, j: Job) -> None:
        """The job is ready: what the statement placed is bound; the job, its namespace and its queue are pushed back
        (V4, V6)."""
        require(s.turn[q, n, j], s.placed(q, n, j) == s.goal(q, n, j))
        if s.slow:
            require(s.piped[q, n, j] == 0)
        s.bound[q, n, j] += s.tentative[q, n, j]
        s.tentative[q, n, j] = 0
        s.phase[q, n, j] = Phase.RUNNING
        s.turn[q, n, j] = False

    if not s.scope.static:  # there a queue is overused before a task does not fit

        @m.action
        def discard(q: Queue, n: Namespace, j: Job) -> None:
            """A task does not fit, or in the current edition none is left on the list: the statement is undone, and the
            job is not pushed back in this session (V4)."""
            require(s.turn[q, n, j], s.placed(q, n, j) < s.goal(q, n, j))
            require(~s.fits(q, n) | ~s.has_task(q, n, j) if s.loses else ~s.fits(q, n))
            if s.slow:
                require(~s.will_fit(q))
            s.undo(q, n, j)
            s.tried[q, n, j] = True
            s.turn[q, n, j] = False


def _life(m: Machine, s: State) -> Callable[..., Any]:
    @m.action
    def submit(q: Queue, n: Namespace, j: Job) -> None:
        """A job is created; a later session takes it from its queue (V4)."""
        require(s.session == Session.CLOSED, s.phase[q, n, j] == Phase.NEW)
        s.phase[q, n, j] = Phase.INQUEUE

    @m.action
    def finish(q: Queue, n: Namespace, j: Job) -> None:
        """A ready job ends, with all its tasks, and leaves room for later rounds (V4)."""
        require(s.session == Session.CLOSED, s.phase[q, n, j] == Phase.RUNNING, s.is_ready(q, n, j))
        s.phase[q, n, j] = Phase.DONE
        s.forget(q, n, j, s.bound[q, n, j])

    return finish
