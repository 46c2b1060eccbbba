"""From a spec's expressions to ground ones: quantifiers are unrolled over the concrete elements, symbols replaced."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from model.language import After, Const, Expr, Ite, Lookup, Machine, Op, Quantified, Read, SpecError, Symbol
from model.language.types import BOOL
from model.language.walking import children, operands
from model.lowering.ground import Graph, Node

Environment = Mapping[int, int]


class Grounder:
    """Lowers expressions of one machine into one `Graph`, a new one or one that has others already."""

    def __init__(self, machine: Machine, graph: Graph | None = None) -> None:
        self.machine = machine
        self.graph = graph if graph is not None else Graph()
        self.cells = machine.cells()
        self.index = {(c.variable.name, c.indices): i for i, c in enumerate(self.cells)}
        # The expression is kept with its answer: an id is only unique among objects that live.
        self._free: dict[int, tuple[Expr, tuple[int, ...]]] = {}
        self._done: dict[tuple[int, tuple[int, ...], bool], Node] = {}

    def ground(self, expr: Expr, env: Environment, after: bool = False) -> Node:
        """``expr`` with the symbols' raw values in ``env`` (by uid); ``after``: read in the state after the step."""
        key = (id(expr), tuple(env[uid] for uid in self.free(expr)), after)
        found = self._done.get(key)
        if found is None:
            found = self._build(expr, env, after)
            self._done[key] = found
        return found

    def free(self, expr: Expr) -> tuple[int, ...]:
        """The uids of the symbols that ``expr`` depends on."""
        known = self._free.get(id(expr))
        if known is None:
            own = {expr.uid} if isinstance(expr, Symbol) else set()
            for child in children(expr):
                own.update(self.free(child))
            if isinstance(expr, Quantified):
                own.difference_update(s.uid for s in expr.symbols)
            known = (expr, tuple(sorted(own)))
            self._free[id(expr)] = known
        return known[1]

    def bindings(self, symbols: tuple[Symbol, ...], env: Environment) -> Iterator[Environment]:
        """``env`` extended by every combination of values of ``symbols``."""
        for values in itertools.product(*(self.machine.values(s.domain) for s in symbols)):
            yield {**env, **{s.uid: v for s, v in zip(symbols, values, strict=True)}}

    def read(self, cell: int, after: bool = False) -> Node:
        """The value of cell number ``cell``."""
        domain = self.cells[cell].variable.domain
        return self.graph.cell(cell, self.machine.values(domain), domain is bool, after)

    def position(self, indices: tuple[Expr, ...], env: Environment) -> tuple[int, ...]:
        """Concrete element positions: a variable is indexed by symbols only."""
        return tuple(env[i.uid] if isinstance(i, Symbol) else self._position(i) for i in indices)

    def _position(self, index: Expr) -> int:
        raise SpecError(f"an index is an element, found {index!r}", index.at)

    def _build(self, expr: Expr, env: Environment, after: bool) -> Node:
        graph = self.graph
        match expr:
            case Const(raw=raw):
                return graph.truth(bool(raw)) if expr.type == BOOL else graph.const(raw)
            case Symbol(uid=uid):
                return graph.truth(bool(env[uid])) if expr.type == BOOL else graph.const(env[uid])
            case Read(variable=variable, indices=indices):
                return self.read(self.index[variable.name, self.position(indices, env)], after)
            case Lookup(table=table, indices=indices):
                return graph.const(table.values[self.position(indices, env)])
            case After(body=body):
                return self.ground(body, env, True)
            case Ite(condition=c, then=t, otherwise=e):
                parts = [self.ground(x, env, after) for x in (c, t, e)]
                graph.at = expr.at
                return graph.ite(*parts)
            case Op(op="&" | "|" as op):
                parts = [self.ground(x, env, after) for x in operands(expr, op)]
                return graph.both(parts) if op == "&" else graph.either(parts)
            case Op(op=op, args=args):
                parts = [self.ground(x, env, after) for x in args]
                graph.at = expr.at
                return self._apply(op, parts)
            case Quantified(kind=kind, symbols=symbols, body=body):
                parts = [self.ground(body, inner, after) for inner in self.bindings(symbols, env)]
                graph.at = expr.at
                return self._fold(kind, parts)
        raise TypeError(f"not an expression: {expr!r}")

    def _apply(self, op: str, x: list[Node]) -> Node:
        graph = self.graph
        match op:
            case "+":
                return graph.add(*x)
            case "-":
                return graph.sub(*x)
            case "*":
                return graph.mul(*x)
            case "//":
                return graph.div(x[0], x[1].value)
            case "%":
                return graph.mod(x[0], x[1].value)
            case "==":
                return graph.equal(*x)
            case "!=":
                return graph.no(graph.equal(*x))
            case "<":
                return graph.less(*x)
            case "<=":
                return graph.no(graph.less(x[1], x[0]))
            case ">":
                return graph.less(x[1], x[0])
            case ">=":
                return graph.no(graph.less(*x))
            case "=>":
                return graph.either([graph.no(x[0]), x[1]])
            case "~":
                return graph.no(x[0])
        raise ValueError(f"unknown operator {op!r}")

    def _fold(self, kind: str, parts: list[Node]) -> Node:
        graph = self.graph
        match kind:
            case "all":
                return graph.both(parts)
            case "any":
                return graph.either(parts)
            case "sum":
                return graph.fold(graph.add, parts)
            case "count":
                return graph.fold(graph.add, [graph.integer(p) for p in parts])
            case "min":
                return graph.fold(graph.least, parts)
            case "max":
                return graph.fold(graph.greatest, parts)
        raise ValueError(f"unknown quantifier {kind!r}")


__all__ = ["Environment", "Grounder"]
