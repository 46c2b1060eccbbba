"""Answers of a running YuniKorn: queues, nodes, applications, and the full state dump that holds all of them.

Shapes after yunikorn-core pkg/webservice/dao (queue_info.go, node_info.go, application_info.go, allocation_info.go) and
state_dump.go; the values are made up.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import system_words as words
from hypothesis import given, settings
from hypothesis import strategies as st
from test_mutated_manifests import Tally, answered, damage

from reference.manifests import LoadResult, ManifestError, load

QUEUES: dict[str, Any] = {
    "queuename": "root",
    "partition": "default",
    "children": [
        {"queuename": "root.batch", "maxResource": {"vcore": 9000, "nvidia.com/gpu": 2}, "children": [
            {"queuename": "root.batch.gang", "isLeaf": True, "guaranteedResource": {"vcore": 1000}, "maxRunningApps": 5,
             "sortingPolicy": "fair", "allocatedResource": {"vcore": 500}}]},
        {"queuename": "root.idle"},
    ],
}  # fmt: skip
NODES = {"partitionName": "default", "nodesInfo": [
    {"nodeID": "n1", "capacity": {"vcore": 8000, "nvidia.com/gpu": 1, "pods": 9}, "occupied": {"vcore": 100},
     "attributes": {"si/hostname": "n1"}, "schedulable": True},
    {"nodeID": "n2", "capacity": {"vcore": 4000}},
]}  # fmt: skip
APPLICATIONS = [
    {"applicationID": "gang", "queueName": "root.batch.gang", "applicationState": "Accepted",
     "submissionTime": 2_000_000,
     "placeholderData": [{"taskGroupName": "w", "count": 4, "minResource": {"vcore": 1000, "pods": 1}}],
     "requests": [{"allocationKey": "p1", "resource": {"vcore": 1000}}]},
    {"applicationID": "single", "queueName": "root.batch.gang", "applicationState": "New", "submissionTime": 1_000_000,
     "requests": [{"allocationKey": "r1", "resource": {"vcore": 700, "pods": 1}}]},
    {"applicationID": "on", "queueName": "root.batch.gang", "applicationState": "Running",
     "allocations": [{"allocationKey": "a1", "nodeId": "n1", "resource": {"vcore": 500}, "taskGroupName": "w"}],
     "requests": [{"allocationKey": "r2"}]},
    {"applicationID": "off", "queueName": "root.gone", "applicationState": "Completed"},
]  # fmt: skip


def read(tmp_path: Path, *answers: Any) -> LoadResult:
    """What these answers are read as, a file each."""
    paths = [tmp_path / f"{number}.json" for number in range(len(answers))]
    for path, answer in zip(paths, answers, strict=True):
        path.write_text(json.dumps(answer))
    return load(paths)


def dump() -> dict[str, Any]:
    """The same in one full state dump."""
    return copy.deepcopy(
        {"timestamp": 1, "partitions": [{"name": "default"}], "applications": APPLICATIONS, "nodes": [NODES],
         "queues": [QUEUES], "logLevel": "INFO"}
    )  # fmt: skip


def test_answers_and_dump_are_read_alike(tmp_path: Path) -> None:
    result = read(tmp_path, dump())
    cluster = result.cluster
    assert {queue.name: words.queue(queue) for queue in cluster.queues} == {
        "root": "",
        "root.batch": "max 9000 2000",
        "root.batch.gang": "guaranteed 1000",
        "root.idle": "",
    }
    assert [queue.name for queue in cluster.queues if queue.is_leaf] == ["root.batch.gang"]
    assert [(a.name, words.gang(a), a.submitted) for a in cluster.applications] == [
        ("single/r1", "root.batch.gang; pod 1 x 700", 0),
        ("gang", "root.batch.gang; w 4 x 1000", 1),
    ]
    assert [words.running(pod) for pod in cluster.running] == ["n1 root.batch.gang on w"]
    assert [(n.name, n.schedulable, dict(n.capacity), dict(n.occupied)) for n in cluster.nodes] == [
        ("n1", True, {"vcore": 8000, "nvidia.com/gpu": 1000, "pods": 9}, {"vcore": 100}),
        ("n2", False, {"vcore": 4000}, {}),
    ]
    assert [w.text for w in result.warnings] == [
        "YuniKorn's answers do not say on which nodes pods may run: any node is taken (and 1 more like this)",
        "application 'on' has started: what it still asks for is not placed",
        "an application that has ended is passed over",
    ]
    assert read(tmp_path, NODES, APPLICATIONS, QUEUES).cluster == cluster
    assert read(tmp_path, [NODES], QUEUES, *APPLICATIONS).cluster == cluster


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("queues",), [], "found nodes or applications of YuniKorn without queues"),
        (("queues",), [QUEUES, QUEUES], "queues[1]: found a second queue tree"),
        (("queues",), 1, "queues: found 1, expected an object, or a list of objects"),
        (
            ("queues", 0, "queuename"),
            "top",
            "children[0].queuename: found 'root.batch', expected a name below",
        ),
        (("queues", 0, "children", 0, "maxResource", "vcore"), "9", "maxResource.vcore: found '9', expected a whole"),
        (("applications", 0, "queueName"), "root.batch", "found the queue 'root.batch', expected a leaf of the queues"),
        (("applications", 1, "applicationID"), "gang", "found the application 'gang' a second time"),
        (("applications", 2, "allocations", 0, "nodeId"), "n9", "found the unknown node 'n9'"),
        (("applications", 0, "placeholderData", 0, "count"), 0, "found 0, expected a whole number, 1 or more"),
        (("nodes", 0, "nodesInfo", 1, "nodeID"), "n1", "found the node 'n1' a second time"),
        (("nodes", 0, "nodesInfo", 1, "capacity"), None, "found nothing, expected the node's capacity"),
    ],
)
def test_refused_with_its_place(path: tuple[Any, ...], value: Any, says: str, tmp_path: Path) -> None:
    damaged = dump()
    at: Any = damaged
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(ManifestError) as caught:
        read(tmp_path, damaged)
    assert str(caught.value).startswith(f"{tmp_path / '0.json'}:1:")
    assert says in str(caught.value)


def test_damaged_dumps_are_read_or_refused(tmp_path: Path) -> None:
    tally = Tally()
    path = tmp_path / "dump.json"

    @settings(max_examples=80)
    @given(data=st.data())
    def go(data: st.DataObject) -> None:
        damaged = dump()
        damage(data.draw, damaged)
        path.write_text(json.dumps(damaged))
        tally.add(answered([path]))

    go()
    tally.check()
