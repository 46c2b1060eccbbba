"""Questions about states as text: ``state[app1] == RUNNING and sum(held[j] for j in Job) > 2``.

The text is a Python expression, read but never executed: of Python's syntax only what is listed here has a meaning.

    values       variables and constants of the spec, indexed by element names (quoted if they are no identifiers);
                 integers, true, false, members of the spec's enums (RUNNING, or AppState.RUNNING)
    operators    + - * // %   == != < <= > >= (also in chains)   and or not & | ~   x if c else y
                 in (A, B), in SET, not in
    functions    all any count sum min max (... for a in App), implies(p, q), ite(c, x, y)
    held         len(SET), len(CHANNEL), SET == {}, CHANNEL == []

It is read into the expressions of `model.language`, so every engine can ask it.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from model.errors import QueryError
from model.language import Const, Expr, Ite, Lookup, Machine, Quantified, Read, Sort, SpecError, Symbol, Table
from model.language.expressions import arithmetic, boolean, compare, divide, integer, ite, lift, logic
from model.language.types import BOOL, INT, EnumType, SortType, Type, domain_type
from model.language.variables import Scalar, VariableBase
from model.lowering.grounding import Grounder
from model.query_holders import Holders, is_empty, listed, subscripted

_MOST_CHARACTERS = 10_000
_ARITHMETIC: Final[Mapping[type[ast.AST], str]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_DIVISION: Final[Mapping[type[ast.AST], str]] = {ast.FloorDiv: "//", ast.Mod: "%"}
_LOGIC: Final[Mapping[type[ast.AST], str]] = {ast.BitAnd: "&", ast.BitOr: "|", ast.And: "&", ast.Or: "|"}
_COMPARISON: Final[Mapping[type[ast.AST], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_FOLDS: Final = ("all", "any", "count", "sum", "min", "max")


@dataclass(frozen=True, slots=True)
class Query:
    """An expression over one state. ``elements`` are the raw values of the symbols that stand for named elements."""

    text: str
    expr: Expr
    type: Type
    elements: Mapping[int, int]

    @property
    def condition(self) -> Expr:
        """A boolean query without free symbols: named elements are bound to their only value."""
        symbols = tuple(_only(uid, raw) for uid, raw in self.elements.items())
        return Quantified("any", symbols, self.expr) if symbols else self.expr


def _only(uid: int, raw: int) -> Symbol:
    """The symbol ``uid`` over a domain of one value."""
    symbol = Symbol(f"element{raw}", range(raw, raw + 1))
    symbol.uid = uid
    return symbol


def read_condition(machine: Machine, text: str) -> Query:
    """``text`` as a condition on states. QueryError if it is none."""
    query = read_query(machine, text)
    if query.type != BOOL:
        raise QueryError(f"{text!r} is {query.type}, expected a condition")
    return query


def read_query(machine: Machine, text: str) -> Query:
    """``text`` as an expression over states. QueryError if it is none."""
    return _query(machine, text, parsed(text))


def read_queries(machine: Machine, text: str) -> list[Query]:
    """Expressions with commas between them."""
    tree = parsed(text)
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    if not parts:
        raise QueryError("expected an expression, found nothing")
    return [_query(machine, ast.get_source_segment(text.strip(), part) or text, part) for part in parts]


def parsed(text: str) -> ast.expr:
    """The tree of ``text``, which is not executed. QueryError if it is none."""
    if len(text) > _MOST_CHARACTERS:
        raise QueryError(f"an expression has at most {_MOST_CHARACTERS:,} characters, found {len(text):,}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        where = f" at column {error.offset}" if error.offset else ""
        raise QueryError(f"{text!r} cannot be read: {error.msg}{where}") from None
    except (ValueError, RecursionError, MemoryError):
        raise QueryError(f"{text[:60]!r} cannot be read") from None


def _query(machine: Machine, text: str, tree: ast.expr) -> Query:
    reader = _Reader(machine)
    try:
        expr = reader.settled(reader.read(tree, {}), None)
        Grounder(machine).ground(expr, reader.elements)  # refuses what may leave 64 bits
    except QueryError as error:
        raise QueryError(f"{text!r}: {error}") from None
    except SpecError as error:
        raise QueryError(f"{text!r}: {error.message}") from None
    except RecursionError:
        raise QueryError(f"{text[:60]!r}... nests too deeply") from None
    if isinstance(expr.type, SortType):
        raise QueryError(f"{text!r} is an element; say what about it, as in state[{text}]")
    return Query(text, expr, expr.type, reader.elements)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that may mean an element or a member, or several of them: what stands beside it decides."""

    word: str


