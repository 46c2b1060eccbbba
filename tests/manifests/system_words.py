"""Clusters in few words, for tables of what manifests are read as."""

from __future__ import annotations

from collections.abc import Sequence

from reference.cluster import (
    VCORE,
    Application,
    Constraints,
    Queue,
    Resources,
    RunningPod,
    TaskGroup,
    TopologyConstraint,
)

TIER = "topology.volcano.sh/"


def near(constraints: Sequence[TopologyConstraint]) -> str:
    """``near zone rack`` for a required domain, ``near? zone`` for one that is wished for."""
    words = [f"near{'' if c.required else '?'} {' '.join(k.removeprefix(TIER) for k in c.keys)}" for c in constraints]
    return ", ".join(words)


def group(each: TaskGroup) -> str:
    """``name least[/most] x vcore[ near ...]``."""
    size = f"{each.min_member}/{each.size}" if each.size is not None else str(each.min_member)
    return " ".join(filter(None, [each.name, size, "x", str(each.min_resource.amount(VCORE)), near(each.topology)]))


def gang(app: Application) -> str:
    """The whole gang, in the order of ``data/systems/cases.yaml``."""
    parts = [app.queue, ", ".join(map(group, app.task_groups))]
    if app.min_members is not None:
        parts.append(f"min {app.min_members}")
    if app.topology:
        parts.append(near(app.topology))
    for each in app.composites:
        words = [f"{each.name} = {each.min_children} of {' '.join(each.children)}", near(each.topology)]
        parts.append(" ".join(filter(None, words)))
    if app.priority:
        parts.append(f"priority {app.priority}")
    places = {constraint_words(g.constraints) for g in app.task_groups} - {""}
    parts += [f"on {each}" for each in sorted(places)]
    return "; ".join(parts)


def constraint_words(constraints: Constraints) -> str:
    """Selectors as key=value, tolerations by key."""
    words = [f"{key}={value}" for key, value in constraints.node_selector]
    return " ".join(words + [t.key for t in constraints.tolerations])


def amounts(resources: Resources) -> str:
    """Cores first, then the others, as numbers alone."""
    first = [str(resources[VCORE])] if VCORE in resources else []
    return " ".join(first + [str(amount) for name, amount in resources.items() if name != VCORE])


def queue(each: Queue) -> str:
    """What is set of a queue."""
    parts = [
        f"{word} {amounts(value)}"
        for word, value in (
            ("max", each.maximum),
            ("guaranteed", each.guaranteed),
            ("deserved", each.deserved),
            ("reserved", each.reserved),
        )
        if value and not (word != "max" and value.is_zero())
    ]
    parts += [f"weight {each.weight}"] if each.weight != 1 else []
    parts += [f"priority {each.priority}"] if each.priority else []
    parts += [] if each.reclaimable else ["not reclaimable"]
    return "; ".join(parts)


def running(pod: RunningPod) -> str:
    """Where a pod runs, and whose it is."""
    return " ".join(filter(None, [pod.node, pod.queue, pod.application, pod.task_group]))
