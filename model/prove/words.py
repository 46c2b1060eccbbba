"""Ground expressions in the words of the spec, as lemmas are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from model.language import Machine, Sort
from model.language.types import EnumType, SortType, domain_type
from model.lowering.ground import Node

if TYPE_CHECKING:
    from model.prove.strengthen.schema import Schema

_INFIX = {"+": "+", "-": "-", "*": "*", "==": "==", "same": "==", "<": "<", "and": "&", "or": "|"}
_NEGATED = {"==": "!=", "same": "!=", "<": ">="}


class Words:
    """Writes expressions over the cells of ``machine``."""

    def __init__(self, machine: Machine, names: Mapping[tuple[type[Sort], int], str] | None = None) -> None:
        """``names``: elements that are called otherwise than in ``machine``."""
        self._machine: Final = machine
        self._cells: Final = machine.cells()
        self._names: Final = names or {}

    def lemma(self, clauses: Sequence[tuple[Node, ...]], schema: Schema | None) -> str:
        """Its only clause, or what it says of all elements."""
        if schema is None:
            return self.clause(clauses[0])
        return f"{schema.of_all}: {Words(self._machine, schema.names).clause(schema.clause)}"

    def cell(self, number: int) -> str:
        """``reals[a, node1]``."""
        variable, indices = self._cells[number].variable, self._cells[number].indices
        names = [
            self._names.get((sort, i), self._machine.sorts[sort].names[i])
            for sort, i in zip(variable.sorts, indices, strict=True)
        ]
        return f"{variable.label}[{', '.join(names)}]" if names else variable.label

    def clause(self, literals: tuple[Node, ...]) -> str:
        """``state[app1] == RUNNING | reals[app1, node1] == 0``."""
        return " | ".join(self.of(each) for each in literals)

    def of(self, node: Node) -> str:
        """``node`` as a spec would have it."""
        match node.op:
            case "const":
                return ("false", "true")[node.value] if node.boolean else str(node.value)
            case "cell":
                return self.cell(node.value)
            case "next":
                return f"after({self.cell(node.value)})"
            case "not":
                return self._not(node.args[0])
            case "int":
                return f"({self.of(node.args[0])} ? 1 : 0)"
            case "ite":
                condition, then, otherwise = map(self.of, node.args)
                return f"({condition} ? {then} : {otherwise})"
            case "//" | "%":
                return f"({self.of(node.args[0])} {node.op} {node.value})"
            case "min" | "max":
                return f"{node.op}({', '.join(map(self.of, node.args))})"
        return self._infix(node, _INFIX[node.op])

    def _not(self, node: Node) -> str:
        if node.op in _NEGATED:
            return self._infix(node, _NEGATED[node.op])
        return f"~{self._inside(node)}"

    def _infix(self, node: Node, sign: str) -> str:
        name = self._named(node)
        if name is not None:
            return f"{self.of(node.args[0])} {sign} {name(node.args[1].value)}"
        last = node.args[-1]
        # Integers: x < 3 reads better as x <= 2 where it says "not more than 2", which is what bounds are.
        if sign in ("<", ">=") and last.op == "const":
            sign, bound = ("<=", last.value - 1) if sign == "<" else (">=", last.value)
            return f"{self._inside(node.args[0])} {sign} {bound}"
        return f" {sign} ".join(map(self._inside, node.args))

    def _inside(self, node: Node) -> str:
        text = self.of(node)
        plain = node.op in ("const", "cell", "next", "int", "ite", "//", "%", "min", "max") or (
            node.op == "not" and node.args[0].op not in _NEGATED
        )
        return text if plain or node.op == "+" else f"({text})"

    def _named(self, node: Node) -> Callable[[int], str] | None:
        """How a constant is shown beside a cell that has members of an enum or elements of a sort."""
        if node.op != "==" or node.args[0].op not in ("cell", "next") or node.args[1].op != "const":
            return None
        domain = self._cells[node.args[0].value].variable.domain
        if not isinstance(domain_type(domain), (EnumType, SortType)):
            return None
        return lambda raw: self._machine.show(domain, raw)


def atoms_of(literals: tuple[Node, ...]) -> int:
    """How many comparisons, and boolean cells, a clause has."""
    return sum(map(_atoms, literals))


def _atoms(node: Node) -> int:
    if node.op in ("and", "or", "not") or (node.op in ("same", "ite") and node.boolean):
        return sum(map(_atoms, node.args))
    return 1


__all__ = ["Words", "atoms_of"]
