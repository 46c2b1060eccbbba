"""What an exploration did not see: why actions never fired, values that no state has, steps that change nothing.

None of it is a violation. It tells how much a green answer says, and where a spec does less than its author thinks. A
*case* is a state together with arguments of an action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.trace import Trace

Arguments = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A condition of a guard, over all cases: in how many it is false, and in how many only it is.

    ``nearest``: the arguments with which, in most states, it alone keeps the action from firing (``nearest_states`` of
    them); None if it never does.
    """

    condition: str
    at: str
    false: int
    alone: int
    nearest: Arguments | None = None
    nearest_states: int = 0


@dataclass(frozen=True, slots=True)
class Blocked:
    """An action that never fired. ``cases``: how many were looked at, with ``looked_at`` of its ``instances``.

    ``never_together``: the smallest sets of conjuncts (by number) of which no case fulfils all; a single one is never
    true. Empty where more than three conjuncts are needed.
    """

    action: str
    instances: int
    looked_at: int
    cases: int
    conjuncts: tuple[Conjunct, ...]
    never_together: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """The values of one variable, over all its cells: ``taken`` of ``size`` are seen in some state.

    ``never`` lists the others; those of integers as "4" or "0..2". Of a very large domain only what lies outside the
    least and the greatest value seen is known, and ``taken`` is None.
    """

    variable: str
    domain: str
    size: int
    taken: int | None
    never: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Idle:
    """An action some of whose steps leave the state as it was: ``idle`` of ``fired``."""

    action: str
    idle: int
    fired: int

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.action} fires without changing anything in {self.idle:,} of {self.fired:,} firings"


@dataclass(frozen=True, slots=True)
class Stuck:
    """States that are no end and that every enabled step leaves as they were. ``trace``: a shortest run to one."""

    states: int
    trace: Trace


@dataclass(frozen=True, slots=True)
class Unseen:
    """All of it, about one exploration. ``values`` has an entry for each variable.

    ``unfinished``: why the rest was not looked at, if it was not; then what is not told may still be there.
    """

    blocked: tuple[Blocked, ...]
    values: tuple[Taken, ...]
    idle: tuple[Idle, ...]
    stuck: Stuck | None
    unfinished: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is probably a mistake in the spec."""
        found = [each.text for each in self.idle]
        if self.stuck is not None:
            states = "1 state" if self.stuck.states == 1 else f"{self.stuck.states:,} states"
            steps = len(self.stuck.trace)
            found.append(
                f"in {states} every enabled step changes nothing (the nearest after {steps} "
                f"step{'' if steps == 1 else 's'}): deadlock_free cannot see that nothing happens there; say with "
                "require() when an action may fire"
            )
        if self.unfinished is not None:
            found.append(f"{self.unfinished} before all was told of what was not seen")
        return tuple(found)

    @property
    def never_taken(self) -> tuple[str, ...]:
        """The variables of which some value of the range is never taken."""
        return tuple(each.variable for each in self.values if each.never)

    def to_json(self) -> dict[str, Any]:
        """The ``coverage`` object of ``gangproof check --json``."""
        return {
            "blocked": [_blocked(each) for each in self.blocked],
            "values": [values_json(each) for each in self.values],
            "idle": [{"action": each.action, "idle": each.idle, "fired": each.fired} for each in self.idle],
            "stuck": None
            if self.stuck is None
            else {"states": self.stuck.states, "trace_length": len(self.stuck.trace)},
            "unfinished": self.unfinished,
        }


def values_json(taken: Taken) -> Mapping[str, Any]:
    """One entry of ``coverage.values``."""
    return {
        "variable": taken.variable,
        "domain": taken.domain,
        "size": taken.size,
        "taken": taken.taken,
        "never": list(taken.never),
    }


def _blocked(blocked: Blocked) -> dict[str, Any]:
    return {
        "action": blocked.action,
        "instances": blocked.instances,
        "looked_at": blocked.looked_at,
        "cases": blocked.cases,
        "conjuncts": [
            {
                "condition": c.condition,
                "at": c.at,
                "false": c.false,
                "alone": c.alone,
                "nearest": None if c.nearest is None else dict(c.nearest),
                "nearest_states": c.nearest_states,
            }
            for c in blocked.conjuncts
        ],
        "never_together": [list(each) for each in blocked.never_together],
    }


__all__ = ["Arguments", "Blocked", "Conjunct", "Idle", "Stuck", "Taken", "Unseen", "values_json"]
