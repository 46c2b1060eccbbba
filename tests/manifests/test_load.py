"""The front door: what users point at, from kubectl dumps to files that are no manifests at all."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from objects import gang, group, groups, node, pod

from reference.cluster import (
    Application,
    Constraints,
    GangStyle,
    Operator,
    Requirement,
    Resources,
    RunningPod,
    SortPolicy,
    TaintEffect,
    TaskGroup,
    Toleration,
)
from reference.errors import InputError, InputWarning
from reference.manifests import LoadResult, ManifestError, load

Write = Callable[..., Path]
DATA = Path(__file__).parent / "data"


def test_a_kubectl_dump() -> None:
    result = load(DATA / "kubectl")
    cluster = result.cluster
    one, two = cluster.nodes
    assert one.capacity["vcore"] == 7910
    assert one.capacity["nvidia.com/gpu"] == 2000
    assert one.occupied == Resources({"vcore": 100, "pods": 1})
    assert [t.effect for t in two.taints] == [TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE]
    assert (one.schedulable, two.schedulable) == (True, False)
    assert result.node_sort_policy == "binpacking"
    assert [(q.name, q.sort_policy) for q in cluster.queues.leaves()] == [
        ("root.batch.gang", SortPolicy.FIFO),
        ("root.batch.inherits", SortPolicy.FAIR),
    ]
    zones = Requirement("topology.kubernetes.io/zone", Operator.IN, ("a", "b"))
    assert cluster.applications == (
        Application(
            "spark-1",
            "root.batch.gang",
            (
                TaskGroup("driver", 1, Resources({"vcore": 500, "memory": 2**30})),
                TaskGroup(
                    "executors",
                    4,
                    Resources({"vcore": 1000, "memory": 2**31, "nvidia.com/gpu": 1000}),
                    Constraints(
                        (("disk", "ssd"),),
                        (Toleration("dedicated", exists=False, value="batch", effect=TaintEffect.NO_SCHEDULE),),
                        ((zones,),),
                    ),
                ),
            ),
            submitted=0,
            weight=3,
            style=GangStyle.HARD,
            placeholder_timeout_seconds=120,
        ),
    )
    notebook = Resources({"vcore": 1000, "memory": 2**30, "nvidia.com/gpu": 1000, "pods": 1})
    assert cluster.running == (RunningPod("ml/notebook-0", "worker-1", "root.batch.gang", notebook, "notebook"),)
    assert [w.text for w in result.warnings] == ["an application whose pods have all finished is passed over"]
    assert [Path(s).name for s in result.sources] == ["nodes.yaml", "pods.json", "yunikorn-configs.yaml"]


def test_yaml_and_json_say_the_same(write: Write) -> None:
    import yaml

    objects = [node(), gang(created="2026-01-01T00:00:00Z"), pod("p", "web", node="n1", phase="Running")]
    as_json = load(write("all.json", {"kind": "List", "items": objects}))
    as_yaml = load(write("all.yaml", yaml.safe_dump_all(objects)))
    nodes = {"kind": "NodeList", "items": [{k: v for k, v in objects[0].items() if k != "kind"}]}
    typed = load([write("nodes.json", nodes), write("pods.json", {"kind": "List", "items": objects[1:]})])
    assert as_json.cluster == as_yaml.cluster == typed.cluster


def test_files_in_any_mix(write: Write, tmp_path: Path) -> None:
    write("a/nodes.yml", json.dumps(node()))
    write("b/c/pods.json.gz", gzip.compress(json.dumps(gang()).encode()))
    write(".hidden/nodes.json", node())
    write("a/readme.txt", "not a manifest")
    assert [Path(s).name for s in load([tmp_path, str(tmp_path / "a" / "nodes.yml")]).sources] == [
        "nodes.yml",
        "pods.json.gz",
    ]


def test_the_content_tells_where_the_name_does_not(write: Write) -> None:
    first = write("dump", json.dumps({"kind": "List", "items": [node(), gang()]}, indent=1))
    second = write("dump.txt", "kind: List\nitems: []\n")
    assert len(load([first, second]).cluster.nodes) == 1


def test_byte_order_marks_and_windows_lines(write: Write) -> None:
    text = "kind: Node\r\nmetadata:\r\n  name: n1\r\nstatus: {allocatable: {cpu: 1, pods: 1}}\r\n"
    path = write("n.yaml", b"\xef\xbb\xbf" + text.encode())
    assert load(path, require_applications=False).cluster.nodes[0].name == "n1"
    json_path = write("n.json", b"\xef\xbb\xbf" + json.dumps(node()).encode())
    assert load(json_path, require_applications=False).cluster.nodes[0].name == "n1"


def test_other_kinds_are_remarked_once_each(load_objects: Callable[..., LoadResult]) -> None:
    others = [{"kind": kind, "metadata": {"name": "x"}} for kind in ("Service", "Lease", "Service", "FooList")]
    result = load_objects(node(), gang(), *others)
    assert [w.text for w in result.warnings][:3] == [
        "objects of kind 'Service' are passed over (and 1 more like this)",
        "objects of kind 'Lease' are passed over",
        "objects of kind 'FooList' are passed over",
    ]


def test_lists_in_lists(write: Write) -> None:
    inner = {"kind": "List", "items": [{"kind": "PodList", "items": [gang()]}, node()]}
    assert len(load(write("x.json", {"kind": "List", "items": [inner]})).cluster.applications) == 1


BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("x.yaml", "", "found an empty file"),
    ("x.json", "  \n", "found an empty file"),
    ("x.yaml", "# nothing\n---\n", "found an empty file"),
    ("x.yaml", b"a: \xff\n", "x.yaml:1: found the byte 0xff"),
    ("x.yaml", b"\xff\xfea\x00", "found UTF-16"),
    ("x.yaml", "a: 1\nb: [\n", "x.yaml:3:1: found bad YAML"),
    ("x.json", '{"kind": "List",\n "items": [}', "x.json:2:12: found bad JSON"),
    ("x.yaml", "- 1\n", "x.yaml:1:1: found a list, expected a Kubernetes object"),
    ("x.yaml", "hello\n", "found 'hello', expected a Kubernetes object"),
    ("x.json", "3", "found 3, expected a Kubernetes object"),
    ("x.json", "null", "found nothing, expected a Kubernetes object"),
    ("x.yaml", "a: 1\n", "found a mapping, expected a Kubernetes object"),
    ("x.yaml", "kind: 3\n", "x.yaml:1:7: kind: found 3"),
    ("x.yaml", "kind:\n", "kind: found nothing"),
    ("x.yaml", "kind: List\nitems: {}\n", "x.yaml:2:8: items: found an empty mapping, expected a list"),
    ("x.yaml", "kind: List\nitems:\n- null\n", "items[0]: found nothing"),
    ("x.yaml", "kind: List\nitems:\n- metadata: {}\n", "x.yaml:3:3: items[0].kind: found nothing"),
    ("x.yaml", "kind: NodeList\nitems:\n- 3\n", "items[0]: found 3"),
    ("x.yaml.gz", b"not gzip", "cannot be read"),
    ("x.yaml.gz", gzip.compress(b"kind: List\n" * 99, mtime=0)[:30], "cannot be read"),
    ("x.yaml", "kind: Node\n---\nkind: Node\nmetadata: {}\n", "x.yaml:1:1: document 1: metadata: found nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "says"), BAD_FILES)
def test_a_bad_file_is_one_message(name: str, content: str | bytes, says: str, write: Write) -> None:
    with pytest.raises(ManifestError) as caught:
        load(write(name, content))
    assert says in str(caught.value)
    assert name in caught.value.file
    assert str(caught.value).isprintable()


def test_missing_files_and_empty_directories(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no such file or directory"):
        load(tmp_path / "none.yaml")
    with pytest.raises(ManifestError, match="no manifests"):
        load(tmp_path)
    with pytest.raises(ManifestError, match="found no files"):
        load([])
    with pytest.raises(ManifestError, match=r"a\\x00b: found no such file"):
        load("a\0b")
    with pytest.raises(ManifestError, match="cannot be read"):
        load("x" * 5000)


def test_what_is_no_manifest_is_passed_over_in_a_directory(write: Write, tmp_path: Path) -> None:
    write("objects.json", {"kind": "List", "items": [node(), gang()]})
    write("values.yaml", "replicas: 3\n")
    write("list.json", [1, 2])
    remarks = [w for w in load(tmp_path).warnings if "passed over" in w.text]
    assert [Path(w.file).name for w in remarks] == ["list.json", "values.yaml"]


def test_a_large_yaml_file_is_refused_with_advice(write: Write) -> None:
    path = write("big.yaml", "")
    os.truncate(path, 33 * 2**20)
    path.write_bytes(b"#" * 33 * 2**20)
    with pytest.raises(ManifestError, match="at most 32 MiB; JSON may be larger"):
        load(path)


def test_errors_are_plain_values() -> None:
    error = ManifestError("a\nb", "c", "f.yaml", 3, 4, "x.y")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, InputError)
    assert str(again) == str(error) == "f.yaml:3:4: x.y: found a\\nb, expected c"
    assert (again.file, again.line, again.column, again.where) == ("f.yaml", 3, 4, "x.y")
    assert str(InputError("1", "2", where="--seed")) == "--seed: found 1, expected 2"
    assert str(InputWarning("dropped", "f", 3, "x")) == "f:3: x: dropped"
    assert str(InputWarning("dropped")) == "dropped"


def test_messages_stay_on_one_line_whatever_names_say(
    load_objects: Callable[..., LoadResult], refuse: Callable[..., ManifestError]
) -> None:
    nasty = "a\nb\x1b[31m\u2028"
    error = refuse(node(), gang(queue=nasty))
    assert str(error).isprintable()
    result = load_objects(node(), gang(), {"kind": nasty}, pod(nasty, nasty))
    assert all(str(w).isprintable() for w in result.warnings)


def large(pods: int) -> dict[str, Any]:
    """A dump of that many pods with the bulk of real ones."""
    filler = {"f:metadata": {f"f:{i}": {"k": "x" * 40} for i in range(60)}}
    items: list[dict[str, Any]] = [node(f"n{i}", cpu="900", memory="9Ti", pods="9999") for i in range(50)]
    for i in range(pods):
        definition = groups(group(members=4))
        made = gang(f"app-{i // 4}", task_groups=definition, created="2026-01-01T00:00:00Z")
        made["metadata"]["name"] = f"pod-{i}"
        made["metadata"]["managedFields"] = [filler]
        items.append(made)
    return {"kind": "List", "items": items}


@pytest.mark.slow
def test_a_large_dump_loads_in_seconds(write: Write) -> None:
    path = write("pods.json", large(10_000))
    assert path.stat().st_size > 40 * 10**6
    start = time.process_time()
    result = load(path)
    assert time.process_time() - start < 20
    assert len(result.cluster.applications) == 2500
