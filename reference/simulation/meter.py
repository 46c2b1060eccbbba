"""Integrals over time of what nodes have and pods hold: the time-weighted half of the metrics.

Every integral is kept at its last change only, so an event costs what it changes and not what there is.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Mapping
from fractions import Fraction

from reference.cluster import PODS, Node, Resources
from reference.simulation.clock import MS_PER_HOUR
from reference.simulation.fragmentation import Devices, Fragmentation, PodClass, gpu_resource
from reference.simulation.metrics import Fragmented, dominant_share
from reference.simulation.settings import ONE, Settings


class Integral:
    """The integral over time, from ``start`` on, of a whole number that changes."""

    __slots__ = ("_area", "_since", "value")

    def __init__(self, start: int) -> None:
        self.value = 0
        self._area = 0
        self._since = start

    def add(self, change: int, now: int) -> None:
        """The number is larger by ``change`` from ``now`` on; before the start that costs no area."""
        if now > self._since:
            self._area += self.value * (now - self._since)
            self._since = now
        self.value += change

    def until(self, end: int) -> int:
        """The area up to ``end``, which no change is later than."""
        return self._area + self.value * max(end - self._since, 0)


class _Amounts:
    """An integral for each resource type."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._of: dict[str, Integral] = {}

    def add(self, amounts: Mapping[str, int], sign: int, now: int) -> None:
        for name, amount in amounts.items():
            found = self._of.get(name)
            if found is None:
                found = self._of[name] = Integral(self._start)
            found.add(sign * amount, now)

    def until(self, end: int) -> dict[str, int]:
        return {name: integral.until(end) for name, integral in sorted(self._of.items())}


class _NodeBooks:
    """What one node has left now, and on which devices its pods are."""

    def __init__(self, node: Node, capacity: Resources, node_type: str, gpu: str | None) -> None:
        self.node = node
        self.capacity = capacity
        self.node_type = node_type
        self.free = dict(capacity)
        self.devices = Devices(capacity.amount(gpu)) if gpu else None
        self.held: dict[int, tuple[tuple[int, int], ...]] = {}


