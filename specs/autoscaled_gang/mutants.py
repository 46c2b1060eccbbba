"""Faults of the autoscaled gang spec, at least one for each property, and what they break.

Most are mistakes that a scheduler or an autoscaler could make; those of the life cycle take one wrong turn each.
"""

from __future__ import annotations

from typing import Any, Final

from model.language import Expr, Op
from model.language.mutation import Edit, disabled, with_guard, with_update, without_guard, without_update
from specs.autoscaled_gang.machine import Policy, autoscaled_gang
from specs.mutant import Faults
from specs.ray.life_cycle import Status

# Vanishing instances break the queue's order where a later application can hold a part: not if one gang fills all.
_FULL_AND_VANISH: Final = {"size": 2, "capacity": 1, "vanish": True}


_mutant: Final = Faults(autoscaled_gang)


def _also(state: Status) -> Any:
    """A guard ``instance[i] == something`` that lets ``state`` pass, too."""

    def widen(guard: Expr) -> Expr:
        assert isinstance(guard, Op)
        return guard | (guard.args[0] == state)

    return widen


def _first_alternative(guard: Expr) -> Expr:
    """The left side of an ``or``."""
    assert isinstance(guard, Op)
    assert guard.op == "|"
    return guard.args[0]


def _whole_instances_only(guard: Expr) -> Expr:
    """From "more is demanded than supplied" to "by as much as one instance has room for" (2 by default)."""
    assert isinstance(guard, Op)
    return guard.args[0] >= guard.args[1] + 2


_QUEUE = (
    _mutant(
        "no_order",
        "Y7: the queue's order is not looked at when a node has room",
        "no_later_application_overtakes",
        without_guard("allocate", "> 0) |"),
    ),
    _mutant(
        "two_gangs_begun",
        "Y6: a queue with FAIR sorting lets gangs in, and serves whoever holds least",
        "one_gang_is_reserved_at_a_time",
        changed={"policy": Policy.FAIR},
    ),
    _mutant(
        "starts_without_gang",
        "the application starts while placeholders are pending",
        "no_partial_gang_runs",
        without_guard("start", "== 3"),
    ),
    _mutant(
        "loss_unnoticed",
        "a running application does not learn that an instance vanished with a part of its gang",
        "no_partial_gang_runs",
        without_update("instance_vanishes", "app"),
        parameters=_FULL_AND_VANISH,
    ),
    _mutant(
        "placeholders_leak",
        "a finished application's placeholders are not released",
        "finished_applications_hold_nothing",
        without_update("finish", "placeholders"),
    ),
    _mutant(
        "demand_rounded_down",
        "demand that fills no whole instance launches none",
        "waiting_applications_are_not_stuck",
        with_guard("queue_instance", "> sum_", _whole_instances_only),
        parameters={"apps": 1},
    ),
    _mutant(
        "stopped_but_kept",
        "an instance that Ray has left is never terminated, and counts for the maximum",
        "every_gang_can_finish",
        disabled("terminate"),
    ),
    _mutant(
        "never_done",
        "applications never finish",
        "every_application_finishes",
        disabled("finish"),
    ),
)

_INSTANCES = (
    _mutant(
        "no_capacity",
        "an instance's free room is not looked at",
        "instance_capacity",
        without_guard("allocate", "< 2"),
    ),
    _mutant(
        "no_maximum",
        "the maximum number of instances is not looked at",
        "instances_within_maximum",
        without_guard("queue_instance", "< 2"),
    ),
    _mutant(
        "no_launch_limit",
        "max_concurrent_launches is not looked at",
        "launches_within_limit",
        without_guard("request_launch", "< 1"),
    ),
    _mutant(
        "placeholder_before_ray",
        "placeholders are bound to instances on which Ray does not run",
        "placeholders_only_where_ray_runs",
        without_guard("allocate", "RAY_STOP_REQUESTED"),
    ),
    _mutant(
        "busy_node_drained",
        "a drain request is accepted by a node that is no longer idle",
        "drained_instances_are_idle",
        without_guard("drain_accepted", "== 0"),
    ),
    _mutant(
        "lost_pods_kept",
        "what a vanished instance held still counts as allocated there",
        "terminated_instances_hold_nothing",
        without_update("instance_vanishes", "placeholders"),
        parameters=_FULL_AND_VANISH,
    ),
    _mutant(
        "launch_without_demand",
        "instances are launched though nothing is pending",
        "instances_are_queued_for_demand",
        without_guard("queue_instance", "> sum_"),
    ),
    _mutant(
        "no_retry",
        "a failed launch is never tried again",
        "a_failed_launch_is_retried",
        disabled("launch_failed"),
    ),
    _mutant(
        "drain_requests_known_at_once",
        "placeholders avoid a node as soon as its drain is requested: no request meets a busy node",
        "a_drain_request_finds_a_busy_node",
        with_guard("allocate", "RAY_STOP_REQUESTED", _first_alternative),
    ),
    _mutant(
        "never_terminated",
        "the cloud never gives up an instance",
        "an_instance_terminates_while_an_application_waits",
        disabled("terminated"),
    ),
)

_S = Status


def _goes_to(action: str, state: Status) -> Edit:
    return with_update(action, "instance", lambda _: state)


_LIFE_CYCLE = tuple(
    _mutant(f"from_{state.name.lower()}", source, f"{state.name.lower()}_is_left_as_allowed", edit)
    for state, source, edit in (
        (_S.ABSENT, "a new instance is requested without being queued", _goes_to("queue_instance", _S.REQUESTED)),
        (_S.QUEUED, "a queued instance counts as launched", _goes_to("request_launch", _S.ALLOCATED)),
        (_S.REQUESTED, "a launched instance counts as running Ray", _goes_to("launched", _S.RAY_RUNNING)),
        (_S.ALLOCATED, "Ray is taken to run where it is only to be installed", _goes_to("install_ray", _S.RAY_RUNNING)),
        (_S.RAY_INSTALLING, "a new node is drained before it served", _goes_to("ray_started", _S.RAY_STOP_REQUESTED)),
        (_S.RAY_RUNNING, "a node is drained without being asked", _goes_to("request_drain", _S.RAY_STOPPING)),
        (_S.RAY_STOP_REQUESTED, "an accepted drain skips Ray's end", _goes_to("drain_accepted", _S.TERMINATING)),
        (_S.RAY_STOPPING, "a node that stops is taken for a running one", _goes_to("ray_stopped", _S.RAY_RUNNING)),
        (_S.RAY_STOPPED, "an instance is written off without the cloud", _goes_to("terminate", _S.TERMINATED)),
        (_S.TERMINATING, "an instance at its end runs Ray again", _goes_to("terminated", _S.RAY_RUNNING)),
        (
            _S.TERMINATED,
            "a late report of Ray revives a terminated instance",
            with_guard("ray_started", "RAY_INSTALLING", _also(_S.TERMINATED)),
        ),
        (
            _S.ALLOCATION_FAILED,
            "the cloud delivers late, and the failed row is used",
            with_guard("launched", "REQUESTED", _also(_S.ALLOCATION_FAILED)),
        ),
    )
)

MUTANTS = (*_QUEUE, *_INSTANCES, *_LIFE_CYCLE)
