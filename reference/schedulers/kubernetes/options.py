"""What a user may choose about the Kubernetes reference."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Final, Self

from reference.errors import InputError


class Edition(enum.Enum):
    """Which text the scheduler follows where the two differ."""

    SEED = "seed"
    """The documentation page of the PodGroup scheduling cycle."""
    CURRENT = "current"
    """The scheduler's code of mid 2026."""


class ScoringStrategy(enum.Enum):
    """``scoringStrategy.type`` of NodeResourcesFit."""

    LEAST_ALLOCATED = "LeastAllocated"
    MOST_ALLOCATED = "MostAllocated"


class Plugin(enum.Enum):
    """Score plugins, by the names of a KubeSchedulerConfiguration."""

    TAINT_TOLERATION = "TaintToleration"
    NODE_AFFINITY = "NodeAffinity"
    POD_TOPOLOGY_SPREAD = "PodTopologySpread"
    INTER_POD_AFFINITY = "InterPodAffinity"
    NODE_RESOURCES_FIT = "NodeResourcesFit"
    BALANCED_ALLOCATION = "NodeResourcesBalancedAllocation"


DEFAULT_WEIGHTS: Final[Mapping[Plugin, int]] = MappingProxyType(
    {
        Plugin.TAINT_TOLERATION: 3,
        Plugin.NODE_AFFINITY: 2,
        Plugin.POD_TOPOLOGY_SPREAD: 2,
        Plugin.INTER_POD_AFFINITY: 2,
        Plugin.NODE_RESOURCES_FIT: 1,
        Plugin.BALANCED_ALLOCATION: 1,
    }
)
"""The weights that kube-scheduler has by default. Images and volumes are not modelled."""


@dataclass(frozen=True, slots=True)
class Options:
    """Choices that hold for a whole run.

    ``seed``: ties between nodes and between placements, which upstream breaks at random, go to the first name; with a
    seed, to the first in an order of names that it shuffles. Every node is scored (``percentageOfNodesToScore`` 100);
    by default kube-scheduler scores a part of a large cluster. ``backoff_initial`` and ``backoff_max``: seconds that a
    group is held back, doubled with each attempt (``podInitialBackoffSeconds``, ``podMaxBackoffSeconds``).
    ``unschedulable_timeout``: seconds after which one that waits for an event is tried again without. ``indexed``:
    whether the index may answer for the plain rule; the answer is the same.
    """

    edition: Edition = Edition.CURRENT
    scoring_strategy: ScoringStrategy = ScoringStrategy.LEAST_ALLOCATED
    weights: Mapping[Plugin, int] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    seed: int | None = None
    backoff_initial: int = 1
    backoff_max: int = 10
    unschedulable_timeout: int = 300
    indexed: bool = True

    @classmethod
    def parse(cls, **given: object) -> Self:
        """Options from keywords; enumerations may be given by value, weights by the names of plugins.

        Raises InputError that names the option, what was found and what is expected.
        """
        known = [field.name for field in fields(cls)]
        kinds: dict[str, type[enum.Enum]] = {"edition": Edition, "scoring_strategy": ScoringStrategy}
        parsed: dict[str, object] = {}
        for name, value in given.items():
            where = f"option {name}"
            if name not in known:
                raise InputError(f"option {name!r}", f"one of {', '.join(sorted(known))}", where="options")
            if name in kinds:
                parsed[name] = _one_of(kinds[name], value, where)
            elif name == "weights":
                parsed[name] = _weights(value, where)
            elif name == "indexed":
                if not isinstance(value, bool):
                    raise InputError(repr(value), "true or false", where=where)
                parsed[name] = value
            elif name == "seed" and value is None:
                parsed[name] = None
            elif type(value) is not int or value < 0:
                raise InputError(repr(value), "an integer of at least 0", where=where)
            else:
                parsed[name] = value
        return cls(**parsed)  # type: ignore[arg-type]  # each value was checked against its field above


def _one_of(kind: type[enum.Enum], value: object, where: str) -> enum.Enum:
    if isinstance(value, kind):
        return value
    try:
        return kind(value)
    except ValueError:
        expected = ", ".join(str(choice.value) for choice in kind)
        raise InputError(repr(value), f"one of {expected}", where=where) from None


def _weights(value: object, where: str) -> Mapping[Plugin, int]:
    """Plugins that are not named keep their weight; 0 disables one, as a weight that is not used."""
    if not isinstance(value, Mapping):
        raise InputError(repr(value), "weights by plugin", where=where)
    weights = dict(DEFAULT_WEIGHTS)
    for name, weight in value.items():
        plugin = _one_of(Plugin, name, where)
        if type(weight) is not int or not 0 <= weight <= 100:
            raise InputError(repr(weight), "a weight of 0 to 100", where=f"{where}.{name}")
        assert isinstance(plugin, Plugin)
        weights[plugin] = weight
    return MappingProxyType(weights)
