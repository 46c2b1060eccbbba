"""Random actions, made of moves: small guarded writes, most of which keep every variable inside its domain."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from model.language import Const, Operand, choose, ite, require, when
from model.strategies.terms import Declared, Scope, Symbols, Term, boolean, integer, is_kind, read_of

Write = Callable[[Symbols], Callable[[], None]]
"""Called with the symbols in scope it reads what it needs; what it returns writes."""

PARAMETERS = ("p", "q")


@dataclass
class Draft:
    """An action that is being drawn."""

    scope: Scope
    careful: bool
    """Whether guards keep values in range and cells from being written twice."""
    choices: list[tuple[str, Any]] = field(default_factory=list)
    guards: list[Term] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    assigned: dict[int, list[tuple[str, ...]]] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)
    loops: list[Write] = field(default_factory=list)
    looped: set[int] = field(default_factory=set)
    focus: Declared | None = None
    """The variable that the next move writes, if it can."""

    def may_assign(self, variable: Declared, names: tuple[str, ...]) -> bool:
        """Whether ``variable[names] = ...`` clashes with nothing for certain; guards keep apart what may clash."""
        others = self.assigned.get(id(variable), [])
        if id(variable) in self.added or names in others or (others and not names):
            return False
        if self.careful and id(variable) in self.looped:
            return False
        if self.careful:
            for other in others:
                mine, theirs = next(p for p in zip(names, other, strict=True) if p[0] != p[1])
                self.guards.append(_different(mine, theirs))
        self.assigned.setdefault(id(variable), []).append(names)
        return True


def _different(name: str, other: str) -> Term:
    return lambda symbols: symbols[name] != symbols[other]


def draw_action(scope: Scope, name: str, variable: Declared) -> None:
    """Draw an action called ``name`` that writes ``variable``, and declare it in the scope's machine."""
    sorts = variable.sorts
    if len(sorts) < 2 and scope.chance(20):
        sorts = (*sorts, scope.pick(scope.sorts))
    parameters = dict(zip(PARAMETERS, sorts, strict=False))
    draft = Draft(replace(scope, names=parameters), careful=not scope.chance(12))
    if scope.chance(25):
        _draw_choice(draft)
    draft.focus = variable
    for _ in range(scope.draw(st.sampled_from((1, 1, 1, 2)))):
        scope.pick((_step,) if scope.one_way else _MOVES)(draft)
    if not draft.writes and not draft.loops:
        _assign(draft)
    if not draft.careful and scope.chance(40):
        draft.focus = variable
        _assign(draft)
    if scope.chance(8):
        draft.guards.append(boolean(draft.scope, 2))
    scope.machine.action(_function(name, parameters, draft))


def _function(name: str, parameters: dict[str, Any], draft: Draft) -> Callable[..., None]:
    def body(*arguments: Any) -> None:
        symbols = dict(zip(parameters, arguments, strict=True))
        for chosen, domain in draft.choices:
            symbols[chosen] = choose(domain, chosen)
        conditions = [guard(symbols) for guard in draft.guards]
        if conditions:
            require(*conditions)
        for write in [write(symbols) for write in (*draft.loops, *draft.writes)]:
            write()

    body.__name__ = name
    body.__annotations__ = dict(parameters)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    body.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, kind, annotation=s) for n, s in parameters.items()]
    )
    return body


def _draw_choice(draft: Draft) -> None:
    scope = draft.scope
    kinds: list[str] = ["bool"] if scope.readable(bool) else []
    ranges = [v.domain for v in scope.variables if is_kind(v.domain, range)]
    enums = [v.domain for v in scope.variables if is_kind(v.domain, enum.Enum)]
    kinds += ["range"] * bool(ranges) + ["enum"] * bool(enums) + ["sort"] * bool(scope.sorts)
    kind = scope.pick(kinds or ["range"])
    if kind == "sort":
        sort = scope.pick(scope.sorts)
        draft.scope = scope.inside("c", sort)
        draft.choices.append(("c", sort))
    elif kind == "range":
        domain = scope.pick(ranges) if ranges else range(2)
        draft.scope = replace(scope, numbers=("c",))
        draft.choices.append(("c", domain))
    else:
        draft.choices.append(("c", bool if kind == "bool" else scope.pick(enums)))


