"""A machine as the text of a spec: what a spec function has built, with parameters filled in and helpers written out.

The text is Python that builds the same machine: it can be run, compared, and kept as a test.
"""

from __future__ import annotations

import enum
import itertools
import keyword
from collections.abc import Iterable, Iterator
from typing import Any

from model import language
from model.language.expressions import After, Const, Expr, Ite, Lookup, Op, Operand, Quantified, Read, Symbol
from model.language.fairness import Fairness
from model.language.machine import Action, Machine
from model.language.properties import Property
from model.language.sorts import Sort
from model.language.tracing import Update
from model.language.types import EnumType, domain_type
from model.language.variables import OneOf, Table, VariableBase
from model.language.walking import children, free_symbols, substitute, walk

Names = dict[int, str]
"""Python names in scope: of symbols by uid, of expressions that were read earlier by ``id``."""

_INDENT = "    "


def describe(machine: Machine) -> str:
    """``machine`` as the source of a module with one spec function."""
    return "\n".join(_Writer(machine).module()) + "\n"


def describe_expression(machine: Machine, expr: Expr) -> str:
    """``expr``, of ``machine``, as Python source."""
    return _Writer(machine).expression(expr, {s.uid: s.name for s in free_symbols(expr)})


class _Writer:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        taken = {*language.__all__, "Enum", "Machine", "m", *keyword.kwlist}
        taken |= {a.name for a in machine.actions} | {p.name for p in self._properties()}
        taken |= {s.name for e in self._expressions() for s in _symbols(e)}
        taken |= {s.name for a in machine.actions for s in a.symbols}
        taken |= {s.name for p in machine.properties for s in p.parameters}
        taken |= {s.name for a in machine.actions for u in a.updates for s in u.binders}
        self.classes: dict[type, str] = {}
        for cls in (*machine.sorts, *self._enums()):
            self.classes[cls] = _fresh(cls.__name__, taken)
        arrays: list[VariableBase | Table[Any]] = [*machine.variables, *machine.tables]
        self.handles = {id(each): _fresh(each.name, taken) for each in arrays}
        self.taken = taken | {v.name for v in machine.variables}

    def _properties(self) -> list[Property]:
        return [*self.machine.properties, *self.machine.terminals, *self.machine.initial_constraints]

    def _expressions(self) -> Iterator[Expr]:
        for action in self.machine.actions:
            yield from (g.condition for g in action.guards)
            for update in action.updates:
                yield from (*update.indices, update.condition, update.value)
        for p in self._properties():
            yield from (p.condition, *(() if p.trigger is None else (p.trigger,)))

    def _enums(self) -> list[type[enum.Enum]]:
        types = [domain_type(v.domain) for v in self.machine.variables]
        types += [part.type for e in self._expressions() for part in walk(e)]
        types += [symbol.type for a in self.machine.actions for symbol in a.symbols]
        return list(dict.fromkeys(t.cls for t in types if isinstance(t, EnumType)))

    # ---- declarations

    def module(self) -> Iterator[str]:
        machine = self.machine
        body = [line for part in (self.declarations(), self.steps(), self.claims()) for line in part]
        used = [n for n in language.__all__ if any(f"{n}(" in line or f"-> {n}" in line for line in body)]
        used += [n for n in ("Machine", "Sort") if n not in used]
        if self._enums():
            yield from ("from enum import Enum", "")
        yield f"from model.language import {', '.join(sorted(used))}"
        for sort in machine.sorts:
            yield from ("", "", f"class {self.classes[sort]}(Sort):", f"{_INDENT}pass")
        for cls in self._enums():
            yield from ("", "", f"class {self.classes[cls]}(Enum):")
            yield from (f"{_INDENT}{member.name} = {i}" for i, member in enumerate(cls))
        name = machine.name if machine.name.isidentifier() and not keyword.iskeyword(machine.name) else "spec"
        yield from ("", "", f"def {_fresh(name, self.taken)}() -> Machine:")
        yield from (
            _INDENT + line if line else "" for line in [f"m = Machine({machine.name!r})", *body, "", "return m"]
        )

    def declarations(self) -> Iterator[str]:
        for sort, declared in self.machine.sorts.items():
            default = tuple(f"{sort.__name__.lower()}{i + 1}" for i in range(declared.size))
            plain = declared.names == default and self.classes[sort] == sort.__name__
            size = str(declared.size) if plain else f"names={list(declared.names)!r}"
            flags = ", symmetric=True" * declared.symmetric + ", ordered=True" * declared.ordered
            yield f"m.sort({self.classes[sort]}, {size}{flags})"
        for table in self.machine.tables:
            values = _nested(self._sizes(table.sorts), [repr(v) for _, v in sorted(table.values.items())])
            yield f"{self.handles[id(table)]} = m.constant({table.name!r}, {self._index(table.sorts)}, {values})"
        for variable in self.machine.variables:
            choices = [self._one_of(one_of) for _, one_of in self.machine.initial_choices(variable)]
            init = choices[0] if len(set(choices)) == 1 else _nested(self._sizes(variable.sorts), choices)
            index = f"{self._index(variable.sorts)}, " if variable.sorts else ""
            kind = "variable" if variable.sorts else "scalar"
            domain = self.domain(variable.domain)
            yield f"{self.handles[id(variable)]} = m.{kind}({variable.name!r}, {index}{domain}, init={init})"

    def _sizes(self, sorts: tuple[type[Sort], ...]) -> list[int]:
        return [self.machine.sorts[s].size for s in sorts]

    def _index(self, sorts: tuple[type[Sort], ...]) -> str:
        names = [self.classes[s] for s in sorts]
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    def _one_of(self, one_of: OneOf) -> str:
        values = [self.value(v) for v in one_of.values]
        return values[0] if len(values) == 1 else f"one_of({', '.join(values)})"

    def domain(self, domain: object) -> str:
        """A domain as source."""
        if isinstance(domain, range):
            return f"range({domain.start}, {domain.stop})"
        return "bool" if domain is bool else self.classes[domain]  # type: ignore[index]

    def value(self, value: Operand) -> str:
        """A literal as source."""
        if isinstance(value, enum.Enum):
            return f"{self.classes[type(value)]}.{value.name}"
        return repr(value) if isinstance(value, bool) or not isinstance(value, int) or value >= 0 else f"({value})"

    # ---- actions

    def steps(self) -> Iterator[str]:
        for action in self.machine.actions:
            parameters = ", ".join(f"{p.name}: {self.classes[p.domain]}" for p in action.parameters)  # type: ignore[index]
            yield from ("", "@m.action", f"def {action.name}({parameters}) -> None:")
            yield from (_INDENT + line for line in self.action(action))

    def action(self, action: Action) -> Iterator[str]:
        if action.doc:
            yield repr(action.doc)
        names: Names = {p.uid: p.name for p in action.parameters}
        for choice in action.choices:
            names[choice.uid] = _fresh(choice.name, {*self.taken, *names.values()} - {choice.name} | self._variables())
            yield f"{names[choice.uid]} = choose({self.domain(choice.domain)}, {choice.name!r})"
        if action.guards:
            yield f"require({', '.join(self.bare(g.condition, names) for g in action.guards)})"
        yield from self.updates(list(action.updates), _early(action.updates), 0, names)

    def _variables(self) -> set[str]:
        return {v.name for v in self.machine.variables} | set(self.handles.values())

    def updates(self, updates: list[Update], early: dict[int, list[Expr]], depth: int, names: Names) -> Iterator[str]:
        """Writes that share their first ``depth`` loops. What a later write reads of an earlier one's variable is read
        at the start of the loop that binds its symbols."""
        bound = {s.uid for u in updates for s in u.binders[depth:]}
        for update in updates:
            for expr in early[id(update)]:
                if id(expr) not in names and not any(s.uid in bound for s in free_symbols(expr)):
                    name = _fresh("before", {*self.taken, *names.values()})
                    now = ".now" if isinstance(expr, Read) and not expr.indices else ""
                    yield f"{name} = {self.bare(expr, names)}{now}"
                    names = {**names, id(expr): name}
        for loop, group in itertools.groupby(
            updates, lambda u: u.binders[depth].uid if len(u.binders) > depth else None
        ):
            same = list(group)
            if loop is not None:
                binder = same[0].binders[depth]
                inner = {**names, binder.uid: self._bind(binder, names)}
                yield f"for {inner[binder.uid]} in {self.classes[type(binder)]}:"
                yield from (_INDENT + line for line in self.updates(same, early, depth + 1, inner))
                continue
            for update in same:
                yield from self.write(update, names)

    def write(self, update: Update, names: Names) -> Iterator[str]:
        indent = ""
        if not (isinstance(update.condition, Const) and update.condition.raw):
            yield f"with when({self.bare(update.condition, names)}):"
            indent = _INDENT
        target = self.handles[id(update.variable)]
        target += (
            f"[{', '.join(names[i.uid] for i in update.indices if isinstance(i, Symbol))}]"
            if update.indices
            else ".next"
        )
        value, sign = update.value, "=" if not update.adds else "+="
        match value:
            case Const(value=int(amount)) if update.adds and amount < 0:
                value, sign = Const(-amount), "-="
            case Op(op="-", args=(Const(raw=0), amount)) if update.adds:
                value, sign = amount, "-="
        yield f"{indent}{target} {sign} {self.bare(value, names)}"

    # ---- properties

    def claims(self) -> Iterator[str]:
        for each in self._properties():
            names: Names = {p.uid: p.name for p in each.parameters}
            fair = f"(fairness=[{', '.join(map(self.fairness, each.fairness))}])" if each.kind.is_liveness else ""
            parameters = ", ".join(f"{p.name}: {self.classes[p.domain]}" for p in each.parameters)  # type: ignore[index]
            result = "Expr | bool" if each.trigger is None else "tuple[Expr | bool, Expr | bool]"
            yield from ("", f"@m.{each.kind.value}{fair}", f"def {each.name}({parameters}) -> {result}:")
            if each.doc:
                yield f"{_INDENT}{each.doc!r}"
            parts = (each.condition,) if each.trigger is None else (each.trigger, each.condition)
            yield f"{_INDENT}return {', '.join(self.bare(part, names) for part in parts)}"

    def fairness(self, fairness: Fairness) -> str:
        """What a liveness property assumes, as source."""
        if not fairness.progress:
            return str(fairness)
        others = [a.name for a in self.machine.actions if not any(a is b for b in fairness.actions)]
        return f"m.progress(but=[{', '.join(others)}])" if others else "m.progress()"

    # ---- expressions

    def _bind(self, symbol: Symbol, names: Names) -> str:
        others = {*names.values(), *self._variables(), *language.__all__}
        return _fresh(symbol.name, others)

    def bare(self, expr: Expr, names: Names) -> str:
        """``expr`` as source, without the parentheses around it."""
        text = self.expression(expr, names)
        binary = isinstance(expr, Op) and len(expr.args) == 2 and expr.op != "=>" and id(expr) not in names
        return text[1:-1] if binary else text

    def expression(self, expr: Expr, names: Names) -> str:
        """``expr`` as source; every operator in parentheses."""
        if id(expr) in names:
            return names[id(expr)]
        match expr:
            case Const(value=value):
                return self.value(value)
            case Symbol(uid=uid):
                return names[uid]
            case Read(variable=variable, indices=indices):
                return self._cell(variable, indices, names)
            case Lookup(table=table, indices=indices):
                return self._cell(table, indices, names)
            case After(body=body):
                return f"after({self.bare(body, names)})"
            case Ite(condition=c, then=t, otherwise=e):
                return f"ite({', '.join(self.bare(x, names) for x in (c, t, e))})"
            case Op(op="=>", args=args):
                return f"implies({', '.join(self.bare(x, names) for x in args)})"
            case Op(op="~", args=(arg,)):
                text = self.expression(arg, names)
                # ~True is -2 to Python
                return (
                    f"~{text}"
                    if any(isinstance(p, (Read, Lookup, Symbol)) for p in walk(arg))
                    else f"implies({text}, False)"
                )
            case Op(op=op, args=(left, right)):
                return f"({self.expression(left, names)} {op} {self.expression(right, names)})"
            case Quantified():
                return self._quantified(expr, names)
        raise TypeError(f"not an expression: {type(expr).__name__}")

    def _cell(self, array: VariableBase | Table[Any], indices: tuple[Expr, ...], names: Names) -> str:
        inside = ", ".join(self.expression(i, names) for i in indices)
        return self.handles[id(array)] + (f"[{inside}]" if indices else "")

    def _quantified(self, expr: Quantified, names: Names) -> str:
        """Choices of an action that ``enabled`` asks about have no sort: their values are written out."""
        plain = next((s for s in expr.symbols if not isinstance(s, Sort)), None)
        if plain is not None:
            rest = tuple(s for s in expr.symbols if s is not plain)
            cases = [substitute(expr.body, {plain.uid: Const(v)}) for v in _values(plain)]
            texts = [self.expression(Quantified(expr.kind, rest, c) if rest else c, names) for c in cases]
            return f"({' | '.join(texts)})" if len(texts) > 1 else texts[0]
        inner = dict(names)
        loops = []
        for symbol in expr.symbols:
            inner[symbol.uid] = self._bind(symbol, {k: v for k, v in inner.items() if k != symbol.uid})
            loops.append(f"for {inner[symbol.uid]} in {self.classes[type(symbol)]}")
        return f"{expr.kind}_({self.bare(expr.body, inner)} {' '.join(loops)})"


