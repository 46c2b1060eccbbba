"""The judge's own matching of labels, taints and affinity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reference.cluster import Constraints, Node, Operator, Requirement, TaintEffect


def why_not(node: Node, constraints: Constraints) -> str | None:
    """What forbids a pod with ``constraints`` on ``node``, or None."""
    if not node.schedulable:
        return "the node is cordoned"
    if reason := off_by_labels(node, constraints):
        return reason
    for taint in node.taints:
        forbids = taint.effect is not TaintEffect.PREFER_NO_SCHEDULE
        if forbids and not _tolerated(taint.key, taint.value, taint.effect, constraints):
            return f"taint {taint.key}={taint.value}:{taint.effect.value} is not tolerated"
    return None


def off_by_labels(node: Node, constraints: Constraints) -> str | None:
    """What nodeSelector or required node affinity forbid, or None."""
    wrong = [f"{key}={value}" for key, value in constraints.node_selector if node.labels.get(key) != value]
    if wrong:
        return f"the node lacks label {', '.join(wrong)} of the nodeSelector"
    if constraints.affinity_terms and not any(_term(node.labels, term) for term in constraints.affinity_terms):
        return "no term of the required node affinity matches the node"
    return None


def matches(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Whether labels, of a node or a pod, meet one requirement."""
    return _holds(labels.get(requirement.key), requirement.operator, requirement.values)


def _term(labels: Mapping[str, str], requirements: Iterable[Requirement]) -> bool:
    """A term needs all of its requirements; a term without any matches nothing."""
    results = [matches(each, labels) for each in requirements]
    return bool(results) and all(results)


def _holds(label: str | None, operator: Operator, values: tuple[str, ...]) -> bool:
    """One requirement against the node's label, None where the node has none."""
    if operator is Operator.EXISTS:
        return label is not None
    if operator is Operator.DOES_NOT_EXIST:
        return label is None
    if operator is Operator.IN:
        return label is not None and label in values
    if operator is Operator.NOT_IN:
        return label is None or label not in values
    if label is None or len(values) != 1:
        return False
    have, want = _number(label), _number(values[0])
    if have is None or want is None:
        return False
    return have > want if operator is Operator.GT else have < want


def _number(text: str) -> int | None:
    """A whole number of 64 bits in plain digits, else None; Python would also read ``1_000``, Kubernetes does not."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or not set(digits) <= set("0123456789") or len(digits.lstrip("0")) > 19:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _tolerated(key: str, value: str, effect: TaintEffect, constraints: Constraints) -> bool:
    """Whether one of the pod's tolerations covers the taint."""
    for toleration in constraints.tolerations:
        covers_effect = toleration.effect in (None, effect)
        covers_key = toleration.exists if toleration.key == "" else toleration.key == key
        covers_value = toleration.exists or toleration.value == value
        if covers_effect and covers_key and covers_value:
            return True
    return False
