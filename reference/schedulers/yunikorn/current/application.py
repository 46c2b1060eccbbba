"""What the core knows of an application: its requests, what of them is allocated, and what its gang has come to.

A request is an ask until it is allocated, and the same object then: upstream has one type for both. The task group's
counters (``PlaceholderData``) decide whether a real ask waits for a placeholder. Nothing here changes anything but the
application itself; the books of nodes, queues and users are kept by ``books.py``.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import Final

from reference.cluster import NOTHING, Constraints, GangStyle, Resources
from reference.schedulers.yunikorn.current.messages import Allocation
from reference.schedulers.yunikorn.current.queue import QueueState
from reference.schedulers.yunikorn.current.states import ApplicationEvent, ApplicationState

DEFAULT_TIMEOUT_MS: Final = 15 * 60 * 1000
COMPLETING_TIMEOUT_MS: Final = 30 * 1000
TERMINATED_TIMEOUT_MS: Final = 72 * 60 * 60 * 1000


@dataclass(slots=True, eq=False)
class Request:
    """An ask, or an allocation of one.

    ``allocated``: it is pending no more, though a real ask that is parked behind a placeholder (``link``) is no
    allocation of its application yet. ``released``: the shim was asked for it. ``preempted``: so, as a victim; never
    both. ``arrival`` orders requests of one creation time.
    """

    key: str
    application: str
    resources: Resources
    task_group: str
    placeholder: bool
    priority: int
    created: int
    arrival: int
    required_node: str
    originator: bool
    constraints: Constraints
    node: str = ""
    allocated: bool = False
    released: bool = False
    preempted: bool = False
    link: Request | None = None
    reserved_since: int = 0
    triggered_preemption: bool = False

    @property
    def id(self) -> tuple[str, str]:
        """Application and key: upstream takes keys to be unique among all applications, here they need not be."""
        return (self.application, self.key)

    def mark_released(self) -> bool:
        """SetReleased: False where it is preempted already."""
        if self.preempted:
            return False
        self.released = True
        return True

    def mark_preempted(self) -> bool:
        """MarkPreempted: False where it is released already."""
        if self.released:
            return False
        self.preempted = True
        return True

    @property
    def order(self) -> tuple[int, int, int]:
        """Asks of an application: highest priority first, then the oldest."""
        return (-self.priority, self.created, self.arrival)

    def message(self) -> Allocation:
        """As the core tells the shim of it."""
        return Allocation(
            self.key,
            self.application,
            self.resources,
            self.node,
            self.task_group,
            self.placeholder,
            self.priority,
            self.created,
            self.required_node,
            self.originator,
            self.constraints,
        )


@dataclass(slots=True)
class PlaceholderData:
    """A task group's placeholders: asked for or recovered, given up, replaced. They are never counted down."""

    count: int = 0
    timed_out: int = 0
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class StateTimer:
    """When the state is left by itself, and by which event."""

    due: int
    event: ApplicationEvent


@dataclass(slots=True, eq=False)
class Application:
    """An application in its queue. ``log`` has every state it came to; ``timeout_ms`` is that of its placeholders.

    ``waiting`` are the requests that are not allocated, in their order. ``allocations`` are in the order in which they
    were made. ``given_up``: a placeholder timeout has ended the reservation.
    """

    id: str
    queue: QueueState
    user: str
    groups: tuple[str, ...]
    placeholder_ask: Resources
    style: GangStyle
    timeout_ms: int
    submitted: int
    arrival: int
    state: ApplicationState = ApplicationState.NEW
    log: list[ApplicationState] = field(default_factory=list)
    requests: dict[str, Request] = field(default_factory=dict)
    waiting: list[Request] = field(default_factory=list)
    allocations: dict[str, Request] = field(default_factory=dict)
    pending: Resources = NOTHING
    allocated: Resources = NOTHING
    allocated_placeholder: Resources = NOTHING
    placeholder_data: dict[str, PlaceholderData] = field(default_factory=dict)
    reservations: dict[str, str] = field(default_factory=dict)
    placeholder_timer: int | None = None
    state_timer: StateTimer | None = None
    given_up: bool = False
    real_asks: int = 0

    @property
    def order(self) -> tuple[int, int, int]:
        """In a fifo leaf: the highest priority of its asks first, then the oldest."""
        highest = self.waiting[0].priority if self.waiting else 0
        return (-highest, self.submitted, self.arrival)

    @property
    def wants_placeholders(self) -> bool:
        """Whether a placeholder of it may have to be replaced: it holds some, and real asks of groups wait."""
        return self.real_asks > 0 and not self.allocated_placeholder.is_zero()

    @property
    def pends(self) -> bool:
        """Whether something is pending."""
        return bool(self.waiting)

    def placeholders(self) -> list[Request]:
        """Its allocated placeholders, in the order of their allocation; upstream's order is that of a map."""
        return [request for request in self.allocations.values() if request.placeholder]

    def parked(self) -> list[Request]:
        """Its real pods that wait until their placeholder is gone."""
        return [ph.link for ph in self.placeholders() if ph.link is not None]

    def is_idle(self) -> bool:
        """hasZeroAllocations: nothing pending, no real pod allocated. Placeholders do not count, nor parked pods."""
        return self.pending.is_zero() and self.allocated.is_zero()

    def can_replace(self, request: Request) -> bool:
        """Whether by the counters of its group a real ask still has a placeholder to wait for."""
        if request.placeholder or not request.task_group:
            return False
        data = self.placeholder_data.get(request.task_group)
        return data is not None and data.count > data.replaced + data.timed_out

    def data_of(self, task_group: str) -> PlaceholderData:
        """The counters of a task group, which begin with its first placeholder."""
        return self.placeholder_data.setdefault(task_group, PlaceholderData())

    def add_waiting(self, request: Request) -> None:
        """``request`` is pending."""
        bisect.insort(self.waiting, request, key=lambda each: each.order)
        self.real_asks += bool(request.task_group) and not request.placeholder

    def remove_waiting(self, request: Request) -> None:
        """``request`` is pending no more."""
        at = bisect.bisect_left(self.waiting, request.order, key=lambda each: each.order)
        del self.waiting[at]
        self.real_asks -= bool(request.task_group) and not request.placeholder
