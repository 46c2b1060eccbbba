"""The parameters of the seed edition, and what sizes make sense together."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from specs.parameters import check_size
from specs.yunikorn.parameters import Queues

MOST_APPS = 16
MOST_NODES = 16


class Policy(enum.Enum):
    """How the applications of one leaf queue are sorted."""

    FIFO = "fifo"
    """Strict: no later application starts while an earlier one of its queue has placeholder asks pending."""
    STATEAWARE = "stateaware"
    """One application at a time is on its way from New to Running."""
    FAIR = "fair"
    """Any application may be next."""


class Gate(enum.Enum):
    """When an application may have its first placeholder allocated."""

    NONE = "none"
    """When that one placeholder fits."""
    FITS = "fits"
    """When its whole placeholderAsk fits what is free in the queue and above it."""
    RESERVES = "reserves"
    """When its whole placeholderAsk fits what is free less what started applications still have to reserve."""


@dataclass(frozen=True)
class Scope:
    """Checked sizes. ``sizes``, ``queue_of`` and ``leaf_quotas`` have an entry per application, ``capacities`` one per
    node.

    Sizes, capacities and quotas count units; every placeholder and every real pod takes one.
    """

    sizes: tuple[int, ...]
    capacities: tuple[int, ...]
    quota: int
    leaf_quotas: tuple[int, ...]
    queue_of: tuple[int, ...]
    hierarchy: bool

    @property
    def oversized(self) -> tuple[bool, ...]:
        """Per application, whether its placeholderAsk is larger than a quota on its path."""
        return tuple(size > min(leaf, self.quota) for size, leaf in zip(self.sizes, self.leaf_quotas, strict=True))

    @property
    def accepted_sizes(self) -> tuple[int, ...]:
        """The sizes of the gangs that are not oversized."""
        return tuple(size for size, too_large in zip(self.sizes, self.oversized, strict=True) if not too_large)

    @property
    def has_partial_gangs(self) -> bool:
        """Whether some gang has more than one member, so that part of it can be allocated."""
        return max(self.accepted_sizes) > 1

    @property
    def some_queue_is_shared(self) -> bool:
        """Whether two gangs that are not oversized are submitted to one leaf."""
        used = [queue for queue, too_large in zip(self.queue_of, self.oversized, strict=True) if not too_large]
        return len(set(used)) < len(used)

    @property
    def can_fill_all_nodes_but_one(self) -> bool:
        """Whether quotas and gangs are large enough to fill every node but one, with a placeholder on that one."""
        return sum(self.capacities) - max(self.capacities) < min(self.quota, sum(self.accepted_sizes))


def scope(
    apps: int,
    size: int | Sequence[int],
    nodes: int,
    capacity: int | Sequence[int],
    quota: int,
    leaf_quota: int,
    queues: Queues,
) -> Scope:
    """The scope of a spec, or ValueError that names the parameter, what was found and what is possible."""
    check_size("apps", apps, most=MOST_APPS)
    check_size("nodes", nodes, most=MOST_NODES)
    check_size("quota", quota)
    check_size("leaf_quota", leaf_quota, least=0)
    hierarchy = queues is Queues.TWO_LEAVES
    if leaf_quota > quota:
        raise ValueError(f"leaf_quota is at most quota, which is {quota}; found {leaf_quota}")
    if leaf_quota and not hierarchy:
        raise ValueError(f"leaf_quota is for queues=two_leaves; with one leaf, quota is the leaf's; found {leaf_quota}")
    return Scope(
        _each("size", size, apps, "application"),
        _each("capacity", capacity, nodes, "node"),
        quota,
        (leaf_quota or quota,) * apps,
        tuple(i % 2 if hierarchy else 0 for i in range(apps)),
        hierarchy,
    )


def _each(name: str, value: int | Sequence[int], count: int, what: str) -> tuple[int, ...]:
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError(f"{name} is one integer, or one per {what} ({count}), found {len(values)}")
    for each in values:
        check_size(name, each)
    return values
