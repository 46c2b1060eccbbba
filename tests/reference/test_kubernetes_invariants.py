"""Each invariant of the Kubernetes reference tells the slip that it is for, and a scenario tells it with its step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reference.cluster import Node, Resources
from reference.schedulers.kubernetes import Options, Outcome, Pod, PodGroup, PodSpec, Scheduler
from reference.schedulers.kubernetes.invariants import broken_by, broken_invariants
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.queue import Place
from reference.schedulers.kubernetes.scenario import run

ONE = PodSpec(Resources(vcore=1))


def scheduler() -> Scheduler:
    """Gang g of two runs, one of its pods bound; pod w waits, for ever too large."""
    made = Scheduler(Options())
    made.add_node(Node("n", Resources(vcore=2)))
    made.create_pod_group(PodGroup("g", 2))
    for name in ("p", "q"):
        made.create_pod(Pod(name, ONE, "g"))
    made.create_pod(Pod("w", PodSpec(Resources(vcore=9))))
    made.cycle()
    made.bind_succeeded("p")
    assert broken_invariants(made) == []
    return made


def _move(made: Scheduler) -> None:
    made.cache.node_of["p"] = "m"


def _drop(made: Scheduler) -> None:
    del made.cache.scheduled["g"]["q"]


def _requested(made: Scheduler) -> None:
    made.cache.infos["n"].requested["vcore"] += 1


def _nominate(made: Scheduler) -> None:
    made.registry.nominated["p"] = "n"


def _leave(made: Scheduler) -> None:
    made.registry.terminating.add("w")


def _pop(made: Scheduler) -> None:
    made.queue.entries["w"].place = Place.POPPED


def _gate(made: Scheduler) -> None:
    made.queue.entries["w"].place = Place.GATED


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        (_move, "pod p: on n as tracked, on m as cached"),
        (_drop, "group g: 1 pods counted as scheduled, 2 are"),
        (_requested, "node n: counted"),
        (_nominate, "pod p is nominated, and does not wait"),
        (_leave, "pod w is asked to leave, and is on no node"),
        (_pop, "w is popped, and has no cycle"),
        (_gate, "w is ready, and is forgotten"),
    ],
)
def test_a_slip_in_the_books_is_told(slip: Callable[[Scheduler], None], told: str) -> None:
    made = scheduler()
    slip(made)
    assert any(line.startswith(told) for line in broken_invariants(made))


def test_what_a_decision_breaks_is_told() -> None:
    made = Scheduler(Options())
    made.add_node(Node("n", Resources(vcore=2)))
    made.create_pod_group(PodGroup("g", 2))
    for name in ("p", "q"):
        made.create_pod(Pod(name, ONE, "g"))
    record = made.cycle()
    assert record is not None
    assert broken_by(made, record) == []
    made.cache.infos["n"].allocatable["vcore"] = 1
    assert broken_by(made, record) == ["node n: vcore 2 given away, it has 1"]
    made.cache.infos["n"].allocatable["vcore"] = 2
    del made.cache.scheduled["g"]["q"]
    assert broken_by(made, record) == ["group g: 1 pods have nodes, minCount is 2"]
    assert broken_by(made, replace(record, outcome=Outcome.UNSCHEDULABLE)) == [
        "g: p is given n without a decision",
        "g: q is given n without a decision",
    ]


def test_a_scenario_tells_them_with_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario: dict[str, Any] = {
        "id": "x",
        "cluster": {"nodes": [{"name": "n", "allocatable": {"cpu": 1}}]},
        "steps": [
            {"op": "create_pods", "names": ["p"], "requests": {"cpu": 1}},
            {"op": "run"},
            {"op": "delete_pods", "names": ["p"]},
            {"op": "expect", "scheduled": []},
        ],
    }
    assert run(scenario) == ()
    monkeypatch.setattr(NodeInfo, "remove", lambda info, pod: info.pods.pop(pod.name))
    [told] = run(scenario)
    assert told.startswith("steps[2] (delete_pods): the books do not add up: node n: counted")
