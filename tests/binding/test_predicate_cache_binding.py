"""Volcano's reference against the spec of its error cache: what the cache refuses is refused in both."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import Machine
from reference.schedulers.volcano import TaskStatus
from reference.schedulers.volcano.actions.allocate import ErrorCache
from specs.loading import build_spec
from specs.predicate_cache.binding import Follower, Subject, subject_for
from specs.predicate_cache.parameters import Annotation, Constraint, Edition, First, Workload
from specs.walking import Divergence

Parameters = tuple[tuple[str, object], ...]


def scope(**values: object) -> Parameters:
    return tuple(sorted(values.items()))


SCOPES = [
    scope(annotation=a, edition=e, cache=cache, constraint=c, first=first)
    for a, e, cache, c, first in itertools.product(
        Annotation, Edition, (True, False), (Constraint.SELECTOR, Constraint.NONE), (First.MASTER, First.WORKER)
    )
] + [
    *(scope(workload=Workload.TFJOB, annotation=a) for a in Annotation),
    *(scope(workload=Workload.DAEMONSET, annotation=a, edition=e) for a in Annotation for e in Edition),
    scope(jobs=3, workers=1, room=2),
    scope(jobs=3, workers=2, constraint=Constraint.BOTH),
    scope(jobs=2, workers=2, constraint=Constraint.AFFINITY, annotation=Annotation.ONE_ROLE),
]


@functools.lru_cache(maxsize=64)
def machine_for(given_scope: Parameters) -> Machine:
    return build_spec("predicate_cache", dict(given_scope))


def run(given_scope: Parameters, ends: list[int]) -> Follower:
    """A session, and one more after each of the jobs of these numbers has ended, if it runs."""
    machine = machine_for(given_scope)
    subject: Subject = subject_for(machine)
    scheduler = subject.scheduler()
    follower = Follower(machine, subject, scheduler)
    scheduler.run_session()
    for number in ends:
        name = subject.jobs[number % len(subject.jobs)].name
        job = scheduler.jobs.get(name)
        if job is not None and all(task.status is TaskStatus.RUNNING for task in job.tasks.values()):
            follower.follow(scheduler.delete_job(name))
        scheduler.run_session()
        assert scheduler.check_invariants() == []
    return follower


@settings(max_examples=20)
@given(st.sampled_from(SCOPES), st.lists(st.integers(0, 2), max_size=4))
def test_a_run_is_a_run_of_the_spec(given_scope: Parameters, ends: list[int]) -> None:
    run(given_scope, ends)


@pytest.mark.slow
@pytest.mark.parametrize("given_scope", SCOPES)
def test_every_scope(given_scope: Parameters) -> None:
    run(given_scope, [0, 1, 2, 0])


@pytest.mark.parametrize(
    ("edition", "annotation", "starts"),
    [
        (Edition.SEED, Annotation.NONE, False),
        (Edition.SEED, Annotation.REPLICA_TYPE, True),
        (Edition.CURRENT, Annotation.NONE, True),
        (Edition.CURRENT, Annotation.ONE_ROLE, False),
    ],
)
def test_whether_the_job_of_the_report_starts(edition: Edition, annotation: Annotation, starts: bool) -> None:
    """As in the account: without the annotation master and worker shared their errors, and the job never started."""
    follower = run(scope(edition=edition, annotation=annotation, first=First.MASTER, jobs=1), [0])
    assert (("commit", ("job1",)) in follower.taken) is starts
    assert (("discard", ("job1",)) in follower.taken) is not starts


def test_a_fault_of_the_reference_diverges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that forgets lets the master's nodes be tried for the worker, where the spec refuses them."""
    monkeypatch.setattr(ErrorCache, "best", lambda self, task, domain, near: self._session.best(task))
    with pytest.raises(Divergence):
        run(scope(edition=Edition.SEED, annotation=Annotation.NONE, first=First.MASTER), [])
