"""RayCluster and cluster YAML: node types and nodes in a table, refusals with their place, damage, and the command.

The mapping is that of ray 2.60 (python/ray/autoscaler/_private/kuberay/autoscaling_config.py, autoscaler/v2/
instance_manager/config.py, autoscaler/ray-schema.json) and of KubeRay's raycluster_types.go; the files are written here.
"""
# ruff: noqa: E501  a line of a table is a file, its place and the message

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gangproof.cli import run
from reference.errors import InputError
from reference.manifests import ManifestError
from reference.schedulers.ray import NodeKind, SchedulingRequest, load_files, schedule

EXAMPLE = Path(__file__).parents[3] / "examples" / "raycluster"
KUBERAY = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: r}
spec:
  enableInTreeAutoscaling: true
  headGroupSpec: {rayStartParams: {num-cpus: '0'}, template: {spec: {containers: [{resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}
  workerGroupSpecs:
  - {groupName: a, replicas: 1, minReplicas: 1, maxReplicas: 3, numOfHosts: 2, idleTimeoutSeconds: 9, priority: 5, labels: {zone: z},
     template: {spec: {containers: [{resources: {requests: {cpu: 4}, limits: {cpu: 1500m, memory: 2Gi, nvidia.com/gpu: 2}}}]}}}
  - {groupName: b, maxReplicas: 2, rayStartParams: {num-cpus: '3', memory: '100', num-gpus: '1', labels: 'zone=y, disk=ssd', resources: '"{\\"X\\": 2}"'},
     template: {spec: {containers: [{}]}}}
  - {groupName: c, maxReplicas: 1, resources: {CPU: '2', GPU: 500m}, rayStartParams: {num-cpus: '9'}, template: {spec: {containers: [{}]}}}
  - {groupName: d, suspend: true, template: {spec: {containers: [{}]}}}
"""
LAUNCHER = """
cluster_name: x
max_workers: 5
idle_timeout_minutes: 2
head_node_type: head
provider: {type: aws}
available_node_types:
  head: {resources: {CPU: 4}, node_config: {}}
  small: {resources: {CPU: 2.5, custom: 1}, min_workers: 1, priority: 2, idle_timeout_s: 7, labels: {zone: a}, node_config: {}}
  big: {resources: {CPU: 64}, max_workers: 2}
"""


def read(tmp_path: Path, text: str, demand: dict[str, Any] | None = None) -> SchedulingRequest:
    """The request in a file, and in one with the demand."""
    paths = [tmp_path / "cluster.yaml"]
    paths[0].write_text(text)
    if demand is not None:
        paths.append(tmp_path / "demand.json")
        paths[1].write_text(json.dumps(demand))
    return load_files(paths)[0]


def shown(request: SchedulingRequest) -> dict[str, str]:
    """Node types in a line each: limits, resources, labels and what else is stated."""
    return {
        kind.name: " ".join(
            [f"{kind.min_workers}..{kind.max_workers}"]
            + [f"{name}={amount:g}" for name, amount in sorted(kind.resources.items())]
            + [f"{key}:{value}" for key, value in sorted(kind.labels.items())]
            + ([f"idle {kind.idle_timeout_s:g}"] if kind.idle_timeout_s is not None else [])
            + ([f"priority {kind.priority}"] if kind.priority else [])
        )
        for kind in request.node_types.values()
    }


def test_a_ray_cluster(tmp_path: Path) -> None:
    request = read(tmp_path, KUBERAY)
    assert shown(request) == {
        "headgroup": "0..1 memory=1.07374e+09",
        "a": "2..6 CPU=2 GPU=2 memory=2.14748e+09 zone:z idle 9 priority 5",
        "b": "0..2 CPU=3 GPU=1 X=2 memory=100 disk:ssd zone:y",
        "c": "0..1 CPU=2 GPU=0.5",
    }
    assert (request.max_num_nodes, request.idle_timeout_s) == (10, 60.0)
    assert [i.name for i in request.instances] == ["head", "a-0", "a-1"]
    assert [i.kind is NodeKind.HEAD for i in request.instances] == [True, False, False]


def test_a_cluster_yaml(tmp_path: Path) -> None:
    request = read(tmp_path, LAUNCHER)
    assert shown(request) == {
        "head": "0..1 CPU=4",
        "small": "1..5 CPU=2.5 custom=1 zone:a idle 7 priority 2",
        "big": "0..2 CPU=64",
    }
    assert (request.max_num_nodes, request.idle_timeout_s) == (6, 120.0)
    assert dict(schedule(request).to_launch) == {"small": 1}  # min_workers


def test_a_demand_beside_a_cluster_is_the_same_as_in_one_file(tmp_path: Path) -> None:
    demand = {"requests": [{"resources": {"CPU": 60}, "count": 2}], "max_num_nodes": 2,
              "instances": [{"id": "h", "type": "head", "head": True}]}  # fmt: skip
    types = {"head": {"resources": {"CPU": 4}, "max": 1},
             "small": {"resources": {"CPU": 2.5, "custom": 1}, "min": 1, "max": 5, "priority": 2, "idle_timeout_s": 7,
                       "labels": {"zone": "a"}},
             "big": {"resources": {"CPU": 64}, "max": 2}}  # fmt: skip
    alone = tmp_path / "alone.json"
    alone.write_text(json.dumps({**demand, "node_types": types, "idle_timeout_s": 120}))
    assert read(tmp_path, LAUNCHER, demand) == load_files([alone])[0]


BAD: list[tuple[str, tuple[str, ...], Any, str, str]] = [
    (KUBERAY, ("spec", "workerGroupSpecs", "0", "maxReplicas"), 0, "spec.workerGroupSpecs[0].maxReplicas", "found 0, expected a whole number, at least minReplicas (1)"),
    (KUBERAY, ("spec", "workerGroupSpecs", "1", "groupName"), "a", "spec.workerGroupSpecs[1].groupName", "found the group 'a' a second time"),
    (KUBERAY, ("spec", "workerGroupSpecs", "0", "numOfHosts"), 0, "spec.workerGroupSpecs[0].numOfHosts", "found 0"),
    (KUBERAY, ("spec", "workerGroupSpecs", "0", "template"), None, "spec.workerGroupSpecs[0].template", "found nothing, expected a pod template"),
    (KUBERAY, ("spec", "headGroupSpec"), None, "spec.headGroupSpec", "found nothing, expected the head's group"),
    (KUBERAY, ("spec", "headGroupSpec", "template", "spec", "containers"), [], "spec.headGroupSpec.template.spec.containers", "expected at least one container"),
    (KUBERAY, ("spec", "headGroupSpec", "rayStartParams", "num-cpus"), "many", 'spec.headGroupSpec.rayStartParams.num-cpus', "found 'many', expected a quantity"),
    (KUBERAY, ("spec", "workerGroupSpecs", "1", "rayStartParams", "labels"), "zone", "rayStartParams.labels", "found 'zone', expected labels such as"),
    (KUBERAY, ("spec", "workerGroupSpecs", "1", "rayStartParams", "resources"), "{", "rayStartParams.resources", "found bad JSON"),
    (KUBERAY, ("spec",), None, "spec", "found nothing, expected the cluster's spec"),
    (LAUNCHER, ("head_node_type",), "none", "head_node_type", "found 'none', expected one of available_node_types (head, small, big)"),
    (LAUNCHER, ("available_node_types", "big", "resources", "CPU"), "64", "available_node_types.big.resources.CPU", "found '64', expected 0 or more"),
    (LAUNCHER, ("available_node_types", "big", "max_workers"), -1, "available_node_types.big.max_workers", "at least min_workers (0)"),
    (LAUNCHER, ("available_node_types", "small", "min_workers"), 1.5, "available_node_types.small.min_workers", "found 1.5"),
    (LAUNCHER, ("idle_timeout_minutes",), "five", "idle_timeout_minutes", "found 'five', expected minutes, 0 or more"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "value", "where", "says"), BAD, ids=range(len(BAD)))
def test_refused_with_its_place(
    text: str, path: tuple[str, ...], value: Any, where: str, says: str, tmp_path: Path
) -> None:
    damaged = yaml.safe_load(text)
    at = damaged
    for step in path[:-1]:
        at = at[int(step) if isinstance(at, list) else step]
    at[path[-1]] = value
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump(damaged, sort_keys=False))
    with pytest.raises(ManifestError) as caught:
        load_files([file])
    assert caught.value.line
    assert str(caught.value).startswith(f"{file}:{caught.value.line}:")
    assert f"{where}: found" in str(caught.value) or where in caught.value.where
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([LAUNCHER, LAUNCHER], "found a second one (first at"),
        ([LAUNCHER, "node_types: {}"], "found node_types, expected none: the cluster at"),
        (["requests: []", "requests: []"], "found a second one (first at"),
        (["kind: Pod"], "found neither a cluster nor a request"),
        (["- 1"], "found a list, expected a RayCluster (kind), a cluster YAML"),
        (["requests: []"], "found nothing, expected the node types"),
    ],
)
def test_files_that_do_not_go_together(texts: list[str], says: str, tmp_path: Path) -> None:
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.yaml").write_text(text)
    with pytest.raises(ManifestError) as caught:
        load_files([tmp_path])
    assert says in str(caught.value)


JUNK = st.sampled_from([None, True, -1, 0, 1.5, 10**30, "", "x", "1Q", "{", '"1"', [], {}, [None], {"a": None}, [[]]])


def test_damaged_clusters_are_read_or_refused(tmp_path: Path) -> None:
    counts = {True: 0, False: 0}
    file = tmp_path / "cluster.yaml"

    def places(value: Any) -> list[tuple[Any, Any]]:
        steps = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
        return [pair for step in steps for pair in [(value, step), *places(value[step])]]

    @settings(max_examples=60)
    @given(data=st.data())
    def go(data: st.DataObject) -> None:
        root = copy.deepcopy(yaml.safe_load(data.draw(st.sampled_from([KUBERAY, LAUNCHER]))))
        holder, step = data.draw(st.sampled_from(places(root)))
        holder[step] = data.draw(JUNK)
        file.write_text(json.dumps(root))
        try:
            schedule(load_files([file])[0])
            counts[True] += 1
        except InputError as error:
            assert str(error).isprintable()  # noqa: PT017  the message is what is tested
            counts[False] += 1

    go()
    assert min(counts.values()) > 5, counts


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schedule", "--policy", "ray", str(EXAMPLE), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["to_launch"] == {"gpu": 2}
    assert told["infeasible_gangs"] == ["huge:STRICT_PACK"]
    assert [w.split(": ", 1)[1] for w in told["warnings"]] == [
        "spec.autoscalerOptions.upscalingMode: not looked at in autoscalerOptions: upscalingMode",
        "items[0]: an object of kind 'Node' is passed over (and 1 more like this)",
    ]
