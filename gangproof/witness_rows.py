"""What a witness shows: gangs and nodes with all that decides where a pod may run, and why the policy fails."""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.review.pictures import show_resources
from reference.cluster import Application, Cluster, Constraints, Node, Requirement, TaskGroup
from reference.cluster.node import Operator, Taint, TaintEffect, Toleration
from solver_placement.witness import Witness


def members(app: Application) -> str:
    """``driver: 1 x (vcore 1), executor: 3 x (vcore 2; only zone=a)``."""
    return ", ".join(f"{g.name}: {g.min_member} x ({_group(g)})" for g in app.task_groups)


def free(cluster: Cluster, node: Node) -> str:
    """What is free on ``node``, its taints, and those of its labels that a gang of ``cluster`` asks about."""
    asked = {key for app in cluster.applications for g in app.task_groups for key in _keys(g.constraints)}
    parts = [show_resources(cluster.free(node))]
    parts += [f"{key}={value}" for key, value in sorted(node.labels.items()) if key in asked]
    parts += [f"taint {_taint(t)}" for t in node.taints if t.effect is not TaintEffect.PREFER_NO_SCHEDULE]
    if not node.schedulable:
        parts.append("unschedulable")
    return "; ".join(parts)


def reasons(witness: Witness) -> list[str]:
    """Why the policy leaves out what the best placement admits, a line for each gang."""
    return [
        f"{witness.policy} leaves out {gang}: {reason}"
        for gang, reason in witness.placement.pending.items()
        if gang in witness.solution.placement.admitted
    ]


def _group(group: TaskGroup) -> str:
    return "; ".join([show_resources(group.min_resource), *_constraints(group.constraints)])


def _constraints(constraints: Constraints) -> Iterator[str]:
    if constraints.node_selector:
        yield "only " + ", ".join(f"{key}={value}" for key, value in constraints.node_selector)
    if constraints.affinity_terms:
        yield "only " + " or ".join(" and ".join(map(_requirement, term)) for term in constraints.affinity_terms)
    if constraints.tolerations:
        yield "tolerates " + ", ".join(map(_toleration, constraints.tolerations))


def _keys(constraints: Constraints) -> Iterator[str]:
    yield from (key for key, _ in constraints.node_selector)
    yield from (requirement.key for term in constraints.affinity_terms for requirement in term)


def _requirement(requirement: Requirement) -> str:
    if requirement.operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        return f"{requirement.key} {requirement.operator.value}"
    return f"{requirement.key} {requirement.operator.value} ({', '.join(requirement.values)})"


def _toleration(toleration: Toleration) -> str:
    key = toleration.key or "everything"
    value = "" if toleration.exists else f"={toleration.value}"
    return key + value + ("" if toleration.effect is None else f":{toleration.effect.value}")


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect.value}" if taint.value else f"{taint.key}:{taint.effect.value}"


__all__ = ["free", "members", "reasons"]
