"""Faults of the volcano_reclaim spec: reports that people filed, and at least one for each property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.language import Expr, Machine, Op, all_, any_, ite, require, sum_
from model.language.mutation import disabled, rewritten, with_guard, without_guard
from specs.mutant import Mutant
from specs.volcano.reclaim.machine import volcano_reclaim
from specs.volcano.reclaim.state import Claims, Job, Needs, Node, Queue, State

_FITS: Final = "~any_("
_GANG: Final = "sum_((running[p, i, n]"
_STARVING: Final = "< 1)"
_Evict = Callable[[Queue, Job, Queue, Job, Node], None]


def _room_only(guard: Expr) -> Expr:
    """Of "its queue lacks something, or there is room" the second part."""
    assert isinstance(guard, Op)
    return guard.args[1]


def _until_it_has_all(guard: Expr) -> Expr:
    """From "with one task more it has at most what it deserves" to "it has less than that"."""
    assert isinstance(guard, Op)
    product, capacity = guard.args
    assert isinstance(product, Op)
    units, queues = product.args
    return (units - 1) * queues < capacity


def _free(s: State, n: Node) -> Expr:
    """Room that is free now and promised to nobody."""
    return s.idle(n) - sum_(s.pipelined[p, i, n] + s.piped[p, i, n] for p in Queue for i in Job)


def _idle_only(m: Machine) -> Callable[[Queue, Job, Node], None]:
    s = m.attached(State)

    def pipeline(q: Queue, j: Job, n: Node) -> None:
        require(s.turn[q, j], s.pending(q, j) > 0, s.fits(q, n))
        require(s.is_starving(q, j) | all_(s.piped[q, j, k] == 0 for k in Node))
        require(ite(s.reclaims, s.has_reclaimees(q, n) | s.has_victims(n), _free(s, n) > 0))
        s.piped[q, j, n] += 1

    return pipeline


def _nothing_idle(m: Machine) -> Callable[[Queue, Job], None]:
    s = m.attached(State)

    def start_reclaim(q: Queue, j: Job) -> None:
        require(s.turn[q, j], ~s.reclaims, s.pending(q, j) > 0, s.is_starving(q, j))
        require(all_(_free(s, n) <= 0 for n in Node))
        s.reclaims.next = True

    return start_reclaim


def _at_once(m: Machine) -> _Evict:
    s = m.attached(State)

    def evict(q: Queue, j: Job, p: Queue, i: Job, n: Node) -> None:
        require(s.turn[q, j], s.is_starving(q, j), ~s.some_node_fits(q), s.deserves(q, 1))
        require(p != q, s.running[p, i, n] > 0, s.ready(p, i) > s.minimum, ~s.deserves(p, 0))
        s.running[p, i, n] -= 1
        s.releasing[p, i, n] += 1

    return evict


def _victims_nodes_only(m: Machine) -> Callable[[Queue, Job, Node], None]:
    s = m.attached(State)

    def pipeline(q: Queue, j: Job, n: Node) -> None:
        chosen = sum_(s.evicting[p, i, k] for p in Queue for i in Job for k in Node)
        require(s.turn[q, j], s.pending(q, j) > 0, s.fits(q, n))
        require(s.is_starving(q, j) | all_(s.piped[q, j, k] == 0 for k in Node))
        require((chosen == 0) | any_(s.evicting[p, i, n] > 0 for p in Queue for i in Job))
        s.piped[q, j, n] += 1

    return pipeline


def _one_by_one(m: Machine) -> Callable[[Queue, Job], None]:
    s = m.attached(State)

    def bind(q: Queue, j: Job) -> None:
        require(s.nobody_has_the_turn(), any_((s.pipelined[q, j, n] > 0) & (s.idle(n) > 0) for n in Node))
        for n in Node:
            bound = ite(s.pipelined[q, j, n] <= s.idle(n), s.pipelined[q, j, n], 0)
            s.running[q, j, n] += bound
            s.pipelined[q, j, n] -= bound

    return bind


_REPAIRED: Final = {"repaired": True}
_TWO_OF_TWO: Final = {"size": 4, "nodes": 4, "minimum": 2, "repaired": True}
_ONE_EACH: Final = {"size": 1, "nodes": 1, "claims": Claims.UNTIL, "repaired": True}

_REPORTS = (
    Mutant(
        "single_task_jobs_evict_each_other",
        "gang lets jobs with minAvailable 1 be evicted altogether, so two jobs of one task evict each other forever",
        "every_job_ends",
        volcano_reclaim,
        (without_guard("evict", _GANG),),
        _ONE_EACH,
        consequences=("victims_are_chosen_by_every_plugin",),
        report="volcano#377",
    ),
    Mutant(
        "ping_pong",
        "a queue may claim until it has what it deserves or more, so each takes the odd task back from the other",
        "every_job_ends",
        volcano_reclaim,
        (with_guard("evict", "+ 1) * 2) <= 3", _until_it_has_all),),
        {"needs": Needs.PENDING},
        report="volcano#561",
    ),
    Mutant(
        "pending_tasks_reclaim",
        "reclaim looks at whether a job has pending tasks, not at whether it has fewer than minAvailable",
        "only_starving_jobs_reclaim",
        volcano_reclaim,
        (without_guard("evict", _STARVING),),
        {"claims": Claims.UNTIL, "repaired": True},
        consequences=("evictions_are_needed", "every_job_ends"),
        report="volcano#3869",
    ),
    Mutant(
        "full_cluster_bars_enqueue",
        "enqueue asks for room in the cluster only, and reclaim looks at Inqueue jobs only",
        "a_lacking_queue_is_let_in",
        volcano_reclaim,
        (with_guard("enqueue", "any_", _room_only),),
        report="volcano#569",
    ),
    Mutant(
        "evicts_without_statement",
        "reclaim evicts at once and not by a statement: if the gang cannot start, its victims are gone for nothing",
        "evictions_let_a_gang_start",
        volcano_reclaim,
        (rewritten("evict", _at_once, "evict is carried out at once"),),
        {"queues": 3, "nodes": 5, "size": 4, "minimum": 2, "claims": Claims.UNTIL, "repaired": True},
        consequences=("evictions_are_needed", "every_job_ends"),
        report="volcano#3673",
    ),
    Mutant(
        "victims_nodes_only",
        "nodes without victims are not considered, so a gang that needs a free node, too, gets nothing; the report is "
        "of the preempt action, which had this loop",
        "no_statement_is_discarded_while_a_node_fits",
        volcano_reclaim,
        (
            rewritten("pipeline", _victims_nodes_only, "pipeline only where a victim was chosen, if any was"),
            without_guard("evict", _FITS),
        ),
        {"size": 3, "nodes": 4, "minimum": 2, "repaired": True},
        consequences=("no_eviction_while_a_node_fits",),
        report="volcano#3291",
    ),
    Mutant(
        "pipelined_rolled_back",
        "allocate takes back what it pipelines, as pipelined tasks make no job ready; so the task evicts one more",
        "evictions_are_needed",
        volcano_reclaim,
        (
            rewritten("pipeline", _idle_only, "allocate places tasks on idle room only"),
            rewritten("start_reclaim", _nothing_idle, "reclaim begins where nothing is idle"),
        ),
        report="volcano#540",
        consequences=("no_eviction_while_a_node_fits", "every_job_ends"),
    ),
)

_SEEDED = (
    Mutant(
        "room_not_looked_at_first",
        "victims are looked for before room",
        "no_eviction_while_a_node_fits",
        volcano_reclaim,
        (without_guard("evict", _FITS),),
        _REPAIRED,
        consequences=("evictions_are_needed",),
    ),
    Mutant(
        "binds_before_termination",
        "pipelined tasks are bound while their victims still run down",
        "node_capacity",
        volcano_reclaim,
        (without_guard("bind", "<="),),
        _REPAIRED,
    ),
    Mutant(
        "room_promised_twice",
        "what is promised to pipelined tasks is not looked at",
        "room_is_promised_once",
        volcano_reclaim,
        (without_guard("pipeline", "evicting[q, j, n]) for q"),),
        _REPAIRED,
        consequences=("all_jobs_can_end", "every_job_ends", "deadlock_free", "values_in_range"),
    ),
    Mutant(
        "gang_not_asked",
        "victims are those of proportion alone",
        "victims_are_chosen_by_every_plugin",
        volcano_reclaim,
        (without_guard("evict", _GANG),),
        _REPAIRED,
    ),
    Mutant(
        "partial_bind",
        "a job's pipelined tasks are bound one by one",
        "no_partial_gang_runs",
        volcano_reclaim,
        (rewritten("bind", _one_by_one, "bind takes those tasks that have room"),),
        _TWO_OF_TWO,
    ),
    Mutant(
        "nothing_evicted",
        "no victim is found",
        "a_task_is_evicted",
        volcano_reclaim,
        (disabled("evict"),),
    ),
    Mutant(
        "never_terminated",
        "evicted tasks never go",
        "all_jobs_can_end",
        volcano_reclaim,
        (disabled("terminated"),),
        consequences=("every_job_ends",),
    ),
)

MUTANTS = (*_REPORTS, *_SEEDED)
