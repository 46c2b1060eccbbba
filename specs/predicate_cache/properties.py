"""What must hold of the predicate_cache spec, and what must be reachable so that it says something."""

from __future__ import annotations

from typing import Any

from model.language import Expr, Machine, all_, among, any_, each, implies, strong
from specs.predicate_cache.parameters import Scope
from specs.predicate_cache.state import Checked, Job, Node, Phase, Replica, State


def declare(m: Machine, s: State, checked: Scope, room: int, finish: Any, training: bool) -> None:
    """All properties."""
    _declare_safety(m, s, room, training)
    _declare_progress(m, s, finish)
    if checked.cached:
        _declare_cache(m, s, room, read=checked.some_error_is_read)


def _declare_safety(m: Machine, s: State, room: int, training: bool) -> None:
    @m.terminal
    def all_done() -> Expr:
        """Every job has run."""
        return all_(s.phase[j] == Phase.DONE for j in Job)

    @m.always
    def node_capacity() -> Expr:
        """No node holds more pods than it has room for: want of room is an error like any other (T4)."""
        return all_(s.used(n) <= room for n in Node)

    @m.always
    def pods_are_where_they_fit() -> Expr:
        """Every pod is on a node that its nodeSelector and its required affinity, both, select, and that has the GPUs
        (T1)."""
        return all_(implies(s.placed[j, r, n] > 0, s.suits[r, n] == 1) for j in Job for r in Replica for n in Node)

    @m.always
    def no_partial_gang_is_bound() -> Expr:
        """A job of which a pod is bound has all of its pods bound: one with a task that finds no node is Pending
        (volcano#2937)."""
        return all_(implies(s.phase[j] == Phase.BOUND, s.is_whole(j)) for j in Job)

    if training:

        @m.always
        def masters_stay_off_gpu_nodes() -> Expr:
            """A pod that needs no GPU takes no room on a node that has some, or GPUs would strand (T6)."""
            return all_(
                implies((s.needs_gpu[r] == 0) & (s.has_gpu[n] == 1), s.placed[j, r, n] == 0)
                for j in Job
                for r in Replica
                for n in Node
            )


def _declare_cache(m: Machine, s: State, room: int, read: bool) -> None:
    @m.always
    def no_suitable_node_is_refused() -> Expr:
        """A node that the cache refuses for a task is one that its predicate would refuse: an error holds for every
        task that reads it (T3, T4, T5, volcano#2937)."""
        return all_(
            implies((s.checked[n] == Checked.REFUSED) & (s.task == r), (s.suits[r, n] == 0) | (s.used(n) >= room))
            for r in Replica
            for n in Node
        )

    if read:

        @m.sometimes
        def an_error_is_read() -> Expr:
            """The cache saves a predicate: an error of one task is read for the next (T4)."""
            return any_(s.checked[n] == Checked.REFUSED for n in Node)


def _declare_progress(m: Machine, s: State, finish: Any) -> None:
    @m.possible
    def all_jobs_can_run() -> Expr:
        """From every reachable state all jobs can still be scheduled (T3, T5, volcano#2198)."""
        return all_(among(s.phase[j], Phase.BOUND, Phase.DONE) for j in Job) | all_(
            s.phase[j] == Phase.DONE for j in Job
        )

    @m.leads_to(fairness=[m.progress(), strong(each(finish))])
    def every_job_is_scheduled(j: Job) -> tuple[Expr, Expr]:
        """Every job that has nothing bound is bound at last, if the scheduler goes on and what runs ends (T3, T5,
        volcano#2756)."""
        return s.phase[j] == Phase.PENDING, s.phase[j] == Phase.BOUND
