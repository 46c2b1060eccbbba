"""Gangs and queues of Volcano, Kueue, Kubernetes and coscheduling: what objects are read as, in a table."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import system_words as words
import yaml

from reference.manifests import LoadResult, load, to_native

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "data" / "systems" / "cases.yaml").read_text())
NODES = [
    {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": 8, "pods": 9}}}
    for name, labels in (("n1", {}), ("n2", {"disk": "ssd"}))
]
Read = Callable[[list[Any]], LoadResult]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Loads objects, one JSON document each, in a file of YAML."""

    def read(objects: list[Any]) -> LoadResult:
        path = tmp_path / "objects.yaml"
        path.write_text("\n---\n".join(json.dumps(each) for each in objects), encoding="utf-8")
        return load(path, require_applications=False)

    return read


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_what_objects_are_read_as(case: dict[str, Any], read: Read) -> None:
    result = read([*NODES, *case["objects"]])
    cluster = result.cluster
    assert cluster.problems() == []
    assert {app.name: words.gang(app) for app in cluster.applications} == case["gangs"]
    assert {pod.name: words.running(pod) for pod in cluster.running} == case.get("running", {})
    if "queues" in case:
        found = {queue.name: words.queue(queue) for queue in cluster.queues}
        assert found == {name: text.replace("weight 1", "") if text == "weight 1" else text
                         for name, text in case["queues"].items()}  # fmt: skip
    for name, labels in case.get("labels", {}).items():
        (node,) = (node for node in cluster.nodes if node.name == name)
        shown = sorted(f"{key.removeprefix(words.TIER)}={value}" for key, value in node.labels.items())
        assert " ".join(shown) == labels
    told = "\n".join(map(str, result.warnings))
    for warning in case.get("warns", ()):
        assert warning in told


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_order_of_documents_does_not_matter(case: dict[str, Any], read: Read) -> None:
    """Queues and gangs are the same for every order of the objects; only pods that differ are told apart by it."""

    def facts(objects: list[Any]) -> dict[str, Any]:
        native = to_native(read(objects).cluster)
        native["applications"] = sorted(({**app, "submitted": 0} for app in native["applications"]), key=by_name)
        for app in native["applications"]:
            app["task_groups"].sort(key=by_name)
            app["composites"] = sorted(
                ({**c, "children": sorted(c["children"])} for c in app["composites"]), key=by_name
            )
        return {**native, **{kind: sorted(native[kind], key=by_name) for kind in ("nodes", "running")}}

    objects = [*NODES, *case["objects"]]
    flat = [item for each in objects for item in (each["items"] if each["kind"] == "List" else [each])]
    expected = facts(objects)
    if "differ" in case["id"]:
        flat = flat[:-3]  # these pods are told apart by their order
        expected = facts(flat)
    shuffled = random.Random(case["id"]).sample(flat, len(flat))
    assert facts([reordered(each) for each in shuffled]) == expected


def by_name(value: dict[str, Any]) -> str:
    return str(value["name"])


def reordered(value: Any) -> Any:
    """The same value with the members of mappings in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(each) for each in value] if isinstance(value, list) else value
