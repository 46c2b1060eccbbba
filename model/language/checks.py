"""What is checked of a machine's parts when they are declared, beyond what each expression checks itself."""

from __future__ import annotations

import enum
import inspect
import itertools
import re
import typing
from collections.abc import Sequence
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, cast

from model.language.data.base import Handle
from model.language.errors import Location, SpecError, definition, user_frame, where
from model.language.expressions import Const, Expr, Lookup, Op, Quantified, Read, Symbol, lift
from model.language.properties import BUILT_IN
from model.language.sizes import Size, names_of, within
from model.language.sorts import Sort, is_sort
from model.language.tracing import closed
from model.language.types import BOOL, LARGEST, SortType, describe_domain, domain_type
from model.language.variables import Table, VariableBase
from model.language.walking import free_symbols, levels, walk

if TYPE_CHECKING:
    from model.language.machine import Action, Machine

MOST_ELEMENTS = 1_000
MOST_CELLS = 10_000
MOST_INSTANCES = 1_000_000
MOST_INITIAL = 10_000_000
MOST_LEVELS = 200
_COUNTED = re.compile(r" x\d+$")


def element_names(sort: type[Sort], size: object, names: Sequence[object] | None) -> tuple[str, ...]:
    """The names of a sort's elements, checked: all different, and such that a cell's name can be read back."""
    if names is None:
        if type(size) not in (int, Size) or not within((size,), 1, MOST_ELEMENTS):
            raise SpecError(f"{sort.__name__}: size is an integer from 1 to {MOST_ELEMENTS}, found {size!r}", where())
        return names_of(sort.__name__.lower(), size)
    if isinstance(names, str) or not 1 <= len(names) <= MOST_ELEMENTS:
        raise SpecError(f"{sort.__name__}: names is a list of 1 to {MOST_ELEMENTS} names, found {names!r}", where())
    if (size is not None and size != len(names)) or len(set(names)) != len(names):
        raise SpecError(f"{sort.__name__}: names must be different and as many as size, found {list(names)!r}", where())
    checked: list[str] = []
    for name in names:
        if (
            not isinstance(name, str)
            or not name.isprintable()
            or name != name.strip()
            or not name
            or set(name) & set(",[]{}()")
        ):
            raise SpecError(f"{sort.__name__}: a name is a text without , [ ] {{ }} ( ), found {name!r}", where())
        if name == "none" or _COUNTED.search(name):
            meaning = "no element" if name == "none" else "several messages of one kind"
            raise SpecError(f"{sort.__name__}: {name!r} would mean {meaning} in a trace; give it another name", where())
        checked.append(name)
    return tuple(checked)


def is_function(body: object, use: str) -> FunctionType:
    """``body`` as the function it must be: declared by ``def``, with a name."""
    if not isinstance(body, FunctionType) or not body.__name__.isidentifier():
        raise SpecError(f"{use} is declared by a function with a name, found {body!r}", where())
    if inspect.isgeneratorfunction(body) or inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body):
        message = f"{body.__name__}: the body of {use} is an ordinary function, without yield and async"
        raise SpecError(message, definition(body.__code__))
    return body


def handles(machine: Machine, frame: FrameType) -> set[str]:
    """The names by which ``frame``'s user, or the machine, knows variables and what is made of them."""
    caller = user_frame(frame).f_locals
    known = {name for name, value in caller.items() if isinstance(value, (VariableBase, Table, Handle))}
    return known | {v.name for v in machine.variables}