_Scope = Mapping[str, Symbol]
_Read = Expr | _Word


class _Reader:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._variables: dict[str, VariableBase | Table[object]] = {v.name: v for v in machine.variables}
        # A field of a record is shown as pod.phase, its variable is pod_phase: both are understood.
        self._variables |= {v.label: v for v in machine.variables}
        self._variables |= {t.name: t for t in machine.tables}
        self._holders = Holders(machine)
        domains = [v.domain for v in machine.variables] + [s.domain for a in machine.actions for s in a.choices]
        kinds = [kind for d in domains if isinstance(kind := domain_type(d), EnumType)]
        self._enums = {kind.cls.__name__: kind for kind in kinds}
        self._sorts = {sort.__name__: sort for sort in machine.sorts}
        self._named: dict[tuple[type[Sort], int], Symbol] = {}
        self.elements: dict[int, int] = {}

    # ---- words whose meaning depends on what they stand beside

    def settled(self, found: _Read, type_: Type | None) -> Expr:
        """``found`` as a value; of several meanings that of ``type_``, or the only one."""
        if isinstance(found, Expr):
            return found
        meanings = self._meanings(found.word)
        of_type = [m for m in meanings if type_ is None or m.type == type_]
        if len(of_type) == 1:
            return of_type[0]
        if len(of_type) > 1:
            raise QueryError(f"{found.word} has several meanings: {', '.join(str(m.type) for m in of_type)}")
        if meanings:
            raise QueryError(f"{found.word} is {meanings[0].type}, expected {type_}")
        raise QueryError(self._unknown(found.word, type_))

    def _meanings(self, word: str) -> list[Expr]:
        members = [Const(k.cls[word]) for k in self._enums.values() if word in k.cls.__members__]
        elements = [
            self._element(sort, declared.names.index(word))
            for sort, declared in self._machine.sorts.items()
            if word in declared.names
        ]
        return [*members, *elements]

    def _element(self, sort: type[Sort], position: int) -> Symbol:
        if (sort, position) not in self._named:
            symbol = Symbol(self._machine.sorts[sort].names[position], sort)
            self._named[sort, position] = symbol
            self.elements[symbol.uid] = position
        return self._named[sort, position]

    def _unknown(self, word: str, type_: Type | None) -> str:
        name = self._machine.name
        if isinstance(type_, SortType):
            return f"no element of {type_.sort.__name__} is named {word}; it has {_few(self._names(type_.sort))}"
        if isinstance(type_, EnumType):
            return f"{type_.cls.__name__} has no member {word}; it has {_few([m.name for m in type_.members])}"
        known = [*self._variables, *(n for s in self._machine.sorts for n in self._names(s))]
        known += [m.name for k in self._enums.values() for m in k.members]
        return f"{name} has nothing named {word}; it has {_few(list(dict.fromkeys(known)))}"

    def _names(self, sort: type[Sort]) -> list[str]:
        return list(self._machine.sorts[sort].names)

    # ---- expressions

    def read(self, node: ast.expr, scope: _Scope) -> _Read:
        """The meaning of ``node``."""
        match node:
            case ast.Constant(value=bool() | int() as value):
                return Const(value)
            case ast.Constant(value=str() as word):
                return _Word(word)
            case ast.Name(id=name):
                return self._name(name, scope)
            case ast.Attribute(value=ast.Name(id=owner), attr=member) if owner in self._enums:
                return self.settled(_Word(member), self._enums[owner])
            case ast.Attribute() if (name := ast.unparse(node)) in self._variables:
                return self._name(name, scope)
            case ast.Subscript(value=ast.Name() | ast.Attribute() as value, slice=index):
                return self._cell(ast.unparse(value), listed(index), scope)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, left, right, scope)
            case ast.BoolOp(op=op, values=values):
                return self._all(_LOGIC[type(op)], [self.value(v, scope) for v in values])
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                return logic("~", self.value(operand, scope))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return arithmetic("-", 0, self.value(operand, scope))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compare(left, ops, others, scope)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                then, otherwise = self._pair(body, orelse, scope)
                return ite(boolean(self.value(test, scope), "if"), then, otherwise)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(name.removesuffix("_"), args, scope)
        raise QueryError(f"{ast.unparse(node)} has no meaning here")

    def value(self, node: ast.expr, scope: _Scope, type_: Type | None = None) -> Expr:
        """The meaning of ``node``, which stands by itself or where ``type_`` is expected."""
        return self.settled(self.read(node, scope), type_)

    def _pair(self, left: ast.expr, right: ast.expr, scope: _Scope) -> tuple[Expr, Expr]:
        """Two expressions that stand beside each other: of a word's meanings that of the other's type."""
        a, b = self.read(left, scope), self.read(right, scope)
        if isinstance(a, Expr):
            return a, self.settled(b, a.type)
        second = self.settled(b, None)
        return self.settled(a, second.type), second

    def _name(self, name: str, scope: _Scope) -> _Read:
        if name in scope:
            return scope[name]
        if name in ("true", "false"):
            return Const(name == "true")
        self._holders.check_use(name)
        variable = self._variables.get(name)
        if isinstance(variable, Scalar):
            return Read(variable, ())
        if variable is not None:
            raise QueryError(f"{name} is indexed by {_sorts(variable.sorts)}; write {name}[...]")
        return _Word(name)

    def _cell(self, name: str, given: list[ast.expr], scope: _Scope) -> Expr:
        self._holders.check_no_channel(name)
        variable = self._variables.get(name)
        if variable is None or isinstance(variable, Scalar):
            known = ", ".join(n for n, v in self._variables.items() if not isinstance(v, Scalar))
            raise QueryError(f"{name} is not indexed; what is indexed is {known or 'nothing'}")
        if len(given) != len(variable.sorts):
            raise QueryError(f"{name} is indexed by {_sorts(variable.sorts)}, found {len(given)} indices")
        found = tuple(self._index(i, sort, scope) for i, sort in zip(given, variable.sorts, strict=True))
        return Lookup(variable, found) if isinstance(variable, Table) else Read(variable, found)

    def _index(self, node: ast.expr, sort: type[Sort], scope: _Scope) -> Expr:
        index = self.value(node, scope, SortType(sort))
        if index.type != SortType(sort) or not isinstance(index, Symbol):
            raise QueryError(f"an index is an element of {sort.__name__}, found {ast.unparse(node)}")
        return index

    def _binary(self, op: ast.operator, left: ast.expr, right: ast.expr, scope: _Scope) -> Expr:
        a, b = self.value(left, scope), self.value(right, scope)
        kind = type(op)
        if kind in _ARITHMETIC:
            return arithmetic(_ARITHMETIC[kind], a, b)
        if kind in _DIVISION:
            return divide(_DIVISION[kind], a, b.raw if isinstance(b, Const) and b.type == INT else ast.unparse(right))
        if kind in _LOGIC:
            return logic(_LOGIC[kind], a, b)
        raise QueryError(f"{ast.unparse(ast.BinOp(left, op, right))} has no meaning here")

    def _compare(self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr], scope: _Scope) -> Expr:
        parts = []
        for op, right in zip(ops, others, strict=True):
            if (empty := self._emptiness(left, op, right, scope)) is not None:
                parts.append(empty)
            elif isinstance(op, (ast.In, ast.NotIn)):
                among = self._member(left, right, scope)
                parts.append(among if isinstance(op, ast.In) else logic("~", among))
            elif type(op) in _COMPARISON:
                parts.append(self._ordered(_COMPARISON[type(op)], *self._pair(left, right, scope)))
            else:
                raise QueryError("'is' has no meaning here; use ==")
            left = right
        return self._all("&", parts)

    def _emptiness(self, left: ast.expr, op: ast.cmpop, right: ast.expr, scope: _Scope) -> Expr | None:
        """``inbox == []``: what is compared with nothing in it is a set or a channel."""
        if is_empty(left) and isinstance(op, (ast.Eq, ast.NotEq)):
            left, right = right, left
        name, given = subscripted(left)
        if not is_empty(right):
            if isinstance(op, (ast.Eq, ast.NotEq)):
                self._holders.check_comparison(name, given, right)
            return None
        if not isinstance(op, (ast.Eq, ast.NotEq)):
            raise QueryError(f"{ast.unparse(right)} is compared by == and !=")
        return compare(_COMPARISON[type(op)], self._size(name, given, scope), 0)

    def _size(self, name: str, given: list[ast.expr], scope: _Scope) -> Expr:
        """How much is in the set or channel ``name``, at ``given`` if there are several."""
        held = self._holders.at(name, given)
        at = [self._index(i, s, scope) for i, s in zip(given, held.over, strict=True)]
        return held.size(tuple(each for each in at if isinstance(each, Symbol)))

    def _member(self, left: ast.expr, right: ast.expr, scope: _Scope) -> Expr:
        """``left in right``: in a list, or in a set, which is a boolean variable with a place for each element."""
        if isinstance(right, (ast.Tuple, ast.List, ast.Set)) and right.elts:
            return self._all("|", [compare("==", *self._pair(left, o, scope)) for o in right.elts])
        array, given = (right.value, listed(right.slice)) if isinstance(right, ast.Subscript) else (right, [])
        self._holders.check_no_channel(ast.unparse(array))
        variable = self._variables.get(ast.unparse(array))
        if isinstance(variable, VariableBase) and variable.sorts and variable.domain is bool:
            return self._cell(ast.unparse(array), [*given, *listed(left)], scope)
        raise QueryError(f"after 'in' stands (A, B, ...) or a set, found {ast.unparse(right)}")

    def _ordered(self, op: str, a: Expr, b: Expr) -> Expr:
        for each in (a, b):
            if op not in ("==", "!=") and isinstance(each.type, SortType):
                if not self._machine.sorts[each.type.sort].ordered:
                    raise QueryError(f"'{op}' compares elements of ordered sorts, {each.type.sort.__name__} is not")
        return compare(op, a, b)

    def _all(self, op: str, parts: list[Expr]) -> Expr:
        """``parts`` under one operator."""
        found = boolean(parts[0], f"'{op}'")
        for part in parts[1:]:
            found = logic(op, found, part)
        return found

    # ---- functions

    def _call(self, name: str, args: list[ast.expr], scope: _Scope) -> Expr:
        if name == "implies" and len(args) == 2:
            return logic("=>", self.value(args[0], scope), self.value(args[1], scope))
        if name == "ite" and len(args) == 3:
            return ite(boolean(self.value(args[0], scope), "ite"), *self._pair(args[1], args[2], scope))
        if name == "len" and len(args) == 1:
            return self._size(*subscripted(args[0]), scope)
        if name in _FOLDS and len(args) == 1 and isinstance(args[0], (ast.GeneratorExp, ast.ListComp)):
            return self._fold(name, args[0], scope)
        takes = ", ".join(f"{f}(... for a in SORT)" for f in _FOLDS)
        raise QueryError(f"{name}(...) has no meaning here; there are {takes}, implies(p, q), ite(c, x, y), len(x)")

    def _fold(self, name: str, generator: ast.GeneratorExp | ast.ListComp, scope: _Scope) -> Expr:
        inner = dict(scope)
        symbols: list[Symbol] = []
        filters: list[Expr] = []
        for each in generator.generators:
            sort = self._sorts.get(each.iter.id) if isinstance(each.iter, ast.Name) else None
            if sort is None or not isinstance(each.target, ast.Name) or each.is_async:
                known = ", ".join(self._sorts) or "none"
                raise QueryError(f"'for a in SORT' ranges over a sort; {self._machine.name} has {known}")
            symbols.append(Symbol(each.target.id, sort))
            inner[each.target.id] = symbols[-1]
            filters += [boolean(self.value(f, inner), "a filter") for f in each.ifs]
        body = self.value(generator.elt, inner)
        for condition in reversed(filters):
            body = _filtered(name, condition, body)
        wanted: Callable[[object, str], Expr] = boolean if name in ("all", "any", "count") else integer
        return Quantified(name, tuple(symbols), wanted(body, name))


def _filtered(name: str, condition: Expr, body: Expr) -> Expr:
    match name:
        case "all":
            return logic("=>", condition, body)
        case "any" | "count":
            return logic("&", condition, body)
        case "sum":
            return Ite(condition, integer(body, name), lift(0))
    raise QueryError(f"{name} takes no filter; it would have no value where nothing passes")


def _sorts(sorts: tuple[type[Sort], ...]) -> str:
    return f"[{', '.join(s.__name__ for s in sorts)}]"


def _few(names: list[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def member(machine: Machine, query: Query, raw: int) -> int | bool | str:
    """The value ``raw`` of ``query`` in the spec's words."""
    if isinstance(query.type, EnumType):
        found: enum.Enum = query.type.members[raw]
        return found.name
    return bool(raw) if query.type == BOOL else raw


__all__ = ["Query", "QueryError", "member", "parsed", "read_condition", "read_queries", "read_query"]
