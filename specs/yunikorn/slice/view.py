"""What the slice is of the full spec: its state there, which actions are which, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from model.language import Expr, Machine, among, ite, sum_
from specs.slicing import Slice, one_number
from specs.yunikorn.machine import yunikorn
from specs.yunikorn.parameters import Edition, Queues
from specs.yunikorn.seed.state import App, AppState, State
from specs.yunikorn.slice.machine import yunikorn_slice
from specs.yunikorn.slice.state import Life


def _scale(full: Mapping[str, Any]) -> dict[str, Any]:
    if full["edition"] is not Edition.SEED:
        raise ValueError(f"the slice of yunikorn is for edition=seed, found {full['edition'].value}")
    leaves = 2 if full["queues"] is Queues.TWO_LEAVES else 1
    return {
        "apps": full["apps"],
        "size": one_number("size", full["size"]),
        "nodes": full["nodes"],
        "capacity": one_number("capacity", full["capacity"]),
        "queues": leaves,
        "leaf_quota": full["leaf_quota"] or full["quota"],
        "quota": full["quota"],
    }


def _view(full: Machine) -> dict[str, Any]:
    s = full.attached(State)

    def life(a: App) -> Expr:
        over = among(s.state[a], AppState.COMPLETED, AppState.KILLED, AppState.REJECTED)
        accepted = ite(s.timed_out(a) > 0, Life.TIMED_OUT, Life.ACCEPTED)
        started = ite(s.state[a] == AppState.ACCEPTED, accepted, ite(over, Life.OVER, Life.RUNNING))
        return ite(s.state[a] == AppState.NEW, Life.NEW, started)

    return {
        "life": life,
        "asks": lambda a: s.asks[a],
        "real_asks": lambda a: s.real_asks[a],
        "placeholders": lambda a, n: s.placeholders[a, n] + s.releasing[a, n],
        "parked": lambda a, n: s.replacing[a, n],
        "reals": lambda a, n: s.reals[a, n],
        "counted": lambda a, q: ite(s.queue[a] == q, s.held(a), 0),
        "node_used": s.used,
        "leaf_used": lambda q: sum_(ite(s.queue[a] == q, s.held(a), 0) for a in App),
        "parent_used": s.parent_used,
    }


SLICE: Final = Slice(
    full=yunikorn,
    small=yunikorn_slice,
    scale=_scale,
    view=_view,
    actions={
        "reject_fair": ("reject",),
        "reject_oversized": ("reject",),
        "submit": ("submit",),
        "allocate_placeholder": ("allocate_placeholder",),
        "replace": ("replace",),
        "replace_pending": ("replace_pending",),
        "confirm_on_same_node": ("confirm_on_same_node",),
        "confirm_on_other_node": ("confirm_on_other_node",),
        "confirm_unschedulable": ("confirm_unschedulable",),
        "allocate_real": ("allocate_real",),
        "ask_late": ("ask_late",),
        "finish_pod": ("finish_pod",),
        "complete": ("complete",),
        "placeholder_timeout": ("time_out",),
        "confirm_ask_release": ("release_ask",),
        "confirm_release": ("release",),
    },
    follows={
        "node_capacity": ("node_capacity",),
        "quota_never_exceeded": ("quota_never_exceeded",),
        "parent_quota_never_exceeded": ("quota_never_exceeded",),
        "no_partial_gang_runs": ("no_partial_gang_runs",),
        "terminal_holds_nothing": ("gangs_do_not_grow",),
    },
    removed={
        "late": "whether one more ask may come: in the slice it may as long as a member has ended",
        "released": "how many placeholders are gone: what is left of a gang is counted instead",
        "clean_up": "marking placeholders of a waiting application for release: they stay allocated until then",
    },
)
