"""Faults of the seed edition, at least one for each property, and what they break.

Some forget a rule of the design. Some were real: they carry the number that the YuniKorn project gave them.
"""

from __future__ import annotations

from typing import Final

from model.language.mutation import disabled, with_update, without_guard, without_update
from specs.mutant import Faults
from specs.yunikorn.machine import yunikorn
from specs.yunikorn.parameters import Edition, Queues
from specs.yunikorn.seed.parameters import Gate, Policy
from specs.yunikorn.seed.state import AppState

# The gate keeps a queue's use low enough that the quota itself is seldom what stops a placeholder.
_NO_GATE: Final = {"capacity": 3, "gate": Gate.NONE}
_TWO_LEAVES: Final = {"capacity": 3, "queues": Queues.TWO_LEAVES, "gate": Gate.RESERVES}
_FAIR: Final = {"policy": Policy.FAIR}
_ONE_OVERSIZED: Final = {"size": (3, 5)}


_mutant: Final = Faults(yunikorn, everywhere={"edition": Edition.SEED})


_ADMISSION = (
    _mutant(
        "fair_accepts",
        "Y6: a queue with FAIR sorting accepts a gang",
        "fair_gangs_are_rejected",
        with_update("reject_fair", "state", lambda _: AppState.ACCEPTED),
        parameters=_FAIR,
    ),
    _mutant(
        "fair_forgets",
        "Y6: the rejection is never told",
        "every_gang_is_rejected",
        disabled("reject_fair"),
        parameters=_FAIR,
    ),
    _mutant(
        "oversized_submitted",
        "Y5: the placeholderAsk is not compared with the quota",
        "oversized_gangs_are_rejected",
        without_guard("submit", "size[a] <="),
        parameters=_ONE_OVERSIZED,
    ),
)

_RESOURCES = (
    _mutant(
        "no_node_capacity",
        "Y3: a node's free room is not looked at",
        "node_capacity",
        without_guard("allocate_placeholder", "< capacity[n]"),
    ),
    _mutant(
        "full_node_takes_real",
        "Y18: the other node's free room is not looked at",
        "node_capacity",
        without_guard("confirm_on_other_node", "< capacity[other]"),
    ),
    _mutant(
        "no_leaf_quota",
        "the leaf's quota is not looked at when a placeholder is allocated",
        "quota_never_exceeded",
        without_guard("allocate_placeholder", "+ 1) <= leaf_quota[a]"),
        parameters=_NO_GATE,
    ),
    _mutant(
        "no_quota_for_real_pods",
        "the leaf's quota is not looked at in the normal cycle",
        "quota_never_exceeded",
        without_guard("allocate_real", "+ 1) <= leaf_quota[a]"),
        parameters={"capacity": 3},
    ),
    _mutant(
        "no_parent_quota",
        "YUNIKORN-1920: a limit above the leaf is not looked at",
        "parent_quota_never_exceeded",
        without_guard("allocate_placeholder", "+ 1) <= 4"),
        without_guard("allocate_placeholder", "(asks[a] < size[a]) |"),
        parameters=_TWO_LEAVES,
    ),
)

_GANGS = (
    _mutant(
        "real_pods_at_once",
        "Y14: a real ask is taken while placeholder asks are pending",
        "no_partial_gang_runs",
        without_guard("replace", "asks[a] == 0"),
    ),
    _mutant(
        "confirmed_twice",
        "YUNIKORN-528: the confirmation of a release is handled twice",
        "placeholders_released_once",
        without_update("confirm_release", "releasing"),
    ),
    _mutant(
        "parked_behind_no_placeholder",
        "Y16: a real ask is parked, and the placeholder is not marked",
        "placeholders_released_once",
        without_update("replace", "placeholders"),
    ),
    _mutant(
        "parked_and_timed_out",
        "Y23: a timeout leaves placeholders unmarked that it asks the shim to release",
        "placeholders_released_once",
        without_update("placeholder_timeout", "placeholders"),
    ),
    _mutant(
        "completes_before_confirmations",
        "YUNIKORN-574: the application ends while placeholders wait for their release",
        "terminal_holds_nothing",
        without_guard("complete", "placeholders["),
    ),
    _mutant(
        "allocates_while_it_is_killed",
        "YUNIKORN-577: an application is scheduled on while it is being failed",
        "terminal_holds_nothing",
        without_guard("allocate_placeholder", "sum_(releasing[a, n] for"),
    ),
    _mutant(
        "waits_while_pods_run",
        "Y20: the first pod that ends makes the application wait",
        "waiting_is_idle",
        with_update("finish_pod", "state", lambda _: AppState.WAITING),
    ),
)

