"""How cells, their values and steps are called in a certificate: as in the spec."""

from __future__ import annotations

from typing import Final

from model.language import Machine
from model.language.types import Domain, EnumType, SortType, domain_type
from model.prove.certificate.syntax import SExpr, number, symbol

_TAKEN = {"abs", "distinct", "div", "exists", "forall", "ite", "let", "match", "mod", "par", "true", "false", "xor"}
"""What means something in SMT-LIB, and could be a variable's name."""


class CellNames:
    """Of one machine. A state has a number: 0 is written plainly, the states after it with as many primes."""

    def __init__(self, machine: Machine) -> None:
        self.machine: Final = machine
        self.cells: Final = machine.cells()
        self.shown: Final = [machine.show_cell(c) for c in self.cells]
        self._symbols: Final = [f"cell {shown}" if shown in _TAKEN else shown for shown in self.shown]
        self.boolean: Final = [c.variable.domain is bool for c in self.cells]
        self.values: Final = [machine.values(c.variable.domain) for c in self.cells]
        self.constants: Final[dict[str, int]] = {}
        """Names of values, and what they stand for."""
        twice = set()
        for cell in self.cells:
            for value in machine.values(cell.variable.domain):
                name = self._constant(cell.variable.domain, value)
                if name is None:
                    break
                if self.constants.setdefault(name, value) != value:
                    twice.add(name)
        for name in twice:  # two classes of one name: their members stay numbers
            self.constants.pop(name)

    def cell(self, index: int, state: int) -> str:
        """The symbol of a cell in a state."""
        return symbol(self._symbols[index] + "'" * state)

    def sort(self, index: int) -> str:
        """Bool or Int."""
        return "Bool" if self.boolean[index] else "Int"

    def value(self, index: int, raw: int) -> SExpr:
        """``raw`` as a value of the cell with this index."""
        domain = self.cells[index].variable.domain
        if domain is bool:
            return ("false", "true")[raw]
        name = self._constant(domain, raw)
        return symbol(name) if name in self.constants else number(raw)

    def _constant(self, domain: Domain, raw: int) -> str | None:
        kind = domain_type(domain)
        if isinstance(kind, EnumType):
            return f"{kind.cls.__name__}.{kind.members[raw].name}"
        return (
            f"{kind.sort.__name__}.{self.machine.sorts[kind.sort].names[raw]}" if isinstance(kind, SortType) else None
        )

    def is_in_domain(self, index: int, value: SExpr) -> SExpr:
        """The number ``value`` is in the domain of the cell with this index."""
        values = self.values[index]
        return ("<=", number(values.start), value, number(values.stop - 1))


__all__ = ["CellNames"]
