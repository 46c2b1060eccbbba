"""The parameters of the ray spec, and what sizes make sense together."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from specs.parameters import check_size

CALM: Final[Mapping[str, Any]] = MappingProxyType({"vanish": False, "crash": False})
"""A world in which nothing is lost."""

MOST_INSTANCES = 6


class Edition(enum.Enum):
    """Which Ray."""

    SEED = "seed"
    """Ray 2.48, which the design text describes."""
    CURRENT = "current"
    """Ray 2.60."""


class Timers(enum.Enum):
    """When a row counts as stuck."""

    OFF = "off"
    """Never."""
    SLOW = "slow"
    """Only where nothing that it waits for is still to come: timeouts are minutes."""
    FREE = "free"
    """At any time: a boot or a launch may take longer than its timeout."""


@dataclass(frozen=True)
class Scope:
    """Checked parameters; `specs.ray.machine.ray` says what each means."""

    edition: Edition
    instances: int
    min_workers: int
    max_workers: int
    jobs: int
    retries: int
    max_concurrent_launches: int
    upscaling_speed: int
    late_launches: int
    kuberay: bool
    timers: Timers
    vanish: bool
    crash: bool
    drains: bool
    late_start: bool
    errors: bool
    reconfigure: bool
    request_resources: int
    repaired: bool
    split: bool
    types: int
    max_nodes: int

    def __post_init__(self) -> None:
        check_size("instances", self.instances, most=MOST_INSTANCES)
        check_size("types", self.types, most=min(2, self.instances))
        check_size("max_workers", self.max_workers, most=self.instances // self.types)
        check_size("min_workers", self.min_workers, least=0, most=self.max_workers)
        check_size("jobs", self.jobs, most=MOST_INSTANCES)
        check_size("retries", self.retries, least=0, most=9)
        check_size("max_concurrent_launches", self.max_concurrent_launches, most=MOST_INSTANCES)
        check_size("upscaling_speed", self.upscaling_speed, least=0, most=MOST_INSTANCES)
        check_size("late_launches", self.late_launches, least=0, most=3)
        most_nodes = self.types * self.max_workers
        check_size("max_nodes", self.max_nodes, least=0, most=most_nodes)
        check_size("request_resources", self.request_resources, least=0, most=self.max_nodes or most_nodes)
        if self.max_nodes and self.max_nodes < self.types * self.min_workers:
            raise ValueError(
                f"max_nodes is at least types x min_workers, which is {self.types * self.min_workers}; "
                f"found {self.max_nodes}"
            )
        if self.types > 1 and (self.late_launches or self.reconfigure or self.split):
            raise ValueError("types=2 is for late_launches=0, reconfigure=false and split=false")
        if self.max_nodes and self.types == 1:
            raise ValueError("max_nodes is for types=2: with one type max_workers is the maximum of the cluster too")
        if self.late_launches and self.timers is not Timers.FREE:
            raise ValueError("late_launches is for timers=free: with others no launch is given up that may still come")
        if self.split and self.timers is Timers.FREE:
            raise ValueError("split is for timers=off or slow: with free ones nothing bounds what comes unread")

    @property
    def all_nodes(self) -> int:
        """The maximum of all groups together."""
        return self.max_nodes or self.types * self.max_workers

    @property
    def timeouts(self) -> bool:
        """Whether any row can be stuck."""
        return self.timers is not Timers.OFF

    @property
    def current(self) -> bool:
        """Whether this is the current edition."""
        return self.edition is Edition.CURRENT
