"""What the slice is of the full spec: its state there, which actions are which, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from model.language import Expr, Machine, ite, sum_
from specs.kubernetes.machine import kubernetes
from specs.kubernetes.parameters import Cycle
from specs.kubernetes.slice.machine import kubernetes_slice
from specs.kubernetes.state import Node, PodGroup, State
from specs.slicing import Slice


def _scale(full: Mapping[str, Any]) -> dict[str, Any]:
    if full["cycle"] is not Cycle.POD_GROUP:
        raise ValueError(f"the slice of kubernetes is for cycle=pod_group, found {full['cycle'].value}")
    if full["late"]:
        # Decisions that count pods which are gone leave it; small sizes have none of them.
        raise ValueError("the slice of kubernetes is for late=false, found true")
    if full["memory"]:
        raise ValueError(f"the slice of kubernetes is for nodes with one resource, memory=0, found {full['memory']}")
    return {name: full[name] for name in ("groups", "pods", "min_count", "nodes", "capacity", "failures")}


def _view(full: Machine) -> dict[str, Any]:
    s = full.attached(State)

    def proposed(g: PodGroup, n: Node) -> Expr:
        return ite(s.simulates(), 0, s.proposed[g, n])

    return {
        "cycle": lambda g: s.cycles(g) & ~s.simulates(),
        "scheduled": lambda g: s.scheduled[g],
        "proposed": proposed,
        "assumed": lambda g, n: s.assumed[g, n],
        "bound": lambda g, n: s.bound[g, n],
        "node_used": lambda n: s.used(n, s.resources[0]) + sum_(proposed(g, n) for g in PodGroup),
        "failed": lambda: s.failures,
    }


SLICE: Final = Slice(
    full=kubernetes,
    small=kubernetes_slice,
    scale=_scale,
    view=_view,
    actions={
        "pop": ("pop",),
        "place_pod": ("place_pod",),
        "decide_success": ("decide_success",),
        "decide_unschedulable": ("give_up",),
        "post_filter": ("give_up",),
        "bind": ("bind",),
        "bind_fails": ("bind_fails",),
        "victims_leave": ("leave",),
        "finish": ("leave",),
    },
    follows={
        "node_capacity": ("node_capacity",),
        "scheduled_count_is_true": ("scheduled_count_is_true",),
        "decision_is_atomic": ("decision_is_atomic",),
    },
    removed={
        "object": "a group may be popped as soon as nothing else is",
        "seen": "all pods of a group are there",
        "misfit": "as if any group could be popped",
        "misfits": "as if any group could be popped",
        "condition": "it is told, and decides nothing",
        "done": "a group that is done may come again",
        "nominated": "nodes are kept free for nobody",
        "disrupted": "any group may leave",
        "snapshot": "what it says is no less than what is used now",
        "counted": "what is scheduled now decides",
        "queued": "all pods of a group are there",
        "todo": "all pods of a group are there",
        "leaving": "nobody is preempted on purpose",
        "judged": "a cycle may give up at any time",
        "event_seen": "there is no queue",
        "create_pod_group": "nobody asks for it",
        "create_pod": "all pods of a group are there",
        "create_misfit": "all pods of a group are there",
        "pre_enqueue": "there is no queue",
        "backoff_expires": "there is no queue",
        "reject_invalid": "there is no queue",
        "replace_misfit": "as if any group could be popped",
        "fail_pod": "a pod that finds no node is not proposed",
        "preempt": "the simulation of PodGroupPostFilter proposes nothing; who is asked to leave may do so at any time",
    },
)
