"""The ways in which one gang can be whole: how many pods of which group, and which of them in which domain.

A plain gang has one way. A composite group of which a few children are enough has one for each choice of children, a
gang with a minimum of its own one for each way to reach it, and a required topology one for each domain. More pods than
it takes are never chosen: admitting is what counts. Which domains are worth a look the caller says.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reference.cluster import Application, TaskGroup, TopologyConstraint
from solver_placement.problem import ProblemTooLarge

Domain = tuple[tuple[str, ...], tuple[str, ...]]
"""Node labels, and their values in it."""

MOST_WAYS = 20_000
"""Ways of one gang; a gang with more is refused."""


@dataclass(frozen=True, slots=True)
class Part:
    """``count`` pods of ``group`` on nodes that are in all of ``within``."""

    group: TaskGroup
    count: int
    within: frozenset[Domain]


Way = tuple[Part, ...]
Domains = Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]
"""The domains that there are, for the labels of each constraint."""


def required_keys(app: Application) -> Iterator[tuple[str, ...]]:
    """The labels of every required topology constraint of ``app``."""
    places = (app.topology, *(g.topology for g in app.task_groups), *(c.topology for c in app.composites))
    for constraint in itertools.chain(*places):
        if constraint.required:
            yield constraint.keys


def ways(app: Application, domains: Domains, has_room: Callable[[Part], bool]) -> list[Way]:
    """Every way in which ``app`` can be whole, without those with a part for which ``has_room`` is False.

    Raises ProblemTooLarge where there are more than ``MOST_WAYS``.
    """
    found: dict[Way, None] = {}
    for counts in _counts(app):
        for within in _domains(app, counts, domains, has_room):
            parts = (Part(g, counts[g.name], within[g.name]) for g in app.task_groups if counts.get(g.name))
            found[tuple(parts)] = None
            if len(found) > MOST_WAYS:
                raise ProblemTooLarge(
                    f"application {app.name!r} can be whole in more than {MOST_WAYS} ways "
                    "(choices of children, of extra members and of domains)"
                )
    return list(found)


def _counts(app: Application) -> Iterator[dict[str, int]]:
    """Pods per group, no more than it takes, of each way to be whole."""
    composites = {each.name: each for each in app.composites}
    groups = {each.name: each for each in app.task_groups}
    inside = {child for each in app.composites for child in each.children}
    more = app.min_members is not None

    def whole(name: str) -> list[frozenset[str]]:
        """Sets of task groups that make ``name`` whole."""
        if name in groups:
            return [frozenset((name,))]
        each = composites[name]
        sizes = range(each.min_children, len(each.children) + 1) if more else (each.min_children,)
        chosen = (c for size in sizes for c in itertools.combinations(each.children, size))
        return [frozenset().union(*sets) for c in chosen for sets in itertools.product(*(whole(child) for child in c))]

    tops = [name for name in (*groups, *composites) if name not in inside]
    seen: set[tuple[tuple[str, int], ...]] = set()
    for sets in itertools.product(*(whole(name) for name in tops)):
        taken = [groups[name] for name in sorted(frozenset().union(*sets))]
        missing = max((app.min_members or 0) - sum(g.min_member for g in taken), 0)
        for extra in _spread(missing, [g.most - g.min_member for g in taken]):
            counts = {g.name: g.min_member + n for g, n in zip(taken, extra, strict=True)}
            key = tuple(sorted((name, n) for name, n in counts.items() if n))
            if key not in seen:
                seen.add(key)
                yield dict(key)


def _spread(total: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to write ``total`` as a sum of counts of at most ``most``."""
    if not most:
        if total == 0:
            yield ()
        return
    rest = sum(most[1:])
    for first in range(max(0, total - rest), min(total, most[0]) + 1):
        for others in _spread(total - first, most[1:]):
            yield (first, *others)


def _domains(
    app: Application, counts: Mapping[str, int], domains: Domains, has_room: Callable[[Part], bool]
) -> Iterator[dict[str, frozenset[Domain]]]:
    """For the groups with pods, the domains that each is in, for every choice of one domain for each constraint."""
    below = _below(app)
    groups = {each.name: each for each in app.task_groups if counts.get(each.name)}
    constraints: list[tuple[TopologyConstraint, list[str]]] = [(c, list(groups)) for c in app.topology]
    for each in app.composites:
        constraints += [(c, [name for name in below[each.name] if name in groups]) for c in each.topology]
    constraints += [(c, [name]) for name, group in groups.items() for c in group.topology]
    asked = [(c.keys, names) for c, names in constraints if c.required and names]

    def choose(i: int, within: dict[str, frozenset[Domain]]) -> Iterator[dict[str, frozenset[Domain]]]:
        if i == len(asked):
            yield within
            return
        keys, names = asked[i]
        for values in domains[keys]:
            narrower = within | {name: within[name] | {(keys, values)} for name in names}
            if all(has_room(Part(groups[name], counts[name], narrower[name])) for name in names):
                yield from choose(i + 1, narrower)

    start: dict[str, frozenset[Domain]] = {name: frozenset() for name in groups}
    if all(has_room(Part(groups[name], counts[name], within)) for name, within in start.items()):
        yield from choose(0, start)


def _below(app: Application) -> dict[str, set[str]]:
    """The task groups below each composite group, at any depth."""
    composites = {each.name: each for each in app.composites}

    def names(name: str) -> set[str]:
        return {name} if name not in composites else set().union(*(names(c) for c in composites[name].children))

    return {name: names(name) for name in composites}
