"""Random machines: sorts, variables and tables, then actions (`moves`), then claims."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from model.language import Machine, Sort, Table, after, all_, among, implies, one_of
from model.language.describe import describe
from model.strategies.moves import draw_action
from model.strategies.terms import Declared, Scope, Symbols, Term, boolean, negation


class App(Sort):
    """A sort of random machines."""


class Node(Sort):
    """A sort of random machines."""


class Queue(Sort):
    """A sort of random machines."""


class Phase(enum.Enum):
    """Three members."""

    IDLE = 0
    BUSY = 1
    DONE = 2


class Mode(enum.Enum):
    """Two members."""

    OFF = 0
    ON = 1


class RandomMachine(Machine):
    """A machine that prints as the text of a spec, so that a failing example can be read and kept."""

    def __repr__(self) -> str:
        return "\n" + describe(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


_DOMAINS: tuple[Any, ...] = (
    *(bool, range(3), Phase, range(4), range(3), Phase, range(4), Phase, range(3)),
    *(Mode, range(2), range(-1, 2), range(1, 4), bool),
)


@st.composite
def machines(draw: DrawFn, most_states: int = 1_000) -> Machine:
    """Random well-formed machines with at most ``most_states`` states.

    One to three sorts of one to three elements (symmetric, ordered or plain), one to five variables over none to two of
    them (enums, ranges, booleans), constant tables, several initial states, one to five actions, claims of each kind.
    About half of them have over 20 states, and a third violates something. They shrink to few and plain declarations,
    and print as a spec (``model.language.describe``).
    """
    machine = RandomMachine("random_machine")
    scope = Scope(draw, machine, (), ())
    for sort in (App, Node, Queue)[: draw(st.sampled_from((1, 2, 2, 3)))]:
        kind = scope.pick(("plain", "symmetric", "ordered"))
        size = draw(st.sampled_from((1, 2, 2, 2, 3, 3, 3, 3, 3, 3)))
        machine.sort(sort, size, symmetric=kind == "symmetric", ordered=kind == "ordered")
    scope = replace(scope, tables=tuple(_draw_tables(scope)), one_way=scope.chance(30))
    scope = replace(scope, variables=tuple(_draw_variables(scope, most_states)))
    for i in range(5):
        # an action for each variable, most often, and some more
        if not scope.span(lambda i=i: _draw_action(scope, i, 96 if i < len(scope.variables) else 65)):  # type: ignore[misc]
            break
    _draw_claims(scope)
    return machine


def _draw_action(scope: Scope, number: int, percent: int) -> bool:
    """Draw the action of this number, from 0; the first always, others with this chance. Whether it was drawn."""
    if number and not scope.chance(percent):
        return False
    further = scope.pick(range(5)) if scope.chance(30) else 0
    draw_action(scope, f"act{number + 1}", scope.variables[(number + further) % len(scope.variables)])
    return True


def _draw_tables(scope: Scope) -> list[Table[Any]]:
    if not scope.chance(35):
        return []
    sorts = tuple(scope.pick(scope.sorts) for _ in range(1 + scope.chance(30)))
    sizes = [scope.machine.sorts[s].size for s in sorts]
    values: Any = [scope.draw(st.integers(-1, 3)) for _ in range(sizes[0])]
    if len(sizes) == 2:
        values = [[scope.draw(st.integers(-1, 3)) for _ in range(sizes[1])] for _ in range(sizes[0])]
    index: Any = sorts if len(sorts) == 2 else sorts[0]
    return [scope.machine.constant("table", index, values)]


def _draw_variables(scope: Scope, most_states: int) -> list[Declared]:
    """Variables whose domains multiply to at most ``most_states``."""
    room = most_states
    found: list[Declared] = []
    for number, name in enumerate(("x", "y", "z", "s", "t")):
        # a small space asks for more variables
        percent = (100, 90, 65, 45, 30)[number] if most_states // room > 60 else 97
        drawn = scope.span(lambda: _draw_variable(scope, name, room, percent if found else 100))  # noqa: B023
        if drawn is None:
            break
        variable, size = drawn
        room //= size
        found.append(variable)
    return found


def _draw_variable(scope: Scope, name: str, room: int, percent: int) -> tuple[Declared, int] | None:
    """A variable with at most ``room`` combinations of values, and how many it has; None if there shall be no more."""
    if not scope.chance(percent):
        return None
    sorts = tuple(scope.pick(scope.sorts) for _ in range(scope.pick((1, 1, 1, 0, 2, 1, 2))))
    cells = _cells(scope, sorts)
    fitting = [d for d in _DOMAINS if len(values_of(d)) ** cells <= room]
    if not fitting:
        sorts, cells = (), 1
        fitting = [d for d in _DOMAINS if len(values_of(d)) <= room] or [range(2, 3)]
    domain = range(2, 3) if scope.chance(2) else scope.pick(fitting)
    init = _draw_initial(scope, sorts, domain)
    if sorts:
        index: Any = sorts if len(sorts) == 2 else sorts[0]
        handle: Any = scope.machine.variable(name, index, domain, init=init)
    else:
        handle = scope.machine.scalar(name, domain, init=init)
    return Declared(handle, name, sorts, domain), len(values_of(domain)) ** cells


def _cells(scope: Scope, sorts: tuple[type[Sort], ...]) -> int:
    return math.prod(scope.machine.sorts[s].size for s in sorts)


def values_of(domain: Any) -> Sequence[Any]:
    """The values of a domain, in order."""
    return (False, True) if domain is bool else list(domain)


def _draw_initial(scope: Scope, sorts: tuple[type[Sort], ...], domain: Any) -> Any:
    """One value; or any of several; or a list with a value or a choice for each element."""
    values = values_of(domain)

    def value() -> Any:
        if len(values) > 1 and scope.chance(15):
            return one_of(*scope.draw(st.lists(st.sampled_from(values), min_size=2, max_size=2, unique=True)))
        return scope.pick(values)

    if not sorts or not scope.chance(15):
        return value()
    sizes = [scope.machine.sorts[s].size for s in sorts]
    if len(sizes) == 1:
        return [value() for _ in range(sizes[0])]
    return [[value() for _ in range(sizes[1])] if scope.chance(80) else value() for _ in range(sizes[0])]


# ---- claims


def _draw_claims(scope: Scope) -> None:
    machine = scope.machine
    scope = replace(scope, names={}, actions=tuple(stand_ins(machine)) if scope.chance(30) else ())
    for kind, percent in (("always", 75), ("step", 35), ("sometimes", 30), ("possible", 25)):
        if scope.chance(percent):
            _declare(machine, kind, f"{kind}1", _CLAIMS[kind](replace(scope, in_step=kind == "step")))
    scalars = [v for v in scope.variables if not v.sorts]
    if scalars and scope.chance(25):
        _declare(machine, "initially", "start", _start(replace(scope, actions=()), scope.pick(scalars)))
    if not scope.chance(50 if scope.one_way else 20):
        _declare(machine, "terminal", "may_end", lambda _: True)
    elif scope.chance(50):
        _declare(machine, "terminal", "may_end", boolean(replace(scope, actions=()), 2))


def stand_ins(machine: Machine) -> list[Callable[..., Any]]:
    """Stand-ins for the functions that declared the actions, which ``enabled`` takes."""

    def stand_in(action: Any) -> Callable[..., Any]:
        def function() -> None: ...

        function.__name__ = action.name
        function.__gangproof_action__ = action  # type: ignore[attr-defined]
        return function

    return [stand_in(a) for a in machine.actions]


def _declare(machine: Machine, kind: str, name: str, term: Term) -> None:
    def body() -> Any:
        return term({})

    body.__name__ = name
    getattr(machine, kind)(body)


def over_all(variable: Declared, claim: Callable[[Any], Any]) -> Term:
    """``claim`` of every cell of ``variable``."""
    names = tuple(f"e{i + 1}" for i in range(len(variable.sorts)))

    def cell(symbols: Symbols, left: tuple[str, ...]) -> Any:
        if not left:
            return claim(variable.read(symbols, names))
        sort = variable.sorts[len(names) - len(left)]
        return all_(cell({**symbols, left[0]: element}, left[1:]) for element in sort)

    return lambda symbols: cell(symbols, names)


def _always(scope: Scope) -> Term:
    kind = scope.pick(("in domain", "not all", "never", "implied", "random", "premise", "in domain", "implied"))
    if kind == "random":
        return boolean(scope, 3)
    if kind in ("premise", "implied"):
        premise, conclusion = boolean(scope, 2), boolean(scope, 2)
        if kind == "premise":
            return lambda symbols: implies(premise(symbols), conclusion(symbols))
        return lambda symbols: implies(premise(symbols), conclusion(symbols) | premise(symbols))
    variable = scope.pick(scope.variables)
    value = scope.pick(values_of(variable.domain)[::-1])
    if kind == "not all":
        every = over_all(variable, lambda cell: cell == value)
        return lambda symbols: negation(every(symbols))
    if kind == "never":
        return over_all(variable, lambda cell: cell != value)
    if isinstance(variable.domain, range):
        return over_all(variable, lambda cell: cell < variable.domain.stop)
    return over_all(variable, lambda cell: among(cell, *values_of(variable.domain)))


def _step(scope: Scope) -> Term:
    variable = scope.pick(scope.variables)
    if scope.chance(65):
        if isinstance(variable.domain, range):
            least = variable.domain.start + scope.chance(25)
            return over_all(variable, lambda cell: after(cell) >= least)
        value = scope.pick(values_of(variable.domain))
        return over_all(variable, lambda cell: implies(cell == value, (after(cell) == value) | (cell == value)))
    if scope.chance(40):
        return over_all(variable, lambda cell: after(cell) == cell)
    return boolean(scope, 3)


def _possible(scope: Scope) -> Term:
    variable = scope.pick(scope.variables)
    value = scope.pick(values_of(variable.domain))
    if scope.chance(30):
        return boolean(scope, 2)
    return over_all(variable, lambda cell: cell == value)


def _start(scope: Scope, variable: Declared) -> Term:
    """Holds in some combination of initial values: where ``variable``, a scalar, has its first."""
    free = boolean(scope, 2)
    ((_, choices),) = scope.machine.initial_choices(variable.handle)
    value = choices.values[0]
    return lambda symbols: (variable.handle == value) | free(symbols)


_CLAIMS: dict[str, Callable[[Scope], Term]] = {
    "always": _always,
    "step": _step,
    "sometimes": lambda scope: boolean(scope, 3),
    "possible": _possible,
}
