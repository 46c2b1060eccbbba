"""``gangproof simulate INPUT --policy``: traces, settings and logs as users write them, mistakes told in one line."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import EXAMPLE

from gangproof.cli import run

OPENB_NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,8000,1024,2,T4\nn1,8000,1024,1,P100\n"
OPENB_PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "p1,1000,64,1,1000,T4,LS,Running,5,25,5\n"
    "p0,1000,64,1,460,,LS,Running,0,20,10\n"
    "p2,1000,64,0,0,,LS,Pending,6,16,\n"
)
GAVEL = "CycleGAN\t1000\t0.000000\t2\nA3C\t50\t1.500000\t1\n"
TABLE = "name,arrival_ms,duration_ms,members,queue,weight,vcore\na,0,1000,2,,3,4000\nb,500,250,1,root.default,,8000\n"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    path = tmp_path / "nodes.csv"
    path.write_text(OPENB_NODES)
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any, str]:
    status = run(["simulate", *map(str, arguments), "--json"])
    out = capsys.readouterr()
    answer = json.loads(out.out)
    schema = json.loads((files("gangproof") / "schemas" / "simulate_cluster.json").read_text())
    jsonschema.validate(answer, schema, cls=jsonschema.Draft202012Validator)
    return status, answer, out.err


@pytest.mark.parametrize(
    ("name", "text", "jobs"),
    [
        ("pods.csv", OPENB_PODS, {"p0": (0, 10_000), "p1": (5_000, 20_000), "p2": (6_000, 10_000)}),
        ("gavel.tsv", GAVEL, {"gavel-0": (0, 100_000), "gavel-1": (1_500, 5_000)}),
        ("trace.csv", TABLE, {"a": (0, 1_000), "b": (500, 250)}),
    ],
)
def test_traces_that_users_have(
    name: str, text: str, jobs: dict[str, tuple[int, int]], cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = cluster.with_name(name)
    trace.write_text(text)
    status, answer, _ = told(capsys, cluster, "--policy", "first-fit", "--trace", trace)
    assert status == 0
    found = {job["name"]: (job["arrival"], job["end"] - job["start"]) for job in answer["jobs"]}
    assert found == jobs
    assert answer["fragmentation"] is not None


def test_what_was_assumed_is_told(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text, warning in (("a.csv", OPENB_PODS, "1 pods never ran"), ("a.tsv", GAVEL, "10 steps a second")):
        cluster.with_name(name).write_text(text)
        _, answer, err = told(capsys, cluster, "--policy", "first-fit", "--trace", cluster.with_name(name))
        assert warning in answer["warnings"][-1]
        assert warning in err


SETTINGS = {
    "gangproof": "simulation/v1",
    "failures": {"pod_mtbf_ms": 900_000, "node_mtbf_ms": 9_000_000, "node_repair_ms": 60_000, "attempts": 2},
    "prices": {"worker": 0.25, "node": 1},
    "type_label": "pool",
    "patience_ms": 3_600_000,
    "release_ms": 100,
    "generator": {"jobs": 6, "interarrival_ms": 60_000, "duration_ms": 300_000},
    "autoscaler": {
        "node_types": {
            "worker": {
                "resources": {"vcore": 8000, "memory": 2**35},
                "max": 2,
                "min": 0,
                "labels": {"pool": "spark"},
                "launch_ms": 30_000,
            }
        },
        "interval_ms": 10_000,
        "idle_timeout_ms": 60_000,
    },
}


def test_every_setting_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, log = tmp_path / "settings.json", tmp_path / "run.jsonl"
    path.write_text(json.dumps(SETTINGS))
    arguments = (EXAMPLE, "--policy", "yunikorn", "--settings", path, "--seed", 4, "--log", log)
    status, answer, _ = told(capsys, *arguments)
    assert status == 0
    assert answer["submitted"] == 6
    assert answer["node_hours"].keys() >= {"worker"}
    first, *others = map(json.loads, log.read_text().splitlines())
    assert (first["gangproof"], first["time_unit"], first["seed"]) == ("log/v1", "ms", 4)
    assert len(others) == answer["log_entries"]
    before = log.read_text()
    again = told(capsys, *arguments)[1]
    assert {**again, "seconds": 0} == {**answer, "seconds": 0}
    assert log.read_text() == before
    assert told(capsys, *arguments[:-4], "--seed", 5)[1]["wait_ms"] != answer["wait_ms"]


def test_the_text_fits_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(SETTINGS))
    for arguments in ([], ["--settings", str(path)]):
        assert run(["simulate", str(EXAMPLE), "--policy", "yunikorn", *arguments]) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80
        assert "gangs admitted" in out


NATIVE = {
    "gangproof": "trace/v1",
    "jobs": [
        {
            "arrival_ms": 5,
            "application": {
                "name": "a",
                "queue": "root.default",
                "task_groups": [{"name": "w", "min_member": 2, "min_resource": {"vcore": 1000}}],
            },
            "durations_ms": {"w": 1000},
        }
    ],
    "nodes": [{"time_ms": 10, "remove": "n0"}, {"time_ms": 400, "add": {"name": "n2", "capacity": {"vcore": 2000}}}],
    "pod_failures": [{"time_ms": 500, "job": "a", "task_group": "w"}],
}


def test_a_native_trace(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = cluster.with_name("trace.json")
    trace.write_text(json.dumps(NATIVE))
    _, answer, _ = told(capsys, cluster, "--policy", "best-fit", "--trace", trace)
    assert (answer["restarts"], answer["jobs"][0]["end"]) == (2, 1500)


def changed(path: str, value: object) -> str:
    """The native trace with one value changed, or dropped where ``value`` is None."""
    document = json.loads(json.dumps(NATIVE))
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = document
    for step in steps:
        inner = inner[step]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("t.json", "{", "t.json:1"),
        ("t.json", changed("gangproof", "trace/v9"), "'trace/v1'"),
        ("t.json", changed("jobs", None), "a list of jobs"),
        ("t.json", changed("jobs.0.arrival_ms", -1), "jobs[0].arrival_ms: found -1"),
        ("t.json", changed("jobs.0.arrival_ms", 1.5), "jobs[0].arrival_ms: found 1.5"),
        ("t.json", changed("jobs.0.durations_ms.w", 0), "jobs[0].durations_ms.w: found 0"),
        ("t.json", changed("jobs.0.durations_ms.w", None), "how long task group 'w' has work"),
        ("t.json", changed("jobs.0.durations_ms.x", 5), "the unknown key 'x'"),
        (
            "t.json",
            changed("jobs.0.application.queue", "root.x"),
            "jobs[0].application.queue: found job 'a': 'root.x' is not a leaf",
        ),
        ("t.json", changed("jobs.0.colour", "red"), "the unknown key 'colour'"),
        ("t.json", changed("nodes.0.add", {"name": "n9", "capacity": {}}), "either add (a node) or remove"),
        (
            "t.json",
            changed("nodes.0.remove", "n7"),
            "t.json:1:258: nodes[0].remove: found node 'n7' goes, but is not there at 10 ms",
        ),
        (
            "t.json",
            changed("nodes.1.add.name", "n1"),
            "nodes[1].add.name: found node 'n1' comes, but is there already at 400 ms",
        ),
        (
            "t.json",
            changed("pod_failures.0.task_group", "v"),
            "pod_failures[0].task_group: found a pod failure names a/v, which no job has",
        ),
        ("t.json", changed("pod_failures.0.job", "b"), "pod_failures[0].job: found a pod failure names b/w, which no"),
        ("t.json", changed("jobs", NATIVE["jobs"] * 2), "jobs[1].application.name: found two jobs are named 'a'"),  # type: ignore[operator]
        (
            "t.json",
            changed("jobs.0.application.task_groups.0.size", 9),
            "trace: jobs[0].application: found task groups larger than their minimum",
        ),
        ("t.csv", "name,arrival_ms,duration_ms,vcore\na,0,1\n", "t.csv:2: found 3 values, expected 4 values"),
        ("t.csv", "name,arrival_ms,duration_ms,vcore\na,0,1.5,1\n", "t.csv:2:1: duration_ms: found '1.5'"),
        ("t.csv", "name,arrival_ms,duration_ms\na,0,1\na,0,1\n", "t.csv:3:1: name: found two jobs are named 'a'"),
        ("t.csv", "name,arrival_ms,duration_ms,queue\na,0,1,root.x\n", "t.csv:2:1: queue: found job 'a': 'root.x' is"),
        ("t.csv", "name,arrival_ms,duration_ms,vcore,vcore\n", "the column 'vcore'"),
        ("t.csv", "job,start\na,0\n", "a first line 'job,start'"),
        ("t.csv", OPENB_PODS.replace("5,25,5", "5,4,5"), "deletion_time: found '4'"),
        ("t.tsv", GAVEL + "A3C\t5\t1\n", "t.tsv:3: found 3 values"),
        ("t.tsv", GAVEL.replace("1.5", "later"), "t.tsv:2:1: arrival: found 'later00000'"),
        ("t.tsv", GAVEL.replace("\t2\n", "\t0\n"), "scale_factor: found '0'"),
    ],
)
def test_a_bad_trace_is_told_in_one_line(
    name: str, text: str, found: str, cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.with_name(name).write_text(text)
    assert run(["simulate", str(cluster), "--policy", "first-fit", "--trace", str(cluster.with_name(name))]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert found in out.err
    assert len(out.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"gangproof": "simulation/v2"}, "'simulation/v1'"),
        ({"failures": {"pod_mtbf_ms": 0}}, "failures.pod_mtbf_ms: found 0"),
        ({"failures": {"often": 1}}, "the unknown key 'often'"),
        ({"prices": {"node": 0.1234567}}, "prices.node: found 0.1234567"),
        ({"prices": {"node": -1}}, "prices.node: found -1"),
        ({"autoscaler": {}}, "node types"),
        ({"autoscaler": {"node_types": {"a": {"resources": {}, "max": 1, "min": 2}}}}, "at most max (1)"),
        ({"generator": {"jobs": 0}}, "generator.jobs: found 0"),
        ({"patience_ms": "long"}, "patience_ms: found 'long'"),
    ],
)
def test_bad_settings_are_told_in_one_line(
    settings: dict[str, object], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"gangproof": "simulation/v1", **settings}))
    assert run(["simulate", str(EXAMPLE), "--policy", "first-fit", "--settings", str(path)]) == 2
    err = capsys.readouterr().err
    assert found in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([EXAMPLE, "--policy", "lifo"], "'lifo', expected one of yunikorn, volcano, kubernetes, first-fit"),
        ([EXAMPLE, "--policy", "first-fit", "--order", "random"], "'random', expected one of fifo, size, density"),
        ([EXAMPLE, "--policy", "yunikorn", "--order", "size"], "order: found size"),
        ([EXAMPLE, "--policy", "volcano", "--order", "size"], "order: found size, expected fifo: Volcano orders"),
        ([EXAMPLE, "--policy", "kubernetes", "--strict"], "strict: found strict, expected no such option"),
        ([EXAMPLE, "--policy", "yunikorn", "--walks", "3"], "--walks goes without --policy"),
        ([EXAMPLE, "--policy", "yunikorn", "--trace", "no/such/file"], "no/such/file"),
        ([EXAMPLE, "--policy", "yunikorn", "--log", "no/such/dir/log"], "no/such/dir/log"),
        (["gang", "--trace", "x"], "--trace goes with --policy"),
        (["gang", "--strict"], "--strict goes with --policy"),
        (["no/such/input", "--policy", "yunikorn"], "no/such/input"),
    ],
)
def test_bad_arguments(arguments: list[object], found: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", *map(str, arguments)]) == 2
    err = capsys.readouterr().err
    assert found in err
    assert len(err.splitlines()) == 1


def test_no_gang_and_no_trace(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", str(cluster), "--policy", "yunikorn"]) == 2
    assert "found no gang, expected gangs that wait in the cluster, or a trace" in capsys.readouterr().err


def test_what_ray_cannot_say_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(json.dumps(NATIVE))
    group = document["jobs"][0]["application"]["task_groups"][0]
    group["constraints"] = {"affinity_terms": [[{"key": "zone", "operator": "Exists"}]]}
    del document["nodes"], document["pod_failures"]
    for name, text in (
        ("trace.json", json.dumps(document)),
        ("settings.json", json.dumps(SETTINGS)),
        ("nodes.csv", OPENB_NODES),
    ):
        (tmp_path / name).write_text(text)
    arguments = ["--trace", str(tmp_path / "trace.json"), "--settings", str(tmp_path / "settings.json")]
    assert run(["simulate", str(tmp_path / "nodes.csv"), "--policy", "first-fit", *arguments]) == 2
    assert "operator Exists on label 'zone'" in capsys.readouterr().err
