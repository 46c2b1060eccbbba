"""In which order guards are tested: instances that share a conjunct are reached through one test of it.

The instances become a tree. A cell that many guards compare with constants (a life-cycle state, say) becomes a
switch; then conjuncts that several guards share become tests; what is left of a guard is one test. So a state is
asked about each thing once, and a whole branch of instances is passed by when it does not apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from model.lowering.ground import Graph, Node, equality
from model.lowering.lower import Instance


@dataclass(frozen=True, slots=True)
class Fire:
    """The instance is enabled here."""

    instance: Instance


@dataclass(frozen=True, slots=True)
class When:
    """``body`` where ``condition`` holds."""

    condition: Node
    body: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """For each value of ``subject``, in order of value, what follows; nothing for other values."""

    subject: Node
    cases: tuple[tuple[int, tuple[Branch, ...]], ...]


Branch: TypeAlias = Fire | When | Switch
_Pending: TypeAlias = tuple[Instance, tuple[Node, ...]]


def decide(graph: Graph, instances: Sequence[Instance]) -> tuple[Branch, ...]:
    """A tree that fires every instance of ``instances`` exactly where its conjuncts hold."""
    return _tree(graph, [(i, i.conjuncts) for i in instances])


def _tree(graph: Graph, pending: list[_Pending]) -> tuple[Branch, ...]:
    branches: list[Branch] = []
    while pending:
        if (subject := _subject(pending)) is not None:
            chosen, pending = _split(pending, subject)
            cases: dict[int, list[_Pending]] = {}
            for instance, left, value in chosen:
                cases.setdefault(value, []).append((instance, left))
            branches.append(Switch(subject, tuple((v, _tree(graph, cases[v])) for v in sorted(cases))))
        elif (shared := _shared(pending)) is not None:
            inside = [(i, tuple(c for c in left if c is not shared)) for i, left in pending if shared in left]
            pending = [(i, left) for i, left in pending if shared not in left]
            branches.append(When(shared, _tree(graph, inside)))
        else:
            for instance, left in pending:
                fire = Fire(instance)
                branches.append(When(graph.both(left), (fire,)) if left else fire)
            pending = []
    return tuple(branches)


def _subject(pending: Sequence[_Pending]) -> Node | None:
    """What most guards, and at least two, compare with a constant."""
    found: Counter[int] = Counter()
    nodes: dict[int, Node] = {}
    for _, left in pending:
        for subject, _ in filter(None, map(equality, left)):
            found[subject.number] += 1
            nodes[subject.number] = subject
    if not found:
        return None
    best = min(found, key=lambda number: (-found[number], number))
    return nodes[best] if found[best] > 1 else None


def _split(
    pending: list[_Pending], subject: Node
) -> tuple[list[tuple[Instance, tuple[Node, ...], int]], list[_Pending]]:
    """Instances whose guard fixes ``subject``, with what is left of it and the value; and the others."""
    chosen: list[tuple[Instance, tuple[Node, ...], int]] = []
    others: list[_Pending] = []
    for instance, left in pending:
        for each in left:
            known = equality(each)
            if known is not None and known[0] is subject:
                chosen.append((instance, tuple(c for c in left if c is not each), known[1]))
                break
        else:
            others.append((instance, left))
    return chosen, others


def _shared(pending: Sequence[_Pending]) -> Node | None:
    """The conjunct that most guards, and at least two, have."""
    found: Counter[int] = Counter()
    nodes: dict[int, Node] = {}
    for _, left in pending:
        for each in left:
            found[each.number] += 1
            nodes[each.number] = each
    if not found:
        return None
    best = min(found, key=lambda number: (-found[number], number))
    return nodes[best] if found[best] > 1 else None


__all__ = ["Branch", "Fire", "Switch", "When", "decide"]
