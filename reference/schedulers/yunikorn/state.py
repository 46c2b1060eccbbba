"""What the core knows of an application: asks, allocations, state (design document: "Application completion")."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from reference.cluster import ANYWHERE, NOTHING, Application, Constraints, Resources, TaskGroup, total


class ApplicationState(enum.Enum):
    """The states of the design document."""

    NEW = "New"
    ACCEPTED = "Accepted"
    RUNNING = "Running"
    WAITING = "Waiting"
    COMPLETED = "Completed"
    KILLED = "Killed"
    REJECTED = "Rejected"

    @property
    def is_terminal(self) -> bool:
        """Whether the application has left its queue for good."""
        return self in (ApplicationState.COMPLETED, ApplicationState.KILLED, ApplicationState.REJECTED)


@dataclass(frozen=True, slots=True)
class Ask:
    """A pod that waits for a node. ``task_group`` is empty for a pod outside every group."""

    key: int
    task_group: str
    resources: Resources
    constraints: Constraints = ANYWHERE


@dataclass(slots=True)
class Allocation:
    """A pod on a node. A placeholder that is ``marked`` for release keeps its room until the shim confirms.

    ``parked`` is the real ask that waits for that confirmation (replacement), None where only clean-up asked for it.
    """

    key: int
    task_group: str
    node: str
    resources: Resources
    placeholder: bool
    constraints: Constraints = ANYWHERE
    marked: bool = False
    parked: Ask | None = None


@dataclass(slots=True)
class GroupCount:
    """Pods of one task group over the life of the application: placeholders asked for, allocated, gone; reals asked."""

    asked: int = 0
    allocated: int = 0
    replaced: int = 0
    timed_out: int = 0
    reals_asked: int = 0


@dataclass(slots=True, eq=False)
class TrackedApplication:
    """One submitted application.

    ``order`` sorts applications of a leaf: submission time, then arrival. ``ask`` is its placeholderAsk (Y4),
    ``reserved`` the sum of all placeholders ever allocated. ``being_killed``: the placeholder timer has fired, releases
    are not all confirmed; ``being_cleaned``: the same for the waiting timer. ``counted``: it counts against
    maxapplications.
    """

    application: Application
    order: tuple[int, int]
    state: ApplicationState = ApplicationState.NEW
    placeholder_asks: dict[int, Ask] = field(default_factory=dict)
    real_asks: dict[int, Ask] = field(default_factory=dict)
    unschedulable: set[int] = field(default_factory=set)  # real asks for which a replacement found no node
    placeholders: dict[int, Allocation] = field(default_factory=dict)
    reals: dict[int, Allocation] = field(default_factory=dict)
    groups: dict[str, GroupCount] = field(init=False)
    ask: Resources = field(init=False)
    reserved: Resources = NOTHING
    being_killed: bool = False
    being_cleaned: bool = False
    counted: bool = False
    recovered: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        self.groups = {group.name: GroupCount() for group in self.application.task_groups}
        self.ask = self.application.placeholder_ask

    @property
    def name(self) -> str:
        """The application's ID."""
        return self.application.name

    @property
    def leaf(self) -> str:
        """The full name of its queue."""
        return self.application.queue

    def group(self, name: str) -> TaskGroup:
        """The task group of that name; KeyError where there is none."""
        for group in self.application.task_groups:
            if group.name == name:
                return group
        raise KeyError(name)

    @property
    def begun(self) -> bool:
        """Whether a placeholder was ever allocated: from then on the placeholder timer runs (rule Y22)."""
        return any(count.allocated for count in self.groups.values())

    @property
    def whole(self) -> bool:
        """Whether placeholderAsk was reserved in full. The core knows that total, not the size of a group (Y4, Y15)."""
        return self.reserved == self.ask

    @property
    def is_reserving(self) -> bool:
        """Whether it is in line for placeholders: not whole, and not given up, or asks still to be released."""
        waits = self.state in (ApplicationState.NEW, ApplicationState.ACCEPTED) and not self.whole
        return waits and (not self.being_killed or bool(self.placeholder_asks))

    @property
    def may_place_reals(self) -> bool:
        """Real asks are ignored while placeholders are to be allocated (Y14)."""
        if self.being_killed or self.state.is_terminal or self.placeholder_asks:
            return False
        return self.whole or self.state in (ApplicationState.RUNNING, ApplicationState.WAITING)

    @property
    def may_time_out(self) -> bool:
        """Y23: Accepted, some but not all of placeholderAsk allocated, placeholder asks pending."""
        accepted = self.state is ApplicationState.ACCEPTED and not self.being_killed
        return accepted and bool(self.placeholders) and not self.whole and bool(self.placeholder_asks)

    @property
    def is_idle(self) -> bool:
        """Y20: nothing allocated and nothing pending; placeholders are not allocations, a parked ask is pending."""
        return not self.reals and not self.real_asks and not self.placeholder_asks and not any(self.parked_asks())

    def parked_asks(self) -> Iterator[Ask]:
        """Real asks that wait for a placeholder's release."""
        return (p.parked for p in self.placeholders.values() if p.parked is not None)

    def allocations(self) -> Iterator[Allocation]:
        """All that it holds: placeholders, then real pods."""
        yield from self.placeholders.values()
        yield from self.reals.values()

    def held(self) -> Resources:
        """The sum of what it holds."""
        return total(allocation.resources for allocation in self.allocations())

    def owed(self) -> Resources:
        """What it still has to take once it has begun to reserve; ``NOTHING`` before, after, and once given up."""
        if not self.begun or not self.is_reserving or self.being_killed:
            return NOTHING
        return self.ask - self.reserved
