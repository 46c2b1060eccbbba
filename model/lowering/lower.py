"""From a `Machine` to a `Program`: what is left to compile are ground expressions over the cells of one state.

Every instance of an action (an action with concrete arguments and choices) becomes its guard's conjuncts, the cells
that it writes, and the conditions under which the step is a fault. What is worth telling about a state or a step is
an `Event`; the search notes the first state, in breadth-first order, at which each occurs.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from model.language import Action, Machine, Property, PropertyKind, SpecError, Update
from model.language.properties import BUILT_IN
from model.lowering.ground import Graph, Node, equality
from model.lowering.grounding import Environment, Grounder
from model.lowering.intervals import Facts
from model.semantics import Semantics

MOST_INSTANCES = 50_000
MOST_IN_ALL = 1 << 20
"""Instances of all actions together; a record of a step holds their number in a few bits."""
MOST_LIVE = 64
MOST_POSSIBLE = 63
"""`possible` properties: with the initial constraint they are the bits of one word."""


class EventKind(enum.Enum):
    """What an event says: a claim is violated, or something that should occur does."""

    DEADLOCK = "deadlock"
    RANGE = "range"
    WRITE = "write"
    ALWAYS = "always"
    SOMETIMES = "sometimes"
    STEP = "step"
    PREMISE = "premise"


@dataclass(frozen=True, slots=True)
class Event:
    """Something whose first occurrence is noted. ``premise`` is the number of the premise of property ``name``."""

    kind: EventKind
    name: str
    premise: int = 0

    @property
    def is_violation(self) -> bool:
        """Whether it makes a verdict VIOLATED."""
        return self.kind not in (EventKind.SOMETIMES, EventKind.PREMISE)


BUILT_IN_EVENTS = tuple(
    Event(kind, name)
    for kind, name in zip((EventKind.DEADLOCK, EventKind.RANGE, EventKind.WRITE), BUILT_IN, strict=True)
)
"""The violations of what every machine promises: events 0, 1 and 2 of every program."""


@dataclass(frozen=True, slots=True)
class Write:
    """A cell's new value. ``delta``: what is added to the old value, if additions are all that can happen to it."""

    cell: int
    value: Node
    delta: Node | None


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance, numbered as in `Semantics.instances`. ``events`` are those of the step: number and condition."""

    number: int
    action: int
    conjuncts: tuple[Node, ...]
    writes: tuple[Write, ...]
    write_fault: Node
    range_fault: Node
    events: tuple[tuple[int, Node], ...]


@dataclass(frozen=True, slots=True)
class LiveClaim:
    """A liveness property for one combination of its arguments, ``shown`` as "a = app1": whenever ``trigger`` holds,
    ``goal`` does then or later. Without a trigger: at the start."""

    property: Property
    shown: str
    trigger: Node | None
    goal: Node


@dataclass(frozen=True, slots=True)
class Program:
    """A machine, ground. Instances whose guard is never true are left out. ``state_events``: number and condition."""

    machine: Machine
    graph: Graph
    events: tuple[Event, ...]
    state_events: tuple[tuple[int, Node], ...]
    instances: tuple[Instance, ...]
    terminal: Node
    initially: Node
    possible: tuple[tuple[str, Node], ...]
    live: tuple[LiveClaim, ...]

    @property
    def actions(self) -> int:
        """Number of actions."""
        return len(self.machine.actions)


def lower(machine: Machine, tick: Callable[[], None] | None = None) -> Program:
    """Ground all of ``machine``. SpecError where it is too large, or may leave 64 bits. ``tick`` is called time and
    again, and may raise what ends it."""
    return _Lowering(machine, tick or (lambda: None)).program()


class _Lowering:
    def __init__(self, machine: Machine, tick: Callable[[], None]) -> None:
        self._tick = tick
        self.machine = machine.finish()
        self.grounder = Grounder(machine)
        self.graph = self.grounder.graph
        self.events: list[Event] = list(BUILT_IN_EVENTS)
        self._depends: dict[int, int] = {}
        self._stutter: dict[int, Node] = {}

    def program(self) -> Program:
        ground, graph = self.grounder.ground, self.graph
        self._check_size()
        state_events = self._events_of(PropertyKind.ALWAYS, EventKind.ALWAYS)
        state_events += [
            (self._event(EventKind.SOMETIMES, p.name), ground(p.condition, {}))
            for p in self.machine.properties
            if p.kind is PropertyKind.SOMETIMES
        ]
        step_events = self._events_of(PropertyKind.STEP, EventKind.STEP)
        instances = []
        for number, instance in enumerate(Semantics(self.machine).instances):
            self._tick()
            lowered = self._instance(number, instance.action, instance.environment(), step_events)
            if lowered is not None:
                instances.append(lowered)
        return Program(
            self.machine,
            graph,
            tuple(self.events),
            tuple(state_events),
            tuple(instances),
            graph.either([ground(t.condition, {}) for t in self.machine.terminals]),
            graph.both([ground(c.condition, {}) for c in self.machine.initial_constraints]),
            tuple(
                (p.name, ground(p.condition, {})) for p in self.machine.properties if p.kind is PropertyKind.POSSIBLE
            ),
            tuple(self._live_claims()),
        )

    def _live_claims(self) -> Iterator[LiveClaim]:
        machine, ground = self.machine, self.grounder.ground
        live = [p for p in machine.properties if p.kind.is_liveness]
        if len(live) > MOST_LIVE:
            raise SpecError(f"at most {MOST_LIVE} liveness properties can be explored", live[MOST_LIVE].at)
        for p in live:
            for env in self.grounder.bindings(p.parameters, {}):
                shown = ", ".join(f"{q.name} = {machine.show(q.domain, env[q.uid])}" for q in p.parameters)
                trigger = None if p.trigger is None else ground(p.trigger, env)
                yield LiveClaim(p, shown, trigger, ground(p.condition, env))

    def _check_size(self) -> None:
        possible = [p for p in self.machine.properties if p.kind is PropertyKind.POSSIBLE]
        if len(possible) > MOST_POSSIBLE:
            raise SpecError(
                f"at most {MOST_POSSIBLE} properties of kind possible can be explored, found {len(possible)}",
                possible[MOST_POSSIBLE].at,
            )
        in_all = 0
        for action in self.machine.actions:
            count = 1
            for symbol in action.symbols:
                values = self.machine.values(symbol.domain)
                count *= values.stop - values.start
            if count > MOST_INSTANCES:
                raise SpecError(
                    f"{action.name} has {count} instances (combinations of arguments and choices); "
                    f"at most {MOST_INSTANCES} can be explored",
                    action.at,
                )
            in_all += count
            if in_all > MOST_IN_ALL:
                raise SpecError(
                    f"with {action.name} the actions have {in_all:,} instances (combinations of arguments and "
                    f"choices); at most {MOST_IN_ALL:,} can be explored",
                    action.at,
                )

    def _event(self, kind: EventKind, name: str, premise: int = 0) -> int:
        self.events.append(Event(kind, name, premise))
        return len(self.events) - 1

    def _events_of(self, wanted: PropertyKind, violated: EventKind) -> list[tuple[int, Node]]:
        """The violation of each property of kind ``wanted``, and each of its premises coming true."""
        found: list[tuple[int, Node]] = []
        for p in self.machine.properties:
            if p.kind is wanted:
                condition = self.grounder.ground(p.condition, {})
                found.append((self._event(violated, p.name), self.graph.no(condition)))
                for i, premise in enumerate(p.premises):
                    found.append((self._event(EventKind.PREMISE, p.name, i), self.grounder.ground(premise, {})))
        return found

    # ---- one instance

    def _instance(
        self, number: int, action: Action, env: Environment, step_events: list[tuple[int, Node]]
    ) -> Instance | None:
        graph = self.graph
        guard = graph.both(_flat([self.grounder.ground(g.condition, env) for g in action.guards]))
        if guard is graph.false:
            return None
        conjuncts = guard.args if guard.op == "and" else () if guard is graph.true else (guard,)
        facts = Facts(conjuncts)
        by_cell: dict[int, list[tuple[Node, bool, Node]]] = {}
        for update in action.updates:
            self._ground_update(update, env, by_cell)
        writes: list[Write] = []
        write_faults: list[Node] = []
        range_faults: list[Node] = []
        for cell in sorted(by_cell):
            graph.at = action.at
            write_faults.append(self._write_fault(by_cell[cell]))
            write, leaves = self._write(cell, by_cell[cell], facts)
            range_faults.append(leaves)
            writes.append(write)
        after = {w.cell: w.value for w in writes}
        return Instance(
            number,
            self.machine.actions.index(action),
            conjuncts,
            tuple(writes),
            graph.either(write_faults),
            graph.either(range_faults),
            tuple(self._step_events(step_events, conjuncts, after)),
        )

    def _ground_update(
        self, update: Update, env: Environment, by_cell: dict[int, list[tuple[Node, bool, Node]]]
    ) -> None:
        """Append (condition, adds, value) to the cells that ``update`` may write."""
        for inner in self.grounder.bindings(update.binders, env):
            condition = self.grounder.ground(update.condition, inner)
            if condition is not self.graph.false:
                position = self.grounder.position(update.indices, inner)
                cell = self.grounder.index[update.variable.name, position]
                value = self.grounder.ground(update.value, inner)
                by_cell.setdefault(cell, []).append((condition, update.adds, value))

    def _write_fault(self, writes: list[tuple[Node, bool, Node]]) -> Node:
        """Whether an assignment meets another write of the same cell."""
        graph = self.graph
        clashes = [
            graph.both([condition, other])
            for i, (condition, adds, _) in enumerate(writes)
            for other, other_adds, _ in writes[i + 1 :]
            if not (adds and other_adds)
        ]
        return graph.either(clashes)

    def _write(self, cell: int, writes: list[tuple[Node, bool, Node]], facts: Facts) -> tuple[Write, Node]:
        """The cell's new value, valid where nothing clashes, and whether it leaves the domain."""
        graph = self.graph
        old = self.grounder.read(cell)
        values = self.machine.values(self.grounder.cells[cell].variable.domain)
        zero = graph.const(0)
        amounts = [graph.ite(condition, amount, zero) for condition, adds, amount in writes if adds]
        delta = graph.fold(graph.add, amounts) if amounts else None
        assigned = [(condition, value) for condition, adds, value in writes if not adds]
        value = old if delta is None else graph.add(old, delta)
        for condition, new in reversed(assigned):
            value = graph.ite(condition, new, value)
        # A cell that is not written keeps its value, which is in the domain: only what is written can leave it.
        if value.boolean:
            return Write(cell, value, None), graph.false
        low, high = facts.interval(value)
        leaves = []
        if low < values.start:
            leaves.append(graph.less(value, graph.const(values.start)))
        if high >= values.stop:
            leaves.append(graph.less(graph.const(values.stop - 1), value))
        return Write(cell, value, delta if not assigned else None), graph.either(leaves)

    # ---- what a step property says of one instance

    def _step_events(
        self, templates: list[tuple[int, Node]], conjuncts: tuple[Node, ...], after: dict[int, Node]
    ) -> list[tuple[int, Node]]:
        """``templates`` with the state after the step spelled out; what can't occur in this instance is left out."""
        if not templates:
            return []
        known = {node.value: value for node, value in filter(None, map(equality, conjuncts)) if node.op == "cell"}
        before = {
            cell: self.graph.truth(bool(value)) if self.grounder.read(cell).boolean else self.graph.const(value)
            for cell, value in known.items()
        }
        touched = sum(1 << (2 * cell) for cell in before) | sum(
            1 << (2 * cell + 1) for cell in after.keys() | before.keys()
        )
        done: dict[int, Node] = {}
        rewritten = [(event, self._rewrite(node, before, after, touched, done)) for event, node in templates]
        return [(event, node) for event, node in rewritten if node is not self.graph.false]

    def _rewrite(
        self, node: Node, before: dict[int, Node], after: dict[int, Node], touched: int, done: dict[int, Node]
    ) -> Node:
        if not self._leaves(node) & touched:
            return self._still(node)
        found = done.get(node.number)
        if found is None:
            if node.op == "cell":
                found = before.get(node.value, node)
            elif node.op == "next":
                cell = node.value
                found = after[cell] if cell in after else before.get(cell, self.grounder.read(cell))
            else:
                args = [self._rewrite(a, before, after, touched, done) for a in node.args]
                found = self.graph.rebuild(node, args)
            done[node.number] = found
        return found

    def _leaves(self, node: Node) -> int:
        """The cells that ``node`` reads: bit 2i for cell i before the step, bit 2i + 1 for cell i after it."""
        found = self._depends.get(node.number)
        if found is None:
            found = 1 << (2 * node.value + (node.op == "next")) if node.op in ("cell", "next") else 0
            for a in node.args:
                found |= self._leaves(a)
            self._depends[node.number] = found
        return found

    def _still(self, node: Node) -> Node:
        """``node`` in a step that changes nothing it reads."""
        found = self._stutter.get(node.number)
        if found is None:
            if node.op == "next":
                found = self.grounder.read(node.value)
            else:
                found = self.graph.rebuild(node, [self._still(a) for a in node.args])
            self._stutter[node.number] = found
        return found


def _flat(parts: list[Node]) -> list[Node]:
    """The conjuncts of ``parts``, conjunctions inside them opened."""
    return [x for part in parts for x in (_flat(list(part.args)) if part.op == "and" else [part])]


__all__ = [
    "BUILT_IN_EVENTS",
    "MOST_INSTANCES",
    "MOST_IN_ALL",
    "MOST_LIVE",
    "Event",
    "EventKind",
    "Instance",
    "LiveClaim",
    "Program",
    "Write",
    "lower",
]
