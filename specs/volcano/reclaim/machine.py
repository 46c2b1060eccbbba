"""Volcano's allocate and reclaim across queues: statements that evict and pipeline, victims that all plugins choose.

Queues deserve equal parts of the cluster. README.md in the folder above lists what follows which rule, what today's
code violates, and the reports that the mutants re-create.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Expr, Machine, all_, any_, ite, require, sum_
from specs.parameters import check_each, check_size
from specs.volcano.reclaim.properties import Life, declare
from specs.volcano.reclaim.state import Claims, Job, Needs, Node, Phase, Queue, State


def volcano_reclaim(
    queues: int = 2,
    jobs: int = 1,
    size: int = 3,
    minimum: int = 1,
    nodes: int = 3,
    room: int = 1,
    width: int | tuple[int, ...] = 1,
    gang: bool = True,
    claims: Claims = Claims.WITHIN,
    needs: Needs = Needs.STARVING,
    repaired: bool = False,
) -> Machine:
    """Volcano's reclaim: a queue that has less than it deserves evicts tasks of others, by statements.

    ``jobs``: of each queue; ``minimum``: minAvailable of their ``size`` tasks; ``room``: units of a node; ``width``:
    units of a task, one number or one for each queue; ``gang``: whether the gang plugin is asked for victims.
    ``repaired`` mends what the findings show. ValueError for sizes that make no sense.
    """
    check_size("queues", queues, most=3)
    check_size("jobs", jobs, most=3)
    check_size("size", size, most=8)
    check_size("minimum", minimum, most=size)
    check_size("nodes", nodes, most=8)
    check_size("room", room, most=8)
    widths = (width,) * queues if isinstance(width, int) else width
    check_each("width", widths, queues, "queue", most=room)
    m = Machine("volcano_reclaim", doc="Volcano's reclaim across queues")
    s = State(m, queues, jobs, size, minimum, nodes, room, widths)
    m.attach(s)
    _begin(m, s)
    enqueue, new_session, pop_job = _session(m, s, repaired)
    _statement(m, s, claims, needs, gang, repaired)
    steps = [enqueue, pop_job, *_nodes(m, s, repaired)]
    declare(m, s, needs, gang, repaired, enqueue, Life(new_session, steps, _finish(m, s)))
    return m


def _begin(m: Machine, s: State) -> None:
    @m.action
    def submit(q: Queue, j: Job) -> None:
        """A job is created; its PodGroup is Pending (volcano#569)."""
        require(s.phase[q, j] == Phase.NEW)
        s.phase[q, j] = Phase.PENDING


def _session(m: Machine, s: State, repaired: bool) -> tuple[Callable[..., Any], ...]:
    @m.action
    def enqueue(q: Queue, j: Job) -> None:
        """The PodGroup gets Inqueue: its queue has less than it deserves, or the cluster has room (volcano#569)."""
        require(s.phase[q, j] == Phase.PENDING)
        require(s.lacks(q) | any_(s.idle(n) > 0 for n in Node))
        s.phase[q, j] = Phase.INQUEUE

    @m.action
    def new_session() -> None:
        """Every job that has pending tasks had its turn; now the next rounds begin. What was pipelined is made anew;
        repaired, it keeps its place (V4, volcano#4947)."""
        require(s.nobody_has_the_turn(), any_(s.tried[q, j] for q in Queue for j in Job))
        require(all_(~s.wants(q, j) | s.tried[q, j] for q in Queue for j in Job))
        for q in Queue:
            for j in Job:
                s.tried[q, j] = False
                if not repaired:
                    for n in Node:
                        s.pipelined[q, j, n] = 0

    @m.action
    def pop_job(q: Queue, j: Job) -> None:
        """A job's turn, in the queue with the least share: a statement begins (V4, volcano#4947)."""
        require(s.nobody_has_the_turn(), s.wants(q, j), ~s.tried[q, j])
        require(s.is_first(q))
        s.turn[q, j] = True
        s.tried[q, j] = True

    return enqueue, new_session, pop_job


def _statement(m: Machine, s: State, claims: Claims, needs: Needs, gang: bool, repaired: bool) -> None:
    def is_to_go_on(q: Queue, j: Job) -> Expr:
        """Until the job has minAvailable; a job that had gets one more."""
        return s.is_starving(q, j) | all_(s.piped[q, j, k] == 0 for k in Node)

    @m.action
    def pipeline(q: Queue, j: Job, n: Node) -> None:
        """A task is to run on a node that has room, or will have. Until the job has minAvailable; a job that had gets
        one more. Reclaim skips a node without reclaimees, but for that of its last victim; repaired, it does not (V4,
        volcano#5520)."""
        require(s.turn[q, j], s.pending(q, j) > 0, s.fits(q, n))
        require(is_to_go_on(q, j))
        if not repaired:
            require(~s.reclaims | s.has_reclaimees(q, n) | s.has_victims(n))
        s.piped[q, j, n] += 1

    if not repaired:

        @m.action
        def start_reclaim(q: Queue, j: Job) -> None:
            """No node fits a further task, and the job is starving: the statement of allocate is discarded, and that of
            reclaim begins, which places each task anew (volcano#5520)."""
            require(s.turn[q, j], ~s.reclaims, s.pending(q, j) > 0, is_to_go_on(q, j), ~s.some_node_fits(q))
            if needs is Needs.STARVING:
                require(s.is_starving(q, j))
            s.reclaims.next = True
            for n in Node:
                s.piped[q, j, n] = 0

    @m.action
    def evict(q: Queue, j: Job, p: Queue, i: Job, n: Node) -> None:
        """A victim for a starving job whose queue deserves more: a task of another queue that every plugin gives, on a
        node that does not fit. Gang gives those beyond minAvailable, proportion those of a queue that has more than it
        deserves. Repaired, no other node fits either (V9, volcano#5520)."""
        require(s.turn[q, j], s.pending(q, j) > 0)
        if repaired:
            require(~s.some_node_fits(q))
        else:
            require(s.reclaims, ~s.fits(q, n), all_(~(s.has_victims(k) & s.fits(q, k)) for k in Node))
        require(s.is_starving(q, j) if needs is Needs.STARVING else is_to_go_on(q, j))
        require(s.deserves(q, 1) if claims is Claims.WITHIN else s.lacks(q))
        require(p != q, s.running[p, i, n] - s.evicting[p, i, n] > 0)
        if s.widths is not None:  # one victim makes the room
            require(s.future_idle(n) + s.width(p) >= s.width(q))
        if gang:
            require(s.ready(p, i) > s.minimum)
        require(~s.deserves(p, 0))
        s.evicting[p, i, n] += 1

    @m.action
    def commit(q: Queue, j: Job) -> None:
        """The job has minAvailable tasks once its victims are gone: the statement is carried out. If all of its tasks
        have room now they are bound; else they are pipelined (V4)."""
        require(s.turn[q, j], s.is_pipelined(q, j), any_(s.piped[q, j, n] > 0 for n in Node))
        s.turn[q, j] = False
        if not repaired:
            s.reclaims.next = False
        has_room = all_(s.units(q, s.piped[q, j, n]) <= s.idle(n) for n in Node)
        for p in Queue:
            for i in Job:
                for n in Node:
                    bound = 0 if repaired else ite(has_room, s.piped[p, i, n], 0)
                    s.running[p, i, n] += bound - s.evicting[p, i, n]
                    s.releasing[p, i, n] += s.evicting[p, i, n]
                    s.pipelined[p, i, n] += s.piped[p, i, n] - bound
                    s.evicting[p, i, n] = 0
                    s.piped[p, i, n] = 0

    @m.action
    def discard(q: Queue, j: Job) -> None:
        """Nothing more can be had and it is not enough: the statement is undone, nobody is evicted, and the next round
        begins (V4)."""
        require(s.turn[q, j], ~m.enabled(pipeline), ~m.enabled(evict), ~m.enabled(commit))
        if not repaired:
            require(~m.enabled(start_reclaim))
            s.reclaims.next = False
        s.turn[q, j] = False
        for p in Queue:
            for i in Job:
                for n in Node:
                    s.evicting[p, i, n] = 0
                    s.piped[p, i, n] = 0


def _nodes(m: Machine, s: State, repaired: bool) -> list[Callable[..., Any]]:
    @m.action
    def terminated(q: Queue, j: Job, n: Node) -> None:
        """An evicted task is gone; its controller makes a new one, which is pending (volcano#377)."""
        require(s.releasing[q, j, n] > 0)
        s.releasing[q, j, n] -= 1

    if not repaired:
        return [terminated]

    @m.action
    def bind(q: Queue, j: Job) -> None:
        """All pipelined tasks of a job find the room that was kept for them: they are allocated together, and bound
        (V4, volcano#4947)."""
        require(s.nobody_has_the_turn(), any_(s.pipelined[q, j, n] > 0 for n in Node))
        require(all_(s.units(q, s.pipelined[q, j, n]) <= s.idle(n) for n in Node))
        for n in Node:
            s.running[q, j, n] += s.pipelined[q, j, n]
            s.pipelined[q, j, n] = 0

    return [terminated, bind]


def _finish(m: Machine, s: State) -> Callable[..., Any]:
    @m.action
    def finish(q: Queue, j: Job) -> None:
        """A job that runs ends, if it is left alone for long enough. Also while its statement is open, which ends then,
        or while it is a victim of one; a statement of reclaim starts anew with what there is then (volcano#377)."""
        require(s.phase[q, j] == Phase.INQUEUE, sum_(s.running[q, j, n] for n in Node) >= s.minimum)
        require(all_((s.pipelined[q, j, n] == 0) & (s.releasing[q, j, n] == 0) for n in Node))
        s.phase[q, j] = Phase.DONE
        s.tried[q, j] = False
        for n in Node:
            s.running[q, j, n] = 0
        for p in Queue:
            for i in Job:
                for n in Node:
                    undone = s.reclaims | s.turn[q, j] | ((p == q) & (i == j))
                    s.evicting[p, i, n] = ite(undone, 0, s.evicting[p, i, n])
                    s.piped[p, i, n] = ite(undone, 0, s.piped[p, i, n])
        s.reclaims.next = False
        s.turn[q, j] = False

    return finish
