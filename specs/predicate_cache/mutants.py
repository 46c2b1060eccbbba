"""Faults of the predicate_cache spec: three reports of pods that shared errors, and at least one for each property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.language import Machine, ite, require
from model.language.mutation import (
    disabled,
    rewritten,
    with_update,
    without_guard,
    without_update,
)
from specs.mutant import Mutant
from specs.predicate_cache.machine import predicate_cache
from specs.predicate_cache.parameters import Annotation, Constraint, Edition, Workload
from specs.predicate_cache.state import Checked, Job, Node, Replica, State, TaskGroup

_NEVER: Final = ("all_jobs_can_run", "every_job_is_scheduled")


def _without_room(m: Machine) -> Callable[[Job, Replica, Node], None]:
    s = m.attached(State)

    def check_node(j: Job, r: Replica, n: Node) -> None:
        require(s.turn == j, s.task == r, s.checked[n] == Checked.NOT_YET)
        s.checked[n] = ite(s.suits[r, n] == 1, Checked.FITS, Checked.FAILED)

    return check_node


def _empty_key(m: Machine) -> Callable[[Job, Replica, Node], None]:
    s = m.attached(State)

    def check_node(j: Job, r: Replica, n: Node) -> None:
        require(s.turn == j, s.task == r, s.checked[n] == Checked.NOT_YET)
        fits = (s.suits[r, n] == 1) & (s.used(n) < 1)
        s.checked[n] = ite(s.has_error(j, r, n), Checked.REFUSED, ite(fits, Checked.FITS, Checked.FAILED))
        for g in TaskGroup:
            s.error[j, g, n] = s.error[j, g, n] | ~fits

    return check_node


_REPORTS = (
    Mutant(
        "no_task_spec",
        "the operator of the job sets no volcano.sh/task-spec, so its master and its workers share one key",
        "no_suitable_node_is_refused",
        predicate_cache,
        consequences=_NEVER,
        report="volcano#2937",
        changed={"annotation": Annotation.NONE},
    ),
    Mutant(
        "empty_role_is_a_key",
        "pods without a role have the key that is empty, as if ps, worker and chief of a TFJob were of one role; since "
        "2024 nothing is cached for them",
        "every_job_is_scheduled",
        predicate_cache,
        (rewritten("check_node", _empty_key, "check_node keeps and reads errors of pods without a role"),),
        {"workload": Workload.TFJOB, "annotation": Annotation.NONE, "edition": Edition.CURRENT},
        consequences=("all_jobs_can_run",),
        report="volcano#2198",
    ),
    Mutant(
        "cache_always_on",
        "the error cache cannot be switched off, and pods of a DaemonSet, which differ in their affinity, share a key",
        "every_job_is_scheduled",
        predicate_cache,
        (rewritten("check_node", _empty_key, "check_node keeps and reads errors though the switch is off"),),
        {"workload": Workload.DAEMONSET, "annotation": Annotation.NONE, "cache": False},
        consequences=("all_jobs_can_run",),
        report="volcano#2756",
    ),
)

_SEEDED = (
    Mutant(
        "cache_outlives_session",
        "errors of one session are read in the next, when there may be room",
        "no_suitable_node_is_refused",
        predicate_cache,
        (without_update("open_session", "error"),),
        consequences=_NEVER,
    ),
    Mutant(
        "no_room_checked",
        "the predicate does not look at what is free",
        "node_capacity",
        predicate_cache,
        (rewritten("check_node", _without_room, "check_node does not look at room"),),
        {"cache": False},
    ),
    Mutant(
        "no_predicate",
        "every node passes",
        "pods_are_where_they_fit",
        predicate_cache,
        (with_update("check_node", "checked", lambda _: Checked.FITS),),
        {"cache": False, "jobs": 1, "room": 3},
        consequences=("masters_stay_off_gpu_nodes",),
    ),
    Mutant(
        "unconstrained_master",
        "the master has neither nodeSelector nor affinity, and takes the room of a worker",
        "masters_stay_off_gpu_nodes",
        predicate_cache,
        parameters={"jobs": 1},
        consequences=("every_job_is_scheduled",),
        changed={"constraint": Constraint.NONE},
    ),
    Mutant(
        "commits_early",
        "a statement is committed before every pod has a node",
        "no_partial_gang_is_bound",
        predicate_cache,
        (without_guard("commit", "sum_"),),
    ),
    Mutant(
        "never_finished",
        "what runs never ends, so the second job finds no room",
        "all_jobs_can_run",
        predicate_cache,
        (disabled("finish"),),
        consequences=("every_job_is_scheduled",),
    ),
    Mutant(
        "nothing_cached",
        "errors are not kept",
        "an_error_is_read",
        predicate_cache,
        (with_update("check_node", "error", lambda _: False),),
    ),
)

MUTANTS = (*_REPORTS, *_SEEDED)
