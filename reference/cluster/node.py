"""Nodes, and which pods may run on them: labels, taints, selectors and required node affinity.

The rules are those of the Kubernetes scheduler's NodeResourcesFit, TaintToleration and NodeAffinity filters
(documentation: "Assigning Pods to Nodes", "Taints and Tolerations").
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from reference.cluster.resources import NOTHING, PODS, Resources

_INTEGER: Final = re.compile(r"[+-]?0*[0-9]{1,19}", re.ASCII)
DEVICE: Final = 1000
"""One device, in the units of what is handed out by device."""


class TaintEffect(enum.Enum):
    """What a taint does to a pod that does not tolerate it; PreferNoSchedule never forbids."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's repellent: ``key=value:effect``."""

    key: str
    value: str
    effect: TaintEffect


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod's leave to ignore taints. ``key=""`` with ``exists`` tolerates every key; ``effect=None`` every effect."""

    key: str
    exists: bool
    value: str = ""
    effect: TaintEffect | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Whether this toleration matches ``taint``."""
        if self.effect is not None and self.effect is not taint.effect:
            return False
        if self.key == "":
            return self.exists
        return self.key == taint.key and (self.exists or self.value == taint.value)


class Operator(enum.Enum):
    """Operators of a node selector requirement."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


def _is_integer(text: str) -> bool:
    """Whether it is a whole number of 64 bits to Go's ParseInt; Python's int() also takes ``1_000``."""
    return bool(_INTEGER.fullmatch(text)) and -(2**63) <= int(text) < 2**63


@dataclass(frozen=True, slots=True)
class Requirement:
    """One ``matchExpressions`` entry. NotIn also matches a node without the label; Gt and Lt compare integers, and
    match nothing where the label, or the one value that they take, is none."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with ``labels`` satisfies the requirement."""
        present = self.key in labels
        match self.operator:
            case Operator.EXISTS:
                return present
            case Operator.DOES_NOT_EXIST:
                return not present
            case Operator.IN:
                return present and labels[self.key] in self.values
            case Operator.NOT_IN:
                return not present or labels[self.key] not in self.values
            case Operator.GT | Operator.LT:
                texts = [labels.get(self.key, ""), *self.values]
                if len(texts) != 2 or not all(map(_is_integer, texts)):
                    return False
                have, want = map(int, texts)
                return have > want if self.operator is Operator.GT else have < want


@dataclass(frozen=True, slots=True)
class Constraints:
    """Where a pod may run: its nodeSelector, its tolerations, its required node affinity.

    ``affinity_terms`` are alternatives (OR) of requirements that all hold (AND); empty means no affinity.
    """

    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    affinity_terms: tuple[tuple[Requirement, ...], ...] = ()


ANYWHERE = Constraints()


@dataclass(frozen=True, slots=True)
class Node:
    """A machine.

    ``capacity`` is what pods may use in all (Kubernetes ``status.allocatable``); ``occupied`` is what pods that no
    queue accounts for already use (DaemonSets, static pods). Both in the units of ``resources.py``. ``node_type`` is
    the name of the ``NodeType`` that it was launched from, "" where there is none. ``devices`` are the types that are
    handed out by device, 1000 of them to each: a pod that asks for less than 1000 has it on one device, one that asks
    for more has whole devices. Which device a running pod has is not known: it is enough that all can be arranged.
    """

    name: str
    capacity: Resources
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    schedulable: bool = True
    occupied: Resources = NOTHING
    node_type: str = ""
    devices: tuple[str, ...] = ()

    def counted(self, amounts: Resources) -> Resources:
        """The part of ``amounts`` that this node has to have.

        The one exception to "a type that a node does not list is not there": Kubernetes nodes always list ``pods``,
        other sources (traces, hand-written clusters) often do not, and then pods are not limited. Schedulers and solver
        ask ``node.counted(request).fits_in(free)``; ``available`` and ``Cluster.free`` apply the rule themselves.
        """
        if PODS in self.capacity or PODS not in amounts:
            return amounts
        return Resources({name: amount for name, amount in amounts.items() if name != PODS})

    @property
    def available(self) -> Resources:
        """What is left for pods that queues account for; without ``pods`` where ``capacity`` does not list them."""
        return self.capacity - self.counted(self.occupied)

    def why_not(self, constraints: Constraints) -> str | None:
        """The first rule that keeps a pod with ``constraints`` off this node, or None; resources are not looked at."""
        if not self.schedulable:
            return "node is cordoned"
        for key, value in constraints.node_selector:
            if self.labels.get(key) != value:
                return f"nodeSelector {key}={value} does not match"
        terms = constraints.affinity_terms
        # an empty term matches no node (Kubernetes: "empty or null term matches no objects")
        if terms and not any(term and all(r.matches(self.labels) for r in term) for term in terms):
            return "required node affinity does not match"
        for taint in self.taints:
            if taint.effect is TaintEffect.PREFER_NO_SCHEDULE:
                continue
            if not any(t.tolerates(taint) for t in constraints.tolerations):
                return f"taint {taint.key}={taint.value}:{taint.effect.value} is not tolerated"
        return None

    def admits(self, constraints: Constraints) -> bool:
        """Whether a pod with ``constraints`` may run here, resources aside."""
        return self.why_not(constraints) is None
