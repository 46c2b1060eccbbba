"""What a placement comes to: the metrics of the field, each with its exact definition, as integers and fractions.

- admission: gangs placed whole / gangs submitted; weighted: their weights / all weights;
- allocation ratio of a type: what running and placed pods hold / what nodes have for pods;
- fragmentation (FGD, ATC 2023): the GPU that is idle and that a pod drawn from the workload could not use, in
  thousandths; see ``reference.simulation.fragmentation``, whose definitions these are. A share of GPU is of all that is
  idle;
- dominant share of a queue: the largest over types of what its pods hold / what all nodes have; Jain's index of them;
- cost: the prices of the node types of all nodes that hold a pod.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from reference.cluster import PODS, Cluster, Node, Placement, Resources, total
from reference.simulation.fragmentation import Devices, Fragmentation, gpu_resource, pod_classes
from reference.simulation.metrics import dominant_share, jain


@dataclass(frozen=True, slots=True)
class PlacementMetrics:
    """The metrics of one placement, running pods included.

    ``allocation`` is by type, for those that some node has; ``dominant_shares`` by leaf queue, for those that have or
    ask for pods. ``fragmentation`` and ``idle_gpu`` are thousandths of a GPU, None where no node has any;
    ``weighted_admission`` is None where no gang weighs anything, ``jain`` where nobody has anything.
    """

    admission: Fraction
    weighted_admission: Fraction | None
    allocation: Mapping[str, Fraction]
    fragmentation: Fraction | None
    idle_gpu: int | None
    dominant_shares: Mapping[str, Fraction]
    jain: Fraction | None
    nodes_used: int
    cost: int


def measure(cluster: Cluster, placement: Placement) -> PlacementMetrics:
    """The metrics of ``placement``, which is good for ``cluster``."""
    apps = {app.name: app for app in cluster.applications}
    groups = {(app.name, group.name): group for app in cluster.applications for group in app.task_groups}
    held: dict[str, list[Resources]] = {}
    by_queue: dict[str, list[Resources]] = {app.queue: [] for app in cluster.applications}
    for pod in cluster.running:
        held.setdefault(pod.node, []).append(pod.resources)
        by_queue.setdefault(pod.queue, []).append(pod.resources)
    for a in placement.assignments:
        amount = groups[a.application, a.task_group].pod_resource * a.count
        held.setdefault(a.node, []).append(amount)
        by_queue[apps[a.application].queue].append(amount)
    capacity = total(node.available for node in cluster.nodes)
    used = total(node.counted(total(held[node.name])) for node in cluster.nodes if node.name in held)
    shares = {name: dominant_share(_without_pods(total(each)), capacity) for name, each in sorted(by_queue.items())}
    weights = sum(app.weight for app in cluster.applications)
    admitted = sum(apps[name].weight for name in placement.admitted)
    fragmented, idle = _fragmentation(cluster, placement, held)
    price = {kind.name: kind.price for kind in cluster.node_types}
    return PlacementMetrics(
        admission=Fraction(len(placement.admitted), max(len(apps), 1)),
        weighted_admission=Fraction(admitted, weights) if weights > 0 else None,
        allocation={n: Fraction(used.amount(n), whole) for n, whole in capacity.items() if whole > 0},
        fragmentation=fragmented,
        idle_gpu=idle,
        dominant_shares=shares,
        jain=jain(list(shares.values())),
        nodes_used=placement.nodes_used(),
        cost=sum(price.get(node.node_type, 0) for node in cluster.nodes if node.name in held),
    )


def _without_pods(amounts: Resources) -> Resources:
    """Few nodes limit pods, and those that do not say so have any number: no share."""
    return Resources({name: amount for name, amount in amounts.items() if name != PODS})


def _fragmentation(
    cluster: Cluster, placement: Placement, held: Mapping[str, list[Resources]]
) -> tuple[Fraction | None, int | None]:
    """The expected fragmentation, and what is idle at all; pods are put on devices as ``Devices`` does it."""
    gpu = gpu_resource(cluster.nodes)
    if gpu is None:
        return None, None
    asked: dict[str, Counter[int]] = {}
    for pod in cluster.running:
        asked.setdefault(pod.node, Counter())[pod.resources.amount(gpu)] += 1
    groups = {(app.name, group.name): group for app in cluster.applications for group in app.task_groups}
    for a in placement.assignments:
        one = groups[a.application, a.task_group].pod_resource.amount(gpu)
        asked.setdefault(a.node, Counter())[one] += a.count
    fragmentation = Fragmentation(pod_classes(groups.values()), gpu)
    idle = 0
    for node in cluster.nodes:
        devices = _devices(node, gpu, asked.get(node.name, Counter()))
        idle += sum(devices)
        fragmentation.update(node, node.available - node.counted(total(held.get(node.name, ()))), devices)
    return (Fraction(fragmentation.sum, fragmentation.pods) if fragmentation.pods else None), idle


def _devices(node: Node, gpu: str, asked: Counter[int]) -> list[int]:
    """What each device has free: pods of whole devices first, then parts, the largest first."""
    devices = Devices(node.available.amount(gpu))
    for amount in sorted(asked.elements(), reverse=True):
        devices.take(min(amount, sum(devices.free)))
    return devices.free
