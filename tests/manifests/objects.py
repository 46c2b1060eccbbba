"""Kubernetes objects in a few words, for tests."""

from __future__ import annotations

import json
from typing import Any

YUNIKORN = "yunikorn.apache.org/"


def node(name: str = "n1", **allocatable: Any) -> dict[str, Any]:
    """A Node with 8 cores, 16 GiB and 110 pods unless told otherwise."""
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110", **allocatable}
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": amounts}}


def groups(*definitions: dict[str, Any]) -> str:
    """A task-groups annotation."""
    return json.dumps(list(definitions))


def group(name: Any = "workers", members: Any = 2, resource: Any = None, **more: Any) -> dict[str, Any]:
    """One task group of 1 core and 1 GiB a member."""
    request = {"cpu": "1", "memory": "1Gi"} if resource is None else resource
    return {"name": name, "minMember": members, "minResource": request, **more}


def pod(
    name: str,
    app: str | None = None,
    *,
    task_groups: str | None = None,
    member_of: str | None = None,
    node: str | None = None,
    queue: str | None = "root.default",
    phase: str = "Pending",
    created: str | None = None,
    request: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A Pod of one container."""
    labels = {"applicationId": app, "queue": queue}
    notes = {YUNIKORN + "task-groups": task_groups, YUNIKORN + "task-group-name": member_of, **(annotations or {})}
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "creationTimestamp": created,
            "labels": {k: v for k, v in labels.items() if v is not None},
            "annotations": {k: v for k, v in notes.items() if v is not None},
        },
        "spec": {
            "nodeName": node,
            "containers": [{"name": "main", "resources": {"requests": request or {"cpu": "1", "memory": "1Gi"}}}],
            **spec,
        },
        "status": {"phase": phase},
    }


def gang(app: str = "job", **options: Any) -> dict[str, Any]:
    """The first pod of a gang of two workers."""
    return pod(f"{app}-0", app, **{"task_groups": groups(group()), "member_of": "workers", **options})
