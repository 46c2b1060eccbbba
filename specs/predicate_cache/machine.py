"""Volcano's allocate action with its cache of predicate errors: what one task failed on, the next is not asked about.

After an engineer's account of a training job that never started (Volcano's report 2937): master and worker had no
``volcano.sh/task-spec``, so they shared the errors of nodes. README.md beside this file lists the account's rules (T1
to T6) and what follows each.
"""

from __future__ import annotations

from model.language import Expr, Machine, all_, any_, implies, ite, require
from specs.predicate_cache.parameters import Annotation, Constraint, Edition, First, Scope, Workload, scope
from specs.predicate_cache.properties import declare
from specs.predicate_cache.state import Checked, Job, Node, Phase, Replica, State, TaskGroup


def predicate_cache(
    workload: Workload = Workload.TRAINING,
    constraint: Constraint = Constraint.SELECTOR,
    annotation: Annotation = Annotation.REPLICA_TYPE,
    edition: Edition = Edition.SEED,
    cache: bool = True,
    first: First = First.ANY,
    jobs: int = 2,
    workers: int = 2,
    room: int = 1,
    repaired: bool = False,
) -> Machine:
    """Volcano's cache of predicate errors: node errors that tasks with one key share within a session.

    ``cache``: predicateErrorCacheEnable; ``workers``: also the number of GPU nodes; ``room``: pods of a node.
    ``repaired``: errors are kept for each pod template, whatever the annotation says.
    ValueError for sizes that make no sense.
    """
    checked = scope(workload, constraint, annotation, edition, cache, jobs, workers, room, first, repaired)
    m = Machine("predicate_cache", doc="Volcano's cache of predicate errors")
    s = State(m, checked, jobs)
    m.attach(s)
    _session(m, s)
    _place(m, s, checked, first, room)
    _statement(m, s, may_fail=checked.may_fail)
    finish = _finish(m, s)
    declare(m, s, checked, room, finish, training=workload is Workload.TRAINING)
    return m


def _session(m: Machine, s: State) -> None:
    @m.action
    def open_session() -> None:
        """A session begins: a new cache, and every job that has nothing bound is to be tried (T4)."""
        require(~s.session, any_(s.phase[j] == Phase.PENDING for j in Job))
        s.session.next = True
        for j in Job:
            for g in TaskGroup:
                for n in Node:
                    s.error[j, g, n] = False

    @m.action
    def pop_job(j: Job) -> None:
        """The next job's turn: a statement begins (T4)."""
        require(s.session, s.turn.is_none(), s.phase[j] == Phase.PENDING)
        s.turn.next = j

    @m.action
    def close_session() -> None:
        """Every job has been tried; the others get another try in the next session (T4)."""
        require(s.session, s.turn.is_none(), all_(s.phase[j] != Phase.PENDING for j in Job))
        s.session.next = False
        for j in Job:
            s.phase[j] = ite(s.phase[j] == Phase.TRIED, Phase.PENDING, s.phase[j])


def _place(m: Machine, s: State, checked: Scope, first: First, room: int) -> None:
    rank = m.constant("rank", Replica, [int(i != (first is First.WORKER)) for i in range(len(checked.templates))])

    def comes_first(j: Job, r: Replica) -> Expr:
        """Tasks of one template, the master or the worker, come before all others of their job."""
        return all_(implies(rank[q] < rank[r], s.waiting(j, q) == 0) for q in Replica)

    @m.action
    def pop_task(j: Job, r: Replica) -> None:
        """The next task; master or worker, their order is not said (T3)."""
        require(s.turn == j, s.task.is_none(), s.waiting(j, r) > 0)
        if first is not First.ANY:
            require(comes_first(j, r))
        s.task.next = r

    @m.action
    def check_node(j: Job, r: Replica, n: Node) -> None:
        """The predicate is asked: nodeSelector and required affinity, both, and whether there is room. An error is
        kept under the key of the task; a node with an error under that key is refused without asking. Nodes are
        checked in parallel, so in any order (T1, T4)."""
        require(s.turn == j, s.task == r, s.checked[n] == Checked.NOT_YET)
        fits = (s.suits[r, n] == 1) & (s.used(n) < room)
        answer = ite(fits, Checked.FITS, Checked.FAILED)
        if not checked.cached:
            s.checked[n] = answer
            return
        s.checked[n] = ite(s.has_error(j, r, n), Checked.REFUSED, answer)
        for g in TaskGroup:
            s.error[j, g, n] = s.error[j, g, n] | ((s.key[r, g] == 1) & ~fits)

    @m.action
    def allocate(j: Job, r: Replica, n: Node) -> None:
        """The statement puts the task on one of the nodes that are left; scores are not modelled (T6)."""
        require(s.turn == j, s.task == r, s.all_checked(), s.checked[n] == Checked.FITS)
        s.placed[j, r, n] += 1
        _next_task(s)


def _statement(m: Machine, s: State, may_fail: bool) -> None:
    @m.action
    def commit(j: Job) -> None:
        """The job is ready, all of its pods have a node: they are bound (T3)."""
        require(s.turn == j, s.task.is_none(), s.is_whole(j))
        s.phase[j] = Phase.BOUND
        s.turn.next = None

    if may_fail:

        @m.action
        def discard(j: Job) -> None:
            """No node is left for a task: the statement is undone, the job stays Pending (T3)."""
            require(s.turn == j, ~s.task.is_none(), s.all_checked())
            require(all_(s.checked[n] != Checked.FITS for n in Node))
            s.phase[j] = Phase.TRIED
            s.turn.next = None
            _release(s, j)
            _next_task(s)


def _finish(m: Machine, s: State) -> object:
    @m.action
    def finish(j: Job) -> None:
        """A job ends. Within a session nobody would see it, as a session has a snapshot: so it happens between two
        (T4)."""
        require(~s.session, s.phase[j] == Phase.BOUND)
        s.phase[j] = Phase.DONE
        _release(s, j)

    return finish


def _next_task(s: State) -> None:
    s.task.next = None
    for n in Node:
        s.checked[n] = Checked.NOT_YET


def _release(s: State, j: Job) -> None:
    for r in Replica:
        for n in Node:
            s.placed[j, r, n] = 0
