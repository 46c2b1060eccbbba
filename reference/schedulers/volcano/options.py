"""The scheduler's configuration: actions, tiers of plugins, editions (upstream: volcano-scheduler.conf)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Self

from reference.errors import InputError


class Edition(enum.Enum):
    """Whose order of jobs, and whose error cache."""

    SEED = "seed"
    """The design of 2019: a queue, a namespace of that queue, a job of that namespace. A queue stops when it has what
    it deserves; a commit that fails is undone whole. Tasks without a role share node errors."""
    SHIPPED = "shipped"
    """What was released in 2019: a namespace first, by its share in all queues together, then a queue."""
    CURRENT = "current"
    """The code of August 2026: a queue, then its jobs. Each task must stay within what its queue deserves; of a commit
    that fails only the failed operation is undone. Tasks without a role share nothing."""


class Point(enum.Enum):
    """Where a plugin may take part; the names are those of the configuration."""

    JOB_ORDER = "enableJobOrder"
    JOB_READY = "enableJobReady"
    JOB_PIPELINED = "enableJobPipelined"
    JOB_STARVING = "enableJobStarving"
    JOB_ENQUEUED = "enableJobEnqueued"
    TASK_ORDER = "enableTaskOrder"
    QUEUE_ORDER = "enableQueueOrder"
    NAMESPACE_ORDER = "enableNamespaceOrder"
    PREEMPTABLE = "enablePreemptable"
    RECLAIMABLE = "enableReclaimable"
    PREEMPTIVE = "enablePreemptive"
    OVERUSED = "enableOverused"
    ALLOCATABLE = "enableAllocatable"
    PREDICATE = "enablePredicate"
    NODE_ORDER = "enableNodeOrder"
    HIERARCHY = "enableHierarchy"


ALL_POINTS: Final = frozenset(Point) - {Point.HIERARCHY}
"""What a plugin takes part in where the configuration says nothing."""

ACTIONS: Final = ("enqueue", "allocate", "backfill", "preempt", "reclaim")


@dataclass(frozen=True, slots=True)
class PluginOption:
    """A plugin in a tier, and where it takes part."""

    name: str
    points: frozenset[Point] = ALL_POINTS


Tiers = tuple[tuple[PluginOption, ...], ...]


def tiers(*rows: tuple[str, ...]) -> Tiers:
    """Tiers of plugins that take part everywhere; ``name+hierarchy`` also turns hierarchy on."""
    return tuple(tuple(_plugin(name) for name in row) for row in rows)


def _plugin(name: str) -> PluginOption:
    plain, _, extra = name.partition("+")
    return PluginOption(plain, ALL_POINTS | {Point.HIERARCHY} if extra == "hierarchy" else ALL_POINTS)


def one_tier(queues: str) -> Tiers:
    """All plugins, ``queues`` among them for what queues may have, in one tier: so victims are what all of them choose,
    as the design of 2019 has it. With several tiers it is, as upstream, what the first tier chooses that leaves any."""
    return tiers(
        ("priority", "gang", "conformance", "drf", "predicates", queues, "nodeorder", "network-topology-aware")
    )


DEFAULT_TIERS: Final = one_tier("proportion")


@dataclass(frozen=True, slots=True)
class Configuration:
    """Choices that hold for a whole run.

    ``predicate_error_cache``: predicateErrorCacheEnable. ``index`` False tries every node for every task, as the rule
    says; the answer is the same. ``nodeorder`` scores by whole numbers, as upstream's does.
    """

    actions: tuple[str, ...] = ("enqueue", "allocate", "backfill")
    tiers: Tiers = DEFAULT_TIERS
    edition: Edition = Edition.CURRENT
    predicate_error_cache: bool = True
    index: bool = True

    def __post_init__(self) -> None:
        for action in self.actions:
            if action not in ACTIONS:
                raise InputError(f"action {action!r}", f"one of {', '.join(ACTIONS)}", where="actions")


@dataclass(frozen=True, slots=True)
class Options:
    """What ``schedule`` may be told. ``queues``: the plugin that shares resources among queues: ``capacity`` knows the
    queue tree, ``proportion`` leaves with weights only; "" for the one that knows what the queues have."""

    edition: Edition = Edition.CURRENT
    queues: str = ""
    predicate_error_cache: bool = True
    index: bool = True

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> Self:
        """Options from keywords. InputError that names the option, what was found and what is expected."""
        known = [field.name for field in fields(cls)]
        parsed: dict[str, object] = {}
        for name, value in given.items():
            choices = {"edition": [e.value for e in Edition], "queues": ["capacity", "proportion"]}.get(name)
            if name not in known:
                raise InputError(f"option {name!r}", f"one of {', '.join(sorted(known))}", where="options")
            if choices is None:
                if not isinstance(value, bool):
                    raise InputError(repr(value), "true or false", where=f"option {name}")
                parsed[name] = value
                continue
            text = value.value if isinstance(value, Edition) else value
            if text not in choices:
                raise InputError(repr(text), f"one of {', '.join(choices)}", where=f"option {name}")
            parsed[name] = Edition(text) if name == "edition" else text
        return cls(**parsed)  # type: ignore[arg-type]  # each value was checked above

    def configuration(self, queues: str) -> Configuration:
        """The scheduler's configuration with these options and the plugin ``queues``."""
        return Configuration(
            tiers=one_tier("capacity+hierarchy" if queues == "capacity" else queues),
            edition=self.edition,
            predicate_error_cache=self.predicate_error_cache,
            index=self.index,
        )
