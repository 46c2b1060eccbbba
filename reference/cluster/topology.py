"""Racks, zones and other domains: which pods have to be near each other.

A node says where it stands by its labels. A domain is a set of nodes that agree on some of them; a node that lacks one
of these labels is in no domain. Kubernetes takes one label (a rack of that name in two zones is one domain), Kueue the
labels of all levels down to the one it asks for (a rack inside its block). Volcano's HyperNodes are labels here too,
which ``reference.manifests`` puts on the nodes: a level for each tier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TopologyConstraint:
    """All pods that it speaks of go into one domain: nodes that agree on every label of ``keys``.

    ``keys`` are in the order of levels, widest first. One that is not ``required`` is a wish, and never forbids.
    Raises ValueError for no key, an empty or a repeated one.
    """

    keys: tuple[str, ...]
    required: bool = True

    def __post_init__(self) -> None:
        _check_keys("a topology constraint", self.keys)

    def domain(self, labels: Mapping[str, str]) -> tuple[str, ...] | None:
        """The domain of a node with ``labels``, as values in the order of ``keys``; None where it is in none."""
        values = tuple(labels[key] for key in self.keys if key in labels)
        return values if len(values) == len(self.keys) else None


@dataclass(frozen=True, slots=True)
class Topology:
    """The levels that a cluster's nodes are arranged in: ``levels`` are node labels, widest first.

    Schedulers that widen their search level by level read it (Kueue's Topology, Volcano's tiers); what a gang has to
    keep is in its own constraints. Raises ValueError for no level, an empty or a repeated one.
    """

    name: str
    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_keys(f"topology {self.name!r}", self.levels)

    def down_to(self, level: str) -> tuple[str, ...]:
        """The levels from the widest to ``level``, which is one of them: the keys of a domain inside its parents."""
        return self.levels[: self.levels.index(level) + 1]


def _check_keys(what: str, keys: tuple[str, ...]) -> None:
    if not keys or not all(keys):
        raise ValueError(f"{what} needs node labels, found {keys!r}")
    if len(set(keys)) != len(keys):
        raise ValueError(f"{what} names a label twice: {keys!r}")
