"""The queue hierarchy: who may use how much.

Names and rules are YuniKorn's (queues.yaml): a queue's full name is its path, ``root.batch.gang``; only leaves run
applications; a maximum holds for everything below the queue; a type that a maximum does not list is unlimited. What
Volcano's and Kueue's queues have beside that are the fields behind ``is_parent``.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from reference.cluster.resources import NOTHING, Resources


class SortPolicy(enum.Enum):
    """Order of applications in a leaf queue (queues.yaml: ``application.sort.policy``)."""

    FIFO = "fifo"
    STATE_AWARE = "stateaware"
    FAIR = "fair"


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue. ``name`` is the full path; amounts list only the types they concern.

    ``maximum`` is a limit and so is ``reserved``: what others never use, even while this queue does not. Where the
    parent has a maximum, each child counts against it with what it uses or has reserved, whichever is more, per type
    (Kueue: nominalQuota less lendingLimit). The others steer who is next, and forbid nothing: ``guaranteed`` (served
    first, YuniKorn and Volcano), ``deserved`` (what it may claim back from those above theirs; Volcano's capacity
    plugin; Kueue's nominalQuota), ``weight`` (share of what is contended, as a ratio to its siblings'), ``priority``
    (higher first). From a queue that is not ``reclaimable`` nobody takes back. Raises ValueError for a negative weight.
    """

    name: str
    maximum: Resources = NOTHING
    guaranteed: Resources = NOTHING
    sort_policy: SortPolicy = SortPolicy.FIFO
    max_applications: int | None = None
    children: tuple[Queue, ...] = ()
    is_parent: bool = False
    weight: int = 1
    deserved: Resources = NOTHING
    reserved: Resources = NOTHING
    priority: int = 0
    reclaimable: bool = True

    def __post_init__(self) -> None:
        if self.weight < 0:
            raise ValueError(f"queue {self.name!r}: the weight {self.weight} is below 0")

    @property
    def is_leaf(self) -> bool:
        """Whether applications may run here: no children, and not declared ``parent: true``."""
        return not self.children and not self.is_parent

    def walk(self) -> Iterator[Queue]:
        """This queue and all below it, parents first, in file order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class QueueTree:
    """All queues of a partition."""

    root: Queue

    def __iter__(self) -> Iterator[Queue]:
        return self.root.walk()

    def find(self, name: str) -> Queue | None:
        """The queue of that full name, or None."""
        path = self.path(name)
        return path[-1] if path else None

    def path(self, name: str) -> tuple[Queue, ...]:
        """The queues from the root down to ``name``, or () where there is no such queue."""
        found: list[Queue] = []
        level: tuple[Queue, ...] = (self.root,)
        while True:
            step = next((q for q in level if name == q.name or name.startswith(q.name + ".")), None)
            if step is None:
                return ()
            found.append(step)
            if step.name == name:
                return tuple(found)
            level = step.children

    def leaves(self) -> tuple[Queue, ...]:
        """The queues that run applications, in file order."""
        return tuple(q for q in self if q.is_leaf)

    def effective_maximum(self, name: str) -> Resources:
        """The tightest maximum on the path of ``name``, per type (YuniKorn: GetMaxQueueSet)."""
        limit = NOTHING
        for queue in self.path(name):
            limit = limit.min_limit(queue.maximum)
        return limit
