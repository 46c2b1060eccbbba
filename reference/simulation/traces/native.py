"""Our own trace in JSON: jobs of any shape, nodes that come and go, pods that fail at a known time.

    {"gangproof": "trace/v1",
     "jobs": [{"arrival_ms": 0, "application": {...}, "durations_ms": {"workers": 60000}}],
     "nodes": [{"time_ms": 5000, "remove": "n1"}, {"time_ms": 9000, "add": {...}}],
     "pod_failures": [{"time_ms": 2000, "job": "a", "task_group": "workers"}]}

Applications and nodes are those of the native cluster format.
"""

from __future__ import annotations

from reference.manifests.document import Field
from reference.manifests.native import MARK, read_application, read_node
from reference.manifests.quantity import INT64_MAX
from reference.manifests.queue_parts import only_keys
from reference.simulation.workload import Job, NodeChange, PodFailure, Workload

FORMAT = "trace/v1"


def read_native_trace(root: Field) -> Workload:
    """The workload of a document. Raises ManifestError."""
    only_keys(root, MARK, "jobs", "nodes", "pod_failures")
    version = root.need(MARK, f"{FORMAT!r}")
    if version.value != FORMAT:
        raise version.error(f"{FORMAT!r}, the format of traces")
    return Workload(
        tuple(_job(field) for field in root.need("jobs", "a list of jobs").elements()),
        tuple(_node_change(field) for field in root.list_of("nodes")),
        tuple(_failure(field) for field in root.list_of("pod_failures")),
    )


def _job(field: Field) -> Job:
    only_keys(field, "arrival_ms", "application", "durations_ms")
    application = read_application(field.need("application", "an application"))
    durations = field.need("durations_ms", "a duration for each task group")
    names = [group.name for group in application.task_groups]
    only_keys(durations, *names)
    found = (durations.need(name, f"how long task group {name!r} has work").integer(1, INT64_MAX) for name in names)
    return Job(application, _time(field, "arrival_ms"), tuple(found))


def _node_change(field: Field) -> NodeChange:
    only_keys(field, "time_ms", "add", "remove")
    added, removed = field.get("add"), field.get("remove")
    if (added is None) is (removed is None):
        raise field.error("either add (a node) or remove (its name)")
    if removed is not None:
        return NodeChange(_time(field, "time_ms"), removed.name())
    assert added is not None
    node = read_node(added)
    return NodeChange(_time(field, "time_ms"), node.name, node)


def _failure(field: Field) -> PodFailure:
    only_keys(field, "time_ms", "job", "task_group")
    job, group = field.need("job", "a job").name(), field.need("task_group", "a task group").name()
    return PodFailure(_time(field, "time_ms"), job, group)


def _time(field: Field, key: str) -> int:
    return field.need(key, "a time in ms").integer(0, INT64_MAX, "whole milliseconds, 0 or more")
