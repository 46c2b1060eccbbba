"""Seeded faults: a wrong turn in each state of the life cycles, and one for each property that no report breaks."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final

from model.language import Expr, Operand, ite
from model.language.mutation import disabled, with_update
from specs.yunikorn.current.mutants.edits import report
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.current.state import Core, Shim, Task

HARD: Final = {"style": Style.HARD}


def _instead(right: enum.Enum, wrong: enum.Enum) -> Callable[[Expr], Operand]:
    return lambda state: ite(state == right, wrong, state)


TABLES = (
    report(
        "",
        "from_new",
        "a new application runs with its first ask",
        "new_is_left_as_published",
        with_update("ask_for_placeholders", "core", _instead(Core.ACCEPTED, Core.RUNNING)),
        consequences=("running_applications_are_counted",),
    ),
    report(
        "",
        "from_accepted",
        "an application whose placeholders time out has completed",
        "accepted_is_left_as_published",
        with_update("placeholder_timeout", "core", _instead(Core.RESUMING, Core.EXPIRED)),
        consequences=("terminal_holds_nothing",),
    ),
    report(
        "",
        "from_running",
        "an application completes with its last pod, without a while in which more may come",
        "running_is_left_as_published",
        with_update("finish_pod", "core", _instead(Core.COMPLETING, Core.COMPLETED)),
        consequences=("terminal_holds_nothing",),
    ),
    report(
        "",
        "from_completing",
        "an application that is done has failed",
        "completing_is_left_as_published",
        with_update("completing_timeout", "core", _instead(Core.COMPLETED, Core.FAILED)),
    ),
    report(
        "",
        "from_resuming",
        "an application runs when its placeholders are gone, before a pod of it does",
        "resuming_is_left_as_published",
        with_update("confirm_removal", "core", _instead(Core.ACCEPTED, Core.RUNNING)),
        consequences=("running_applications_are_counted",),
    ),
    report(
        "",
        "from_failing",
        "an application that fails completes",
        "failing_is_left_as_published",
        with_update("confirm_removal", "core", _instead(Core.FAILED, Core.COMPLETED)),
        parameters=HARD,
    ),
    report(
        "",
        "shim_runs_at_once",
        "an accepted application runs before its gang is reserved",
        "shim_follows_its_table",
        with_update("accept_application", "shim", _instead(Shim.ACCEPTED, Shim.RUNNING)),
        consequences=("real_pods_wait_for_the_gang",),
    ),
    report(
        "",
        "bound_at_once",
        "an allocated placeholder counts as bound",
        "task_follows_its_table",
        with_update("hear_allocation", "task", _instead(Task.ALLOCATED, Task.BOUND)),
    ),
    report(
        "",
        "unbound_by_a_copy",
        "an allocation that is told again is taken for the first: the task of a bound placeholder is to be bound anew",
        "task_follows_its_table",
        with_update("hear_allocation", "task", lambda _: Task.ALLOCATED),
        parameters={"duplicates": 1},
    ),
    report(
        "",
        "oversized_accepted",
        "Y5: the placeholderAsk is not compared with the maximum of the queue",
        "oversized_gangs_are_rejected",
        with_update("reject_application", "core", lambda _: Core.ACCEPTED),
        parameters={"size": 5},
        consequences=("deadlock_free",),
    ),
    report(
        "",
        "completes_too_early",
        "an application completes with the first of its pods that ends",
        "completing_application_is_idle",
        with_update("finish_pod", "core", lambda _: Core.COMPLETING),
        parameters={"reals": 2, "repaired": True},
        consequences=(
            "deadlock_free",
            "every_application_can_end",
            "every_real_ask_is_served",
            "running_application_has_its_gang",
            "running_applications_are_counted",
            "terminal_holds_nothing",
            "values_in_range",
        ),
    ),
    report(
        "",
        "never_times_out",
        "Y23: the placeholder timeout never fires, so a gang that does not fit waits for ever",
        "every_admitted_gang_is_decided",
        disabled("placeholder_timeout"),
        parameters={"nodes": 1, "capacity": 1},
        consequences=("deadlock_free", "every_application_can_end"),
    ),
    report(
        "",
        "never_asks",
        "the shim never submits a real pod",
        "every_real_pod_runs",
        disabled("ask_for_real_pod"),
        consequences=(
            "deadlock_free",
            "every_application_can_end",
        ),
    ),
    report(
        "",
        "never_done",
        "no real pod ever ends",
        "an_application_completes",
        disabled("finish_pod"),
        consequences=(
            "deadlock_free",
            "every_application_can_end",
        ),
    ),
)
