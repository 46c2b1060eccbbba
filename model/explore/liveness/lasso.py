"""Loops for people: a short way round inside a fair component that gives every demand of fairness its due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from model.explore.liveness.core import Core, Masks, any_bit, edges_of
from model.explore.liveness.fair import FairParts
from model.explore.traces.steps import Numbers


@dataclass(frozen=True, slots=True)
class Edge:
    """A step of the loop: nodes and instance."""

    source: int
    target: int
    instance: int


class Loop:
    """A loop from the node ``start`` inside its fair component, in ``edges``.

    It goes to the nearest place that meets a demand which is still open, until none is, and then back; not always the
    shortest loop (see `shortest`), but each part of it is a shortest way. ``work``: edges that were looked at.
    """

    def __init__(self, parts: FairParts, start: int) -> None:
        self._parts = parts
        self._start = start
        self._group = int(parts.group[start])
        # For each node the edge over which the walk first came to it; -1: not yet, -2: it started here.
        self._arrival = np.full(len(parts.group), -1, np.int64)
        self.edges: Final[list[Edge]] = []
        self.work = 0
        self._always: Masks = parts.enabled[start].copy()
        self._ever: Masks = parts.enabled[start].copy()
        self._taken: Masks = np.zeros_like(self._always)
        here = start
        while True:
            weak, strong = self._open()
            if (weak | strong).any():
                here = self._walk(here, weak, strong)
            elif here != start:
                here = self._walk(here, None, None)
            else:
                return

    def _open(self) -> tuple[Masks, Masks]:
        """The demands that the loop so far does not meet."""
        demanded = self._parts.demanded
        return self._always & ~self._taken & demanded.weak, self._ever & ~self._taken & demanded.strong

    def _walk(self, here: int, weak: Masks | None, strong: Masks | None) -> int:
        """Go to the nearest node where one of ``weak`` is disabled, or over the nearest edge that takes one of them
        or of ``strong``; or, without these, back to the start. Where that leads."""
        parts, core, arrival = self._parts, self._parts.core, self._arrival
        frontier = np.array([here])
        touched = [frontier]
        arrival[here] = -2
        edges: list[Edge] = []
        while True:
            if weak is None:
                arrived = frontier[frontier == self._start]
            else:
                arrived = frontier[any_bit(weak & ~parts.enabled[frontier])]
            if len(arrived):
                end = int(arrived[0])
                break
            numbers = self._edges_of(frontier)
            if weak is not None and strong is not None:
                takes = np.flatnonzero(any_bit(parts.demanded.of[core.instances[numbers]] & (weak | strong)))
                if len(takes):
                    edges.append(edge_of(core, int(numbers[takes[0]])))
                    end = edges[0].source
                    break
            fresh = numbers[arrival[core.targets[numbers]] == -1]
            reached, at = np.unique(core.targets[fresh], return_index=True)
            assert len(reached), "a demand of a fair component can be met inside it"
            arrival[reached] = fresh[at]
            frontier = reached.astype(np.int64)
            touched.append(frontier)
        while end != here:
            edges.append(edge_of(core, int(arrival[end])))
            end = edges[-1].source
        for nodes in touched:
            arrival[nodes] = -1
        for edge in reversed(edges):
            self.edges.append(edge)
            self._always &= parts.enabled[edge.target]
            self._ever |= parts.enabled[edge.target]
            self._taken |= parts.demanded.of[edge.instance]
        return self.edges[-1].target

    def _edges_of(self, nodes: Numbers) -> Numbers:
        """The edges of ``nodes`` inside the component."""
        numbers = edges_of(self._parts.core.offsets, nodes)
        self.work += len(numbers)
        inside: Numbers = numbers[self._parts.group[self._parts.core.targets[numbers]] == self._group]
        return inside


def edge_of(core: Core, number: int) -> Edge:
    """The edge with this number."""
    source = int(np.searchsorted(core.offsets, number, side="right")) - 1
    return Edge(source, int(core.targets[number]), int(core.instances[number]))


__all__ = ["Edge", "Loop", "edge_of"]
