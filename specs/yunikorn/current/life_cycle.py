"""Which states may follow which, in the core and in the shim, as YuniKorn publishes it in its state machines.

The tables are written by hand; no action is derived from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from model.language import Expr, Machine, Operand, after, all_, among, implies
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.current.state import App, Core, Member, Shim, State, Task

CORE: Final[Mapping[Core, tuple[Core, ...]]] = {
    Core.NEW: (Core.ACCEPTED, Core.REJECTED, Core.FAILING, Core.RESUMING),
    Core.ACCEPTED: (Core.RUNNING, Core.COMPLETING, Core.FAILING, Core.RESUMING),
    Core.RUNNING: (Core.COMPLETING, Core.FAILING),
    Core.RESUMING: (Core.ACCEPTED,),
    Core.COMPLETING: (Core.RUNNING, Core.COMPLETED),
    Core.FAILING: (Core.FAILED,),
    Core.COMPLETED: (Core.EXPIRED,),
    Core.FAILED: (Core.EXPIRED,),
    Core.REJECTED: (Core.EXPIRED,),
}
"""The core's application states."""

SHIM: Final[Mapping[Shim, tuple[Shim, ...]]] = {
    Shim.NEW: (Shim.SUBMITTED,),
    Shim.SUBMITTED: (Shim.ACCEPTED, Shim.REJECTED, Shim.FAILING),
    Shim.ACCEPTED: (Shim.RESERVING, Shim.RUNNING, Shim.FAILING, Shim.KILLING),
    Shim.RESERVING: (Shim.RUNNING, Shim.RESUMING, Shim.FAILING, Shim.KILLING),
    Shim.RUNNING: (Shim.COMPLETED, Shim.FAILING, Shim.KILLING),
    Shim.RESUMING: (Shim.RUNNING,),
    Shim.FAILING: (Shim.FAILED,),
    Shim.REJECTED: (Shim.FAILED,),
    Shim.KILLING: (Shim.KILLED,),
}
"""The shim's application states."""

TASK: Final[Mapping[Task, tuple[Task, ...]]] = {
    Task.NEW: (Task.PENDING, Task.COMPLETED, Task.FAILED),
    Task.PENDING: (Task.SCHEDULING, Task.COMPLETED, Task.FAILED),
    Task.SCHEDULING: (Task.ALLOCATED, Task.COMPLETED, Task.FAILED),
    Task.ALLOCATED: (Task.BOUND, Task.COMPLETED, Task.FAILED),
    Task.BOUND: (Task.COMPLETED,),
    Task.FAILED: (Task.COMPLETED,),
}
"""The shim's task states, without those of rejected and killed tasks."""


def declare_life_cycles(m: Machine, s: State) -> None:
    """One property for each state of the core in which an application lives, one for the shim, one for tasks."""
    scope = s.scope

    def leaves(source: Core) -> Expr:
        return all_(
            implies(
                (s.core[a] == source) & (after(s.core[a]) != source),
                among(after(s.core[a]), *CORE[source]) | restarts(s),
            )
            for a in App
        )

    @m.step
    def new_is_left_as_published() -> Expr:
        """From New to Accepted, Rejected, Failing or Resuming (Y13)."""
        return leaves(Core.NEW)

    if not scope.oversized:
        _declare_core(m, s, leaves)

    @m.step
    def shim_follows_its_table() -> Expr:
        """An application of the shim goes from state to state as its table has it (YUNIKORN-1704)."""
        return all_(
            implies(
                after(s.shim[a]) != s.shim[a],
                _in_table([(s.shim[a] == b) & among(after(s.shim[a]), *SHIM[b]) for b in SHIM]) | restarts(s),
            )
            for a in App
        )


def restarts(s: State) -> Operand:
    """Whether the step is a restart, after which nothing is as before."""
    return (after(s.restarts) != s.restarts) if s.scope.restarts else False


def _in_table(rows: list[Expr]) -> Expr:
    found = rows[0]
    for row in rows[1:]:
        found = found | row
    return found


def _declare_core(m: Machine, s: State, leaves: Callable[..., Expr]) -> None:
    scope = s.scope

    @m.step
    def accepted_is_left_as_published() -> Expr:
        """From Accepted to Running, Completing, Failing or Resuming (Y13, Y23)."""
        return leaves(Core.ACCEPTED)

    @m.step
    def running_is_left_as_published() -> Expr:
        """From Running to Completing or Failing (Y20)."""
        return leaves(Core.RUNNING)

    @m.step
    def completing_is_left_as_published() -> Expr:
        """From Completing to Running or Completed (Y21)."""
        return leaves(Core.COMPLETING)

    if scope.can_time_out and scope.style is Style.SOFT:

        @m.step
        def resuming_is_left_as_published() -> Expr:
            """From Resuming to Accepted (YUNIKORN-582)."""
            return leaves(Core.RESUMING)

    if scope.can_time_out and scope.style is Style.HARD:

        @m.step
        def failing_is_left_as_published() -> Expr:
            """From Failing to Failed (Y27)."""
            return leaves(Core.FAILING)

    @m.step
    def task_follows_its_table() -> Expr:
        """The task of a placeholder goes from state to state as its table has it; one that is completed stays so,
        also if it is allocated then (YUNIKORN-677)."""
        return all_(
            implies(
                after(s.task[a, p]) != s.task[a, p],
                _in_table([(s.task[a, p] == b) & among(after(s.task[a, p]), *TASK[b]) for b in TASK]) | restarts(s),
            )
            for a in App
            for p in Member
        )
