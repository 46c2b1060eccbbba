"""Which nodes a pod may use: its nodeSelector and its required node affinity, as Kubernetes reads them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

Labels = Mapping[str, str]


class Operator(enum.Enum):
    """How a label is compared with the values of a requirement."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


@dataclass(frozen=True)
class Requirement:
    """One matchExpression: a label, an operator, values."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def holds(self, labels: Labels) -> bool:
        """Whether a node with ``labels`` has it. A missing label passes NotIn and DoesNotExist only."""
        label = labels.get(self.key)
        match self.operator:
            case Operator.IN:
                return label in self.values
            case Operator.NOT_IN:
                return label not in self.values
            case Operator.EXISTS:
                return label is not None
            case Operator.DOES_NOT_EXIST:
                return label is None
            case Operator.GT | Operator.LT:
                (bound,) = self.values
                number = _number(label)
                limit = _number(bound)
                if number is None or limit is None:
                    return False
                return number > limit if self.operator is Operator.GT else number < limit


Term = tuple[Requirement, ...]
"""Requirements of which all must hold; an empty term matches no node."""


@dataclass(frozen=True)
class Selection:
    """What a pod demands of a node's labels. ``terms``: one of them must match; None if the pod has no affinity."""

    selector: tuple[tuple[str, str], ...] = ()
    terms: tuple[Term, ...] | None = None

    def matches(self, labels: Labels) -> bool:
        """Whether the node is selected: nodeSelector and affinity both count (T1)."""
        if any(labels.get(key) != value for key, value in self.selector):
            return False
        return self.terms is None or any(term and all(r.holds(labels) for r in term) for term in self.terms)


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
