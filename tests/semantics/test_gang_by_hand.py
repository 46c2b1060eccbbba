"""The gang spec against the same rules written by hand as a plain breadth-first search: no spec language in here."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

import pytest

from model.semantics import explore
from specs.gang import gang

NEW, PENDING, RUNNING, FINISHED, KILLED = range(5)
Apps = tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]
"""For each application its state, and its placeholders and its real pods per node."""


def steps(apps: Apps, size: int, nodes: int, capacity: int, quota: int) -> Iterator[tuple[str, Apps]]:
    used = [sum(p[n] + r[n] for _, p, r in apps) for n in range(nodes)]
    none = (0,) * nodes
    for i, (state, placeholders, reals) in enumerate(apps):

        def becomes(*app: object, i: int = i) -> Apps:
            return (*apps[:i], app, *apps[i + 1 :])  # type: ignore[return-value]

        def plus(cells: tuple[int, ...], n: int, by: int) -> tuple[int, ...]:
            return (*cells[:n], cells[n] + by, *cells[n + 1 :])

        reserved = sum(placeholders)
        if state == NEW:
            yield "submit", becomes(PENDING, placeholders, reals)
        for n in range(nodes):
            if state == PENDING and used[n] < capacity and sum(used) < quota:
                then = RUNNING if reserved + 1 == size else PENDING
                yield "allocate", becomes(then, plus(placeholders, n, 1), reals)
            if state == RUNNING and placeholders[n] > 0:
                yield "replace", becomes(RUNNING, plus(placeholders, n, -1), plus(reals, n, 1))
        if state == PENDING and 0 < reserved < size:
            yield "timeout", becomes(KILLED, none, none)
        if state == RUNNING and reserved == 0:
            yield "finish", becomes(FINISHED, none, none)


@pytest.mark.parametrize(
    ("apps", "size", "nodes", "capacity", "quota"),
    [
        (1, 1, 1, 1, 1),
        (1, 2, 1, 2, 2),
        (2, 2, 1, 2, 3),
        (2, 2, 2, 2, 3),
        (2, 3, 1, 4, 4),
        (3, 2, 1, 3, 3),
        (2, 2, 1, 1, 4),
    ],
)
def test_states_steps_and_ends(apps: int, size: int, nodes: int, capacity: int, quota: int) -> None:
    start: Apps = ((NEW, (0,) * nodes, (0,) * nodes),) * apps
    distance, fired, queue = {start: 0}, Counter[str](), deque([start])
    stuck = []
    while queue:
        state = queue.popleft()
        successors = list(steps(state, size, nodes, capacity, quota))
        if not successors and not all(s in (FINISHED, KILLED) for s, _, _ in state):
            stuck.append(distance[state])
        for name, new in successors:
            fired[name] += 1
            if new not in distance:
                distance[new] = distance[state] + 1
                queue.append(new)
    found = explore(gang(apps=apps, size=size, nodes=nodes, capacity=capacity, quota=quota))
    assert found.distance == {flat(state): steps for state, steps in distance.items()}
    assert found.transitions == fired.total()
    assert found.fired == {name: fired[name] for name in ("submit", "allocate", "timeout", "replace", "finish")}
    assert found.violated == ({"deadlock_free": min(stuck)} if stuck else {})
    all_finished = [d for state, d in distance.items() if all(s == FINISHED for s, _, _ in state)]
    assert found.reached == ({"every_app_finishes": min(all_finished)} if all_finished else {})


def flat(apps: Apps) -> tuple[int, ...]:
    """As the spec lays out its cells: all states, all placeholders, all real pods."""
    cells = [cell for _, placeholders, _ in apps for cell in placeholders]
    return (*(state for state, _, _ in apps), *cells, *(cell for _, _, reals in apps for cell in reals))
