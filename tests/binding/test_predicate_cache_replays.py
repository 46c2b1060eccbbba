"""Every run of the spec of Volcano's error cache is one of the reference: what the spec enables the reference does."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from test_predicate_cache_binding import SCOPES, Parameters, machine_for, scope

from reference.schedulers.volcano.actions.allocate import ErrorCache
from reference.schedulers.volcano.plugins.gang import Gang
from specs.predicate_cache.binding import SpecReplayer, subject_for
from specs.predicate_cache.mutants import MUTANTS
from specs.predicate_cache.parameters import Annotation, Edition, First
from specs.replaying import Replayed, replay
from specs.walking import Divergence

DEPTH = 8
DEEP = 28


def replayed(given: Parameters, depth: int) -> Replayed:
    """All runs; there are no excuses."""
    done = replay(machine_for(given), SpecReplayer(subject_for(machine_for(given))), depth)
    assert done.excused == Counter()
    assert done.unused == done.never_made == frozenset()
    return done


@pytest.mark.parametrize("given", SCOPES[::4], ids=lambda given: " ".join(f"{k}={v}" for k, v in given))
def test_every_run_of_eight_steps_is_one_of_the_reference(given: Parameters) -> None:
    assert replayed(given, DEPTH).made["allocate"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("given", SCOPES, ids=lambda given: " ".join(f"{k}={v}" for k, v in given))
def test_every_run_of_a_whole_statement_is_one_of_the_reference(given: Parameters) -> None:
    assert {"commit", "discard"} & set(replayed(given, DEEP).made)


@pytest.mark.parametrize("annotation", [Annotation.REPLICA_TYPE, Annotation.NONE])
def test_a_job_that_never_starts_is_discarded_in_every_run(annotation: Annotation) -> None:
    """As in the account: with one key for master and worker no run commits, in the spec or in the reference."""
    done = replayed(scope(annotation=annotation, edition=Edition.SEED, first=First.MASTER, jobs=1), 40)
    starts = annotation is Annotation.REPLICA_TYPE
    assert (done.made["commit"] > 0, done.made["discard"] > 0) == (starts, not starts)


@pytest.mark.parametrize("fault", ["forgets", "remembers", "ready"])
def test_a_fault_of_the_reference_is_found_by_runs_of_the_spec(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = scope(annotation=Annotation.NONE, edition=Edition.SEED, first=First.MASTER, jobs=1)
    if fault == "forgets":
        monkeypatch.setattr(ErrorCache, "best", lambda self, task, domain, near: self._session.best(task))
    elif fault == "remembers":
        given = scope(annotation=Annotation.NONE, edition=Edition.SEED, cache=False, first=First.MASTER, jobs=1)
        monkeypatch.setattr(ErrorCache, "best", lambda self, task, domain, near: None)
    else:
        monkeypatch.setattr(Gang, "job_ready", lambda self, job: True)
    with pytest.raises(Divergence):
        replayed(given, 40)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("no_room_checked", {}),
        ("no_predicate", {"first": First.MASTER}),
        ("commits_early", {}),
        ("cache_outlives_session", {}),
        ("nothing_cached", {"annotation": Annotation.NONE, "first": First.MASTER, "jobs": 1}),
    ],
)
def test_a_fault_of_the_spec_is_a_run_that_the_reference_does_not_make(name: str, given: dict[str, object]) -> None:
    (mutant,) = [each for each in MUTANTS if each.name == name]
    replayer = SpecReplayer(subject_for(machine_for(scope(**given))))
    with pytest.raises(Divergence):
        replay(replace(mutant, parameters=given).make(), replayer, 40)
