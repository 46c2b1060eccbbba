"""The arithmetic that formulas are written in: machine words, which solvers decide by far the fastest.

They are wide enough for every expression of the machine, so nothing overflows: the lowering knows the least and the
greatest value of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import z3

from model.lowering.ground import Node

LOGIC = "QF_BV"
"""What SMT-LIB calls it, without quantifiers."""

Formula: TypeAlias = Any
"""A term or a formula of z3, which ships no types."""


class Terms:
    """Formulas in a context of their own. z3 numbers terms in the order in which a context comes to have them, and what
    it answers depends on the numbers: in the context that all share it would depend on what was asked before."""

    def __init__(self) -> None:
        self.context: Final = z3.Context()

    def truth(self, value: bool) -> Formula:
        """``value``."""
        return z3.BoolVal(value, self.context)

    def condition(self, name: str) -> Formula:
        """An unknown truth value."""
        return z3.Bool(name, self.context)

    def every(self, parts: Sequence[Formula]) -> Formula:
        """All of ``parts``. z3 takes a conjunction of nothing for something unknown."""
        return z3.And(parts) if parts else self.truth(True)

    def some(self, parts: Sequence[Formula]) -> Formula:
        """One of ``parts``, at least."""
        return z3.Or(parts) if parts else self.truth(False)

    def solver(self, logic: str | None = None) -> z3.Solver:
        """A new one, for formulas of ``logic``, or of any."""
        return z3.Solver(ctx=self.context) if logic is None else z3.SolverFor(logic, self.context)


class Words(Terms):
    """Two's complement words of ``width`` bits. ``+ - * < <= ==`` of z3 mean what they mean of integers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width: Final = width

    def variable(self, name: str) -> Formula:
        """An unknown word."""
        return z3.BitVec(name, self.width, self.context)

    def constant(self, value: int) -> Formula:
        """``value``, which fits."""
        return z3.BitVecVal(value, self.width, self.context)

    def quotient(self, a: Formula, by: int) -> Formula:
        """``a // by``, rounded down; z3 rounds to zero, which is the same where nothing remains."""
        return (a - self.remainder(a, by)) / self.constant(by)

    def remainder(self, a: Formula, by: int) -> Formula:
        """``a - (a // by) * by``: z3's has the sign of the divisor, which is positive."""
        return a % self.constant(by)


class Integers(Terms):
    """Integers, in place of `Words`: for engines that reason about inequalities."""

    def variable(self, name: str) -> Formula:
        """An unknown integer."""
        return z3.Int(name, self.context)

    def constant(self, value: int) -> Formula:
        """``value``."""
        return z3.IntVal(value, self.context)

    def quotient(self, a: Formula, by: int) -> Formula:
        """``a // by``; of a positive divisor z3 rounds down as well."""
        return a / self.constant(by)

    def remainder(self, a: Formula, by: int) -> Formula:
        """``a - (a // by) * by``."""
        return a % self.constant(by)


def words_for(nodes: Iterable[Node], domains: Iterable[range] = ()) -> Words:
    """Words in which every value fits that one of ``nodes`` can take, or that is in one of ``domains``: of cells that
    nothing reads."""
    low, high = 0, 0
    for domain in domains:
        low, high = min(low, domain.start), max(high, domain.stop - 1)
    for node in nodes:
        low, high = min(low, node.low), max(high, node.high)
        if node.op in ("//", "%"):
            low, high = min(low, node.args[0].low - node.value), max(high, node.value)
    return Words(max((-low - 1).bit_length() if low < 0 else 0, high.bit_length()) + 1)


__all__ = ["LOGIC", "Formula", "Integers", "Terms", "Words", "words_for"]
