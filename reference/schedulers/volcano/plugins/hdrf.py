"""Hierarchical DRF: queues in a tree, each node's share made of its children's, scaled so that none counts for more
than the least of them; what cannot grow any more is saturated and comes last.

After the plugin's algorithm. Its own test cannot fail, so what is held here is what the test's authors say they expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from reference.schedulers.volcano.amounts import Exact, dominant_share

Path = tuple[tuple[str, int], ...]
"""Names and weights below the root."""


class _Node:
    def __init__(self, weight: int) -> None:
        self.weight = max(weight, 1)
        self.children: dict[str, _Node] = {}
        self.allocated: dict[str, Fraction] = {}
        self.share = Fraction(0)
        self.saturated = False


class Tree:
    """``jobs``: for each its queue's path, its name, what it has, and all that it asks for."""

    def __init__(
        self, total: Mapping[str, int], jobs: Sequence[tuple[Path, str, Mapping[str, int], Mapping[str, int]]]
    ) -> None:
        self.total = total
        self.root = _Node(1)
        used: dict[str, int] = {}
        for _, _, allocated, _ in jobs:
            for name, amount in allocated.items():
                used[name] = used.get(name, 0) + amount
        demanding = {name for name, amount in total.items() if used.get(name, 0) < amount}
        for path, name, allocated, request in jobs:
            node = self.root
            for part, weight in path:
                node = node.children.setdefault(part, _Node(weight))
            leaf = node.children[f"job {name}"] = _Node(1)
            leaf.allocated = {n: Fraction(a) for n, a in allocated.items()}
            leaf.share = dominant_share(leaf.allocated, total)
            leaf.saturated = _is_saturated(allocated, request, demanding)
        self._update(self.root)

    def key(self, path: Path) -> tuple[tuple[bool, Fraction], ...]:
        """Where a queue stands: level by level from the root, saturated last, then by share and weight."""
        node, key = self.root, []
        for part, weight in path:
            node = node.children.get(part, _Node(weight))
            key.append((node.saturated, node.share / node.weight))
        return tuple(key)

    def _update(self, node: _Node) -> None:
        for child in node.children.values():
            if child.children:
                self._update(child)
        least = min((c.share for c in node.children.values() if c.share and not c.saturated), default=Fraction(1))
        amounts: dict[str, Fraction] = {}
        for child in node.children.values():
            if child.share:
                scale = Fraction(1) if child.saturated else least / child.share
                for name, amount in child.allocated.items():
                    amounts[name] = amounts.get(name, Fraction(0)) + amount * scale
        node.allocated = amounts
        node.share = dominant_share(amounts, self.total)
        node.saturated = all(child.saturated for child in node.children.values())


def _is_saturated(allocated: Exact, request: Mapping[str, int], demanding: set[str]) -> bool:
    """Whether a job has all that it asks for of something, or something that it needs is used up."""
    for name, have in allocated.items():
        wanted = request.get(name, 0)
        if have and wanted and (have >= wanted or name not in demanding):
            return True
    return False
