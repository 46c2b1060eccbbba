"""GPU fragmentation as FGD measures it ("Beware of Fragmentation", ATC 2023), and the devices that it needs.

For a node n and a class m of pods, F_n(m) is the idle GPU that pods of class m cannot use:

- where m cannot run on n, or asks for no GPU: all that is idle on n;
- else what is idle on those devices of n that have less free than m needs of one device.

The fragmentation of a cluster is the sum over nodes and classes of p_m F_n(m), p_m being the share of class m among the
pods of the workload. Here p_m is a count of pods, so that everything is an integer: the sum is divided by the number of
all pods when it is shown.

Clusters here know one amount of GPU per node. ``Devices`` puts it on devices of 1000 thousandths: whole GPUs on devices
that are empty, a part on the device with the least room that has enough. Where a scheduler has added up parts of
several devices for one pod, the pod is spread over the emptiest ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reference.cluster import Constraints, Node, Resources, TaskGroup

DEVICE = 1000
"""Thousandths of a GPU in one device."""


def gpu_resource(nodes: Iterable[Node]) -> str | None:
    """The resource that counts GPUs: ``gpu`` or the first name that ends in ``/gpu``; None where no node has any."""
    names = {name for node in nodes for name, amount in node.capacity.items() if amount > 0}
    return min((name for name in names if name == "gpu" or name.endswith("/gpu")), default=None)


class Devices:
    """The GPUs of one node: how many thousandths each has free."""

    def __init__(self, thousandths: int) -> None:
        whole, part = divmod(max(thousandths, 0), DEVICE)
        self.free = [DEVICE] * whole + ([part] if part else [])

    def take(self, amount: int) -> tuple[tuple[int, int], ...]:
        """Put a pod of ``amount`` thousandths on devices; which, and how much of each, for ``give``."""
        taken: list[tuple[int, int]] = []
        whole, part = divmod(amount, DEVICE)
        for device, free in enumerate(self.free):
            if whole and free == DEVICE:
                taken.append((device, DEVICE))
                self.free[device] = 0
                whole -= 1
        left = whole * DEVICE + part
        enough = [(free, device) for device, free in enumerate(self.free) if free >= left]
        while left > 0:
            free, device = min(enough) if enough else max((free, -device) for device, free in enumerate(self.free))
            device, some = abs(device), min(left, free)
            if some <= 0:
                raise ValueError(f"{left} thousandths of a GPU are more than the node has free")
            self.free[device] -= some
            taken.append((device, some))
            left -= some
        return tuple(taken)

    def give(self, taken: Sequence[tuple[int, int]]) -> None:
        """A pod has left what ``take`` gave it."""
        for device, amount in taken:
            self.free[device] += amount


@dataclass(frozen=True, slots=True)
class PodClass:
    """Pods that ask for the same; ``count`` of them are in the workload."""

    request: Resources
    constraints: Constraints
    count: int


def pod_classes(groups: Iterable[TaskGroup]) -> tuple[PodClass, ...]:
    """The classes of the members of ``groups``, in order of first appearance."""
    counts: Counter[tuple[Resources, Constraints]] = Counter()
    for group in groups:
        counts[group.pod_resource, group.constraints] += group.min_member
    return tuple(PodClass(request, constraints, count) for (request, constraints), count in counts.items())


def node_fragmentation(node: Node, free: Mapping[str, int], devices: Sequence[int], pod: PodClass, gpu: str) -> int:
    """F_n(m) in thousandths of a GPU. ``free`` is what the node has left, ``devices`` each GPU's free thousandths."""
    asked = pod.request.amount(gpu)
    others = node.counted(Resources({name: amount for name, amount in pod.request.items() if name != gpu}))
    if asked == 0 or not node.admits(pod.constraints) or not others.fits_in(Resources(free)):
        return sum(devices)
    return unusable(asked, devices)


def unusable(asked: int, devices: Sequence[int]) -> int:
    """What is idle on ``devices`` and of no use to a pod that asks for so many thousandths of a GPU: all where it does
    not fit, else what is on devices with less than it needs of one."""
    whole, part = divmod(asked, DEVICE)
    if sum(free == DEVICE for free in devices) < whole:
        return sum(devices)
    left = sorted(devices)[: len(devices) - whole]
    if part and (not left or left[-1] < part):
        return sum(devices)
    return sum(free for free in devices if free < (part or DEVICE))


class Fragmentation:
    """The sum over nodes and classes of count x F_n(m), kept up to date node by node; divide by ``pods``."""

    def __init__(self, classes: Sequence[PodClass], gpu: str) -> None:
        self.classes = classes
        self.gpu = gpu
        self.pods = sum(pod.count for pod in classes)
        self.sum = 0
        self._of: dict[str, int] = {}
        self._known: dict[tuple[object, ...], int] = {}
        self._on_kind: dict[int, list[tuple[PodClass, bool, list[tuple[str, int]]]]] = {}
        self._kind_of: dict[str, tuple[Node, int]] = {}
        self._kinds: dict[tuple[object, ...], int] = {}

    def update(self, node: Node, free: Mapping[str, int], devices: Sequence[int]) -> None:
        """``node`` has this left now. What was computed once for nodes that look alike is remembered."""
        devices = sorted(devices)
        look = (self._kind(node), tuple(devices), tuple(free.items()))
        value = self._known.get(look)
        if value is None:
            value = self._known[look] = self._weighted(node, free, devices) if devices and devices[-1] else 0
        self.sum += value - self._of.get(node.name, 0)
        self._of[node.name] = value

    def remove(self, node: str) -> None:
        """``node`` is gone, with what was idle on it."""
        self.sum -= self._of.pop(node, 0)

    def _weighted(self, node: Node, free: Mapping[str, int], devices: Sequence[int]) -> int:
        """The sum over classes of count x ``node_fragmentation``; what classes have in common is computed once."""
        idle = sum(devices)
        by_ask: dict[int, int] = {}
        total = 0
        for pod, admitted, others in self._classes_on(node):
            value = idle
            asked = pod.request.amount(self.gpu)
            if asked and admitted and all(amount <= free.get(name, 0) for name, amount in others):
                if asked not in by_ask:
                    by_ask[asked] = unusable(asked, devices)
                value = by_ask[asked]
            total += pod.count * value
        return total

    def _classes_on(self, node: Node) -> list[tuple[PodClass, bool, list[tuple[str, int]]]]:
        """Each class, whether its pods may run on nodes such as ``node``, and what they need there beside GPUs."""
        kind = self._kind(node)
        found = self._on_kind.get(kind)
        if found is None:
            found = self._on_kind[kind] = [
                (
                    pod,
                    node.admits(pod.constraints),
                    [(n, a) for n, a in node.counted(pod.request).items() if a > 0 and n != self.gpu],
                )
                for pod in self.classes
            ]
        return found

    def _kind(self, node: Node) -> int:
        """Nodes with one kind are alike but for names."""
        number = self._kind_of.get(node.name)
        if number is None or number[0] is not node:
            look = (node.capacity, tuple(sorted(node.labels.items())), node.taints, node.schedulable)
            number = self._kind_of[node.name] = node, self._kinds.setdefault(look, len(self._kinds))
        return number[1]
