"""Applications that run already count against maxapplications, for the judge, every policy, the solver and its
explanations (YuniKorn: an application may start while running + accepted ones are below maxapplications)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.cluster import Application, Assignment, Cluster, Node, Placement, Queue, QueueTree, Resources, RunningPod
from reference.cluster import TaskGroup as Group
from reference.schedulers import POLICIES, schedule
from reference.schedulers.yunikorn.core import Core
from reference.schedulers.yunikorn.invariants import broken_invariants
from reference.schedulers.yunikorn.options import Options
from reference.validate import Rule, validate
from solver_placement import solve
from solver_placement.explain import explain_pending
from solver_placement.explain.constraints import Kind

ONE = Resources(vcore=1)


def cluster(most: int, *running: str, at: str = "root") -> Cluster:
    """Gang b waits in root.q, where pods of ``running`` run; ``at`` is the queue that takes ``most`` applications."""
    leaf = Queue("root.q", max_applications=most if at == "root.q" else None)
    tree = QueueTree(Queue("root", children=(leaf, Queue("root.x")), max_applications=most if at == "root" else None))
    pods = tuple(RunningPod(f"p{i}", "n", "root.q", ONE, name) for i, name in enumerate(running))
    return Cluster((Node("n", Resources(vcore=9)),), tree, (Application("b", "root.q", (Group("g", 2, ONE),)),), pods)


STARTED = Placement((Assignment("b", "g", "n", 2),), ("b",))
CASES = [
    (1, ("a",), False),
    (2, ("a",), True),
    (2, ("a", "a", "a"), True),  # three pods of one application
    (2, ("a", "c"), False),
    (1, ("a", "c"), False),  # more run than may: nothing is added
    (1, ("",), True),  # nobody knows whose it is
    (1, (), True),
]


@pytest.mark.parametrize("at", ["root", "root.q"])
@pytest.mark.parametrize(("most", "running", "starts"), CASES)
def test_judge_policies_and_solver_count_them(most: int, running: tuple[str, ...], starts: bool, at: str) -> None:
    given = cluster(most, *running, at=at)
    assert [v.rule for v in validate(given, STARTED)] == ([] if starts else [Rule.MAX_APPLICATIONS])
    for policy in POLICIES:
        assert (schedule(given, policy).placement.admitted == ("b",)) is starts, policy
    assert (solve(given).placement.admitted == ("b",)) is starts
    answer = explain_pending(given, "b")
    assert (Kind.MAX_APPLICATIONS in {each.kind for each in answer.blocking}) is not starts


def test_applications_elsewhere_do_not_count() -> None:
    given = replace(cluster(1, at="root.q"), running=(RunningPod("p", "n", "root.x", ONE, "a"),))
    assert validate(given, STARTED) == []
    assert all(schedule(given, policy).placement.admitted == ("b",) for policy in POLICIES)


def test_one_that_ends_makes_room_for_the_next() -> None:
    """Either the limit goes or the application that runs."""
    answer = explain_pending(cluster(1, "a"), "b")
    assert {tuple(c.text for c in each.constraints) for each in answer.corrections} == {
        ("queue root: maxapplications, 0 left",),
        ("1 running pod of gang a",),
    }


def test_the_books_of_the_core_have_them() -> None:
    core = Core(cluster(2, "a"), Options.parse(strict=False))
    assert core.queues.states["root"].begun == 1
    assert broken_invariants(core) == []
