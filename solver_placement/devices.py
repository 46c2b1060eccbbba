"""What is handed out by device: a share has one device, a pod that asks for more has whole ones.

A node's shares are a bin packing of their own, inside the packing of nodes. Heuristics keep what every device has left;
models have a variable for each device; bounds use dual feasible functions: a function f with f(x) + f(y) + ... <= 1
wherever x + y + ... <= 1 turns the shares of a node into one row (Lueker 1983; Fekete and Schepers 2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from solver_placement.arrange import Devices, GaveUp, arrange
from solver_placement.problem import NodeClass, Pattern, Problem

Amounts = npt.NDArray[np.int64]


def surely_arranged(problem: Problem, node: NodeClass, pattern: Sequence[tuple[int, int]]) -> bool:
    """``arranged``, and False where that was not found out."""
    try:
        return problem.arranged(node, pattern)
    except GaveUp:
        return False


def cut_to_fit(problem: Problem, node: NodeClass, pattern: Pattern) -> Pattern:
    """``pattern`` without as many of its smallest shares as it takes to arrange the others."""
    kept = dict(pattern)
    while kept and not surely_arranged(problem, node, tuple(kept.items())):
        t = min(kept, key=lambda t: (_least_share(problem, node, t), t))
        kept[t] -= 1
        kept = {t: k for t, k in kept.items() if k}
    return tuple(sorted(kept.items()))


def _least_share(problem: Problem, node: NodeClass, t: int) -> int:
    asked = zip(node.devices, problem.pods[t].request, strict=True)
    shares = [a for devices, a in asked if devices is not None and 0 < a < devices.size]
    return min(shares, default=2**62)


def device_rows(problem: Problem, node: NodeClass) -> Iterator[tuple[dict[int, int], int]]:
    """Rows (amount per pod class, most) that every pattern of ``node`` keeps, from dual feasible functions."""
    for r, devices in enumerate(node.devices):
        if devices is None:
            continue
        size = devices.size
        asked = {t: p.request[r] for t, p in enumerate(problem.pods) if node.fits[t] and p.request[r]}
        sizes = sorted({a for a in (*asked.values(), *devices.held) if a < size})
        seen: set[tuple[tuple[int, int], ...]] = set()
        for table, unit in (*_thresholds(sizes, size), *_roundings(sizes, size)):
            uses = {t: table[a] if a < size else a // size * unit for t, a in asked.items()}
            uses = {t: n for t, n in uses.items() if n}
            most = devices.count * unit - sum(table[held] for held in devices.held)
            key = tuple(uses.items())
            if key not in seen:
                seen.add(key)
                yield uses, max(most, 0)


def _thresholds(sizes: Sequence[int], size: int) -> Iterator[tuple[dict[int, int], int]]:
    """Shares above 1 - e count whole, those below e not at all (e up to a half)."""
    edges = sorted({e for x in sizes for e in (x, size - x + 1, x + 1) if 0 < e <= size // 2})
    for e in edges:
        yield {x: size if x > size - e else x if x >= e else 0 for x in sizes}, size


def _roundings(sizes: Sequence[int], size: int) -> Iterator[tuple[dict[int, int], int]]:
    """For k = 1, 2, ...: a share of x counts floor((k + 1) x) / k, or x where (k + 1) x is whole."""
    for k in range(1, 8):
        table = {x: k * x if (k + 1) * x % size == 0 else (k + 1) * x // size * size for x in sizes}
        yield table, k * size


class DeviceState:
    """What every device of some nodes has left; ``classes[s]`` is the node class of the s-th of them."""

    def __init__(self, problem: Problem, classes: Sequence[int]) -> None:
        self._problem = problem
        self._free: dict[int, Amounts] = {}
        self._has: dict[int, npt.NDArray[np.bool_]] = {}
        self._size: dict[int, int] = {}
        self._taken: dict[tuple[int, int, int], list[int]] = {}
        for r in range(len(problem.resources)):
            here = [problem.nodes[c].devices[r] for c in classes]
            most = max((each.count for each in here if each is not None), default=0)
            if not most:
                continue
            free = np.zeros((len(classes), most), np.int64)
            for s, each in enumerate(here):
                if each is not None:
                    self._size[r] = each.size
                    free[s, : each.count] = each.size
                    for share, d in zip(each.held, arrange(each.held, each.count, each.size) or (), strict=True):
                        free[s, d] -= share
            self._free[r] = free
            self._has[r] = np.array([each is not None for each in here])

    def __bool__(self) -> bool:
        return bool(self._free)

    def room(self, t: int) -> Amounts | None:
        """How many pods of class ``t`` the devices of each node take; None where there is no such limit."""
        least: Amounts | None = None
        for r, free in self._free.items():
            if not (asked := self._problem.pods[t].request[r]):
                continue
            size = self._size[r]
            room = (free == size).sum(axis=1) // (asked // size) if asked >= size else (free // asked).sum(axis=1)
            room = np.where(self._has[r], room, 2**40)
            least = room if least is None else np.minimum(least, room)
        return least

    def take(self, s: int, t: int, k: int) -> None:
        """Devices for ``k`` pods of class ``t``, for which there is room: the fullest that will do."""
        for r, free in self._free.items():
            asked, size = self._problem.pods[t].request[r], self._size[r]
            if not asked or not self._has[r][s]:
                continue
            row, taken = free[s], self._taken.setdefault((r, s, t), [])
            for _ in range(k * max(1, asked // size)):
                amount = min(asked, size)
                d = min((int(d) for d in np.flatnonzero(row >= amount)), key=lambda d: (int(row[d]), d))
                row[d] -= amount
                taken.append(d)

    def give(self, s: int, t: int, k: int) -> None:
        """Take ``k`` pods of class ``t`` off node ``s`` again."""
        for r, free in self._free.items():
            asked, size = self._problem.pods[t].request[r], self._size[r]
            if asked and self._has[r][s]:
                for _ in range(k * max(1, asked // size)):
                    free[s, self._taken[r, s, t].pop()] += min(asked, size)


def room_alone(request: Sequence[int], devices: Sequence[Devices | None]) -> int:
    """No node with ``devices`` holds more pods of ``request`` than this, whatever its other resources."""
    rooms = [
        d.count // (a // d.size) if a >= d.size else d.count * (d.size // a)
        for a, d in zip(request, devices, strict=True)
        if d is not None and a
    ]
    return min(rooms, default=2**62)