_LIFE_CYCLE = (
    _mutant(
        "submitted_runs",
        "Y13: the first ask skips Accepted",
        "new_is_accepted_or_rejected",
        with_update("submit", "state", lambda _: AppState.RUNNING),
    ),
    _mutant(
        "replacement_ends_it",
        "YUNIKORN-1900: the first replacement makes the application wait instead of run",
        "accepted_runs_or_is_killed",
        with_update("confirm_on_same_node", "state", lambda _: AppState.WAITING),
    ),
    _mutant(
        "no_waiting_time",
        "Y21: the last pod that ends completes the application at once",
        "running_waits",
        with_update("finish_pod", "state", lambda _: AppState.COMPLETED),
    ),
    _mutant(
        "starts_over",
        "Y21: a late ask takes the application back to Accepted",
        "waiting_runs_or_completes",
        with_update("ask_late", "state", lambda _: AppState.ACCEPTED),
    ),
    _mutant(
        "killed_completes",
        "Y27: an application that has ended ends again",
        "ends_are_final",
        without_guard("complete", "AppState.WAITING"),
    ),
    _mutant(
        "whole_gangs_time_out",
        "Y23: pending asks are not looked at when the timer fires",
        "only_partial_gangs_time_out",
        without_guard("placeholder_timeout", "asks[a] > 0"),
        without_guard("placeholder_timeout", "< size[a]"),
    ),
)

_ORDER_AND_PROGRESS = (
    _mutant(
        "no_order",
        "Y7: a FIFO queue starts a later application while an earlier one reserves",
        "order_is_kept",
        without_guard("allocate_placeholder", "=>"),
    ),
    _mutant(
        "no_gate_under_a_parent",
        "Y8, Y11: two leaves under one quota start to reserve without looking at what fits",
        "no_starving_gangs",
        without_guard("allocate_placeholder", "(asks[a] < size[a]) |"),
        parameters=_TWO_LEAVES,
    ),
    _mutant(
        "release_never_confirmed",
        "Y26: the shim does not confirm that placeholders of a timer are gone",
        "every_application_can_end",
        disabled("confirm_release"),
    ),
    _mutant(
        "late_asks_without_end",
        "Y21: after one late ask there may always be another, so an application can run again forever",
        "every_accepted_application_ends",
        without_update("ask_late", "late"),
    ),
    _mutant(
        "no_placeholder_timeout",
        "Y23: the placeholder timeout never fires, so gangs that wait for each other wait for ever",
        "every_admitted_gang_is_decided",
        disabled("placeholder_timeout"),
        parameters={**_FAIR, "reject_fair": False},
    ),
    _mutant(
        "no_normal_cycle",
        "Y16: a real ask for which no placeholder is left is not scheduled like any other",
        "every_real_ask_is_served",
        disabled("allocate_real"),
    ),
    _mutant(
        "never_completes",
        "Y21: applications stay in Waiting",
        "every_accepted_application_completes",
        disabled("complete"),
    ),
    _mutant(
        "asks_never_released",
        "Y24: the pending asks of an application that timed out are not released",
        "an_application_is_killed",
        disabled("confirm_ask_release"),
    ),
)

MUTANTS: Final = (*_ADMISSION, *_RESOURCES, *_GANGS, *_LIFE_CYCLE, *_ORDER_AND_PROGRESS)
