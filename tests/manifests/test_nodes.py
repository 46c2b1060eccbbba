"""Nodes: amounts, labels, taints (field names and meanings: Kubernetes API, core/v1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from objects import gang, node

from reference.cluster import Resources, Taint, TaintEffect
from reference.manifests import LoadResult, ManifestError


def test_amounts_are_in_base_units(load_objects: Callable[..., LoadResult]) -> None:
    amounts = {"cpu": "7910m", "memory": "30681980Ki", "nvidia.com/gpu": "2", "ephemeral-storage": "95491281146"}
    [read] = load_objects(node(**amounts), gang()).cluster.nodes
    assert read.capacity == Resources(
        {
            "vcore": 7910,
            "memory": 30681980 * 1024,
            "nvidia.com/gpu": 2000,
            "ephemeral-storage": 95491281146,
            "pods": 110,
        }
    )


def test_labels_taints_and_cordon(load_objects: Callable[..., LoadResult]) -> None:
    described = node()
    described["metadata"]["labels"] = {"disk": "ssd"}
    described["spec"] = {
        "unschedulable": True,
        "taints": [
            {"key": "a", "value": "b", "effect": "NoSchedule"},
            {"key": "c", "effect": "PreferNoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
        ],
    }
    [read] = load_objects(described, gang()).cluster.nodes
    assert read.labels == {"disk": "ssd"}
    assert read.taints == (Taint("a", "b", TaintEffect.NO_SCHEDULE), Taint("c", "", TaintEffect.PREFER_NO_SCHEDULE))
    assert not read.schedulable


def test_capacity_stands_in_for_allocatable(load_objects: Callable[..., LoadResult]) -> None:
    described = node()
    described["status"] = {"capacity": described["status"]["allocatable"]}
    result = load_objects(described, gang())
    assert result.cluster.nodes[0].capacity["vcore"] == 8000
    assert any("no allocatable" in w.text for w in result.warnings)


def test_a_node_without_a_number_of_pods_is_remarked(load_objects: Callable[..., LoadResult]) -> None:
    result = load_objects(node(pods=None), node("n2", pods=None), gang())
    assert "pods" not in result.cluster.nodes[0].capacity
    [remark] = [w for w in result.warnings if "number of pods" in w.text]
    assert remark.text.endswith("(and 1 more like this)")


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "Node"}, "items[0].metadata", "found nothing"),
    ({"kind": "Node", "metadata": {}}, "items[0].metadata.name", "expected the node's name"),
    ({"kind": "Node", "metadata": {"name": ""}}, "items[0].metadata.name", "found an empty text"),
    ({"kind": "Node", "metadata": {"name": 3}}, "items[0].metadata.name", "found 3"),
    ({"kind": "Node", "metadata": {"name": "n", "labels": 3}, "status": {"allocatable": {}}}, "labels", "found 3"),
    (
        {"kind": "Node", "metadata": {"name": "n", "labels": {"a": 1}}, "status": {"allocatable": {}}},
        "labels.a",
        "found 1",
    ),
    ({"kind": "Node", "metadata": {"name": "n"}}, "status", "status.allocatable"),
    ({"kind": "Node", "metadata": {"name": "n"}, "status": {}}, "status.capacity", "status.allocatable"),
    (node(cpu="-1"), "allocatable.cpu", "the negative quantity -1"),
    (node(cpu="8 cores"), "allocatable.cpu", "found '8 cores'"),
    (node(memory=True), "allocatable.memory", "found true"),
    (node(memory=[1]), "allocatable.memory", "found a list"),
    (node(vcore="1"), "allocatable.vcore", "both cpu and vcore"),
    ({**node(), "spec": {"taints": {}}}, "spec.taints", "found an empty mapping"),
    ({**node(), "spec": {"taints": [{"effect": "NoSchedule"}]}}, "spec.taints[0].key", "found nothing"),
    ({**node(), "spec": {"taints": [{"key": "a", "effect": "Never"}]}}, "taints[0].effect", "found 'Never'"),
    ({**node(), "spec": {"unschedulable": "yes"}}, "spec.unschedulable", "found 'yes'"),
    ({**node(), "spec": [1]}, "spec", "found a list"),
]


@pytest.mark.parametrize(("described", "where", "says"), REFUSED)
def test_a_bad_node_is_refused(
    described: dict[str, Any], where: str, says: str, refuse: Callable[..., ManifestError]
) -> None:
    error = refuse(described, gang())
    assert where in error.where
    assert says in str(error)
    assert error.line == 1


def test_two_nodes_of_one_name(refuse: Callable[..., ManifestError]) -> None:
    assert "the node 'n1' a second time (first at " in str(refuse(node(), node("n2"), node(), gang()))


def test_no_node(refuse: Callable[..., ManifestError]) -> None:
    assert "found no node" in str(refuse(gang()))
