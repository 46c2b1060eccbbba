"""What the queues allow, as rows over gang classes: maxima, application counts, amounts reserved for others."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from reference.cluster import Cluster, Queue, Resources
from solver_placement.problem import GangClass, Limit, ProblemTooLarge

MOST_FORMS = 4096
"""Rows of one maximum, from the queues below it that have something reserved: twice as many for each."""

Form = tuple[frozenset[str], int]
"""A sum: what these queues use (what is below them not included), and a constant."""


def queue_rows(cluster: Cluster, gangs: Sequence[GangClass], asks: Sequence[Resources]) -> tuple[Limit, ...]:
    """Rows of all queues that can bind, scaled by their common divisor; ``asks[g]`` is what a gang of class g takes.

    A limit that the running pods break already is one at what they hold. Raises ProblemTooLarge.
    """
    usage: dict[str, Counter[str]] = {queue.name: Counter() for queue in cluster.queues}
    for pod in cluster.running:
        usage[pod.queue].update(pod.resources)
    rows: list[Limit] = []
    for queue in cluster.queues:
        names = frozenset(each.name for each in queue.walk())
        wanted: dict[str, tuple[dict[int, int], int]] = {}
        for r, limit in queue.maximum.items():
            running = sum(usage[name][r] for name in names)
            wanted[f"{queue.name}: {r}"] = (_uses(gangs, asks, names, r), limit - running)
            for i, (uses, room) in enumerate(_reserved(queue, gangs, asks, usage, r, limit)):
                wanted[f"{queue.name}: {r} beside what is reserved, {i + 1}"] = (uses, room)
        if queue.max_applications is not None:
            below = {g: 1 for g, gang in enumerate(gangs) if gang.queue in names}
            left = queue.max_applications - len(cluster.running_applications(queue.name))
            wanted[f"{queue.name}: applications"] = (below, left)
        rows += _binding(gangs, wanted)
    return tuple(rows)


def _binding(gangs: Sequence[GangClass], wanted: Mapping[str, tuple[dict[int, int], int]]) -> Iterator[Limit]:
    for name, (uses, room) in wanted.items():
        unit = math.gcd(*uses.values())
        room = max(room, 0)
        if sum(n * gangs[g].count for g, n in uses.items()) > room:
            yield Limit(name, {g: n // unit for g, n in uses.items()}, room // unit)


def _uses(gangs: Sequence[GangClass], asks: Sequence[Resources], names: frozenset[str], r: str) -> dict[int, int]:
    return {g: n for g, gang in enumerate(gangs) if gang.queue in names and (n := asks[g].amount(r)) > 0}


def _reserved(
    queue: Queue,
    gangs: Sequence[GangClass],
    asks: Sequence[Resources],
    usage: Mapping[str, Mapping[str, int]],
    r: str,
    limit: int,
) -> Iterator[tuple[dict[int, int], int]]:
    """A queue below counts with what it uses or has reserved: the larger of two is a row for each of them."""
    if not any(below.reserved.amount(r) for below in queue.walk() if below is not queue):
        return
    forms = _forms(queue, r)
    held = [sum(usage[name].get(r, 0) for name in names) + constant for names, constant in forms]
    most = max(limit, *held)
    for (names, _), old in zip(forms, held, strict=True):
        if uses := _uses(gangs, asks, names, r):
            yield uses, most - old


def _forms(queue: Queue, r: str) -> list[Form]:
    """The sums of which the greatest is what the queues below ``queue`` take of it."""
    choices: list[list[Form]] = []
    count = 1
    for child in queue.children:
        below = _forms(child, r)
        if reserved := child.reserved.amount(r):
            below.append((frozenset(), reserved))
        choices.append(below)
        count *= len(below)
        if count > MOST_FORMS:
            raise ProblemTooLarge(f"queue {queue.name!r}: too many queues below it have {r} reserved")
    return [
        (frozenset({queue.name}).union(*(names for names, _ in chosen)), sum(constant for _, constant in chosen))
        for chosen in itertools.product(*choices)
    ]