class Meter:
    """Nodes and pods as they come and go. ``now`` never goes back."""

    def __init__(self, start: int, nodes: Iterable[Node], classes: tuple[PodClass, ...], settings: Settings) -> None:
        self._start = start
        self._settings = settings
        self._gpu = gpu_resource(nodes)
        self._nodes: dict[str, _NodeBooks] = {}
        self._capacity, self._allocated, self._running = _Amounts(start), _Amounts(start), _Amounts(start)
        self._queues: dict[str, _Amounts] = {}
        self._hours = _Amounts(start)
        self._fragmentation = Fragmentation(classes, self._gpu) if self._gpu else None
        self._fragmented = Integral(start)
        self._touched: dict[str, None] = {}
        self._of_node: dict[tuple[bool, Resources], ItemsView[str, int]] = {}

    def add_node(self, node: Node, capacity: Resources, node_type: str, now: int) -> None:
        """``node`` is there with room for ``capacity``, and costs what its type does."""
        self._nodes[node.name] = _NodeBooks(node, capacity, node_type, self._gpu)
        self._capacity.add(capacity, 1, now)
        self._hours.add({node_type: 1}, 1, now)
        self._touched[node.name] = None

    def remove_node(self, name: str, now: int) -> None:
        """The node is gone; its pods are released before."""
        books = self._nodes.pop(name)
        self._capacity.add(books.capacity, -1, now)
        self._hours.add({books.node_type: 1}, -1, now)
        self._touched[name] = None

    def allocate(self, pod: int, queue: str, node: str, resources: Resources, now: int) -> None:
        """A pod holds ``resources`` of ``node``. ValueError where it has not so much: the scheduler is at fault."""
        books = self._nodes[node]
        for name, amount in self._counted(books, resources):
            if amount:
                left = books.free.get(name, 0) - amount
                if left < 0:
                    raise ValueError(f"node {node!r} has no room for pod {pod}: {name} {amount} > {left + amount}")
                books.free[name] = left
        if books.devices is not None and self._gpu is not None:
            books.held[pod] = books.devices.take(resources.amount(self._gpu))
        self._count(queue, resources, 1, now)
        self._touched[node] = None

    def release(self, pod: int, queue: str, node: str, resources: Resources, now: int) -> None:
        """The pod holds nothing any more."""
        books = self._nodes[node]
        for name, amount in self._counted(books, resources):
            if amount:
                books.free[name] += amount
        if books.devices is not None:
            books.devices.give(books.held.pop(pod))
        self._count(queue, resources, -1, now)
        self._touched[node] = None

    def run(self, resources: Resources, sign: int, now: int) -> None:
        """A member of a gang that runs begins (1) or ceases (-1) to work with ``resources``."""
        self._running.add(resources, sign, now)

    def free(self, node: str) -> Mapping[str, int]:
        """What ``node`` has left now."""
        return self._nodes[node].free

    def settle(self, now: int) -> None:
        """All that happens at ``now`` has happened: fragmentation is that of the nodes as they are."""
        fragmentation = self._fragmentation
        if fragmentation is None:
            return
        before = fragmentation.sum
        for name in self._touched:
            books = self._nodes.get(name)
            if books is None or books.devices is None:
                fragmentation.remove(name)
            else:
                fragmentation.update(books.node, books.free, books.devices.free)
        self._touched.clear()
        if fragmentation.sum != before:
            self._fragmented.add(fragmentation.sum - before, now)

    def _counted(self, books: _NodeBooks, resources: Resources) -> ItemsView[str, int]:
        """The part of ``resources`` that the node has to have; few different ones are asked for, so all are kept."""
        key = PODS in books.node.capacity, resources
        found = self._of_node.get(key)
        if found is None:
            found = self._of_node[key] = books.node.counted(resources).items()
        return found

    def _count(self, queue: str, resources: Resources, sign: int, now: int) -> None:
        self._allocated.add(resources, sign, now)
        held = self._queues.get(queue)
        if held is None:
            held = self._queues[queue] = _Amounts(self._start)
        held.add(resources, sign, now)

    # --- what it comes to, at the end ---

    def utilisation(self, end: int) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
        """By type, what running gangs and what all pods held, as shares of the capacity."""
        capacity = {name: area for name, area in self._capacity.until(end).items() if area > 0}
        running, allocated = self._running.until(end), self._allocated.until(end)
        return (
            {name: Fraction(running.get(name, 0), area) for name, area in capacity.items()},
            {name: Fraction(allocated.get(name, 0), area) for name, area in capacity.items()},
        )

    def queue_share(self, queue: str, end: int) -> Fraction:
        """The dominant share of ``queue`` in the window."""
        held = self._queues.get(queue)
        return dominant_share(held.until(end), self._capacity.until(end)) if held else Fraction(0)

    def node_hours(self, end: int) -> dict[str, Fraction]:
        """Hours by node type."""
        return {name: Fraction(area, MS_PER_HOUR) for name, area in self._hours.until(end).items()}

    def cost(self, end: int) -> Fraction:
        """Node-hours by the price of their type."""
        hours = self.node_hours(end)
        return sum((each * Fraction(self._settings.price(name), ONE) for name, each in hours.items()), Fraction(0))

    def fragmented(self, end: int) -> Fragmented | None:
        """FGD's measure over the window; None without GPUs."""
        fragmentation, gpu = self._fragmentation, self._gpu
        if fragmentation is None or gpu is None:
            return None
        area = Fraction(self._fragmented.until(end), max(fragmentation.pods, 1))
        idle = self._capacity.until(end).get(gpu, 0) - self._allocated.until(end).get(gpu, 0)
        length = end - self._start
        mean = Fraction(area, length) if length > 0 else Fraction(0)
        return Fragmented(mean, Fraction(area, idle) if idle > 0 else None)