def parameters(
    machine: Machine, body: FunctionType, frame: FrameType, at: Location, kind: str = "action"
) -> tuple[Symbol, ...]:
    """One symbol per parameter of an action or, as ``kind`` says, of a property.

    Annotations may name sorts that are local to the spec function.
    """
    try:
        hints = typing.get_type_hints(body, localns=dict(user_frame(frame).f_locals))
    except (NameError, TypeError, SyntaxError) as error:
        raise SpecError(f"{kind} {body.__name__}: {error}", at) from None
    symbols: list[Symbol] = []
    for name, parameter in inspect.signature(body).parameters.items():
        sort: Any = hints.get(name)
        if not is_sort(sort) or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            found = "nothing" if sort is None else getattr(sort, "__name__", repr(sort))
            hint = " (for other values use choose())" if kind == "action" else ""
            raise SpecError(
                f"{kind} {body.__name__}: parameter {name} must be annotated with a sort, found {found}{hint}", at
            )
        if sort not in machine.sorts:
            raise SpecError(f"{kind} {body.__name__}: declare the sort first, with m.sort({sort.__name__}, ...)", at)
        symbols.append(sort(name))
    return tuple(symbols)


def check_action(machine: Machine, action: Action) -> None:
    """The expressions of an action, its writes, and how many instances it has."""
    for symbol in action.choices:
        _check_sort(machine, action.name, symbol, symbol.at)
    count = 1
    for symbol in action.symbols:
        count *= len(machine.values(symbol.domain))
    if count > MOST_INSTANCES:
        raise SpecError(f"action {action.name} has {count:,} instances, more than {MOST_INSTANCES:,}", action.at)
    bound = frozenset(s.uid for s in action.symbols)
    for guard in action.guards:
        check_expression(machine, action.name, guard.condition, bound, guard.at)
    for update in action.updates:
        for symbol in update.binders:
            _check_sort(machine, action.name, symbol, update.at)
        if not any(update.variable is v for v in machine.variables):
            raise SpecError(f"{action.name}: {update.variable.name} belongs to another machine", update.at)
        inside = bound | {s.uid for s in update.binders}
        for expr in (update.value, update.condition, *update.indices):
            check_expression(machine, action.name, expr, inside, update.at)
    _check_conflicts(machine, action)


def _check_conflicts(machine: Machine, action: Action) -> None:
    """Writes that clash in every instance. Others are told apart per instance, by the engines."""
    plain = [u for u in action.updates if isinstance(u.condition, Const) and u.condition.raw]
    for update in plain:
        used = {id(i) for i in update.indices}
        idle = [s for s in update.binders if id(s) not in used and len(machine.values(s.domain)) > 1]
        if idle and not update.adds:
            raise SpecError(
                f"{action.name}: {update.variable.name} is written once for each {type(idle[0]).__name__}, "
                "and one cell takes one value in a step",
                update.at,
            )
    for first, second in itertools.combinations(plain, 2):
        same = first.variable is second.variable and all(
            x is y for x, y in zip(first.indices, second.indices, strict=True)
        )
        if same and not (first.adds and second.adds):
            raise SpecError(
                f"{action.name}: {first.variable.name} is written at line {first.at.line} and here again; "
                "one cell takes one value in a step",
                second.at,
            )


def check_expression(machine: Machine, owner: str, expr: Expr, bound: frozenset[int], at: Location) -> None:
    """Every symbol is bound, every sort declared, all is of this machine, and ``<`` only on ordered sorts."""
    if levels(expr) > MOST_LEVELS:
        raise SpecError(f"{owner}: an expression of too many levels; combine values with sum_, all_, any_", at)
    parts = list(walk(expr))
    for symbol in free_symbols(expr, bound):
        used_at = at if isinstance(expr, Symbol) else expr.at
        raise SpecError(f"{owner}: {symbol!r} is used outside the generator, loop or action that binds it", used_at)
    for part in parts:
        match part:
            case Quantified(symbols=symbols):
                for symbol in symbols:
                    _check_sort(machine, owner, symbol, part.at)
            case Op(op=op, args=args) if op not in ("==", "!="):
                kind = args[0].type
                if isinstance(kind, SortType) and not machine.sorts[kind.sort].ordered:
                    raise SpecError(
                        f"{owner}: {part!r} compares elements of {kind.sort.__name__}, "
                        "which is not declared ordered=True",
                        part.at,
                    )
            case Read(variable=variable) if not any(variable is v for v in machine.variables):
                raise SpecError(f"{owner}: {variable.name} belongs to another machine", part.at)
            case Lookup(table=table) if not any(table is t for t in machine.tables):
                raise SpecError(f"{owner}: {table.name} belongs to another machine", part.at)
            case Const(value=value) if isinstance(value, int) and abs(value) > LARGEST:
                raise SpecError(f"{owner}: an integer lies within -2**40..2**40, found {value}", part.at)


