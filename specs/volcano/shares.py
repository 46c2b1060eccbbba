"""Proportion's deserved shares, as its loop computes them, in exact fractions.

The spec has a closed form for at most two queues; this is what the tests compare it with.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def deserved(total: int, weights: Sequence[int], requests: Sequence[int]) -> list[Fraction]:
    """What each queue deserves of ``total``: shared by weight, nobody beyond its request, the rest shared again."""
    share = [Fraction(0)] * len(weights)
    unmet = [i for i, request in enumerate(requests) if request > 0]
    remaining = Fraction(total)
    while unmet and remaining > 0:
        everyone = sum(weights[i] for i in unmet)
        given = Fraction(0)
        for i in unmet:
            more = min(remaining * weights[i] / everyone, requests[i] - share[i])
            share[i] += more
            given += more
        remaining -= given
        unmet = [i for i in unmet if share[i] < requests[i]]
    return share
