"""What the slice is of the full spec: its state there, which actions are which, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from model.language import Expr, Machine
from specs.slicing import Slice
from specs.volcano import state
from specs.volcano.machine import volcano
from specs.volcano.parameters import Layout
from specs.volcano.slice.machine import Job, volcano_slice


def _scale(full: Mapping[str, Any]) -> dict[str, Any]:
    if full["layout"] is not Layout.GRID:
        raise ValueError(f"the slice of volcano is for layout=grid, found {full['layout'].value}")
    for name in ("scale_ups", "slow_ends", "memory_capacity"):
        if full[name]:
            raise ValueError(f"the slice of volcano is for {name}=0, found {full[name]}")
    names = ("queues", "size", "minimum", "capacity", "drains")
    return {**{name: full[name] for name in names}, "jobs": full["namespaces"] * full["jobs"]}


def _view(full: Machine) -> dict[str, Any]:
    s = full.attached(state.State)

    def drained() -> Expr | int:
        left = s.left.get("drains")
        return 0 if left is None else max(full.values(left.domain)) - left

    return {
        "turn": lambda q, n, j: s.turn[q, n, j],
        "bound": lambda q, n, j: s.bound[q, n, j],
        "tentative": lambda q, n, j: s.tentative[q, n, j],
        "in_queue": lambda q: s.in_queue[q],
        "used": s.used,
        "drained": drained,
    }


SLICE: Final = Slice(
    full=volcano,
    small=volcano_slice,
    scale=_scale,
    view=_view,
    elements={Job: (state.Namespace, state.Job)},
    actions={
        "pop_job": ("pop_job",),
        "allocate": ("allocate",),
        "commit": ("commit",),
        "commit_fails": ("discard",),
        "discard": ("discard",),
        "finish": ("finish",),
        "drain_node": ("drain_node",),
    },
    follows={
        "cluster_capacity": ("cluster_capacity",),
        "no_partial_gang_is_bound": ("only_ready_jobs_are_committed",),
        "statements_are_committed_or_discarded": ("statements_are_committed_or_discarded",),
    },
    removed={
        "session": "a job may be popped, and end, at any time",
        "phase": "a job that is done may come again",
        "tried": "a job may be popped as often as it likes",
        "in_namespace": "namespaces only have to do with whose turn it is",
        "weight": "weights only have to do with whose turn it is",
        "quota": "weights only have to do with whose turn it is",
        "quota_changes_left": "weights only have to do with whose turn it is",
        "bind_failures_left": "a statement may be undone at any time",
        "lost": "a task may be tried as often as it likes",
        "down": "nodes that are away leave less room",
        "open_session": "it sets the counts of the queues to what they are",
        "close_session": "a job may be popped, and end, at any time",
        "submit": "all jobs are there",
        "change_quota": "weights only have to do with whose turn it is",
        "return_node": "nodes that are away leave less room",
    },
)
