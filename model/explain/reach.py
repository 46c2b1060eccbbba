"""Why is a state reachable: a shortest run to the nearest state where a condition holds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.explore.search.budget import Budget
from model.explore.search.limits import Limits, Progress, workers
from model.explore.search.search import Search
from model.explore.traces.recover import Recovery
from model.language import Location, Machine, Property, PropertyKind
from model.lowering.lower import Event, EventKind
from model.query import Query
from model.trace import Trace, in_steps
from model.verdict import Outcome

_GOAL = "asked_for"


@dataclass(frozen=True, slots=True)
class Reached:
    """The answer: HOLDS with a ``trace`` to the nearest such state, VACUOUS if no state is one, or UNKNOWN.

    ``how`` says it in words; ``states`` were found until it was known. ``note``: why ``trace`` is not the simplest of
    the shortest.
    """

    outcome: Outcome
    how: str
    states: int
    trace: Trace | None = None
    note: str | None = None


def nearest(
    machine: Machine,
    condition: Query,
    *,
    max_states: int | None = None,
    max_memory: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Reached:
    """The nearest state of ``machine`` where ``condition`` holds. Budgets as for `model.explore.explore`."""
    asked = copy.copy(machine)
    asked.properties = [
        Property(_GOAL, "", PropertyKind.SOMETIMES, condition.condition, (), Location("the question", 1))
    ]
    program = pack(asked)
    limits = Limits(max_memory, max_states, time_limit, until=EventKind.SOMETIMES)
    search = Search(program, Native(program), limits, progress, threads=workers(None))
    search.run()
    event = Event(EventKind.SOMETIMES, _GOAL)
    found = search.first.get(program.events.index(event))
    count = "1 state" if search.count == 1 else f"{search.count:,} states"
    if found is not None:
        trace, _, note = Recovery(search, budget=Budget(search)).simple_trace(found, event)
        return Reached(Outcome.HOLDS, f"reached after {in_steps(len(trace))}", search.count, trace, note)
    if search.complete:
        return Reached(Outcome.VACUOUS, f"unreachable, in no state of all {count}", search.count)
    how = f"{search.budget}; no state of the {count} found, all of those up to depth {search.complete_depth} among them"
    return Reached(Outcome.UNKNOWN, how, search.count)


__all__ = ["Reached", "nearest"]
