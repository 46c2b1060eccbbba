"""Faults of the gang spec, one for each property, and what they break."""

from __future__ import annotations

from model.language.mutation import disabled, with_update, without_guard, without_update
from specs.gang.machine import AppState, gang
from specs.mutant import Mutant

_SIZE_S = {"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7}

MUTANTS = (
    Mutant(
        "no_quota",
        "the queue's quota is not looked at when a placeholder is bound",
        "quota_never_exceeded",
        gang,
        (without_guard("allocate", "< 7"),),
        _SIZE_S,
    ),
    Mutant(
        "no_node_capacity",
        "a node's free room is not looked at when a placeholder is bound",
        "node_capacity",
        gang,
        (without_guard("allocate", "< 2"),),
    ),
    Mutant(
        "runs_one_early",
        "the gang runs when its last placeholder is still pending",
        "no_partial_gang_runs",
        gang,
        (with_update("allocate", "state", lambda _: AppState.RUNNING),),
    ),
    Mutant(
        "placeholder_lost",
        "a replacement takes the placeholder away and puts nothing in its place",
        "no_partial_gang_runs",
        gang,
        (without_update("replace", "reals"),),
    ),
    Mutant(
        "never_replaced",
        "real pods never come",
        "every_app_finishes",
        gang,
        (disabled("replace"),),
    ),
)
