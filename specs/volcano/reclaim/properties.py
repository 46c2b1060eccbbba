"""What must hold of the volcano_reclaim spec, and what must be reachable so that it says something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language import Expr, Machine, after, all_, any_, each, implies, strong, sum_, weak
from specs.volcano.reclaim.state import Job, Needs, Node, Phase, Queue, State


@dataclass(frozen=True)
class Life:
    """The actions that fairness names: what the scheduler and the nodes do, and that a job ends."""

    new_session: Callable[..., Any]
    steps: list[Callable[..., Any]]
    finish: Callable[..., Any]


def declare(
    m: Machine, s: State, needs: Needs, gang: bool, repaired: bool, enqueue: Callable[..., Any], life: Life
) -> None:
    """All properties."""
    _declare_safety(m, s)
    _declare_evictions(m, s, needs, gang, is_ever_too_little=repaired or s.minimum > 1 or s.widths is not None)
    _declare_enqueue(m, s, enqueue)
    _declare_progress(m, s, life)


def _declare_safety(m: Machine, s: State) -> None:
    @m.terminal
    def all_done() -> Expr:
        """Every job has ended, and nobody evicts any more (volcano#377)."""
        return all_(s.phase[q, j] == Phase.DONE for q in Queue for j in Job)

    @m.always
    def node_capacity() -> Expr:
        """No node holds more tasks than it has room for, those that go included: what was freed is not given away
        before it is free (volcano#540)."""
        return all_(s.idle(n) >= 0 for n in Node)

    @m.always
    def room_is_promised_once() -> Expr:
        """No more tasks wait for a node than it will have room for (volcano#540)."""
        return all_(s.future_idle(n) >= 0 for n in Node)

    @m.always
    def no_partial_gang_runs() -> Expr:
        """Of every job nothing runs, or at least minAvailable tasks do: rounds bind so many, and victims leave so many,
        as gang is one of those that choose (V4, V9)."""
        return all_((s.ready(q, j) == 0) | (s.ready(q, j) >= s.minimum) for q in Queue for j in Job)


def _declare_evictions(m: Machine, s: State, needs: Needs, gang: bool, *, is_ever_too_little: bool) -> None:
    def is_chosen(p: Queue, i: Job, n: Node) -> Expr:
        return after(s.evicting[p, i, n]) > s.evicting[p, i, n]

    def goes(p: Queue, i: Job, n: Node) -> Expr:
        return after(s.releasing[p, i, n]) > s.releasing[p, i, n]

    @m.step
    def victims_are_chosen_by_every_plugin() -> Expr:
        """A victim's job keeps minAvailable tasks, and its queue had more than it deserves: the intersection of what
        the plugins that are asked choose (V9)."""
        return all_(
            implies(is_chosen(p, i, n), (s.ready(p, i) > s.minimum if gang else True) & ~s.deserves(p, 0))
            for p in Queue
            for i in Job
            for n in Node
        )

    if needs is Needs.STARVING:

        @m.step
        def only_starving_jobs_reclaim() -> Expr:
            """Nobody is evicted for a job that has minAvailable tasks (volcano#3869)."""
            return implies(
                any_(is_chosen(p, i, n) for p in Queue for i in Job for n in Node),
                all_(implies(s.turn[q, j], s.is_starving(q, j)) for q in Queue for j in Job),
            )

    @m.step
    def no_eviction_while_a_node_fits() -> Expr:
        """Nobody is evicted while some node has, or will have, room for the task (volcano#5520)."""
        chosen = any_(is_chosen(p, i, n) for p in Queue for i in Job for n in Node)
        return all_(implies(chosen & s.turn[q, j], ~s.some_node_fits(q)) for q in Queue for j in Job)

    @m.step
    def evictions_let_a_gang_start() -> Expr:
        """Tasks are evicted only if the job that they go for has minAvailable tasks then (volcano#3673)."""
        return implies(
            any_(goes(p, i, n) for p in Queue for i in Job for n in Node),
            any_(s.turn[q, j] & s.is_pipelined(q, j) for q in Queue for j in Job),
        )

    @m.step
    def evictions_are_needed() -> Expr:
        """When tasks are evicted, at least as many tasks wait for room as are to leave (volcano#540)."""
        return implies(
            any_(goes(p, i, n) for p in Queue for i in Job for n in Node),
            sum_(after(s.releasing[q, j, n]) for q in Queue for j in Job for n in Node)
            <= sum_(after(s.pipelined[q, j, n]) for q in Queue for j in Job for n in Node),
        )

    if is_ever_too_little:

        @m.step
        def no_statement_is_discarded_while_a_node_fits() -> Expr:
            """A starving job's turn ends without success only where no node has, or will have, room for one more of its
            tasks (volcano#3291, volcano#5520)."""
            return all_(
                implies(
                    s.turn[q, j] & ~after(s.turn[q, j]) & s.is_starving(q, j) & (after(s.phase[q, j]) == Phase.INQUEUE),
                    ~s.some_node_fits(q),
                )
                for q in Queue
                for j in Job
            )

    @m.sometimes
    def a_task_is_evicted() -> Expr:
        """A statement with a victim is committed: reclaim starts for a queue that lacks what it deserves
        (volcano#569)."""
        return any_(s.releasing[q, j, n] > 0 for q in Queue for j in Job for n in Node)


def _declare_enqueue(m: Machine, s: State, enqueue: Callable[..., Any]) -> None:
    @m.always
    def a_lacking_queue_is_let_in() -> Expr:
        """No PodGroup is kept Pending while its queue has less than it deserves: reclaim looks at Inqueue ones only
        (volcano#569)."""
        return all_(
            implies((s.phase[q, j] == Phase.PENDING) & s.lacks(q), m.enabled(enqueue, q, j)) for q in Queue for j in Job
        )


def _declare_progress(m: Machine, s: State, life: Life) -> None:
    @m.possible
    def all_jobs_can_end() -> Expr:
        """From every reachable state all jobs can still end (volcano#377)."""
        return all_(s.phase[q, j] == Phase.DONE for q in Queue for j in Job)

    # a statement that is open leaves nothing else to do for long, so progress ends it
    each_in_turn = [strong(each(step)) for step in life.steps]
    fairness = [m.progress(), strong(life.new_session), *each_in_turn, weak(each(life.finish))]

    @m.leads_to(fairness=fairness)
    def every_job_ends(q: Queue, j: Job) -> tuple[Expr, Expr]:
        """Every job that is submitted ends at last, if scheduler and nodes go on, and a job that is left alone ends. So
        evictions don't go on forever (volcano#377, volcano#561, volcano#4947)."""
        return s.phase[q, j] == Phase.PENDING, s.phase[q, j] == Phase.DONE
