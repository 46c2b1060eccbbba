"""The examples of Volcano, Kueue, Kubernetes and Ray are what their READMEs say, and the commands there run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gangproof.cli import run
from reference.cluster import Assignment, Cluster, Placement
from reference.cluster.features import Feature, features
from reference.manifests import load
from reference.validate import Rule, validate

ROOT = Path(__file__).resolve().parents[2]
USED = {
    "volcano-queues": (
        {Feature.TOPOLOGY, Feature.ELASTIC, Feature.MIN_MEMBERS, Feature.RESERVED, Feature.SHARES},
        ["not looked at in a Volcano Job: policies"],
    ),
    "kueue-cohort": (
        {Feature.TOPOLOGY, Feature.ELASTIC, Feature.RESERVED, Feature.SHARES, Feature.PRIORITY},
        ["not looked at in a ClusterQueue: namespaceSelector (and 1 more like this)"],
    ),
    "podgroup-topology": (
        {Feature.TOPOLOGY, Feature.ELASTIC, Feature.COMPOSITE},
        ["no queues.yaml: one queue without limits, root.default, is taken"],
    ),
}


@pytest.mark.parametrize("name", USED)
def test_what_it_uses_and_what_is_not_looked_at(name: str) -> None:
    expected, warnings = USED[name]
    result = load(ROOT / "examples" / name)
    assert features(result.cluster) == expected
    assert [warning.text for warning in result.warnings] == warnings


@pytest.mark.parametrize("name", [*USED, "raycluster"])
def test_the_commands_of_the_readme_run(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "examples" / name / "README.md").read_text()
    commands = [line for block in re.findall(r"```\n(.*?)```", readme, re.DOTALL) for line in block.splitlines()]
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "gangproof"
        assert run(arguments) == 0, capsys.readouterr().err
    assert "Traceback" not in capsys.readouterr().err


def judged(cluster: Cluster, admitted: str, *cells: tuple[str, str, int]) -> list[Rule]:
    """The rules that a placement of one gang breaks."""
    assignments = tuple(Assignment(admitted, group, node, count) for group, node, count in sorted(cells))
    pending = {app.name: "waits" for app in sorted(cluster.applications, key=lambda a: a.name) if app.name != admitted}
    return [violation.rule for violation in validate(cluster, Placement(assignments, (admitted,), pending))]


def test_volcano_as_the_readme_says() -> None:
    cluster = load(ROOT / "examples" / "volcano-queues").cluster
    job = "ml/pretrain"
    assert judged(cluster, job, ("worker", "gpu-a1", 4), ("worker", "gpu-a2", 4)) == []
    assert judged(cluster, job, ("worker", "gpu-a1", 4), ("worker", "gpu-b1", 4)) == [Rule.TOPOLOGY]
    assert judged(cluster, "ml/tune", ("chief", "gpu-a1", 1), ("trial", "gpu-a1", 2)) == []
    assert judged(cluster, "ml/tune", ("chief", "gpu-a1", 1), ("trial", "gpu-a1", 1)) == [Rule.PARTIAL_GANG]


def test_kueue_as_the_readme_says() -> None:
    cluster = load(ROOT / "examples" / "kueue-cohort").cluster
    assert judged(cluster, "vision/job-segment", ("main", "n1", 4), ("main", "n2", 4)) == []
    assert judged(cluster, "vision/job-segment", ("main", "n1", 4), ("main", "n3", 4)) == [Rule.TOPOLOGY]
    both = Placement(
        (
            Assignment("vision/job-detect", "main", "n3", 2),
            Assignment("vision/job-segment", "main", "n1", 4),
            Assignment("vision/job-segment", "main", "n2", 4),
        ),
        ("vision/job-detect", "vision/job-segment"),
        {"language/tokenize": "waits"},
    )
    assert [v.rule for v in validate(cluster, both)] == [Rule.QUEUE_RESERVED]  # 18 cores, of which 16 can be had


def test_pod_groups_as_the_readme_says() -> None:
    cluster = load(ROOT / "examples" / "podgroup-topology").cluster
    assert judged(cluster, "ns/serve", ("serve-0", "r1-a", 2), ("serve-0", "r1-b", 1)) == []
    assert judged(cluster, "ns/serve", ("serve-0", "r1-a", 2), ("serve-0", "r2-a", 1)) == [Rule.TOPOLOGY]
