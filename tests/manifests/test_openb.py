"""openb tables (columns: Alibaba cluster-trace-gpu-v2023), small ones here and the real ones where they are."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from reference.cluster import Constraints, Operator, Requirement, Resources
from reference.manifests import ManifestError, load

Write = Callable[..., Path]

NODES = """sn,cpu_milli,memory_mib,gpu,model
openb-node-0000,64000,262144,2,P100
openb-node-0001,96000,393216,8,V100M32
openb-node-0002,32000,1024,0,
"""
HEADER = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)
PODS = HEADER + (
    "p0,12000,16384,1,1000,,LS,Running,0,12537496,0\n"
    "p1,6000,12288,1,460,P100|V100M16,LS,Running,20,12902960,427061\n"
    "p2,1000,1024,0,0,,BE,Pending,30,12902960,\n"
    "p3,8000,1024,8,1000,V100M32,LS,Pending,10,1,1\n"
)
CLASSES = [
    (Resources({"vcore": 12000, "memory": 2**34, "gpu": 1000}), ()),
    (Resources({"vcore": 8000, "memory": 2**30, "gpu": 8000}), ("V100M32",)),
    (Resources({"vcore": 6000, "memory": 12 * 2**30, "gpu": 1000}), ("P100", "V100M16")),
    (Resources({"vcore": 1000, "memory": 2**30}), ()),
]


def test_nodes_and_pods(write: Write, tmp_path: Path) -> None:
    write("nodes.csv", NODES)
    write("pods.csv", PODS)
    result = load(tmp_path)
    assert [(n.name, n.capacity, n.labels) for n in result.cluster.nodes] == [
        ("openb-node-0000", Resources({"vcore": 64000, "memory": 2**38, "gpu": 2000}), {"gpu-model": "P100"}),
        ("openb-node-0001", Resources({"vcore": 96000, "memory": 384 * 2**30, "gpu": 8000}), {"gpu-model": "V100M32"}),
        ("openb-node-0002", Resources({"vcore": 32000, "memory": 2**30}), {}),
    ]
    apps = result.cluster.applications
    assert [a.submitted for a in apps] == [0, 1, 2, 3]
    for app, (request, models) in zip(apps, CLASSES, strict=True):  # in order of creation time
        [group] = app.task_groups
        terms = ((Requirement("gpu-model", Operator.IN, models),),) if models else ()
        assert (group.min_member, group.min_resource) == (1, request)
        assert group.constraints == Constraints(affinity_terms=terms)
        gpus = max(1, request.amount("gpu") // 1000)
        assert app.weight in range(3 * gpus, 5 * gpus + 1)
    said = " ".join(w.text for w in result.warnings)
    assert "4 pods are grouped into 4 by seed 1" in said
    assert "each of the 1 pods that share a GPU takes one for itself" in said


def test_shared_gpus_are_handed_out_by_device(write: Write, tmp_path: Path) -> None:
    write("nodes.csv", NODES)
    write("pods.csv", PODS)
    result = load(tmp_path, shared_gpus=True)
    assert [n.devices for n in result.cluster.nodes] == [("gpu",), ("gpu",), ()]
    assert [a.task_groups[0].min_resource.amount("gpu") for a in result.cluster.applications] == [1000, 8000, 460, 0]
    assert "GPU" not in " ".join(w.text for w in result.warnings)
    write("pods.csv", PODS.replace("8,1000,V100M32", "8,500,V100M32"))
    with pytest.raises(ManifestError, match="whole GPUs, where a pod takes more than one"):
        load(tmp_path, shared_gpus=True)


def many(count: int) -> str:
    """A pod list of two classes."""
    rows = (f"p{i},{1000 + i % 2},1024,1,{1000 if i % 3 else 500},,LS,Running,{i},1,1\n" for i in range(count))
    return HEADER + "".join(rows)


def test_gangs_keep_every_pod_and_follow_the_seed(write: Write, tmp_path: Path) -> None:
    write("nodes.csv", NODES)
    write("pods.csv", many(500))
    one, again, other = (load(tmp_path, gang_seed=seed).cluster.applications for seed in (1, 1, 2))
    assert one == again
    assert one != other
    for apps in (one, other):
        held: Counter[Resources] = Counter()
        for app in apps:
            [group] = app.task_groups
            assert group.min_member in range(1, 33)
            held[group.min_resource] += group.min_member
        expected: Counter[Resources] = Counter()
        for i in range(500):
            expected[Resources({"vcore": 1000 + i % 2, "memory": 2**30, "gpu": 1000})] += 1
        assert held == expected
        assert max(app.members for app in apps) > 4


def test_a_directory_of_alternatives(write: Write, tmp_path: Path) -> None:
    write("openb_node_list_all_node.csv", NODES)
    write("openb_node_list_gpu_node.csv", NODES.replace("node-0002,32000,1024,0,", "node-0002,32000,1024,4,T4"))
    write("openb_pod_list_default.csv", PODS)
    write("openb_pod_list_gpuspec33.csv.gz", gzip.compress(many(9).encode()))
    result = load(tmp_path)
    assert [Path(s).name for s in result.sources] == ["openb_node_list_gpu_node.csv", "openb_pod_list_default.csv"]
    assert result.cluster.nodes[2].labels == {"gpu-model": "T4"}
    assert len([w for w in result.warnings if "of several lists this one is taken" in w.text]) == 2
    named = load([tmp_path, tmp_path / "openb_pod_list_gpuspec33.csv.gz"])
    assert sum(a.members for a in named.cluster.applications) == 9


def test_alternatives_without_a_preferred_one(write: Write, tmp_path: Path) -> None:
    write("a.csv", NODES)
    write("b.csv", NODES)
    with pytest.raises(ManifestError, match="several node lists"):
        load(tmp_path)
    write("c.csv", PODS)
    with pytest.raises(ManifestError, match="several node lists"):
        load([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_with_queues(write: Write, tmp_path: Path) -> None:
    write("nodes.csv", NODES)
    write("pods.csv", PODS)
    write("queues.yaml", "partitions: [{queues: [{name: default, resources: {max: {gpu: 3}}}]}]")
    assert load(tmp_path).cluster.queues.effective_maximum("root.default") == Resources({"gpu": 3000})
    write("queues.yaml", "partitions: [{queues: [{name: other}]}]")
    with pytest.raises(ManifestError, match=r"a leaf queue root\.default"):
        load(tmp_path)


BAD = [
    ("nodes.csv", NODES.replace("64000", "64x"), 2, "cpu_milli: found '64x'"),
    ("nodes.csv", NODES.replace("262144,2", "-1,2"), 2, "memory_mib: found '-1'"),
    ("nodes.csv", NODES + "n,1,2\n", 5, "found 3 values, expected 5 values"),
    ("nodes.csv", NODES + "openb-node-0000,1,1,0,\n", 5, "'openb-node-0000' a second time"),
    ("nodes.csv", NODES.replace("openb-node-0001", ""), 3, "sn: found an empty text"),
    ("nodes.csv", NODES.replace("model", "model,model", 1), 1, "the column 'model' twice"),
    ("nodes.csv", NODES + '"\n', 5, "bad CSV"),
    ("pods.csv", PODS.replace("460", "1460"), 3, "gpu_milli: found '1460'"),
    ("pods.csv", PODS.replace("1,1000,", "1,0,"), 2, "gpu_milli: found '0'"),
    ("pods.csv", PODS.replace("p1,", "p0,"), 3, "the pod 'p0' a second time"),
    ("pods.csv", PODS.replace(",20,", ",,"), 3, "creation_time: found ''"),
    ("other.csv", "a,b\n1,2\n", 1, "found other columns"),
]


@pytest.mark.parametrize(("name", "text", "line", "says"), BAD)
def test_a_bad_table_is_refused(name: str, text: str, line: int, says: str, write: Write, tmp_path: Path) -> None:
    write("nodes.csv", NODES)
    write("pods.csv", PODS)
    write(name, text)
    with pytest.raises(ManifestError) as caught:
        load(sorted(tmp_path.iterdir()))
    assert says in str(caught.value)
    assert (Path(caught.value.file).name, caught.value.line) == (name, line)


def test_other_tables_in_a_directory_are_passed_over(write: Write, tmp_path: Path) -> None:
    write("nodes.csv", NODES)
    write("pods.csv", PODS)
    write("zzz.csv", "a,b\n1,2\n")
    assert any("not an openb node list" in w.text for w in load(tmp_path).warnings)


def test_the_real_trace(large_data: Path) -> None:
    # the figures are those of the published trace: 1213 GPU nodes with 6212 GPUs, 8152 pods, 3078 that share a GPU
    result = load(large_data / "openb")
    cluster = result.cluster
    assert len(cluster.nodes) == 1213
    assert sum(n.capacity["gpu"] for n in cluster.nodes) == 6212 * 1000
    assert sum(a.members for a in cluster.applications) == 8152
    assert any("the 3078 pods that share a GPU takes" in w.text for w in result.warnings)
    lists = [
        large_data / "openb" / name for name in ("openb_node_list_all_node.csv", "openb_pod_list_gpuspec33.csv.gz")
    ]
    spec = load(lists).cluster
    assert len(spec.nodes) == 1523
    models = {n.labels.get("gpu-model") for n in spec.nodes}
    terms = {t for a in spec.applications for g in a.task_groups for t in g.constraints.affinity_terms}
    assert {value for [requirement] in terms for value in requirement.values} <= models
    assert sum(a.members for a in spec.applications if a.task_groups[0].constraints.affinity_terms) == 8152 - 5764
