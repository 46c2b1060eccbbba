"""Amounts that change in place: what nodes, jobs and queues count, in the units of ``reference.cluster``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from reference.cluster import PODS

Amounts = dict[str, int]
Exact = Mapping[str, Fraction | int]
"""Shares of amounts, never rounded."""


def change(amounts: Amounts, by: Mapping[str, int], sign: int = 1) -> None:
    """Add ``by`` to ``amounts``, or take it away with ``sign`` -1."""
    for name, amount in by.items():
        amounts[name] = amounts.get(name, 0) + sign * amount


def dimensions(amounts: Mapping[str, int]) -> list[str]:
    """The resources of which something is asked for. Pods are no such dimension: each task takes one, and upstream
    leaves them out of what it compares for a queue."""
    return [name for name, amount in amounts.items() if amount > 0 and name != PODS]


def within(amounts: Exact, limit: Exact, names: list[str]) -> bool:
    """Whether ``amounts`` is at most ``limit`` in each of ``names``; what a limit does not list is 0."""
    return all(amounts.get(name, 0) <= limit.get(name, 0) for name in names)


def dominant_share(part: Exact, whole: Exact) -> Fraction:
    """The largest of part / whole over the dimensions of ``whole``; something of nothing is a share of 1."""
    largest = Fraction(0)
    for name, amount in whole.items():
        have = part.get(name, 0)
        share = Fraction(have) / Fraction(amount) if amount else Fraction(min(have, 1))
        largest = max(largest, share)
    return largest
