"""The writes of an action: the new value of each variable, and whether a cell is written twice.

All that is read is read before the step. Additions to one cell add up; a cell that is assigned twice, or assigned and
added to, is a fault of the spec, which the module tells by ``written_twice``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.export.tla.derived import same
from model.export.tla.expressions import WIDTH, Writer, hanging, indented
from model.export.tla.names import Names
from model.language import Action, Const, Expr, Op, Symbol, Update, VariableBase
from model.language.types import BOOL
from model.language.walking import conjunction, operands, substitute

_IS_ATOM = re.compile(r"\w+(\[[^\[\]]*\])?|~\w+(\[[^\[\]]*\])?")


@dataclass(frozen=True, slots=True)
class Place:
    """One update as a cell sees it that has names for its indices: under which conditions it is written.

    ``where``: equations between names; ``left``: loops that do not say which cell; ``names``: of all symbols.
    """

    update: Update
    where: tuple[str, ...]
    left: tuple[Symbol, ...]
    names: Names


class Updates:
    """Writes those of one action."""

    def __init__(self, writer: Writer, action: Action, names: Names) -> None:
        self.writer = writer
        self.action = action
        self.names = names
        self.variables = list(dict.fromkeys(u.variable for u in action.updates))

    def lines(self, variable: VariableBase) -> list[str]:
        """``variable' = ...``."""
        updates = [u for u in self.action.updates if u.variable is variable]
        name = self.writer.naming.of(variable)
        room = WIDTH - len(name) - 5
        if not variable.sorts:
            places = [Place(u, (), u.binders, self.names) for u in updates]
            lines = self._value(places, name, room)
            if variable.domain is bool and not _IS_ATOM.fullmatch(lines[0] if len(lines) == 1 else ""):
                lines = _parenthesised(lines)
        elif any(_says_where(u) for u in updates):
            lines = self._function(variable, updates, name, room)
        else:
            lines = self._except(updates, name, room)
        if len(lines) > 1 and max(map(len, lines)) > room:
            return [f"{name}' =", *indented(lines)]
        return hanging(f"{name}' = ", lines)

    def _except(self, updates: Sequence[Update], name: str, room: int) -> list[str]:
        """``[x EXCEPT ![a] = ...]``: cells that the parameters name. Each change sees those before it as ``@``."""
        parts: list[list[str]] = []
        for update in updates:
            at = ", ".join(self.names[i.uid] for i in update.indices if isinstance(i, Symbol))
            value = self._value([Place(update, (), update.binders, self.names)], "@", room - len(name) - len(at) - 15)
            parts.append(hanging(f"![{at}] = ", value))
        opening = f"[{name} EXCEPT "
        flat = opening + ", ".join(p[0] for p in parts) + "]"
        if all(len(p) == 1 for p in parts) and len(flat) <= room:
            return [flat]
        lines = [line for p in parts[:-1] for line in [*p[:-1], p[-1] + ","]] + parts[-1]
        lines = hanging(opening, lines)
        return [*lines[:-1], lines[-1] + "]"]

    def _function(self, variable: VariableBase, updates: Sequence[Update], name: str, room: int) -> list[str]:
        """``[n \\in Node |-> ...]``: every cell anew."""
        naming = self.writer.naming
        indices: list[str] = []
        taken = dict(self.names)
        for position, sort in enumerate(variable.sorts):
            symbols = [u.indices[position] for u in updates]
            binder = next(
                (
                    s.name
                    for s, u in zip(symbols, updates, strict=True)
                    if isinstance(s, Symbol) and any(s is b for b in u.binders)
                ),
                sort.__name__.lower(),
            )
            indices.append(naming.local(binder, taken))
            taken[-1 - position] = indices[-1]
        places = [self._place(u, indices, taken) for u in updates]
        bounds = ", ".join(f"{i} \\in {naming.domain(s)}" for i, s in zip(indices, variable.sorts, strict=True))
        value = self._value(places, f"{name}[{', '.join(indices)}]", room - 3)
        if len(value) == 1 and len(bounds) + len(value[0]) + 7 <= room:
            return [f"[{bounds} |-> {value[0]}]"]
        lines = [f"[{bounds} |->", *indented(value)]
        return [*lines[:-1], lines[-1] + "]"]

    def _place(self, update: Update, indices: Sequence[str], names: Names) -> Place:
        """``update`` as the cell at ``indices`` sees it: a loop that names the cell has only one value for it."""
        inner = dict(names)
        where = []
        placed: set[int] = set()
        for index, symbol in zip(indices, update.indices, strict=True):
            assert isinstance(symbol, Symbol)
            if any(symbol is b for b in update.binders) and symbol.uid not in placed:
                inner[symbol.uid] = index
                placed.add(symbol.uid)
            else:
                where.append(f"{index} = {inner[symbol.uid]}")
        return Place(update, tuple(where), tuple(b for b in update.binders if b.uid not in placed), inner)

    # ---- the value of a cell

    def _value(self, places: Sequence[Place], before: str, room: int) -> list[str]:
        """What the cell is after the step, if ``before`` is what it was."""
        added = [self._amount(p, room - len(before) - 5) for p in places if p.update.adds]
        lines = [before]
        for amount in added:
            sign = " + "
            if len(amount) == 1 and (less := re.fullmatch(r"\(-(\d+)\)|0 - (\w+(?:\[[^\[\]]*\])?)", amount[0])):
                sign, amount = " - ", [less[1] or less[2]]
            lines = [*lines[:-1], *hanging(lines[-1] + sign, amount)]
        for place in reversed([p for p in places if not p.update.adds]):
            lines = self._assigned(place, lines, room)
        return lines

    def _assigned(self, place: Place, otherwise: list[str], room: int) -> list[str]:
        update, writer = place.update, self.writer
        if not place.left:
            condition = self._condition(place, room - 3)
            if condition is None:
                return writer.block(update.value, place.names, room)
            return _if(condition, writer.block(update.value, place.names, room - 7), otherwise, room)
        # Of the loop's values one assigns, or none: two would be a fault.
        inner = writer.naming.bind(place.left, place.names)
        holds = self._flat_condition(replace(place, names=inner))
        found = writer.naming.local("chosen", inner)
        sources = {s.uid: found if len(place.left) == 1 else f"{found}[{i}]" for i, s in enumerate(place.left, 1)}
        value = writer.flat(update.value, {**place.names, **sources})
        exists = f"\\E {writer.bounds(place.left, inner)} : {holds}"
        chosen = f"LET {found} == CHOOSE {writer.member(place.left, inner)} : {holds} IN {value}"
        return _if([exists], [chosen], otherwise, room)

    def _amount(self, place: Place, room: int) -> list[str]:
        """What an addition adds to the cell."""
        update, writer = place.update, self.writer
        names = writer.naming.bind(place.left, place.names) if place.left else place.names
        condition = self._condition(replace(place, names=names), room - 4)
        value = update.value
        if not place.left:
            if condition is None:
                return [writer.flat(value, names, 11)]
            if len(condition) == 1 and isinstance(value, Const):
                return [f"(IF {condition[0]} THEN {value.raw} ELSE 0)"]
            return _parenthesised(_if(condition, writer.block(value, names, room - 8), ["0"], room))
        if condition is not None and isinstance(value, Const) and value.raw == 1 and len(condition) == 1:
            return [f"Cardinality({{{writer.member(place.left, names)} : {condition[0]}}})"]
        body = writer.block(value, names, room - 8)
        if condition is not None:
            body = _if(condition, body, ["0"], room)
        lines = hanging(f"{writer.helper('Sum')}([{writer.bounds(place.left, names)} |-> ", body)
        return [*lines[:-1], lines[-1] + "])"]

    def _condition(self, place: Place, room: int) -> list[str] | None:
        """Under which condition the cell is written; None: always."""
        condition = place.update.condition
        always = _is_true(condition)
        if not place.where:
            return None if always else self.writer.block(condition, place.names, room)
        if always:
            return [" /\\ ".join(place.where)]
        joined = self._flat_condition(place)
        if len(joined) <= room:
            return [joined]
        parts = [[each] for each in place.where]
        parts += [self.writer.block(each, place.names, room - 3) for each in operands(condition, "&")]
        return [line for part in parts for line in hanging("/\\ ", part)]

    def _flat_condition(self, place: Place) -> str:
        parts = list(place.where)
        if not parts or not _is_true(place.update.condition):
            parts.append(self.writer.flat(place.update.condition, place.names, 3 if parts else 0))
        return " /\\ ".join(parts)

    # ---- faults

    def clashes(self) -> list[str]:
        """Conditions under which a cell is written twice; none if no step can do that, as far as one sees."""
        found = []
        for number, update in enumerate(self.action.updates):
            if not update.adds and not all(any(i is b for i in update.indices) for b in update.binders):
                found += self._clash(update, update)
            for other in self.action.updates[number + 1 :]:
                if other.variable is update.variable and not (update.adds and other.adds):
                    found += self._clash(update, other)
        return found

    def _clash(self, one: Update, other: Update) -> list[str]:
        by: dict[int, Expr] = {b.uid: type(b)(f"{b.name}") for b in other.binders}  # type: ignore[call-arg]
        again = tuple(b for b in by.values() if isinstance(b, Symbol))
        equal = [(left, substitute(right, by)) for left, right in zip(one.indices, other.indices, strict=True)]
        pairs: list[Expr] = [Op("==", BOOL, left, right) for left, right in equal if left is not right]
        conditions = [one.condition, substitute(other.condition, by)]
        guards = [each for g in self.action.guards for each in operands(g.condition, "&")]
        if _contradict([*guards, *conditions, *pairs], equal):
            return []
        if one is other:
            different = [Op("!=", BOOL, b, by[b.uid]) for b in one.binders]
            pairs.append(different[0] if len(different) == 1 else _either(different))
        parts = [c for c in (*pairs, *conditions) if not _is_true(c)]
        symbols = (*one.binders, *again)
        names = self.writer.naming.bind(symbols, self.names)
        text = self.writer.flat(conjunction(tuple(parts)), names)
        return [f"\\E {self.writer.bounds(symbols, names)} : {text}" if symbols else text]


