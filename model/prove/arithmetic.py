"""The arithmetic that formulas are written in: machine words, which solvers decide by far the fastest.

They are wide enough for every expression of the machine, so nothing overflows: the lowering knows the least and the
greatest value of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import z3

from model.lowering.ground import Node

LOGIC = "QF_BV"
"""What SMT-LIB calls it, without quantifiers."""

Formula: TypeAlias = Any
"""A term or a formula of z3, which ships no types."""


class Words:
    """Two's complement words of ``width`` bits. ``+ - * < <= ==`` of z3 mean what they mean of integers."""

    def __init__(self, width: int) -> None:
        self.width = width

    def variable(self, name: str) -> Formula:
        """An unknown word."""
        return z3.BitVec(name, self.width)

    def constant(self, value: int) -> Formula:
        """``value``, which fits."""
        return z3.BitVecVal(value, self.width)

    def quotient(self, a: Formula, by: int) -> Formula:
        """``a // by``, rounded down; z3 rounds to zero, which is the same where nothing remains."""
        return (a - self.remainder(a, by)) / self.constant(by)

    def remainder(self, a: Formula, by: int) -> Formula:
        """``a - (a // by) * by``: z3's has the sign of the divisor, which is positive."""
        return a % self.constant(by)


class Integers:
    """Integers, in place of `Words`: for engines that reason about inequalities."""

    def variable(self, name: str) -> Formula:
        """An unknown integer."""
        return z3.Int(name)

    def constant(self, value: int) -> Formula:
        """``value``."""
        return z3.IntVal(value)

    def quotient(self, a: Formula, by: int) -> Formula:
        """``a // by``; of a positive divisor z3 rounds down as well."""
        return a / self.constant(by)

    def remainder(self, a: Formula, by: int) -> Formula:
        """``a - (a // by) * by``."""
        return a % self.constant(by)


def every(parts: Sequence[Formula]) -> Formula:
    """All of ``parts``. z3 takes a conjunction of nothing for something unknown."""
    return z3.And(parts) if parts else z3.BoolVal(True)


def some(parts: Sequence[Formula]) -> Formula:
    """One of ``parts``, at least."""
    return z3.Or(parts) if parts else z3.BoolVal(False)


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


__all__ = ["LOGIC", "Formula", "Integers", "Words", "every", "some", "words_for"]