def _early(updates: Iterable[Update]) -> dict[int, list[Expr]]:
    """For each update (by id) what it reads of variables that earlier updates write."""
    written: set[int] = set()
    result: dict[int, list[Expr]] = {}
    for update in updates:
        result[id(update)] = [e for expr in (update.condition, update.value) for e in _reading(expr, written)]
        written.add(id(update.variable))
    return result


def _reading(expr: Expr, written: set[int]) -> Iterator[Expr]:
    """The smallest parts of ``expr`` that read ``written`` variables and can stand outside every quantifier."""
    reads = any(isinstance(p, Read) and id(p.variable) in written for p in walk(expr))
    if reads and isinstance(expr, (Read, Quantified)):
        yield expr
    elif reads:
        for child in children(expr):
            yield from _reading(child, written)


def _symbols(expr: Expr) -> Iterator[Symbol]:
    for part in walk(expr):
        if isinstance(part, Symbol):
            yield part
        elif isinstance(part, Quantified):
            yield from part.symbols


def _values(symbol: Symbol) -> list[int | bool | enum.Enum]:
    domain = symbol.domain
    if isinstance(domain, range):
        return list(domain)
    if domain is bool:
        return [False, True]
    return list(domain) if isinstance(domain, enum.EnumType) else []


def _fresh(name: str, taken: set[str]) -> str:
    """``name``, or the first of name2, name3, ... that is not taken; it is taken then."""
    found = next(n for n in itertools.chain([name], (f"{name}{i}" for i in itertools.count(2))) if n not in taken)
    taken.add(found)
    return found


def _nested(sizes: list[int], values: list[str]) -> str:
    """``values`` as lists nested to ``sizes``."""
    if len(sizes) <= 1:
        return f"[{', '.join(values)}]"
    row = len(values) // sizes[0]
    rows = [values[i : i + row] for i in range(0, len(values), row)]
    return f"[{', '.join(_nested(sizes[1:], row) for row in rows)}]"
