"""Every run of Volcano's spec is one of the reference: what the spec enables the reference does, and shows the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from volcano_walk import Parameters, machine_for

from reference.schedulers.volcano import Session
from reference.schedulers.volcano.plugins.drf import Drf
from reference.schedulers.volcano.plugins.gang import Gang
from reference.schedulers.volcano.plugins.proportion import Proportion
from specs.replaying import Replayed, replay
from specs.volcano.binding import SpecReplayer, subject_for
from specs.volcano.mutants import MUTANTS
from specs.walking import Divergence

EDITIONS = ("seed", "shipped", "current")
DEPTH = 8


def scope(**values: object) -> Parameters:
    return tuple(sorted(values.items()))


SMALL = [
    (*sizes, ("edition", edition))
    for edition in EDITIONS
    for sizes in (
        scope(queues=1, namespaces=1, jobs=2, size=2, capacity=3, bind_failures=2),
        scope(queues=1, size=2, capacity=2, drains=1),
        scope(queues=1, namespaces=1, scale_ups=1, capacity=5),
        scope(queues=2, namespaces=1, size=2, minimum=1, capacity=3),
        scope(layout="case1"),
    )
]
LARGER = [
    *((*sizes, ("edition", e)) for e in EDITIONS for sizes in (scope(), scope(jobs=2, capacity=3, namespaces=1))),
    *(scope(edition=e, queues=1, size=1, minimum=1, quota_changes=1) for e in ("seed", "shipped")),
    *(scope(edition=e, layout=layout) for e in EDITIONS for layout in ("case2", "case3", "example", "motivation")),
    *(scope(edition=e, namespace_weight=(2, 1), queue_weight=(1, 3), capacity=5) for e in ("seed", "shipped")),
]


def replayer(given: Parameters) -> SpecReplayer:
    return SpecReplayer(subject_for(machine_for(given)))


def replayed(given: Parameters, depth: int = DEPTH) -> Replayed:
    """All runs; every action that the spec enabled was made each time: there are no excuses."""
    done = replay(machine_for(given), replayer(given), depth)
    assert done.excused == Counter()
    assert done.unused == done.never_made == frozenset()
    return done


@pytest.mark.parametrize("given", SMALL, ids=str)
def test_every_run_of_eight_steps_is_one_of_the_reference(given: Parameters) -> None:
    assert sum(replayed(given).made.values()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("given", [*SMALL, *LARGER], ids=str)
def test_every_run_of_larger_scopes_is_one_of_the_reference(given: Parameters) -> None:
    replayed(given, 14)


@pytest.mark.slow
@pytest.mark.parametrize("given", [each for each in SMALL if "layout" not in dict(each)], ids=str)
def test_every_run_to_its_end_is_one_of_the_reference(given: Parameters) -> None:
    """No run of a small scope has more than 60 steps before it comes back to where it was."""
    assert replayed(given, 60).pairs == replayed(given, 61).pairs


def test_all_that_a_small_scope_can_do_is_done() -> None:
    given = scope(edition="current", queues=1, namespaces=1, jobs=2, size=2, capacity=3, bind_failures=1)
    done = replayed(given, 14)
    assert set(done.made) == {action.name for action in machine_for(given).actions}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("commits_early", {"namespaces": 1, "queues": 1}),
        ("closes_early", {"namespaces": 1, "queues": 1}),
        ("no_room_looked_at", {"queues": 1, "namespaces": 1, "jobs": 2, "size": 2, "capacity": 3}),
        ("no_job_order", {"queues": 1, "namespaces": 1, "jobs": 2, "size": 2, "minimum": 1, "capacity": 3}),
        ("no_namespace_order", {"queues": 1, "size": 2, "minimum": 1}),
        ("no_queue_order", {"namespaces": 1, "size": 2, "minimum": 1}),
        ("usage_not_given_back", {"queues": 1, "size": 2, "capacity": 3}),
        ("overused_queue_popped", {"namespaces": 1, "minimum": 1, "capacity": 3}),
        ("tried_for_ever", {"queues": 1, "namespaces": 1, "jobs": 2, "size": 2, "capacity": 3}),
    ],
)
def test_a_fault_of_the_spec_is_a_run_that_the_reference_does_not_make(name: str, given: dict[str, object]) -> None:
    (mutant,) = [each for each in MUTANTS if each.name == name]
    with pytest.raises(Divergence):
        replay(replace(mutant, parameters=given).make(), replayer(scope(**given)), 40)


def test_a_step_that_the_reference_does_not_make_is_named_with_the_run_into_it() -> None:
    (mutant,) = [each for each in MUTANTS if each.name == "commits_early"]
    given = {"namespaces": 1, "queues": 1}
    with pytest.raises(Divergence) as told:
        replay(replace(mutant, parameters=given).make(), replayer(scope(**given)), DEPTH)
    assert str(told.value) == (
        "submit(queue1, namespace1, job1); open_session(); pop_job(queue1, namespace1, job1); "
        "commit(queue1, namespace1, job1): the reference goes on with allocate(queue1, namespace1, job1)"
    )


@pytest.mark.parametrize(
    ("fault", "given"),
    [
        ("overused", scope(edition="seed", namespaces=1, minimum=1, capacity=3)),
        ("namespaces", scope(edition="seed", queues=1, namespace_weight=(2, 1), size=2, minimum=1)),
        ("ready", scope(edition="current", layout="example")),
        ("shares", scope(edition="current", layout="motivation")),
        ("allocatable", scope(edition="current", queues=2, namespaces=1, size=3, capacity=3)),
        ("whole", scope(edition="current", queues=1, namespaces=1, size=2, capacity=3, bind_failures=1)),
    ],
)
def test_a_fault_of_the_reference_is_found_by_runs_of_the_spec(
    fault: str, given: Parameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "overused":
        monkeypatch.setattr(Proportion, "overused", lambda self, queue: False)
    elif fault == "namespaces":
        monkeypatch.setattr(Session, "namespace_weight", lambda self, namespace: 1)
    elif fault == "ready":
        monkeypatch.setattr(Gang, "job_ready", lambda self, job: job.ready_task_num > 0)
    elif fault == "shares":
        monkeypatch.setattr(Drf, "_change", lambda self, task, sign: None)
    elif fault == "allocatable":
        monkeypatch.setattr(Proportion, "_has_room", lambda self, queue, task: True)
    else:
        monkeypatch.setattr(Session, "bind_fails", lambda self, operation: False)
    with pytest.raises(Divergence):
        replayed(given, 60)


def test_what_a_failed_bind_leaves_depends_on_the_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    """The design's commit, which undoes all of it, is no run of today's code."""
    monkeypatch.setattr(Session, "is_seed", lambda self: True)
    given = scope(edition="current", queues=1, namespaces=1, size=2, capacity=3, bind_failures=1)
    with pytest.raises(Divergence):
        replayed(given, DEPTH + 2)
