"""Random machines with liveness properties under random fairness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from model.language import Fairness, Machine, Sort, each, strong, weak
from model.strategies.machines import machines, over_all, stand_ins, values_of
from model.strategies.terms import Declared, Scope, Term, boolean, negation


@st.composite
def live_machines(draw: DrawFn, most_states: int = 300) -> Machine:
    """Like `machines`, with one to three of `eventually` and `leads_to`.

    Claims are about all of a machine or about each element of a sort; fairness is weak or strong, of an action, of each
    of its arguments or of some of them, of all actions, or none.
    """
    machine = draw(machines(most_states))
    variables = tuple(Declared(v, v.name, v.sorts, v.domain) for v in machine.variables)
    scope = Scope(draw, machine, variables, tuple(machine.tables))
    for number in range(scope.pick((1, 1, 2, 3))):
        _declare(scope, f"live{number + 1}")
    return machine


def _declare(scope: Scope, name: str) -> None:
    parameters = {"one": scope.pick(scope.sorts)} if scope.chance(40) else {}
    scope = replace(scope, names=parameters)
    fairness = _fairness(scope)
    goal = _goal(scope)
    if scope.chance(45):
        _add(scope.machine.eventually(fairness=fairness), name, parameters, goal)
    else:
        trigger = _goal(scope) if scope.chance(70) else boolean(scope, 2)
        _add(
            scope.machine.leads_to(fairness=fairness),
            name,
            parameters,
            lambda symbols: (trigger(symbols), goal(symbols)),
        )


def _add(decorator: Any, name: str, parameters: dict[str, type[Sort]], term: Term) -> None:
    def with_one(one: Any) -> Any:
        return term({"one": one})

    def with_none() -> Any:
        return term({})

    body = with_one if parameters else with_none
    body.__name__ = name
    body.__annotations__ = dict(parameters)
    decorator(body)


def _goal(scope: Scope) -> Term:
    """Often something that is not so at first, and that may come and go."""
    if scope.chance(25):
        return boolean(scope, 2)
    variable = scope.pick(scope.variables)
    value = scope.pick(values_of(variable.domain)[::-1])
    mine = [s for s in variable.sorts if scope.named(s)]
    if len(variable.sorts) == len(mine) and mine:
        names = scope.indices(variable.sorts)
        return lambda symbols: variable.read(symbols, names) == value
    every = over_all(variable, lambda cell: cell == value)
    return every if scope.chance(60) else lambda symbols: negation(every(symbols))


def _fairness(scope: Scope) -> list[Fairness]:
    found: list[Fairness] = []
    functions = stand_ins(scope.machine)
    if scope.chance(25):
        left_out = [f for f in functions if scope.chance(25)]
        found.append(scope.machine.progress(but=left_out if len(left_out) < len(functions) else []))
    for function in functions:
        action = next(a for a in scope.machine.actions if a.name == function.__name__)
        if scope.chance(35):
            continue
        kind = strong if scope.chance(50) else weak
        if action.parameters and scope.chance(50):
            some = [p.name for p in action.parameters if scope.chance(60)]
            found.append(kind(each(function, *some)))
        else:
            found.append(kind(function))
    return found


__all__ = ["live_machines"]
