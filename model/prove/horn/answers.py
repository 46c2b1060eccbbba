"""What Spacer answers, as ground expressions over the cells of a state."""

from __future__ import annotations

from typing import Final, TypeAlias

import z3

from model.lowering.ground import Graph, Node
from model.lowering.lower import Program
from model.prove.arithmetic import Formula
from model.prove.solving import OutOfTime


def nodes_of(program: Program, answer: Formula) -> list[Node]:
    """The conjuncts of ``answer``, whose variables are numbered like cells. OutOfTime if it has what the language has
    not."""
    found = _Reader(program).truth(answer)
    if found is program.graph.true:
        return []
    return list(found.args) if found.op == "and" else [found]


def clause_of(graph: Graph, node: Node) -> tuple[Node, ...]:
    """``node`` as literals of which one holds."""
    if node.op == "or":
        return node.args
    inner = node.args[0] if node.op == "not" else node
    return tuple(map(graph.no, inner.args)) if inner is not node and inner.op == "and" else (node,)


_ORDERS = (z3.Z3_OP_LT, z3.Z3_OP_LE, z3.Z3_OP_GT, z3.Z3_OP_GE)
Sums: TypeAlias = dict[int, tuple[Node, int]]
"""Numbers with their factors, by the number of the node."""


class _Reader:
    def __init__(self, program: Program) -> None:
        self._graph: Final = program.graph
        machine = program.machine
        domains = [c.variable.domain for c in machine.cells()]
        self._named: Final = {
            n: machine.values(d) for n, d in enumerate(domains) if d is not bool and not isinstance(d, range)
        }
        self._cells: Final = [program.graph.cell(n, machine.values(d), d is bool) for n, d in enumerate(domains)]

    def truth(self, e: Formula) -> Node:
        """A formula."""
        graph = self._graph
        if z3.is_var(e):
            return self._cells[int(z3.get_var_index(e))]
        match e.decl().kind():
            case z3.Z3_OP_TRUE:
                return graph.true
            case z3.Z3_OP_FALSE:
                return graph.false
            case z3.Z3_OP_AND:
                return graph.both(_flat("and", list(map(self.truth, e.children()))))
            case z3.Z3_OP_OR:
                return graph.either(_flat("or", list(map(self.truth, e.children()))))
            case z3.Z3_OP_NOT if not z3.is_var(e.arg(0)) and e.arg(0).decl().kind() in _ORDERS:
                sums, constant = self._ordered(e.arg(0))
                return self._at_most(_minus(sums), 1 - constant)
            case z3.Z3_OP_NOT:
                return graph.no(self.truth(e.arg(0)))
            case z3.Z3_OP_IMPLIES:
                return graph.either([graph.no(self.truth(e.arg(0))), self.truth(e.arg(1))])
            case z3.Z3_OP_ITE:
                return graph.ite(*map(self.truth, e.children()))
            case z3.Z3_OP_EQ | z3.Z3_OP_IFF if z3.is_bool(e.arg(0)):
                return graph.equal(*map(self.truth, e.children()))
            case z3.Z3_OP_EQ:
                return self._equal(*self._difference(e))
            case kind if kind in _ORDERS:
                return self._at_most(*self._ordered(e))
        raise OutOfTime(f"Spacer's invariant has {e.decl().name()}, which is not understood")

    def _difference(self, e: Formula) -> tuple[Sums, int]:
        """The left side of a comparison, less the right side."""
        sums: Sums = {}
        constant = self._add(e.arg(0), 1, sums) + self._add(e.arg(1), -1, sums)
        return {number: sums[number] for number in sorted(sums) if sums[number][1]}, constant

    def _ordered(self, e: Formula) -> tuple[Sums, int]:
        """What is not more than 0 where the inequality ``e`` holds."""
        sums, constant = self._difference(e)
        kind = e.decl().kind()
        if kind in (z3.Z3_OP_GT, z3.Z3_OP_GE):
            sums, constant = _minus(sums), -constant
        return sums, constant + (kind in (z3.Z3_OP_LT, z3.Z3_OP_GT))

    def _equal(self, sums: Sums, constant: int) -> Node:
        """``sums`` with ``constant`` is 0."""
        graph = self._graph
        left, right = self._sum(sums) or graph.const(0), self._sum(_minus(sums)) or graph.const(0)
        return graph.equal(
            graph.add(left, graph.const(max(constant, 0))), graph.add(right, graph.const(max(-constant, 0)))
        )

    def _at_most(self, sums: Sums, constant: int) -> Node:
        """``sums`` with ``constant`` is not more than 0: what is subtracted stands on the other side."""
        graph = self._graph
        if len(sums) == 1:
            [(cell, by)] = sums.values()
            if cell.op == "cell" and cell.value in self._named:
                # Members have no order in a spec: those that are meant are listed.
                fitting = [v for v in self._named[cell.value] if by * v + constant <= 0]
                return graph.either([graph.equal(cell, graph.const(v)) for v in fitting])
        left, right = self._sum(sums), self._sum(_minus(sums))
        if left is None or right is None:
            if right is None:
                return graph.less(left or graph.const(0), graph.const(1 - constant))
            return graph.no(graph.less(right, graph.const(constant)))
        if constant > 0:
            return graph.less(graph.add(left, graph.const(constant - 1)), right)
        return graph.no(graph.less(graph.add(right, graph.const(-constant)), left))

    def _sum(self, sums: Sums) -> Node | None:
        """What is added in ``sums``; None if nothing is."""
        graph = self._graph
        added = [graph.mul(node, graph.const(by)) for node, by in sums.values() if by > 0]
        return graph.fold(graph.add, added) if added else None

    def _add(self, e: Formula, by: int, sums: Sums) -> int:
        """Add ``by`` times ``e`` to ``sums``; the constant part is returned."""
        if z3.is_int_value(e):
            return int(e.as_long()) * by
        if not z3.is_var(e):
            match e.decl().kind():
                case z3.Z3_OP_ADD:
                    return sum(self._add(each, by, sums) for each in e.children())
                case z3.Z3_OP_SUB:
                    first, *others = e.children()
                    return self._add(first, by, sums) + sum(self._add(each, -by, sums) for each in others)
                case z3.Z3_OP_UMINUS:
                    return self._add(e.arg(0), -by, sums)
                case z3.Z3_OP_MUL if z3.is_int_value(e.arg(0)) and e.num_args() == 2:
                    return self._add(e.arg(1), by * int(e.arg(0).as_long()), sums)
        node = self._number(e)
        if node.op == "const":
            return node.value * by
        sums[node.number] = (node, by + sums.get(node.number, (node, 0))[1])
        return 0

    def _number(self, e: Formula) -> Node:
        graph = self._graph
        if z3.is_var(e):
            return self._cells[int(z3.get_var_index(e))]
        match e.decl().kind():
            case z3.Z3_OP_ITE:
                return graph.ite(self.truth(e.arg(0)), self._whole(e.arg(1)), self._whole(e.arg(2)))
            case z3.Z3_OP_MOD if z3.is_int_value(e.arg(1)):
                return graph.mod(self._whole(e.arg(0)), int(e.arg(1).as_long()))
            case z3.Z3_OP_IDIV if z3.is_int_value(e.arg(1)):
                return graph.div(self._whole(e.arg(0)), int(e.arg(1).as_long()))
        raise OutOfTime(f"Spacer's invariant has {e.decl().name()}, which is not understood")

    def _whole(self, e: Formula) -> Node:
        sums: Sums = {}
        graph = self._graph
        constant = graph.const(self._add(e, 1, sums))
        return graph.fold(graph.add, [*(graph.mul(node, graph.const(by)) for node, by in sums.values()), constant])


def _minus(sums: Sums) -> Sums:
    return {number: (node, -by) for number, (node, by) in sums.items()}


def _flat(op: str, parts: list[Node]) -> list[Node]:
    return [x for part in parts for x in (part.args if part.op == op else (part,))]


__all__ = ["clause_of", "nodes_of"]
