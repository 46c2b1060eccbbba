"""The state graph of a machine: all of it for networkx, or merged by a projection so that a life cycle can be read.

Nodes of a merged graph are the values that the projection takes, an edge stands for all steps between states of its
ends, and bears the names of their actions.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from model.errors import GraphTooLarge, QueryError
from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.explore.search.limits import Limits, Progress, workers
from model.explore.search.search import Search
from model.explore.symmetry.classes import alike
from model.explore.traces.steps import Batch, Numbers, Steps
from model.export.columns import Columns
from model.language import Machine, Sort, VariableBase
from model.language.types import EnumType, domain_type
from model.query import Query, member, read_query
from model.semantics import Semantics
from model.trace import Value, named_state

MOST_STATES = 100_000
"""Of a graph for networkx, which takes some kilobytes a state."""
MOST_MERGED_STATES = 20_000_000
MOST_NODES = 400
"""Of a merged graph: what is larger nobody can read."""
_PART = 1 << 16


def state_graph(machine: Machine, max_states: int = MOST_STATES) -> nx.MultiDiGraph:
    """All reachable states, numbered from 0 in breadth-first order, and all steps between them.

    Nodes have ``state`` (cell name to value), ``raw`` (as in ``machine.cells()``), ``distance`` (steps from the start),
    ``initial`` and ``end`` (no step leads on; ``terminal`` if that is intended). Edges, keyed by the call, as in
    ``allocate(app1, node2)``, have ``action`` and ``arguments``. A faulty step leads nowhere and has no edge.
    GraphTooLarge past ``max_states``.
    """
    steps = Steps(whole_search(machine, max_states))
    semantics = Semantics(machine)
    order = _breadth_first(steps)
    raws = steps.raw(order).tolist()
    distances = np.repeat(np.arange(steps.depth + 1), [len(steps.at_depth(d)) for d in range(steps.depth + 1)]).tolist()
    graph = nx.MultiDiGraph(name=machine.name)
    for number, (raw, distance) in enumerate(zip(raws, distances, strict=True)):
        graph.add_node(
            number,
            state=named_state(machine, raw),
            raw=tuple(raw),
            distance=distance,
            initial=distance == 0,
            terminal=semantics.is_terminal(tuple(raw)),
        )
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    calls = [(i.action.name, semantics.arguments(i), semantics.call(i)) for i in semantics.instances]
    for batch in _all_steps(steps):
        listed = zip(
            place[batch.sources].tolist(), place[batch.targets].tolist(), batch.instances.tolist(), strict=True
        )
        for source, target, instance in listed:
            action, arguments, call = calls[instance]
            graph.add_edge(source, target, key=call, action=action, arguments=dict(arguments))
    # A state whose only steps are faulty is no end: something is enabled there.
    for number, out in list(graph.out_degree()):
        raw = graph.nodes[number]["raw"]
        graph.nodes[number]["end"] = not out and not any(semantics.is_enabled(i, raw) for i in semantics.instances)
    return graph


def whole_search(
    machine: Machine,
    max_states: int,
    progress: Callable[[Progress], None] | None = None,
    *,
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
) -> Search:
    """A finished search of all states of ``machine``. GraphTooLarge past ``max_states``, after ``seconds`` of search,
    and when ``stop``, asked now and then, says to stop."""
    program = pack(machine)
    search = Search(
        program, Native(program), Limits(states=max_states, seconds=seconds), progress, threads=workers(None), stop=stop
    )
    search.run()
    if not search.complete:
        raise GraphTooLarge(
            f"the graph of {machine.name} has more than {search.count:,} states: {search.budget}; "
            "take smaller parameters"
        )
    return search


def _breadth_first(steps: Steps) -> Numbers:
    """All states, nearest first."""
    return np.concatenate([steps.at_depth(d) for d in range(steps.depth + 1)])


def _all_steps(steps: Steps) -> Iterator[Batch]:
    return steps.batches(np.arange(steps.count, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Node:
    """Merged states: the ``values`` of the projection there, how many states, and whether runs start or end there."""

    values: tuple[Value, ...]
    states: int
    initial: bool
    end: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """Steps from node ``source`` to node ``target``, by the names of their actions, in order of declaration."""

    source: int
    target: int
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """A state graph merged by ``projection``; ``title`` is what it is of. ``states`` and ``steps`` count all of it."""

    title: str
    projection: tuple[str, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    states: int
    steps: int


def merged_graphs(
    machine: Machine,
    projections: Sequence[Sequence[Query]],
    max_states: int = MOST_MERGED_STATES,
    max_nodes: int = MOST_NODES,
    progress: Callable[[Progress], None] | None = None,
) -> list[Merged]:
    """For each projection, some expressions taken together, the graph merged by it, from one exploration.

    Nodes are in the order in which breadth-first search comes to them. GraphTooLarge past ``max_states`` states, or
    ``max_nodes`` nodes in one graph.
    """
    steps = Steps(whole_search(machine, max_states, progress))
    merging = [_Merging(machine, steps, queries, max_nodes) for queries in projections]
    for batch in _all_steps(steps):
        for each in merging:
            each.add(batch)
    return [each.merged() for each in merging]


def without_repeats(graphs: Sequence[Merged]) -> list[Merged]:
    """``graphs`` with those that look alike, but for steps within a node, shown once under the titles of all."""
    found: dict[object, Merged] = {}
    for graph in graphs:
        look = (
            tuple((n.values, n.initial, n.end) for n in graph.nodes),
            *(e for e in graph.edges if e.source != e.target),
        )
        first = found.get(look)
        found[look] = graph if first is None else replace(first, title=f"{first.title}; {graph.title}")
    return list(found.values())


def life_cycles(machine: Machine) -> list[list[Query]]:
    """The default projections: for each entity its enum-valued variables; of those that are symmetric one is enough.

    Scalars make one projection of their own; what a set or a channel consists of makes none. QueryError where no
    variable is enum-valued.
    """
    found: dict[tuple[object, int], list[Query]] = {}
    inside = {id(variable) for view in machine.views for variable in view.variables}
    for variable in machine.variables:
        is_state = isinstance(domain_type(variable.domain), EnumType) and id(variable) not in inside
        if not is_state or len(variable.sorts) > 1:
            continue
        sort = variable.sorts[0] if variable.sorts else None
        for position in [0] if sort is None else _different(machine, sort):
            found.setdefault((sort, position), []).append(_cell(machine, variable, position))
    if not found:
        raise QueryError(f"{machine.name} has no enum-valued variable to merge states by; name expressions")
    return list(found.values())


def _different(machine: Machine, sort: type[Sort]) -> list[int]:
    """Elements of ``sort`` that stand for all."""
    declared = machine.sorts[sort]
    return [each[0] for each in alike(machine, sort)] if declared.symmetric else list(range(declared.size))


def _cell(machine: Machine, variable: VariableBase, position: int) -> Query:
    if not variable.sorts:
        return read_query(machine, variable.label)
    name = machine.sorts[variable.sorts[0]].names[position]
    plain = name.isidentifier() and not keyword.iskeyword(name)
    return read_query(machine, f"{variable.label}[{name if plain else repr(name)}]")


class _Merging:
    """Classes of states under one projection, and the steps between classes."""

    def __init__(self, machine: Machine, steps: Steps, queries: Sequence[Query], max_nodes: int) -> None:
        self._machine: Final = machine
        self._queries: Final = queries
        self._steps: Final = steps
        instances = Semantics(machine).instances
        names = [a.name for a in machine.actions]
        self._action_of: Final = np.array([names.index(i.action.name) for i in instances], np.int64)
        self._actions: Final = names
        self._edges: set[int] = set()
        self._count = 0
        values, self._classes = self._classified(_breadth_first(steps), max_nodes)
        self._values: Final = values
        self._sizes: Final = np.bincount(self._classes, minlength=len(values))
        self._ends: Final = np.zeros(len(values), np.bool_)
        self._able: NDArray[np.bool_] = np.zeros(steps.count, np.bool_)

    def _classified(self, order: Numbers, max_nodes: int) -> tuple[NDArray[np.int64], Numbers]:
        """The distinct values of the projection, in breadth-first order, and the number of its values for each
        state."""
        columns = Columns(self._machine)
        known: dict[tuple[int, ...], int] = {}
        classes = np.empty(self._steps.count, np.int64)
        for first in range(0, len(order), _PART):
            numbers = order[first : first + _PART]
            raw = self._steps.raw(numbers)
            taken = np.stack([columns.value(q.expr, raw, q.elements) for q in self._queries], axis=1)
            distinct, where, inverse = np.unique(taken, axis=0, return_index=True, return_inverse=True)
            place = np.empty(len(distinct), np.int64)
            for k in np.argsort(where, kind="stable").tolist():
                place[k] = known.setdefault(tuple(distinct[k].tolist()), len(known))
            if len(known) > max_nodes:
                raise GraphTooLarge(
                    f"merged by {', '.join(q.text for q in self._queries)} the graph has more than {max_nodes} nodes; "
                    "merge by less"
                )
            classes[numbers] = place[inverse.reshape(-1)]
        return np.array(list(known), np.int64).reshape(len(known), len(self._queries)), classes

    def add(self, batch: Batch) -> None:
        """Take in the steps of ``batch``."""
        nodes = len(self._values)
        sources, targets = self._classes[batch.sources], self._classes[batch.targets]
        coded = (sources * nodes + targets) * len(self._actions) + self._action_of[batch.instances]
        self._edges.update(np.unique(coded).tolist())
        self._able[batch.sources] = True
        self._count += len(coded)

    def merged(self) -> Merged:
        """The graph, all steps taken in."""
        nodes, actions = len(self._values), len(self._actions)
        between: dict[tuple[int, int], list[str]] = {}
        for code in sorted(self._edges):
            ends, action = divmod(code, actions)
            between.setdefault(divmod(ends, nodes), []).append(self._actions[action])
        initial = set(self._classes[self._steps.at_depth(0)].tolist())
        ends_in = set(self._classes[np.flatnonzero(~self._able)].tolist())
        return Merged(
            ", ".join(q.text for q in self._queries),
            tuple(q.text for q in self._queries),
            tuple(
                Node(self._shown(row), int(self._sizes[i]), i in initial, i in ends_in)
                for i, row in enumerate(self._values.tolist())
            ),
            tuple(Edge(source, target, tuple(names)) for (source, target), names in between.items()),
            self._steps.count,
            self._count,
        )

    def _shown(self, row: list[int]) -> tuple[Value, ...]:
        return tuple(member(self._machine, q, raw) for q, raw in zip(self._queries, row, strict=True))


__all__ = [
    "MOST_NODES",
    "MOST_STATES",
    "Edge",
    "GraphTooLarge",
    "Merged",
    "Node",
    "life_cycles",
    "merged_graphs",
    "state_graph",
    "whole_search",
    "without_repeats",
]
