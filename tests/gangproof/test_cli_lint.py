"""``gangproof lint``: each rule finds what it is for, in its place, and nothing where it is mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import EXAMPLE, answer

from gangproof.cli import run
from gangproof.linting import SOURCES, Rule

Json = dict[str, Any]
POOL = [{"name": f"n{i}", "capacity": {"vcore": 2000}, "labels": {"rack": f"r{i // 2}"}} for i in range(4)]


def gang(name: str, queue: str, members: int, **more: Any) -> Json:
    group = {"name": "g", "min_member": members, "min_resource": {"vcore": 1000}}
    return {"name": name, "queue": queue, "task_groups": [group | more.pop("group", {})], **more}


def cluster(*gangs: Json, leaf: Json | None = None, most: int = 8000) -> Json:
    leaves = [{"name": "root.p.a", **(leaf or {})}, {"name": "root.p.b"}]
    parent = {"name": "root.p", "maximum": {"vcore": most}, "children": leaves, "is_parent": True}
    return {
        "gangproof": "cluster/v1",
        "nodes": POOL,
        "queues": {"name": "root", "is_parent": True, "children": [parent]},
        "applications": list(gangs),
    }


def lint(capsys: pytest.CaptureFixture[str], tmp_path: Path, given: Json) -> list[Json]:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(given, indent=1))
    status, told, _ = answer(capsys, "lint", str(path))
    assert status == (1 if told["findings"] else 0)
    found: list[Json] = told["findings"]
    return found


NEAR = {"topology": [{"keys": ["rack"], "required": True}]}
CASES: list[tuple[str, Json, Json]] = [
    (
        "gang-on-fair-queue",
        cluster(gang("x", "root.p.a", 2), leaf={"sort_policy": "fair"}),
        cluster(gang("x", "root.p.a", 1), gang("y", "root.p.b", 2), leaf={"sort_policy": "fair"}),
    ),
    ("ask-over-quota", cluster(gang("x", "root.p.a", 9)), cluster(gang("x", "root.p.a", 8))),
    (
        "leaves-starve-each-other",
        cluster(gang("x", "root.p.a", 5), gang("y", "root.p.b", 4)),
        cluster(gang("x", "root.p.a", 5), gang("y", "root.p.b", 3), gang("z", "root.p.b", 1)),
    ),
    (
        "domain-too-small",
        cluster(gang("x", "root.p.a", 5, group=NEAR)),
        cluster(gang("x", "root.p.a", 4, group=NEAR)),
    ),
]


@pytest.mark.parametrize(("rule", "broken", "mended"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_finds_and_passes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rule: str, broken: Json, mended: Json
) -> None:
    (found,) = lint(capsys, tmp_path, broken)
    assert found["rule"] == rule
    assert "'x'" in found["why"]
    line = int(found["where"][0].rpartition(":")[2])
    text = json.dumps(broken, indent=1).splitlines()[line - 1 :]
    assert any(name in "\n".join(text[:4]) for name in ('"x"', '"root.p"')), found["where"]
    assert lint(capsys, tmp_path, mended) == []


def test_running_pods_take_from_what_is_left(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = cluster(gang("x", "root.p.a", 5), gang("y", "root.p.b", 3))
    given["running"] = [{"name": "p", "node": "n0", "queue": "root.p.b", "resources": {"vcore": 1000, "pods": 1}}]
    (found,) = lint(capsys, tmp_path, given)
    assert "root.p has 7 of vcore left" in found["why"]


def test_a_real_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    status, told, _ = answer(capsys, "lint", str(EXAMPLE))
    (found,) = told["findings"]
    assert (status, found["rule"]) == (1, "leaves-starve-each-other")
    assert [Path(place).name.partition(":")[0] for place in found["where"]] == ["queues.yaml", "pods.yaml", "pods.yaml"]
    assert told["findings"][0]["source"] == SOURCES[Rule.STARVE]


NODE = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8"}}}'


def pods(role: bool) -> str:
    """Two pods of one PodGroup, of which one wants an SSD; with ``role`` each has a task-spec."""
    text = [NODE]
    group = {"name": "pg", "namespace": "ns"}
    text.append(
        json.dumps(
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "PodGroup",
                "metadata": group,
                "spec": {"minMember": 2, "queue": "default"},
            }
        )
    )
    for name, selector in (("a", {}), ("b", {"disk": "ssd"})):
        notes = {"scheduling.k8s.io/group-name": "pg"} | ({"volcano.sh/task-spec": name} if role else {})
        spec = {"nodeSelector": selector, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
        meta = {"name": name, "namespace": "ns", "annotations": notes}
        text.append(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}))
    return "\n---\n".join(text)


@pytest.mark.parametrize(("role", "rules"), [(False, ["pods-differ"]), (True, [])])
def test_pods_without_a_role(capsys: pytest.CaptureFixture[str], tmp_path: Path, role: bool, rules: list[str]) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(pods(role))
    _, told, _ = answer(capsys, "lint", str(path))
    assert [f["rule"] for f in told["findings"]] == rules


RAY = """
cluster_name: c
max_workers: {most}
head_node_type: head
available_node_types:
  head: {{resources: {{CPU: 1}}}}
  a: {{resources: {{CPU: 1}}, min_workers: 2, max_workers: 3}}
  b: {{resources: {{CPU: 1}}, min_workers: 1, max_workers: 3}}
"""


def test_ray_minimum_over_maximum(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "ray.yaml"
    for most, status in ((2, 1), (3, 0)):
        path.write_text(RAY.format(most=most))
        found, told, _ = answer(capsys, "lint", str(path))
        assert found == status
        assert [f["rule"] for f in told["findings"]] == ["minimum-over-maximum"][:status]


def test_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["lint", str(EXAMPLE)]) == 1
    out = capsys.readouterr().out
    assert max(map(len, (line for line in out.splitlines() if "examples" not in line))) <= 80
    assert run(["lint", str(tmp_path / "nothing.yaml")]) == 2
    assert "nothing.yaml" in capsys.readouterr().err


def test_what_cannot_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "directory" / "x.yaml").mkdir(parents=True)
    assert run(["lint", str(tmp_path / "directory")]) == 2
    assert "found no manifests" in capsys.readouterr().err
    (tmp_path / "link.yaml").symlink_to("nowhere")
    assert run(["lint", str(tmp_path)]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_configuration_without_nodes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = cluster(gang("x", "root.p.a", 9), gang("y", "root.p.a", 4, group=NEAR)) | {"nodes": []}
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(given))
    _, told, _ = answer(capsys, "lint", str(path))
    assert [f["rule"] for f in told["findings"]] == ["ask-over-quota"]


def test_a_gang_that_is_rejected_starves_nobody(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = cluster(gang("x", "root.p.a", 5), gang("y", "root.p.b", 4), leaf={"sort_policy": "fair"})
    assert [f["rule"] for f in lint(capsys, tmp_path, given)] == ["gang-on-fair-queue"]