def _target(draft: Draft, kind: type | None) -> tuple[Declared, tuple[str, ...]] | None:
    found = draft.scope.readable(kind)
    if not found:
        return None
    variable = draft.focus if draft.focus in found else draft.scope.pick(found)
    draft.focus = None
    return variable, draft.scope.indices(variable.sorts)


def _onwards(draft: Draft, variable: Declared, names: tuple[str, ...]) -> None:
    """A cell takes the next value of its domain, once."""
    if isinstance(variable.domain, range):
        if len(variable.domain) > 1:
            _add(draft, variable, names, 1)
    elif draft.may_assign(variable, names):
        values: Sequence[Any] = (False, True) if variable.domain is bool else list(variable.domain)
        start = min(_first_raw(draft.scope, variable), len(values) - 2)
        position = start if draft.scope.chance(60) else draft.scope.draw(st.integers(0, len(values) - 2))
        old, new = values[position : position + 2]
        draft.guards.append(lambda symbols: variable.read(symbols, names) == old)
        draft.writes.append(lambda symbols: lambda: variable.write(symbols, names, new))


def _step(draft: Draft) -> None:
    """A cell moves on: from one member to another, or up or down by a little."""
    target = _target(draft, None)
    if target is None:
        return
    variable, names = target
    if draft.scope.one_way:
        _onwards(draft, variable, names)
        return
    if isinstance(variable.domain, range):
        low, size = variable.domain.start, len(variable.domain)
        if draft.scope.chance(50):
            if draft.may_assign(variable, names):
                by = draft.scope.pick((1, 1, 2))
                draft.writes.append(_reading(variable, names, lambda old: (old - low + by) % size + low))
        elif size > 1:
            first, last = _first_raw(draft.scope, variable), variable.domain.stop - 1
            ways = [1] * (1 + (first == low)) + [-1] * (1 + (first == last))
            _add(draft, variable, names, draft.scope.pick(ways))
        return
    if not draft.may_assign(variable, names):
        return
    if variable.domain is bool and draft.scope.chance(50):
        draft.writes.append(_reading(variable, names, lambda old: ~old))
        return
    values: Sequence[Any] = (False, True) if variable.domain is bool else list(variable.domain)
    free = draft.scope.draw(st.integers(0, len(values) - 1))
    position = _first_raw(draft.scope, variable) if draft.scope.chance(40) else free
    old, new = values[position], values[(position + draft.scope.draw(st.sampled_from((1, 1, 1, 2)))) % len(values)]
    if draft.scope.chance(30):
        draft.guards.append(lambda symbols: variable.read(symbols, names) == old)
    elif draft.scope.chance(60) and len(values) == 3:
        third = next(v for v in values if v not in (old, new))
        draft.writes.append(_reading(variable, names, lambda now: ite(now == old, new, ite(now == new, third, old))))
        return
    draft.writes.append(lambda symbols: lambda: variable.write(symbols, names, new))


def _reading(variable: Declared, names: tuple[str, ...], change: Callable[[Any], Any]) -> Write:
    def read(symbols: Symbols) -> Callable[[], None]:
        new = change(variable.read(symbols, names))
        return lambda: variable.write(symbols, names, new)

    return read


def _add(draft: Draft, variable: Declared, names: tuple[str, ...], amount: int) -> None:
    if id(variable) in draft.assigned:
        return
    first = id(variable) not in draft.added
    draft.added.add(id(variable))
    if draft.careful or not first:
        low, high = variable.domain.start, variable.domain.stop - 1
        if amount > 0:
            draft.guards.append(lambda symbols: variable.read(symbols, names) <= high - amount)
        else:
            draft.guards.append(lambda symbols: variable.read(symbols, names) >= low - amount)
    draft.writes.append(lambda symbols: lambda: variable.add(symbols, names, abs(amount), minus=amount < 0))


