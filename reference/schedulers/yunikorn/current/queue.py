"""Queues: what each level uses, what is left below a maximum, how many applications run, and who is next.

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/objects/queue.go and sorters.go. Head room goes over the whole
path; the gate for a gang (``max_set``) leaves out the root. Upstream compares shares as floats; here they are exact
fractions.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reference.cluster import NOTHING, Resources, SortPolicy
from reference.schedulers.yunikorn.current.users import Limit

if TYPE_CHECKING:
    from reference.schedulers.yunikorn.current.application import Application

ROOT: Final = "root"


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """A queue of queues.yaml by its full name. ``max_applications`` 0: no limit.

    ``maximum`` and ``guaranteed`` list only the types that they are about; ``maximum`` None: no limit at all.
    """

    name: str
    maximum: Resources | None = None
    guaranteed: Resources = NOTHING
    sort_policy: SortPolicy = SortPolicy.FIFO
    priority_sort: bool = True
    max_applications: int = 0
    limits: tuple[Limit, ...] = ()


class InOrder:
    """Applications by their order, which a change of it has to be told of: ``add`` again."""

    def __init__(self) -> None:
        self._keys: list[tuple[int, int, int]] = []
        self._apps: list[Application] = []
        self._key_of: dict[str, tuple[int, int, int]] = {}

    def add(self, app: Application) -> None:
        """``app`` takes its place."""
        self.discard(app)
        key = self._key_of[app.id] = app.order
        at = bisect.bisect_left(self._keys, key)
        self._keys.insert(at, key)
        self._apps.insert(at, app)

    def discard(self, app: Application) -> None:
        """``app`` has no place any more."""
        key = self._key_of.pop(app.id, None)
        if key is not None:
            at = bisect.bisect_left(self._keys, key)
            del self._keys[at], self._apps[at]

    def become(self, other: InOrder) -> None:
        """The same applications as ``other``."""
        self._keys, self._apps, self._key_of = other._keys[:], other._apps[:], dict(other._key_of)

    def __iter__(self) -> Iterator[Application]:
        return iter(self._apps)

    def first(self) -> Application | None:
        """The first one, or None."""
        return self._apps[0] if self._apps else None


@dataclass(slots=True, eq=False)
class QueueState:
    """One queue, and what counts in it and below it.

    ``running`` and ``allocating_accepted`` make up what ``max_applications`` limits. ``waiting`` are a leaf's
    applications with pending asks; ``untried`` those of them for which no cycle has found that nothing of them can be
    allocated since ``epoch`` (that of the partition: it counts what was given back); ``replacing`` those that hold
    placeholders and have real asks of task groups.
    """

    config: QueueConfig
    parent: QueueState | None = None
    children: list[QueueState] = field(default_factory=list)
    allocated: Resources = NOTHING
    pending: Resources = NOTHING
    preempting: Resources = NOTHING
    running: int = 0
    allocating_accepted: set[str] = field(default_factory=set)
    applications: dict[str, Application] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)
    waiting: InOrder = field(default_factory=InOrder)
    untried: InOrder = field(default_factory=InOrder)
    replacing: InOrder = field(default_factory=InOrder)
    epoch: int = 0

    @property
    def name(self) -> str:
        """The full name."""
        return self.config.name

    @property
    def is_leaf(self) -> bool:
        """Whether applications may run here."""
        return not self.children and self.parent is not None

    def path(self) -> list[QueueState]:
        """From this queue up to the root."""
        queue, found = self, [self]
        while queue.parent is not None:
            queue = queue.parent
            found.append(queue)
        return found

    # --- quotas ---

    def head_room(self) -> Resources | None:
        """What may still be allocated here, per type that a maximum on the path lists; None: no maximum at all.

        A type that one level lists is taken from it, whatever the others say (``ComponentWiseMin``).
        """
        room: Resources | None = None
        for queue in self.path():
            maximum = queue.config.maximum
            if maximum is not None:
                left = Resources({name: limit - queue.allocated.amount(name) for name, limit in maximum.items()})
                room = left if room is None else room.min_limit(left)
        return room

    def max_set(self) -> Resources | None:
        """GetMaxQueueSet: the least maximum on the path, the root's left out; None where nothing is limited."""
        limits = [q.config.maximum for q in self.path() if q.parent is not None and q.config.maximum is not None]
        least: Resources | None = None
        for limit in limits:
            least = limit if least is None else least.min_limit(limit)
        return least

    def supports_task_groups(self) -> bool:
        """Whether gangs may run here: in fifo leaves only (stateaware is another name of fifo today)."""
        return self.is_leaf and self.config.sort_policy is not SortPolicy.FAIR

    def increase(self, resources: Resources) -> None:
        """``resources`` are allocated, here and above."""
        for queue in self.path():
            queue.allocated = queue.allocated + resources

    def decrease(self, resources: Resources) -> None:
        """``resources`` are given back, here and above."""
        for queue in self.path():
            queue.allocated = queue.allocated - resources

    def change_pending(self, delta: Resources) -> None:
        """So much more is pending, here and above."""
        for queue in self.path():
            queue.pending = queue.pending + delta

    def change_preempting(self, delta: Resources) -> None:
        """So much more is wanted back from victims, here and above."""
        for queue in self.path():
            queue.preempting = queue.preempting + delta

    # --- applications that run ---

    def can_run(self, application: str) -> bool:
        """Whether one more application may run, at every level, or this one is counted already."""
        for queue in self.path():
            most = queue.config.max_applications
            if most and application not in queue.allocating_accepted:
                if queue.running + len(queue.allocating_accepted) + 1 > most:
                    return False
        return True

    def set_allocating(self, application: str) -> None:
        """An application that is still Accepted was given something: it counts."""
        for queue in self.path():
            queue.allocating_accepted.add(application)

    def start_running(self, application: str) -> None:
        """An application runs. The count never goes over the maximum: upstream cuts it there."""
        for queue in self.path():
            queue.allocating_accepted.discard(application)
            most = queue.config.max_applications
            queue.running = min(queue.running + 1, most) if most else queue.running + 1

    def stop_running(self) -> None:
        """An application runs no more."""
        for queue in self.path():
            queue.running = max(queue.running - 1, 0)

    # --- order ---

    def index(self, app: Application) -> None:
        """What ``app`` asks for or holds has changed: its place among those that a cycle looks at."""
        for listed, belongs in (
            (self.waiting, app.pends),
            (self.untried, app.pends),
            (self.replacing, app.wants_placeholders),
        ):
            if belongs:
                listed.add(app)
            else:
                listed.discard(app)

    def forget(self, app: Application) -> None:
        """``app`` has left the queue."""
        self.applications.pop(app.id, None)
        self.reserved.pop(app.id, None)
        for queue in self.path():
            queue.allocating_accepted.discard(app.id)
        for listed in (self.waiting, self.untried, self.replacing):
            listed.discard(app)

    def sorted_children(self) -> list[QueueState]:
        """Children with something pending: parents sort fairly, the smallest share first, ties by file order.

        Between shares that are equal upstream takes the queue with more pending first, and a stable order of a map
        that has none; here it is the order of the configuration.
        """
        pending = [child for child in self.children if not child.pending.is_zero()]
        if len(pending) < 2:
            return pending
        return sorted(pending, key=lambda child: (child._priority(), child.share()))

    def _priority(self) -> int:
        """The highest priority of an ask here or below, negated."""
        below = [child._priority() for child in self.children]
        first = self.waiting.first()
        return min([*below, *([first.order[0]] if first is not None else [])], default=0)

    def share(self) -> Fraction:
        """The largest of what is used, over what is guaranteed or else the fair maximum, per type."""
        fair = self.fair_maximum()
        shares = [_share_of(amount, _denominator(name, self.config.guaranteed, fair))
                  for name, amount in self.allocated.items() if amount >= 0]  # fmt: skip
        return max(shares, default=Fraction(0))

    def fair_maximum(self) -> Resources:
        """GetFairMaxResource: the root's maximum, of each type the lowest level's that lists it."""
        merged: dict[str, int] = {}
        for queue in reversed(self.path()):
            maximum = queue.config.maximum
            if queue.parent is None:
                merged = dict(maximum or {})
            elif merged and maximum is not None:
                merged |= dict(maximum)
        return Resources(merged)

    def by_fairness(self, apps: Iterable[Application]) -> list[Application]:
        """Applications of a fair leaf: priority first, then the smaller shares of what is guaranteed."""

        def key(app: Application) -> tuple[int, list[Fraction], tuple[int, int, int]]:
            return (app.order[0], self._shares(app.allocated), app.order)

        return sorted(apps, key=key)

    def _shares(self, allocated: Resources) -> list[Fraction]:
        """Shares of what is guaranteed, the largest first; a type without guarantee counts as used whole."""
        total = self.config.guaranteed
        shares = [Fraction(amount, total[name]) if total.amount(name) > 0 else Fraction(amount)
                  for name, amount in allocated.items() if amount]  # fmt: skip
        return sorted(shares, reverse=True)


def _denominator(name: str, guaranteed: Resources, fair: Resources) -> int | None:
    return guaranteed[name] if name in guaranteed else fair.get(name)


def _share_of(amount: int, denominator: int | None) -> Fraction:
    if denominator is None:
        return Fraction(0)
    if denominator <= 0:
        return Fraction(0 if amount <= 0 else 1)
    return Fraction(amount, denominator)


def build(configs: Iterable[QueueConfig]) -> dict[str, QueueState]:
    """The hierarchy, by full name; a parent comes before its children. KeyError where a parent is missing."""
    queues: dict[str, QueueState] = {}
    for config in configs:
        above, _, _ = config.name.rpartition(".")
        state = QueueState(config, queues[above] if above else None)
        if state.parent is not None:
            state.parent.children.append(state)
        queues[config.name] = state
    return queues