def _either(parts: list[Expr] | list[Op]) -> Expr:
    result: Expr = parts[0]
    for part in parts[1:]:
        result = Op("|", BOOL, result, part)
    return result


def _is_true(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.raw == 1


def _says_where(update: Update) -> bool:
    """Whether a loop of the update says which cells are written."""
    return any(i is b for i in update.indices for b in update.binders)


def _contradict(conditions: Sequence[Expr], equal: Sequence[tuple[Expr, Expr]]) -> bool:
    """Whether the conditions are seen not to hold together where the pairs in ``equal`` are the same."""
    by: dict[int, Expr] = {}
    for left, right in equal:
        if isinstance(right, Symbol) and left is not right:
            by[right.uid] = left
    parts = [part for c in conditions for part in operands(substitute(c, by), "&")]
    return any(_excludes(a, b) for a, b in itertools.combinations(parts, 2)) or any(map(_is_false, parts))


def _is_false(part: Expr) -> bool:
    return isinstance(part, Op) and part.op == "!=" and same(*part.args)


def _excludes(a: Expr, b: Expr) -> bool:
    if any(isinstance(x, Op) and x.op == "~" and same(x.args[0], y) for x, y in ((a, b), (b, a))):
        return True
    if isinstance(a, Op) and isinstance(b, Op) and {a.op, b.op} <= {"==", "!="}:
        if a.op != b.op:
            return all(same(x, y) for x, y in zip(a.args, b.args, strict=True))
        values = a.args[1], b.args[1]
        if a.op == "==" and all(isinstance(v, Const) for v in values):
            return same(a.args[0], b.args[0]) and not same(*values)
    return False


def _if(condition: list[str], then: list[str], otherwise: list[str], room: int) -> list[str]:
    parts = (condition, then, otherwise)
    flat = "IF {} THEN {} ELSE {}".format(*(p[0] for p in parts))
    if all(len(p) == 1 for p in parts) and len(flat) <= room:
        return [flat]
    return [*hanging("IF ", condition), *hanging("  THEN ", then), *hanging("  ELSE ", otherwise)]


def _parenthesised(lines: list[str]) -> list[str]:
    lines = hanging("(", lines)
    return [*lines[:-1], lines[-1] + ")"]


__all__ = ["Updates"]
