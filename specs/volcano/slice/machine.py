"""What of Volcano's allocate action decides capacity and gangs: small, and meant for any number of queues and jobs.

A statement places tasks of one job, one by one, and takes their units at once; it is committed with minAvailable tasks,
or discarded.
"""

from __future__ import annotations

from model.language import Expr, Machine, Sort, after, all_, any_, implies, require, sum_
from specs.parameters import check_size
from specs.volcano.state import Queue


class Job(Sort):
    """The jobs of one queue, whatever their namespace, by number."""


def volcano_slice(
    queues: int = 2, jobs: int = 2, size: int = 3, minimum: int = 2, capacity: int = 4, drains: int = 1
) -> Machine:
    """Volcano's statements, gangs and usage, for proofs about any number of queues and jobs.

    ``jobs`` jobs of each queue, of ``size`` tasks of which ``minimum`` have to run; ``capacity`` units of the cluster,
    for one task each; ``drains`` tasks may be lost with their nodes. ValueError for sizes that make no sense.
    """
    for name, value in (("queues", queues), ("jobs", jobs), ("size", size), ("capacity", capacity)):
        check_size(name, value)
    check_size("minimum", minimum, most=size)
    check_size("drains", drains, least=0)
    m = Machine("volcano_slice", doc="What of Volcano's allocate action decides capacity and gangs")
    m.sort(Queue, queues, symmetric=True)
    m.sort(Job, jobs, symmetric=True)
    count, units = range(size + 1), range(capacity + 1)
    turn = m.variable("turn", (Queue, Job), bool, init=False)
    bound = m.variable("bound", (Queue, Job), count, init=0)
    tentative = m.variable("tentative", (Queue, Job), count, init=0)
    in_queue = m.variable("in_queue", Queue, units, init=0)
    used = m.scalar("used", units, init=0)
    drained = m.scalar("drained", range(drains + 1), init=0)

    @m.action
    def pop_job(q: Queue, j: Job) -> None:
        """A statement for j begins, if none is open (V4)."""
        require(all_(~turn[p, i] for p in Queue for i in Job))
        turn[q, j] = True

    @m.action
    def allocate(q: Queue, j: Job) -> None:
        """The statement places one more task, where the cluster has room (V4)."""
        require(turn[q, j], bound[q, j] + tentative[q, j] < size, used < capacity)
        tentative[q, j] += 1
        in_queue[q] += 1
        used.next += 1

    @m.action
    def commit(q: Queue, j: Job) -> None:
        """The job is ready: all that the statement placed is bound (V4)."""
        require(turn[q, j], bound[q, j] + tentative[q, j] >= minimum)
        turn[q, j] = False
        bound[q, j] += tentative[q, j]
        tentative[q, j] = 0

    @m.action
    def discard(q: Queue, j: Job) -> None:
        """The statement is undone (V4)."""
        require(turn[q, j])
        turn[q, j] = False
        in_queue[q] -= tentative[q, j]
        used.next -= tentative[q, j]
        tentative[q, j] = 0

    @m.action
    def finish(q: Queue, j: Job) -> None:
        """A job ends, with all its tasks (V4)."""
        require(bound[q, j] >= minimum)
        in_queue[q] -= bound[q, j]
        used.next -= bound[q, j]
        bound[q, j] = 0

    if drains:

        @m.action
        def drain_node(q: Queue, j: Job) -> None:
            """A node is taken away, and with it a task (volcano#5805)."""
            require(bound[q, j] > 0, drained < drains)
            bound[q, j] -= 1
            in_queue[q] -= 1
            used.next -= 1
            drained.next += 1

    @m.always
    def cluster_capacity() -> Expr:
        """No more units are taken than there are (V7)."""
        return sum_(bound[q, j] + tentative[q, j] for q in Queue for j in Job) <= capacity

    @m.always
    def no_partial_gang_is_bound() -> Expr:
        """Of a job of which some tasks are bound at least minAvailable are, but for those that were drained (V4,
        volcano#2462)."""
        return all_(implies(bound[q, j] > 0, bound[q, j] + drained >= minimum) for q in Queue for j in Job)

    @m.step
    def only_ready_jobs_are_committed() -> Expr:
        """Whenever tasks of a job are bound, at least minAvailable of them are then (V4, volcano#2462)."""
        return all_(
            implies(after(bound[q, j]) > bound[q, j], after(bound[q, j]) >= minimum) for q in Queue for j in Job
        )

    @m.always
    def statements_are_committed_or_discarded() -> Expr:
        """Nothing is placed but by the statement of the job that has the turn, and one job has it (V4, volcano#268)."""
        return all_(implies(~turn[q, j], tentative[q, j] == 0) for q in Queue for j in Job) & all_(
            implies(turn[q, j] & turn[p, i], (p == q) & (i == j))
            for q in Queue
            for j in Job
            for p in Queue
            for i in Job
        )

    @m.always
    def usage_is_conserved() -> Expr:
        """What proportion counts for a queue is the sum of what its jobs have; what is used of the cluster is what all
        queues count, and what all jobs have (V7)."""
        return (
            all_(in_queue[q] == sum_(bound[q, j] + tentative[q, j] for j in Job) for q in Queue)
            & (used == sum_(in_queue[q] for q in Queue))
            & (used == sum_(bound[q, j] + tentative[q, j] for q in Queue for j in Job))
        )

    @m.always
    def jobs_do_not_grow() -> Expr:
        """No job has more tasks placed than it has (V4)."""
        return all_(bound[q, j] + tentative[q, j] <= size for q in Queue for j in Job)

    @m.sometimes
    def a_whole_job_runs() -> Expr:
        """All tasks of some job are bound (V4)."""
        return any_(bound[q, j] == size for q in Queue for j in Job)

    return m
