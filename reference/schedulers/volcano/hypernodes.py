"""HyperNodes: the tree of network domains, and the nodes in each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from reference.schedulers.volcano.api import HyperNode
from reference.schedulers.volcano.nodes import NodeInfo

TOP: Final = "<cluster-top-hypernode>"
"""The domain that holds all nodes, above every HyperNode that is given."""


class HyperNodes:
    """The given HyperNodes under one top. Members are nodes or HyperNodes; names that are neither are not there."""

    def __init__(self, given: Iterable[HyperNode], nodes: Sequence[NodeInfo]) -> None:
        self._given = {h.name: h for h in sorted(given, key=lambda h: (h.tier, h.name))}
        self.is_empty = not self._given
        self._parent: dict[str, str] = {}
        for h in self._given.values():
            for member in h.members:
                if member in self._given:
                    self._parent.setdefault(member, h.name)
        for name in self._given:
            self._parent.setdefault(name, TOP)
        self.tiers = sorted({h.tier for h in self._given.values()})
        self._top_tier = self.tiers[-1] + 1 if self.tiers else 1
        by_name = {node.name: node for node in nodes}
        self._nodes: dict[str, tuple[NodeInfo, ...]] = {TOP: tuple(nodes)}
        for name in self._given:  # lower tiers first, so members are known before those that hold them
            found: dict[str, NodeInfo] = {}
            for member in self._given[name].members:
                if member in by_name and member not in self._given:
                    found[member] = by_name[member]
                found |= {node.name: node for node in self._nodes.get(member, ())}
            self._nodes[name] = tuple(found[n] for n in sorted(found))
        lowest = self.tiers[0] if self.tiers else 0
        self._of_node = {
            node.name: name for name, h in self._given.items() if h.tier == lowest for node in self._nodes[name]
        }

    def nodes(self, name: str) -> tuple[NodeInfo, ...]:
        """The nodes in a domain, in order of their names."""
        return self._nodes.get(name, ())

    def tier(self, name: str) -> int:
        """A domain's tier; the top's is above all others."""
        return self._top_tier if name == TOP else self._given[name].tier

    def children(self, name: str) -> list[str]:
        """The domains right below one, in order of their names."""
        return sorted(child for child, parent in self._parent.items() if parent == name)

    def of_node(self, node: str) -> str:
        """The domain of the lowest tier that holds a node, or "" where none does."""
        return self._of_node.get(node, "")

    def ancestors(self, name: str) -> list[str]:
        """A domain and those that hold it, the top last."""
        path = [name]
        while path[-1] != TOP:
            path.append(self._parent.get(path[-1], TOP))
        return path

    def common(self, a: str, b: str) -> str:
        """The smallest domain that holds both; the other one where one is ""."""
        if not a or not b:
            return a or b
        above = set(self.ancestors(b))
        return next(name for name in self.ancestors(a) if name in above)

    def gradients(self, root: str, highest_tier: int, allocated: str) -> list[list[str]]:
        """The domains under ``root`` in which a job in hard mode may be placed, by tier, the lowest first. A job that
        has tasks in ``allocated`` stays in what its highest tier allows around them; none if that is nothing."""
        if allocated:
            allowed = [name for name in self.ancestors(allocated) if self.tier(name) <= highest_tier]
            if not allowed:
                return []
            common = self.common(root, allowed[-1])
            if common not in (root, allowed[-1]):
                return []
            root = allowed[-1] if common == root else root
        by_tier: dict[int, list[str]] = {}
        queue = [root]
        for name in queue:
            if self.tier(name) <= highest_tier:
                by_tier.setdefault(self.tier(name), []).append(name)
            queue.extend(self.children(name))
        return [sorted(by_tier[tier]) for tier in sorted(by_tier)]
