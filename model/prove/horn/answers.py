"""What Spacer answers, as ground expressions over the cells of a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

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


class _Reader:
    def __init__(self, program: Program) -> None:
        self._graph: Final = program.graph
        machine = program.machine
        domains = [c.variable.domain for c in machine.cells()]
        self._cells: Final = [program.graph.cell(n, machine.values(d), d is bool) for n, d in enumerate(domains)]

    def truth(self, e: Formula) -> Node:
        """A formula."""
        graph = self._graph
        if z3.is_var(e):
            return self._cells[z3.get_var_index(e)]
        match e.decl().kind():
            case z3.Z3_OP_TRUE:
                return graph.true
            case z3.Z3_OP_FALSE:
                return graph.false
            case z3.Z3_OP_AND:
                return graph.both(_flat("and", list(map(self.truth, e.children()))))
            case z3.Z3_OP_OR:
                return graph.either(_flat("or", list(map(self.truth, e.children()))))
            case z3.Z3_OP_NOT:
                return graph.no(self.truth(e.arg(0)))
            case z3.Z3_OP_IMPLIES:
                return graph.either([graph.no(self.truth(e.arg(0))), self.truth(e.arg(1))])
            case z3.Z3_OP_ITE:
                return graph.ite(*map(self.truth, e.children()))
            case z3.Z3_OP_EQ | z3.Z3_OP_IFF if z3.is_bool(e.arg(0)):
                return graph.equal(*map(self.truth, e.children()))
            case z3.Z3_OP_EQ:
                return self._compared(e, graph.equal)
            case z3.Z3_OP_LT:
                return self._compared(e, graph.less)
            case z3.Z3_OP_GT:
                return self._compared(e, lambda a, b: graph.less(b, a))
            case z3.Z3_OP_LE:
                return self._compared(e, lambda a, b: graph.no(graph.less(b, a)))
            case z3.Z3_OP_GE:
                return self._compared(e, lambda a, b: graph.no(graph.less(a, b)))
        raise OutOfTime(f"Spacer's invariant has {e.decl().name()}, which is not understood")

    def _compared(self, e: Formula, how: Callable[[Node, Node], Node]) -> Node:
        """What is subtracted on one side is added on the other."""
        sums: dict[int, tuple[Node, int]] = {}
        constant = self._add(e.arg(0), 1, sums) + self._add(e.arg(1), -1, sums)
        graph = self._graph
        left = [graph.mul(node, graph.const(by)) for node, by in sums.values() if by > 0]
        right = [graph.mul(node, graph.const(-by)) for node, by in sums.values() if by < 0]
        if constant > 0 and left:
            left.append(graph.const(constant))
        elif constant:
            right.append(graph.const(-constant))
        zero = [graph.const(0)]
        return how(graph.fold(graph.add, left or zero), graph.fold(graph.add, right or zero))

    def _add(self, e: Formula, by: int, sums: dict[int, tuple[Node, int]]) -> int:
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
            return self._cells[z3.get_var_index(e)]
        match e.decl().kind():
            case z3.Z3_OP_ITE:
                return graph.ite(self.truth(e.arg(0)), self._whole(e.arg(1)), self._whole(e.arg(2)))
            case z3.Z3_OP_MOD if z3.is_int_value(e.arg(1)):
                return graph.mod(self._whole(e.arg(0)), int(e.arg(1).as_long()))
            case z3.Z3_OP_IDIV if z3.is_int_value(e.arg(1)):
                return graph.div(self._whole(e.arg(0)), int(e.arg(1).as_long()))
        raise OutOfTime(f"Spacer's invariant has {e.decl().name()}, which is not understood")

    def _whole(self, e: Formula) -> Node:
        sums: dict[int, tuple[Node, int]] = {}
        graph = self._graph
        constant = graph.const(self._add(e, 1, sums))
        return graph.fold(graph.add, [*(graph.mul(node, graph.const(by)) for node, by in sums.values()), constant])


def _flat(op: str, parts: list[Node]) -> list[Node]:
    return [x for part in parts for x in (part.args if part.op == op else (part,))]


__all__ = ["clause_of", "nodes_of"]
