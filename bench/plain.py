"""The gang model explored in plain Python, as one would first write it: tuples in a set, level by level."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

State = tuple[int, ...]


def successors(state: State, apps: int, size: int, nodes: int, capacity: int, quota: int) -> Iterator[State]:
    """Every state one step away. A state has, for each application, its phase, placeholders and real pods per node."""
    width = 1 + 2 * nodes
    used = [sum(state[a * width + 1 + n] + state[a * width + 1 + nodes + n] for a in range(apps)) for n in range(nodes)]
    total = sum(used)
    empty = (0,) * (2 * nodes)
    for a in range(apps):
        at = a * width
        phase, held = state[at], state[at + 1 : at + 1 + nodes]
        if phase == 0:
            yield (*state[:at], 1, *state[at + 1 :])
        elif phase == 1:
            if total < quota:
                for n in range(nodes):
                    if used[n] < capacity:
                        new = list(state)
                        new[at + 1 + n] += 1
                        new[at] = 2 if sum(held) + 1 == size else 1
                        yield tuple(new)
            if 0 < sum(held) < size:
                yield (*state[:at], 4, *empty, *state[at + width :])
        elif phase == 2:
            for n in range(nodes):
                if held[n]:
                    new = list(state)
                    new[at + 1 + n] -= 1
                    new[at + 1 + nodes + n] += 1
                    yield tuple(new)
            if not any(held):
                yield (*state[:at], 3, *empty, *state[at + width :])


def explore(apps: int, size: int, nodes: int, capacity: int, quota: int) -> tuple[int, int, int]:
    """Distinct states, steps, and steps to the farthest state."""
    start = (0,) * (apps * (1 + 2 * nodes))
    seen, level, steps, depth = {start}, [start], 0, -1
    while level:
        depth += 1
        following = []
        for state in level:
            for new in successors(state, apps, size, nodes, capacity, quota):
                steps += 1
                if new not in seen:
                    seen.add(new)
                    following.append(new)
        level = following
    return len(seen), steps, depth


if __name__ == "__main__":
    started = time.perf_counter()
    states, transitions, farthest = explore(*map(int, sys.argv[1:6]))
    print(states, transitions, farthest, f"{time.perf_counter() - started:.3f}")
