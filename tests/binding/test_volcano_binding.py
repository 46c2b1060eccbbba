"""Every event of Volcano's reference, and every step of its sessions, is an enabled step of the spec, and both show the
same afterwards; and what the spec enables between sessions the reference can do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volcano_walk import Parameters, Walk

from reference.schedulers.volcano import Session, TaskStatus
from reference.schedulers.volcano.plugins.drf import Drf
from reference.schedulers.volcano.plugins.gang import Gang
from reference.schedulers.volcano.plugins.proportion import Proportion
from specs.walking import Divergence

EDITIONS = ("seed", "shipped", "current")


def scope(**values: object) -> Parameters:
    return tuple(sorted(values.items()))


SCOPES = [
    *(scope(edition=e) for e in EDITIONS),
    *(scope(edition=e, capacity=3, jobs=2) for e in EDITIONS),
    *(scope(edition=e, queues=1, jobs=2, size=2, capacity=3, drains=1) for e in EDITIONS),
    *(scope(edition=e, queue_weight=(1, 3), capacity=5) for e in EDITIONS),
    *(scope(edition=e, namespace_weight=(2, 1), jobs=2, queues=1) for e in ("seed", "shipped")),
    *(scope(edition=e, quota_changes=2) for e in ("seed", "shipped")),
    *(scope(edition=e, scale_ups=1, capacity=5) for e in EDITIONS),
    *(scope(edition=e, bind_failures=2, jobs=2, namespaces=1, size=2) for e in EDITIONS),
    *(scope(edition=e, bind_failures=2, queues=1) for e in EDITIONS),
]


@settings(max_examples=12)
@given(st.sampled_from(SCOPES[::4]), st.data())
def test_a_run_is_a_run_of_the_spec(given_scope: Parameters, data: st.DataObject) -> None:
    _run(given_scope, data)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from(SCOPES), st.data())
def test_many_runs_are_runs_of_the_spec(given_scope: Parameters, data: st.DataObject) -> None:
    _run(given_scope, data)


def _run(given_scope: Parameters, data: st.DataObject) -> None:
    walk = Walk(given_scope)
    for _ in range(data.draw(st.integers(1, 9))):
        moves, may_fail = walk.moves(), walk.may_fail()
        if may_fail and data.draw(st.booleans()):
            walk.scheduler.failing_binds.add(data.draw(st.sampled_from(may_fail)))
        if moves and data.draw(st.booleans()):
            walk.take(data.draw(st.sampled_from(moves)))
        else:
            walk.session()
    walk.session()


@pytest.mark.parametrize(
    ("layout", "edition"),
    [
        *(pytest.param(layout, "seed") for layout in ("case2", "case3_blank", "example")),
        pytest.param("case3", "shipped"),
        pytest.param("motivation", "current"),
        *(pytest.param(layout, "seed", marks=pytest.mark.slow) for layout in ("case1", "case3", "motivation")),
        *(pytest.param(layout, "shipped", marks=pytest.mark.slow) for layout in ("case1", "case2", "motivation")),
        *(pytest.param(layout, "current", marks=pytest.mark.slow) for layout in ("case1", "example")),
    ],
)
def test_the_one_session_of_a_layout_is_one_of_the_spec(layout: str, edition: str) -> None:
    walk = Walk(scope(layout=layout, edition=edition))
    walk.session()
    assert walk.follower.taken[0] == ("open_session", ())
    assert walk.follower.taken[-1] == ("close_session", ())


@pytest.mark.parametrize("edition", EDITIONS)
def test_whatever_the_spec_enables_between_sessions_the_reference_can_do(edition: str) -> None:
    """All runs of five events in the smallest scope. Where the spec has an action, the reference has the event; a
    session it can always run."""
    given_scope = scope(edition=edition, queues=1, size=2, capacity=2, drains=1)
    seen: set[object] = set()
    frontier: list[list[int]] = [[]]
    for _ in range(5):
        deeper = []
        for run in frontier:
            walk = _replayed(given_scope, run)
            if walk.follower.state in seen:
                continue
            seen.add(walk.follower.state)
            offered = {call for call, _ in walk.moves()}
            assert walk.follower.enabled() - {("open_session", ())} == offered
            deeper += [[*run, i] for i in range(len(offered) + 1)]
        frontier = deeper
    assert len(seen) == 20


def _replayed(given_scope: Parameters, run: list[int]) -> Walk:
    """A walk along the events of these numbers; the last number is a session."""
    walk = Walk(given_scope)
    for number in run:
        moves = {call: (call, event) for call, event in reversed(walk.moves())}
        ordered = sorted(moves)
        if number == len(ordered):
            walk.session()
        else:
            walk.take(moves[ordered[number]])
    return walk


@pytest.mark.parametrize(
    ("fault", "given_scope"),
    [
        ("overused", scope(edition="seed", layout="case2")),
        ("namespaces", scope(edition="seed", layout="case2")),
        ("ready", scope(edition="current", layout="example")),
        ("shares", scope(edition="current", layout="motivation")),
        ("allocatable", scope(edition="current", capacity=3)),
    ],
)
def test_a_fault_of_the_reference_diverges(
    fault: str, given_scope: Parameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these breaks one rule of the reference; the spec does not go along."""
    if fault == "overused":
        monkeypatch.setattr(Proportion, "overused", lambda self, queue: False)
    elif fault == "namespaces":
        monkeypatch.setattr(Session, "namespace_weight", lambda self, namespace: 1)
    elif fault == "ready":
        monkeypatch.setattr(Gang, "job_ready", lambda self, job: job.ready_task_num > 0)
    elif fault == "shares":
        monkeypatch.setattr(Drf, "_change", lambda self, task, sign: None)
    else:
        monkeypatch.setattr(Proportion, "_has_room", lambda self, queue, task: True)
    walk = Walk(given_scope)
    for move in walk.moves():
        walk.take(move)
    with pytest.raises(Divergence):
        walk.session()


def test_what_is_not_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="slow_ends is 0 for what is bound to the reference, found 1"):
        Walk(scope(slow_ends=1))


@pytest.mark.parametrize(
    ("edition", "size", "running"),
    [("seed", 2, 2), ("shipped", 2, 2), ("current", 2, 1), ("seed", 3, 3), ("current", 3, 2)],
)
def test_what_a_session_makes_of_a_failed_bind(edition: str, size: int, running: int) -> None:
    """minAvailable is 2. Today the task is on no list until the next session; the statement of 2019 is undone, its
    tasks are in line again, and the gang is whole."""
    walk = Walk(scope(edition=edition, queues=1, namespaces=1, size=size, bind_failures=1))
    walk.take(walk.moves()[0])
    walk.scheduler.failing_binds.add("queue1/namespace1/job1/0")
    walk.session()
    assert "commit_fails" in [action for action, _ in walk.follower.taken]
    (job,) = walk.scheduler.jobs.values()
    assert job.counts[TaskStatus.RUNNING] == running
    walk.session()
    assert job.counts[TaskStatus.RUNNING] == size
