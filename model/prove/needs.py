"""What proofs rest on, and how long one may be to be read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

T = TypeVar("T", bound=Hashable)

MOST_ATOMS: Final = 200
"""An invariant with more comparisons is none that anybody reads: it is told as one that has too many."""


def all_below(names: Iterable[T], needs: Callable[[T], Iterable[T]]) -> set[T]:
    """``names``, and all that they rest on, where each rests on what ``needs`` gives directly."""
    found: set[T] = set()
    open_ = list(names)
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += needs(name)
    return found


def many(atoms: int) -> str:
    """What is told after a number of ``atoms``: nothing, or that they are too many."""
    return f", more than {MOST_ATOMS}" if atoms > MOST_ATOMS else ""


__all__ = ["MOST_ATOMS", "all_below", "many"]