def _transfer(draft: Draft) -> None:
    """One cell gives to another; the two may be the same cell."""
    for amount in (1, -1):
        target = _target(draft, range)
        if target is not None:
            _add(draft, *target, amount)


def _assign(draft: Draft) -> None:
    """A cell takes a value, perhaps only under a condition."""
    target = _target(draft, None)
    if target is None or not draft.may_assign(*target):
        return
    variable, names = target
    value = _value(draft, draft.scope, variable)
    if draft.scope.chance(20):
        condition = boolean(draft.scope, 1)

        def write(symbols: Symbols) -> Callable[[], None]:
            c, v = condition(symbols), value(symbols)
            return lambda: _under(c, lambda: variable.write(symbols, names, v))

        draft.writes.append(write)
        return

    def plain(symbols: Symbols) -> Callable[[], None]:
        v = value(symbols)
        return lambda: variable.write(symbols, names, v)

    draft.writes.append(plain)


def _under(condition: Operand, write: Callable[[], None]) -> None:
    with when(condition):
        write()


def _for_all(draft: Draft) -> None:
    """Cells of all elements take a value."""
    scope = draft.scope
    found = [
        (variable, position)
        for variable in scope.variables
        for position in range(len(variable.sorts))
        if all(scope.named(s) for i, s in enumerate(variable.sorts) if i != position)
    ]
    if not found:
        return
    variable, position = scope.pick(found)
    if id(variable) in draft.assigned or id(variable) in draft.added:
        return
    draft.assigned[id(variable)] = [("*",) * len(variable.sorts)]
    sort, bound = variable.sorts[position], scope.fresh()
    names = tuple(bound if i == position else scope.pick(scope.named(s)) for i, s in enumerate(variable.sorts))
    # what an earlier loop writes must not be read inside this one: it would be a read after a write
    unwritten = tuple(v for v in scope.variables if id(v) not in draft.looped)
    inner = replace(scope.inside(bound, sort), variables=unwritten)
    draft.looped.add(id(variable))
    value = _value(draft, inner, variable)
    condition = boolean(inner, 1) if scope.chance(40) else None

    def loop(symbols: Symbols) -> Callable[[], None]:
        def one(inside: Symbols) -> None:
            v = value(inside)
            if condition is None:
                variable.write(inside, names, v)
            else:
                _under(condition(inside), lambda: variable.write(inside, names, v))

        def write() -> None:
            for element in sort:
                one({**symbols, bound: element})

        return write

    draft.loops.append(loop)


def _first_raw(scope: Scope, variable: Declared) -> int:
    """What the variable's first cell may start with, in raw form."""
    return Const(scope.machine.initial_choices(variable.handle)[0][1].values[0]).raw


def _value(draft: Draft, scope: Scope, variable: Declared) -> Term:
    """A value for a variable: most often one that is in its domain whatever the state, and another than the first."""
    domain = variable.domain
    values = list(scope.machine.values(domain))
    others = [v for v in values if v != _first_raw(scope, variable)] or values
    chosen = next((name for name, d in draft.choices if d == domain), None)
    if chosen is not None and scope.chance(60):
        return lambda symbols: symbols[chosen]
    if isinstance(domain, range):
        if scope.chance(60):
            term, low, size = integer(scope, 2), domain.start, len(domain)
            by = scope.pick((1, 0, 2))
            return term if not draft.careful else lambda symbols: (term(symbols) + by) % size + low
        number = scope.pick(others)
        return lambda _: number
    if domain is bool:
        if scope.chance(60):
            return boolean(scope, 1)
        return lambda _: bool(others[0])
    same = [v for v in scope.readable(enum.Enum) if v.domain is domain]
    member: Any = list(domain)[scope.pick(others)]
    if same and scope.chance(50):
        read, condition = read_of(scope, scope.pick(same)), boolean(scope, 1)
        return lambda symbols: ite(condition(symbols), read(symbols), member)
    return lambda _: member


_MOVES = (_step, _step, _step, _assign, _assign, _assign, _transfer, _for_all)
