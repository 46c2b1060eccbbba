"""The scheduler of an installed Ray, one problem a line: reads the JSON that ``gangproof schedule --policy ray``
reads from standard input, and prints its answer with ``ray_version`` and ``seconds``, or ``error`` where it ends in
an exception.

It runs in an environment of its own, which ``make peer-ray`` makes; nothing of the project is imported.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

import ray
from ray.autoscaler.v2 import scheduler
from ray.autoscaler.v2.instance_manager.config import NodeTypeConfig
from ray.autoscaler.v2.schema import AutoscalerInstance
from ray.autoscaler.v2.utils import ResourceRequestUtil
from ray.core.generated import autoscaler_pb2 as pb
from ray.core.generated.instance_manager_pb2 import Instance, NodeKind, TerminationRequest

Json = dict[str, Any]
KNOWS_LABELS = hasattr(pb.ResourceRequest(), "label_selectors")
AFFINITY = ResourceRequestUtil.PlacementConstraintType
REQUEST_FIELDS = scheduler.SchedulingRequest.__dataclass_fields__


def resource_request(resources: Json, selectors: Any, constraint: tuple[Any, str, str] | None = None) -> Any:
    """The protobuf message for one bundle."""
    amounts = {name: float(amount) for name, amount in resources.items()}
    message = ResourceRequestUtil.make(amounts, [constraint] if constraint else None)
    for selector in (selectors or []) if KNOWS_LABELS else []:
        added = message.label_selectors.add()
        for key, operator, values in selector:
            added.label_constraints.add(label_key=key, operator={"in": 1, "not_in": 2}[operator], label_values=values)
    return message


def node_type(name: str, given: Json) -> NodeTypeConfig:
    """The configuration of a worker group; what this Ray does not know is left out."""
    more = {"idle_timeout_s": given.get("idle_timeout_s"), "priority": given.get("priority", 0)}
    more["launch_config_hash"] = given.get("launch_config_hash", "")
    return NodeTypeConfig(
        name=name,
        resources={key: float(value) for key, value in given["resources"].items()},
        min_worker_nodes=given.get("min", 0),
        max_worker_nodes=given["max"],
        labels=given.get("labels", {}),
        **{key: value for key, value in more.items() if key in NodeTypeConfig.__dataclass_fields__},
    )


def instance(given: Json, place: int, types: Json) -> AutoscalerInstance:
    """An instance, with its Ray node where it runs."""
    name = given.get("id", f"i{place}")
    status = Instance.InstanceStatus.Value(given.get("status", "RAY_RUNNING"))
    node = None
    if status == Instance.RAY_RUNNING:
        total = given.get("total") or types[given["type"]]["resources"]
        node = pb.NodeState(
            node_id=name.encode(),
            ray_node_type_name=given["type"],
            total_resources={key: float(value) for key, value in total.items()},
            available_resources={key: float(value) for key, value in given.get("available", total).items()},
            idle_duration_ms=given.get("idle_ms", 0),
            status=pb.NodeStatus.RUNNING,
            dynamic_labels=given.get("dynamic_labels", {}),
        )
        if hasattr(node, "labels"):
            node.labels.update(given.get("labels", {}))
    managed = Instance(
        instance_id=name,
        instance_type=given["type"],
        status=status,
        node_kind=NodeKind.HEAD if given.get("head") else NodeKind.WORKER,
        node_id=name if node else "",
        launch_config_hash=given.get("launch_config_hash", ""),
    )
    return AutoscalerInstance(im_instance=managed, ray_node=node, cloud_instance_id=name)


def gang(given: Json, place: int) -> Any:
    """A placement group as the GCS reports it."""
    name = str(given.get("id", place))
    kinds = {"STRICT_PACK": AFFINITY.AFFINITY, "STRICT_SPREAD": AFFINITY.ANTI_AFFINITY}
    kind = kinds.get(given["strategy"])
    constraint = (kind, f"_PG_{name}", "") if kind else None
    selectors = given.get("bundle_selectors") or [None] * len(given["bundles"])
    requests = [resource_request(b, s, constraint) for b, s in zip(given["bundles"], selectors, strict=True)]
    return pb.GangResourceRequest(requests=requests, details=f"{name}:{given['strategy']}")


def counted(given: list[Json]) -> list[Any]:
    """Requests with their numbers."""
    return [
        pb.ResourceRequestByCount(
            request=resource_request(each["resources"], each.get("label_selectors")), count=each.get("count", 1)
        )
        for each in given
    ]


def scheduling_request(given: Json) -> scheduler.SchedulingRequest:
    """The question in Ray's own types."""
    constraints = counted(given.get("constraints", []))
    more = {
        "pending_idle_timeout_s": given.get("pending_idle_timeout_s"),
        "cloud_resource_availabilities": given.get("cloud_resource_availabilities", {}),
        "recoverable_resource_availabilities": given.get("recoverable_resource_availabilities", {}),
    }
    return scheduler.SchedulingRequest(
        node_type_configs={name: node_type(name, each) for name, each in given["node_types"].items()},
        max_num_nodes=given.get("max_num_nodes"),
        idle_timeout_s=given.get("idle_timeout_s"),
        resource_requests=counted(given.get("requests", [])),
        gang_resource_requests=[gang(each, place) for place, each in enumerate(given.get("gangs", []))],
        cluster_resource_constraints=[pb.ClusterResourceConstraint(resource_requests=constraints)]
        if constraints
        else [],
        current_instances=[
            instance(each, place, given["node_types"]) for place, each in enumerate(given.get("instances", []))
        ],
        disable_launch_config_check=given.get("disable_launch_config_check", True),
        **{key: value for key, value in more.items() if key in REQUEST_FIELDS},
    )


class Watched(scheduler.ResourceDemandScheduler.ScheduleContext):
    """The scheduler's context; the last one made is kept, for its nodes at the end."""

    last: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        Watched.last = self


def answer(given: Json) -> Json:
    """Ray's answer to one problem."""
    request = scheduling_request(given)
    scheduler.AUTOSCALER_CONSERVE_GPU_NODES = int(given.get("conserve_gpu_nodes", True))
    started = time.perf_counter()
    reply = scheduler.ResourceDemandScheduler().schedule(request)
    seconds = time.perf_counter() - started
    demand, constraint = scheduler.ResourceRequestSource
    return {
        "ray_version": ray.__version__,
        "seconds": seconds,
        "to_launch": {each.instance_type: each.count for each in reply.to_launch},
        "to_terminate": [
            {"id": each.instance_id, "type": each.instance_type, "cause": TerminationRequest.Cause.Name(each.cause)}
            for each in reply.to_terminate
        ],
        "infeasible_requests": [
            {"resources": dict(each.request.resources_bundle), "count": each.count}
            for each in ResourceRequestUtil.group_by_count(reply.infeasible_resource_requests)
        ],
        "infeasible_gangs": [each.details for each in reply.infeasible_gang_resource_requests],
        "infeasible_constraints": len(reply.infeasible_cluster_resource_constraints),
        "placement": [
            {
                "type": node.node_type,
                "status": node.status.name,
                "id": node.im_instance_id or None,
                "demand": [dict(each.resources_bundle) for each in node.sched_requests[demand]],
                "constraint": [dict(each.resources_bundle) for each in node.sched_requests[constraint]],
            }
            for node in Watched.last._nodes
        ],
    }


def main() -> None:
    """Answers line by line, until the input ends."""
    logging.disable(logging.WARNING)
    scheduler.ResourceDemandScheduler.ScheduleContext = Watched
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001  whatever the real scheduler raises is its answer
            found = {"ray_version": ray.__version__, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
