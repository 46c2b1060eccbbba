"""Quotas: what every queue of the hierarchy uses, owes and may still take.

A pod counts in its leaf and in every queue above. Each check looks at all levels (the design speaks of one; the program
takes the minimum over the hierarchy without the root; here the root counts where it has a maximum). Pods that run
already count too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from reference.cluster import NOTHING, Cluster, Queue, Resources, total
from reference.schedulers.yunikorn.state import TrackedApplication


@dataclass(slots=True, eq=False)
class QueueState:
    """One queue, with the applications that wait in it if it is a leaf.

    ``owed`` is what gangs that have begun to reserve, here and below, still have to take; ``begun`` counts applications
    that have begun and not ended. ``reserving`` are those in line for placeholders, ``started`` those that are Accepted
    and have been given some, ``placing`` those with pending real asks, each in submission order. The applications
    before ``cursor`` in ``reserving`` could not start while nothing had been given back since ``cursor_epoch``.
    """

    queue: Queue
    path: tuple[QueueState, ...] = ()
    children: list[QueueState] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)
    owed: dict[str, int] = field(default_factory=dict)
    begun: int = 0
    reserving: list[TrackedApplication] = field(default_factory=list)
    started: list[TrackedApplication] = field(default_factory=list)
    placing: list[TrackedApplication] = field(default_factory=list)
    share: Fraction | None = None
    cursor: int = 0
    cursor_epoch: int = 0

    @property
    def name(self) -> str:
        """The full name."""
        return self.queue.name


@dataclass(frozen=True, slots=True)
class Shortage:
    """The first limit that a request breaks: ``needed`` of ``resource`` is more than the ``limit`` of ``queue``."""

    queue: str
    resource: str
    needed: int
    limit: int


class Queues:
    """The hierarchy with its usage."""

    def __init__(self, cluster: Cluster) -> None:
        self.states: dict[str, QueueState] = {}
        self._cluster_total = total(node.capacity for node in cluster.nodes)
        self.root = self._build(cluster.queues.root, ())
        for pod in cluster.running:
            for state in self.states.values():
                if pod.queue == state.name or pod.queue.startswith(state.name + "."):
                    _add(state.used, pod.resources, 1)
        self.running = {name: Resources(state.used) for name, state in self.states.items()}
        """What pods hold that ran from the start, per queue."""
        self.begun_before = {name: len(cluster.running_applications(name)) for name in self.states}
        """How many applications ran from the start, per queue: each counts as one that has begun."""
        for name, state in self.states.items():
            state.begun = self.begun_before[name]

    def _build(self, queue: Queue, above: tuple[QueueState, ...]) -> QueueState:
        state = QueueState(queue)
        state.path = (*above, state)
        self.states[queue.name] = state
        state.children = [self._build(child, state.path) for child in queue.children]
        return state

    def resize(self, capacity: Resources, sign: int) -> None:
        """The cluster has ``capacity`` more (``sign`` 1) or less (-1): shares of it change."""
        self._cluster_total = self._cluster_total + capacity * sign
        for state in self.states.values():
            state.share = None

    def leaf(self, name: str) -> QueueState:
        """The state of the queue of that full name; KeyError where there is none."""
        return self.states[name]

    def leaves(self) -> list[QueueState]:
        """Leaves in file order."""
        return [state for state in self.states.values() if state.queue.is_leaf]

    def take(self, leaf: str, resources: Resources) -> None:
        """``resources`` are now used in ``leaf``."""
        self._change(leaf, resources, 1)

    def give(self, leaf: str, resources: Resources) -> None:
        """``resources`` are used no more in ``leaf``."""
        self._change(leaf, resources, -1)

    def owe(self, leaf: str, resources: Resources, sign: int) -> None:
        """``resources`` more (``sign`` 1) or less (-1) are still to be taken by gangs that have begun in ``leaf``."""
        for state in self.states[leaf].path:
            _add(state.owed, resources, sign)

    def count_begun(self, leaf: str, change: int) -> None:
        """One application more (1) or less (-1) has begun and not ended."""
        for state in self.states[leaf].path:
            state.begun += change

    def too_large(self, leaf: str, ask: Resources) -> Shortage | None:
        """Y5: the first maximum on the path that ``ask`` alone exceeds; usage is not looked at."""
        return next((s for state in self.states[leaf].path for s in _over(state, ask, {}, {})), None)

    def shortage(self, leaf: str, request: Resources, *, with_owed: bool = False) -> Shortage | None:
        """The first limit on the path that ``request`` would break now, on top of what is used (and owed)."""
        for state in self.states[leaf].path:
            for found in _over(state, request, state.used, state.owed if with_owed else {}):
                return found
        return None

    def fits(self, leaf: str, request: Resources) -> bool:
        """Whether no maximum on the path stops ``request`` now."""
        return self.shortage(leaf, request) is None

    def full_of_applications(self, leaf: str) -> QueueState | None:
        """The first queue on the path that may not run one application more."""
        for state in self.states[leaf].path:
            most = state.queue.max_applications
            if most is not None and state.begun + 1 > most:
                return state
        return None

    def in_order(self) -> Iterator[QueueState]:
        """Leaves in the order in which a cycle visits them: at every parent the child with the smallest share first.

        Parents always sort fairly, also upstream. A share is the largest, over types, of used / guaranteed; a type
        without a guarantee compares with the whole cluster. Ties keep file order.
        """
        yield from self._in_order(self.root)

    def _in_order(self, state: QueueState) -> Iterator[QueueState]:
        if state.queue.is_leaf:
            yield state
            return
        for child in sorted(state.children, key=self._share):
            yield from self._in_order(child)

    def _share(self, state: QueueState) -> Fraction:
        if state.share is None:
            state.share = self.share_of(state.used, state.queue.guaranteed)
        return state.share

    def share_of(self, used: Mapping[str, int], guaranteed: Resources = NOTHING) -> Fraction:
        """The largest share of any type that ``used`` makes of ``guaranteed``, or of the cluster."""
        shares = [Fraction(0)]
        for name, amount in used.items():
            whole = guaranteed.get(name, 0) or self._cluster_total.get(name, 0)
            if whole > 0:
                shares.append(Fraction(amount, whole))
        return max(shares)

    def _change(self, leaf: str, resources: Resources, sign: int) -> None:
        for state in self.states[leaf].path:
            _add(state.used, resources, sign)
            state.share = None


def _add(sums: dict[str, int], amounts: Mapping[str, int], sign: int) -> None:
    for name, amount in amounts.items():
        sums[name] = sums.get(name, 0) + sign * amount


def _over(
    state: QueueState, request: Resources, used: Mapping[str, int], owed: Mapping[str, int]
) -> Iterator[Shortage]:
    for name, limit in state.queue.maximum.items():
        amount = request.get(name, 0)
        needed = amount + used.get(name, 0) + owed.get(name, 0)
        if amount > 0 and needed > max(limit, 0):
            yield Shortage(state.name, name, needed, limit)
