"""The devices of one node, and whether shares fit on them: bin packing, small enough to try every way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_STEPS = 20_000
"""Steps after which the search for an arrangement gives up."""


@dataclass(frozen=True, slots=True)
class Devices:
    """``count`` devices of ``size`` each, whole ones of running pods not among them; ``held`` are running shares."""

    count: int
    size: int
    held: tuple[int, ...] = ()


class GaveUp(Exception):
    """Whether the shares fit was not found out within ``MOST_STEPS``."""


def arrange(shares: Sequence[int], devices: int, size: int) -> list[int] | None:
    """A device for each of ``shares`` such that none holds more than ``size``; None where there is none.

    Every way is tried, largest shares first. Raises GaveUp.
    """
    order = sorted(range(len(shares)), key=lambda i: -shares[i])
    free, at = [size] * devices, [0] * len(shares)
    left = [0] * (len(shares) + 1)
    for i in range(len(shares) - 1, -1, -1):
        left[i] = left[i + 1] + shares[order[i]]
    steps = 0

    def put(i: int) -> bool:
        nonlocal steps
        steps += 1
        if steps > MOST_STEPS:
            raise GaveUp
        if i == len(order):
            return True
        share = shares[order[i]]
        if sum(f for f in free if f >= shares[order[-1]]) < left[i]:
            return False
        tried: set[int] = set()
        # best fit first
        for d in sorted(range(devices), key=lambda d: free[d]):
            if free[d] >= share and free[d] not in tried:
                tried.add(free[d])
                free[d] -= share
                at[order[i]] = d
                if put(i + 1):
                    return True
                free[d] += share
        return False

    return at if put(0) else None
