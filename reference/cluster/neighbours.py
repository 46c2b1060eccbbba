"""What a pod demands of where other pods are: affinity, anti-affinity and topology spread between pods.

As Kubernetes has it (``podAffinity``, ``podAntiAffinity``, ``topologySpreadConstraints``), what is required only. A
domain is the nodes with one value of a label. Pods are told by their labels; a namespace is one of them here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference.cluster.node import Requirement

Selector = tuple[Requirement, ...]
"""A label selector: all requirements hold; an empty one selects every pod."""


@dataclass(frozen=True, slots=True)
class PodAffinityTerm:
    """Pods that ``selector`` selects, in the domain that a node's label ``topology_key`` names. ValueError without."""

    topology_key: str
    selector: Selector

    def __post_init__(self) -> None:
        if not self.topology_key:
            raise ValueError("an affinity term needs a node label")


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """Pods that ``selector`` selects differ by at most ``max_skew`` between domains; fewer than ``min_domains`` domains
    count as if one were empty. Raises ValueError for no node label, or a number below 1."""

    topology_key: str
    max_skew: int
    selector: Selector
    min_domains: int = 1

    def __post_init__(self) -> None:
        if not self.topology_key or self.max_skew < 1 or self.min_domains < 1:
            raise ValueError(f"a spread constraint of {self.topology_key!r}, {self.max_skew} and {self.min_domains}")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """``labels`` are the pod's own, as pairs sorted by key.

    Each term of ``affinity`` needs a pod that all of them select in its domain, unless the pod itself is the first of
    those. No pod that a term of ``anti_affinity`` selects may be in its domain, nor come there later.
    """

    labels: tuple[tuple[str, str], ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()

    @property
    def label_map(self) -> Mapping[str, str]:
        """The labels by key."""
        return dict(self.labels)


ALONE = Neighbours()
