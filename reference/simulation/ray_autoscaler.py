"""Ray's autoscaler in a simulation: what waits and what there is, put as a question to its ResourceDemandScheduler.

A gang that waits is a placement group of its missing members, with strategy PACK. Amounts are counted exactly, in
ten-thousandths of Ray's units (CPU, GPU, bytes of memory). Nodes that are being launched are instances in REQUESTED;
the cluster's own nodes are of a type that has as many as there are, at least and at most. Ray knows no limit on pods,
and no taints.
"""

# float: Ray takes the idle time out in seconds; it decides no capacity

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference.cluster import MEMORY, PODS, VCORE, Constraints, Node, Operator
from reference.errors import InputError
from reference.schedulers import ray
from reference.schedulers.ray.request import LabelSelector
from reference.simulation.autoscaler import Answer, NodeView, Waiting, node_of
from reference.simulation.settings import AutoscalerSettings

OWN = "nodes of the cluster"
"""The type of nodes that are not the autoscaler's."""


class RayAutoscaler:
    """Decisions of Ray 2.60's autoscaler."""

    def __init__(self, settings: AutoscalerSettings) -> None:
        self._settings = settings
        self._types = {
            kind.name: ray.NodeTypeConfig(kind.name, _amounts(kind.resources), kind.most, kind.least, dict(kind.labels))
            for kind in settings.node_types
        }

    def nodes(self) -> list[Node]:
        """One node of each type."""
        return [node_of(kind, kind.name) for kind in self._settings.node_types]

    def decide(self, waiting: Sequence[Waiting], nodes: Sequence[NodeView]) -> Answer:
        """One decision of the scheduler."""
        own = sum(not view.node_type for view in nodes)
        request = ray.SchedulingRequest(
            node_types={**self._types, OWN: ray.NodeTypeConfig(OWN, {}, own, own)},
            instances=tuple(_instance(view) for view in nodes),
            gangs=tuple(_gang(each) for each in waiting),
            idle_timeout_s=self._settings.idle_timeout_ms / 1000,
            arithmetic=ray.EXACT,
        )
        reply = ray.schedule(request)
        gone = tuple(node.instance for node in reply.to_terminate if node.instance)
        return Answer({name: count for name, count in reply.to_launch.items() if name != OWN}, gone)


def _instance(view: NodeView) -> ray.Instance:
    name, labels = view.node.name, dict(view.node.labels)
    if view.launching:
        return ray.Instance(name, view.node_type, ray.InstanceStatus.REQUESTED)
    return ray.Instance(
        name,
        view.node_type or OWN,
        total=_amounts(view.node.available),
        available=_amounts(view.free),
        labels=labels,
        idle_ms=view.idle_ms if view.node_type else 0,
    )


def _gang(waiting: Waiting) -> ray.GangResourceRequest:
    application = waiting.application
    requests = tuple(
        ray.ResourceRequest(tuple(sorted(_amounts(group.min_resource).items())), label_selectors(group.constraints))
        for group in application.task_groups
        for _ in range(waiting.missing[group.name])
    )
    return ray.GangResourceRequest(application.name, ray.Strategy.PACK, requests)


def _amounts(resources: Mapping[str, int]) -> dict[str, float]:
    """Base units as ten-thousandths of Ray's units, by Ray's names; whole numbers all of them."""
    return dict(sorted(_amount(name, amount) for name, amount in resources.items() if name != PODS))


def _amount(name: str, amount: int) -> tuple[str, int]:
    if name == VCORE:
        return "CPU", amount * 10
    if name == "gpu" or name.endswith("/gpu"):
        return "GPU", amount * 10
    return ("memory" if name == MEMORY else name), amount * ray.EXACT.unit


def label_selectors(constraints: Constraints) -> tuple[LabelSelector, ...]:
    """``constraints`` as label selectors, one for each term of the affinity. InputError for what Ray cannot say."""
    operators = {Operator.IN: ray.Operator.IN, Operator.NOT_IN: ray.Operator.NOT_IN}
    base = [ray.LabelConstraint(key, ray.Operator.IN, (value,)) for key, value in constraints.node_selector]
    selectors = []
    for term in constraints.affinity_terms or ((),):
        for requirement in term:
            if requirement.operator not in operators:
                found = f"the operator {requirement.operator.value} on label {requirement.key!r}"
                raise InputError(found, "In or NotIn, which Ray's label selectors have", where="autoscaler")
        more = [ray.LabelConstraint(r.key, operators[r.operator], tuple(sorted(r.values))) for r in term]
        if base or more:
            selectors.append((*base, *more))
    return tuple(selectors)
