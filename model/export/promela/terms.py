"""Expressions of Promela without quantifiers: text, folded as far as constants decide, with bounds of its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_ATOM: Final = 20
_LEVELS: Final = {"||": 1, "&&": 2, "==": 6, "!=": 6, "<": 7, "<=": 7, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
_NOT: Final = 3  # so that a sum of truth values has it in parentheses


@dataclass(frozen=True, slots=True)
class Term:
    """``level`` says how tightly ``text`` binds; ``low`` and ``high`` bound the value, truth being 0 and 1.

    ``cells`` are the numbers of the cells that it reads.
    """

    text: str
    level: int
    low: int
    high: int
    cells: frozenset[int] = frozenset()

    @property
    def constant(self) -> int | None:
        """The value, if it has only one."""
        return self.low if self.low == self.high else None

    def inside(self, level: int) -> str:
        """The text, in parentheses where what stands around it binds as tightly."""
        return self.text if self.level > level else f"({self.text})"


def number(value: int, text: str | None = None) -> Term:
    """A constant, which ``text`` may name."""
    shown = str(value) if text is None else text
    return Term(shown, _ATOM if value >= 0 or text is not None else 12, value, value)


def truth(value: bool) -> Term:
    """TRUE or FALSE."""
    return Term("true" if value else "false", _ATOM, int(value), int(value))


def cell(text: str, position: int, low: int, high: int) -> Term:
    """A cell of the state; what can have one value only is read all the same."""
    return Term(text, _ATOM, low, high, frozenset({position}))


def variable(text: str, low: int, high: int) -> Term:
    """Something that is no cell."""
    return Term(text, _ATOM, low, high)


def _binary(sign: str, a: Term, b: Term, low: int, high: int) -> Term:
    level = _LEVELS[sign]
    # Sums group as they are written.
    left = a.text if a.level >= level and sign in ("+", "-", "*") else a.inside(level)
    right = b.text if b.level >= level and sign == "+" else b.inside(level)
    return Term(f"{left} {sign} {right}", level, low, high, a.cells | b.cells)


def add(a: Term, b: Term) -> Term:
    """``a + b``."""
    if a.constant is not None and b.constant is not None:
        return number(a.low + b.low)
    if b.constant == 0:
        return a
    if a.constant == 0:
        return b
    if b.constant is not None and b.low < 0:
        return _binary("-", a, number(-b.low), a.low + b.low, a.high + b.low)
    return _binary("+", a, b, a.low + b.low, a.high + b.high)


def subtract(a: Term, b: Term) -> Term:
    """``a - b``."""
    if b.constant is not None:
        return add(a, number(-b.low))
    return _binary("-", a, b, a.low - b.high, a.high - b.low)


def multiply(a: Term, b: Term) -> Term:
    """``a * b``."""
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    if min(corners) == max(corners):
        return number(corners[0])
    if a.constant == 1:
        return b
    return a if b.constant == 1 else _binary("*", a, b, min(corners), max(corners))


def divide(a: Term, by: int) -> Term:
    """``a // by``, rounded down; C rounds to zero."""
    low, high = a.low // by, a.high // by
    if low == high:
        return number(low)
    if a.low >= 0:
        return _binary("/", a, number(by), low, high)
    rest = modulo(a, by)
    return _binary("/", subtract(a, rest), number(by), low, high)


def modulo(a: Term, by: int) -> Term:
    """``a % by``, never negative."""
    if a.low // by == a.high // by:
        return subtract(a, number(a.low // by * by))
    rest = _binary("%", a, number(by), 0 if a.low >= 0 else 1 - by, by - 1)
    return rest if a.low >= 0 else _binary("%", add(rest, number(by)), number(by), 0, by - 1)


def least(a: Term, b: Term) -> Term:
    """The smaller of two."""
    return choice(at_most(a, b), a, b)


def greatest(a: Term, b: Term) -> Term:
    """The larger of two."""
    return choice(at_most(a, b), b, a)


def choice(condition: Term, then: Term, otherwise: Term) -> Term:
    """``then`` where ``condition`` holds, else ``otherwise``."""
    if condition.constant is not None:
        return then if condition.constant else otherwise
    if then.text == otherwise.text:
        return then
    if then.text == "true" and otherwise.text == "false":
        return condition
    text = f"({condition.text} -> {then.text} : {otherwise.text})"
    cells = condition.cells | then.cells | otherwise.cells
    return Term(text, _ATOM, min(then.low, otherwise.low), max(then.high, otherwise.high), cells)


def equal(a: Term, b: Term) -> Term:
    """``a == b``."""
    if a.high < b.low or b.high < a.low:
        return truth(False)
    if a.text == b.text or (a.constant is not None and a.constant == b.constant):
        return truth(True)
    if b.text in ("true", "false") or a.text in ("true", "false"):
        value, other = (a, b) if a.text in ("true", "false") else (b, a)
        return other if value.constant else negation(other)
    return _binary("==", a, b, 0, 1)


def different(a: Term, b: Term) -> Term:
    """``a != b``."""
    same = equal(a, b)
    if same.constant is not None or same.level != _LEVELS["=="]:
        return negation(same)
    return _binary("!=", a, b, 0, 1)


def less(a: Term, b: Term) -> Term:
    """``a < b``."""
    if a.high < b.low:
        return truth(True)
    return truth(False) if a.low >= b.high or a.text == b.text else _binary("<", a, b, 0, 1)


def at_most(a: Term, b: Term) -> Term:
    """``a <= b``."""
    if a.high <= b.low or a.text == b.text:
        return truth(True)
    return truth(False) if a.low > b.high else _binary("<=", a, b, 0, 1)


def negation(a: Term) -> Term:
    """Not ``a``."""
    if a.constant is not None:
        return truth(not a.constant)
    if a.level == _NOT:
        return Term(a.text[1:], _ATOM, 0, 1, a.cells)
    return Term(f"!{a.inside(11)}", _NOT, 0, 1, a.cells)


def both(parts: Sequence[Term]) -> Term:
    """All of ``parts``; what stands beside its own negation makes it false."""
    return _joined(parts, "&&", False)


def either(parts: Sequence[Term]) -> Term:
    """Any of ``parts``."""
    return _joined(parts, "||", True)


def _joined(parts: Sequence[Term], sign: str, decides: bool) -> Term:
    kept: dict[str, Term] = {}
    for part in parts:
        if part.constant is not None:
            if bool(part.constant) is decides:
                return truth(decides)
            continue
        kept.setdefault(part.text, part)
    if any(negation(part).text in kept for part in kept.values()):
        return truth(decides)
    if not kept:
        return truth(not decides)
    if len(kept) == 1:
        return next(iter(kept.values()))
    text = f" {sign} ".join(part.inside(_LEVELS[sign]) for part in kept.values())
    return Term(text, _LEVELS[sign], 0, 1, frozenset().union(*(part.cells for part in kept.values())))
