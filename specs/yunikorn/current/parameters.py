"""The parameters of the current edition, and what sizes make sense together."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from specs.parameters import check_size
from specs.yunikorn.parameters import Queues, Timers

MOST_APPS = 4
MOST_SIZE = 6
MOST_NODES = 4


class Style(enum.Enum):
    """gangSchedulingStyle: what a placeholder timeout does to an application that is still Accepted."""

    SOFT = "soft"
    """It resumes: its placeholders are released, its pods are scheduled like any other."""
    HARD = "hard"
    """It fails."""


class Recovery(enum.Enum):
    """What a recovered allocation still tells of its gang."""

    KEPT = "kept"
    """The placeholder flag and the name of its task group."""
    LOST = "lost"
    """Nothing: a placeholder looks like any pod."""


@dataclass(frozen=True)
class Size:
    """What a pod takes: ``units`` of the resource that queues and nodes list, and ``memory``, which only nodes do."""

    units: int
    memory: int

    def __sub__(self, other: Size) -> Size:
        return Size(self.units - other.units, self.memory - other.memory)

    def fits_in(self, other: Size) -> bool:
        """Whether it is no larger in any resource."""
        return self.units <= other.units and self.memory <= other.memory


@dataclass(frozen=True)
class Scope:
    """Checked parameters. ``memory`` is that of a node; 0: it is not modelled."""

    apps: int
    size: int
    groups: int
    reals: int
    placeholder: int
    real: int
    nodes: int
    capacity: int
    memory: int
    placeholder_memory: int
    real_memory: int
    queues: Queues
    quota: int
    leaf_quota: int
    max_apps: int
    user_limit: int
    style: Style
    timers: Timers
    split_timeout: bool
    async_asks: bool
    reordered: bool
    duplicates: int
    deletions: int
    bind_failures: int
    preemptions: int
    node_removals: int
    app_removals: int
    restarts: int
    config_updates: int
    autoscaler: bool
    recovery: Recovery
    repaired: bool

    def __post_init__(self) -> None:
        check_size("apps", self.apps, most=MOST_APPS)
        check_size("size", self.size, most=MOST_SIZE)
        check_size("groups", self.groups, most=min(2, self.size))
        check_size("reals", self.reals, most=MOST_SIZE)
        check_size("nodes", self.nodes, most=MOST_NODES)
        for name in ("placeholder", "real", "capacity", "quota"):
            check_size(name, getattr(self, name))
        for name in ("leaf_quota", "max_apps", "user_limit", "memory", "placeholder_memory", "real_memory"):
            check_size(name, getattr(self, name), least=0)
        for name in (
            "duplicates",
            "deletions",
            "bind_failures",
            "preemptions",
            "node_removals",
            "app_removals",
            "restarts",
            "config_updates",
        ):
            check_size(name, getattr(self, name), least=0, most=2)
        memories = (self.memory, self.placeholder_memory, self.real_memory)
        if any(memories) and not all(memories):
            found = ", ".join(map(str, memories))
            raise ValueError(f"memory, placeholder_memory and real_memory go together; found {found}")
        if self.config_updates and not self.user_limit:
            raise ValueError(
                f"config_updates raise the user_limit, of which there is none; found {self.config_updates}"
            )
        if self.leaf_quota > self.quota:
            raise ValueError(f"leaf_quota is at most quota, which is {self.quota}; found {self.leaf_quota}")

    @property
    def placeholder_size(self) -> Size:
        """What a placeholder takes."""
        return Size(self.placeholder, self.placeholder_memory)

    @property
    def real_size(self) -> Size:
        """What a real pod takes."""
        return Size(self.real, self.real_memory)

    @property
    def replaceable(self) -> bool:
        """Whether a real pod fits into a placeholder, in every resource."""
        return self.real_size.fits_in(self.placeholder_size)

    @property
    def leaves(self) -> int:
        """The number of leaf queues."""
        return 2 if self.queues is Queues.TWO_LEAVES else 1

    @property
    def all_reals(self) -> int:
        """The real pods of an application."""
        return self.groups * self.reals

    @property
    def oversized(self) -> bool:
        """Whether the placeholderAsk is larger than the least maximum, so that every application is rejected."""
        return self.gang > self.least_maximum

    @property
    def least_maximum(self) -> int:
        """The least maximum on the path of an application, of the levels that list one."""
        return min(level for level in (self.leaf_quota, self.quota) if level)

    @property
    def can_time_out(self) -> bool:
        """Whether the placeholder timer may fire for an application that is still Accepted."""
        return self.timers is not Timers.OFF and (self.size > 1 or self.adversary)

    @property
    def some_pod_has_no_placeholder(self) -> bool:
        """Whether a real pod may have to be scheduled like any other."""
        return (
            not self.replaceable
            or self.all_reals > 1  # it may come when Completing has released the placeholders
            or self.timers is not Timers.OFF
            or self.adversary
        )

    @property
    def most_units(self) -> int:
        """A bound of what all applications together can hold, with real pods parked on other nodes."""
        return self.apps * (self.size * self.placeholder + self.all_reals * self.real)

    @property
    def loses_placeholders(self) -> bool:
        """Whether the shim may tell of an allocated placeholder that is gone, and was not to be."""
        return bool(self.deletions or self.bind_failures or self.preemptions)

    @property
    def gang(self) -> int:
        """Units of a placeholderAsk."""
        return self.size * self.placeholder

    @property
    def room_for_a_gang(self) -> bool:
        """Whether nodes and the user's limit have room for a gang, if nobody else takes it."""
        limited = self.user_limit and self.gang > self.user_limit + self.config_updates
        return not limited and self.gang <= self.nodes * self.capacity

    @property
    def forgets_asks(self) -> bool:
        """Whether a placeholder timeout may drop the ask of a placeholder of which the shim tells later that it is
        gone."""
        return self.loses_placeholders and self.can_time_out and self.style is Style.SOFT

    @property
    def adversary(self) -> bool:
        """Whether anything but the scheduler takes pods or nodes away."""
        return bool(self.deletions or self.bind_failures or self.preemptions or self.node_removals or self.restarts)
