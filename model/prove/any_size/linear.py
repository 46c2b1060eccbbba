"""Integers as linear combinations: of reads, sums, and of whatever else is not linear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from model.language import Const, Expr, Op
from model.prove.any_size.terms import ONE, ZERO, key_of, minus, plus, times


@dataclass(slots=True)
class Linear:
    """``constant`` plus each atom times its coefficient."""

    constant: int = 0
    parts: dict[str, tuple[int, Expr]] = field(default_factory=dict)

    def add(self, coefficient: int, atom: Expr) -> None:
        """Add so many times ``atom``."""
        key = key_of(atom)
        before = self.parts.pop(key, (0, atom))[0]
        if before + coefficient:
            self.parts[key] = (before + coefficient, atom)

    def __iter__(self) -> Iterator[tuple[int, Expr]]:
        """Coefficients and atoms; the constant comes last, as that many ones."""
        yield from self.parts.values()
        if self.constant:
            yield self.constant, ONE

    def expr(self) -> Expr:
        """The combination as an expression."""
        found: Expr = ZERO
        for coefficient, atom in self.parts.values():
            found = (
                minus(found, times(-coefficient, atom)) if coefficient < 0 else plus(found, times(coefficient, atom))
            )
        if self.constant < 0:
            return minus(found, Const(-self.constant))
        return plus(found, Const(self.constant))


def linear(expr: Expr) -> Linear:
    """``expr`` as a linear combination."""
    found = Linear()
    todo = [(1, expr)]
    while todo:
        factor, each = todo.pop()
        match each:
            case Const(raw=raw):
                found.constant += factor * raw
            case Op(op="+", args=(left, right)):
                todo += [(factor, right), (factor, left)]
            case Op(op="-", args=(left, right)):
                todo += [(-factor, right), (factor, left)]
            case Op(op="*", args=(Const(raw=raw), other)) | Op(op="*", args=(other, Const(raw=raw))):
                todo.append((factor * raw, other))
            case _:
                found.add(factor, each)
    return found


__all__ = ["Linear", "linear"]
