"""Loops for people: a short way round inside a fair component that gives every demand of fairness its due."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.explore.fair import FairGraph
from model.explore.region import Masks, any_bit
from model.explore.steps import Numbers


@dataclass(frozen=True, slots=True)
class Edge:
    """A step of the loop, between nodes; ``kind`` says what it takes."""

    source: int
    target: int
    kind: int


class Loop:
    """A loop from ``start`` inside its fair component; see ``edges``, which are none where a fair run can stay.

    It goes to the nearest place that meets a demand which is still open, until none is, and then back; not always the
    shortest loop, but each part of it is a shortest way.
    """

    def __init__(self, graph: FairGraph, start: int) -> None:
        self._graph = graph
        self._start = start
        self._group = int(graph.group[start])
        self._parents = np.full(len(graph.states), -1, np.int64)
        self.edges: list[Edge] = []
        self._always: Masks = graph.enabled[start].copy()
        self._ever: Masks = graph.enabled[start].copy()
        self._taken: Masks = np.zeros_like(self._always)
        self._build()

    def _build(self) -> None:
        here = self._start
        while True:
            weak, strong = self._open()
            if (weak | strong).any():
                here = self._walk(here, weak, strong, back=False)
            elif here != self._start:
                here = self._walk(here, weak, strong, back=True)
            else:
                return

    def _open(self) -> tuple[Masks, Masks]:
        """The demands that the loop so far does not meet."""
        demanded = self._graph.demanded
        return self._always & ~self._taken & demanded.weak, self._ever & ~self._taken & demanded.strong

    def _walk(self, here: int, weak: Masks, strong: Masks, back: bool) -> int:
        """Go to the nearest node where one of ``weak`` is disabled, or over the nearest edge that takes one of them
        or of ``strong``, or ``back`` to the start. Where that leads."""
        graph, parents = self._graph, self._parents
        wanted = weak | strong
        frontier = np.array([here])
        touched = [frontier]
        parents[here] = -2
        while True:
            if back:
                arrived = frontier[frontier == self._start]
            else:
                arrived = frontier[any_bit(weak & ~graph.enabled[frontier])]
            if len(arrived):
                edges: list[Edge] = []
                end = int(arrived[0])
                break
            sources, numbers = self._edges_of(frontier)
            takes = any_bit(graph.masks[graph.kinds[numbers]] & wanted)
            if takes.any():
                first = int(np.flatnonzero(takes)[0])
                end = int(sources[first])
                edges = [self._edge(end, int(numbers[first]))]
                break
            fresh = parents[graph.targets[numbers]] == -1
            reached, at = np.unique(graph.targets[numbers][fresh], return_index=True)
            assert len(reached), "a demand of a fair component can be met inside it"
            parents[reached] = numbers[fresh][at]
            frontier = reached.astype(np.int64)
            touched.append(frontier)
        while end != here:
            number = int(parents[end])
            end = int(np.searchsorted(graph.offsets, number, side="right")) - 1
            edges.append(self._edge(end, number))
        for nodes in touched:
            parents[nodes] = -1
        self._append(edges[::-1])
        return self.edges[-1].target

    def _edges_of(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """The edges of ``nodes`` inside the component: their sources and their numbers."""
        graph = self._graph
        firsts, counts = graph.offsets[nodes], graph.offsets[nodes + 1] - graph.offsets[nodes]
        sources = np.repeat(nodes, counts)
        numbers = np.arange(len(sources)) + np.repeat(firsts - np.cumsum(counts) + counts, counts)
        inside = graph.group[graph.targets[numbers]] == self._group
        return sources[inside], numbers[inside]

    def _edge(self, source: int, number: int) -> Edge:
        return Edge(source, int(self._graph.targets[number]), int(self._graph.kinds[number]))

    def _append(self, edges: list[Edge]) -> None:
        for edge in edges:
            self.edges.append(edge)
            self._always &= self._graph.enabled[edge.target]
            self._ever |= self._graph.enabled[edge.target]
            self._taken |= self._graph.masks[edge.kind]


__all__ = ["Edge", "Loop"]