def _check_sort(machine: Machine, owner: str, symbol: Symbol, at: Location) -> None:
    if isinstance(symbol, Sort) and type(symbol) not in machine.sorts:
        raise SpecError(f"{owner}: {type(symbol).__name__} is not declared in this machine", at)


def property_function(machine: Machine, body: object) -> tuple[FunctionType, Location]:
    """``body`` as a property of ``machine``, with a name of its own; and where it is defined."""
    function = is_function(body, "a property")
    name, at = function.__name__, definition(function.__code__)
    closed(f"property {name}")
    if name in [p.name for p in (*machine.properties, *machine.terminals, *machine.initial_constraints)]:
        raise SpecError(f"two properties are named {name}", at)
    if name in BUILT_IN:
        raise SpecError(f"{name} is a property that every machine has; choose another name", at)
    return function, at


def claim(machine: Machine, name: str, result: object, bound: frozenset[int], at: Location) -> Expr:
    """What property ``name`` returned, as a boolean expression; ``bound`` are the uids of the property's parameters."""
    if result is None:
        raise SpecError(f"{name} returns nothing; it must return a boolean expression", at)
    if not isinstance(result, (Expr, bool, int, enum.Enum)) or (expr := lift(result)).type != BOOL:
        raise SpecError(f"{name} must return a boolean expression, found {result!r}", at)
    check_expression(machine, name, expr, bound, at)
    return expr


def check_whole(machine: Machine) -> None:
    """What only the whole machine shows."""
    if not machine.variables:
        raise SpecError(f"{machine.name}: a spec needs at least one variable", None)
    if not machine.actions:
        raise SpecError(f"{machine.name}: a spec needs at least one action", None)
    for name, at in machine.timers_without_clock.items():
        raise SpecError(f"timer {name} belongs to no clock, so it would never expire; declare m.clock({name})", at)
    combinations = 1
    for variable in machine.variables:
        for _, one_of in machine.initial_choices(variable):
            combinations *= len({Const(v).raw for v in one_of.values})
            if combinations > MOST_INITIAL:
                counted = f"combinations of initial values, counted up to {variable.name}"
                raise SpecError(f"{machine.name}: more than {MOST_INITIAL:,} {counted}", variable.at)


def check_initial(machine: Machine, variable: VariableBase) -> None:
    """Every initial value is of the variable's domain."""
    for _, choice in machine.initial_choices(variable):
        for value in choice.values:
            ok = isinstance(cast(object, value), (bool, int, enum.Enum)) and Const(value).type == domain_type(
                variable.domain
            )
            if ok and isinstance(variable.domain, range):
                ok = value in variable.domain
            if not ok:
                domain = describe_domain(variable.domain)
                raise SpecError(f"{variable.name}: initial value {value!r} is not in {domain}", where())


def check_cells(machine: Machine, name: str, sorts: tuple[type[Sort], ...]) -> None:
    """A variable with these sorts still leaves a state of a size that engines can hold."""
    cells = sum(_size(machine, v.sorts) for v in machine.variables) + _size(machine, sorts)
    if cells > MOST_CELLS:
        raise SpecError(f"{name}: a state of {cells:,} values, more than {MOST_CELLS:,}", where())


def _size(machine: Machine, sorts: tuple[type[Sort], ...]) -> int:
    size = 1
    for sort in sorts:
        size *= machine.sorts[sort].size
    return size
