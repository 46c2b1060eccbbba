"""The meaning of a machine: small, slow, obvious. Every engine is tested against this file.

A state is a tuple of raw integers, one per cell, in the order of ``machine.cells()``. A step of an action instance
reads the state before it, everywhere; the new value of a cell is what was assigned to it, or its old value plus all
that was added to it, or its old value. A step that assigns one cell twice, that assigns and adds to one cell, or that
leaves a domain is a fault: it has no state after it, and it is a violation.
"""

from __future__ import annotations

import enum
import itertools
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from model.language import Action, Const, Expr, Location, Machine, PropertyKind, SpecError, describe_domain
from model.semantics_expressions import Environment, Meanings, State
from model.semantics_liveness import violations
from model.trace import NamedState, Step, Trace, named_state


@dataclass(frozen=True, slots=True)
class Instance:
    """An action with a raw value for each of its parameters and choices."""

    action: Action
    values: tuple[int, ...]

    def environment(self) -> Environment:
        """The values by symbol."""
        return {s.uid: v for s, v in zip(self.action.symbols, self.values, strict=True)}


class FaultKind(enum.Enum):
    """Why a step has no state after it; the values name the built-in properties that it violates."""

    RANGE = "values_in_range"
    WRITE = "one_write_per_cell"


@dataclass(frozen=True, slots=True)
class Fault:
    """A step that has no state after it: what it did to which cell, and the line that wrote."""

    kind: FaultKind
    message: str
    at: Location


class Semantics:
    """One machine, ready to be asked."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine.finish()
        self.cells = machine.cells()
        self.index = {(c.variable.name, c.indices): i for i, c in enumerate(self.cells)}
        self._meanings = Meanings(machine)
        self._domains = [machine.values(c.variable.domain) for c in self.cells]
        self.instances = [
            Instance(action, values)
            for action in machine.actions
            for values in itertools.product(*(machine.values(s.domain) for s in action.symbols))
        ]

    def evaluate(self, expr: Expr, state: State, env: Environment, after: State | None = None) -> int:
        """The raw value of ``expr`` in ``state``; ``after`` is the state that ``After`` reads."""
        return self._meanings.of(expr)(state, env, after)

    def initial_states(self) -> list[State]:
        """Every initial state, in order. SpecError if there is none: then every claim would hold of nothing."""
        choices = [
            sorted({Const(v).raw for v in one_of.values})
            for variable in self.machine.variables
            for _, one_of in self.machine.initial_choices(variable)
        ]
        constraints = self.machine.initial_constraints
        states = [
            state
            for state in itertools.product(*choices)
            if all(self.evaluate(c.condition, state, {}) for c in constraints)
        ]
        if not states:
            names = ", ".join(c.name for c in constraints)
            raise SpecError(
                f"{self.machine.name} has no initial state: no combination satisfies {names}", constraints[0].at
            )
        return states

    def is_enabled(self, instance: Instance, state: State) -> bool:
        """Whether every conjunct of the guard holds."""
        env = instance.environment()
        return all(self.evaluate(g.condition, state, env) for g in instance.action.guards)

    def fire(self, instance: Instance, state: State) -> State | Fault:
        """The state after the step, or the fault. The instance must be enabled."""
        assigned: dict[int, tuple[int, Location]] = {}
        added: dict[int, int] = {}
        touched: dict[int, Location] = {}
        values = instance.environment()
        for update in instance.action.updates:
            for inner in self._meanings.bindings(update.binders):
                env = {**values, **inner}
                if not self.evaluate(update.condition, state, env):
                    continue
                position = tuple(self.evaluate(i, state, env) for i in update.indices)
                cell = self.index[update.variable.name, position]
                if cell in assigned or (cell in touched and not update.adds):
                    name, lines = self.machine.show_cell(self.cells[cell]), sorted((touched[cell].line, update.at.line))
                    message = f"{name} is written at line {lines[0]} and line {lines[1]}"
                    return Fault(FaultKind.WRITE, message, update.at)
                touched[cell] = update.at
                value = self.evaluate(update.value, state, env)
                if update.adds:
                    added[cell] = added.get(cell, 0) + value
                else:
                    assigned[cell] = (value, update.at)
        new = list(state)
        for cell, (value, _) in assigned.items():
            new[cell] = value
        for cell, amount in added.items():
            new[cell] += amount
        for cell in sorted(touched):
            if new[cell] not in self._domains[cell]:
                name, domain = self.machine.show_cell(self.cells[cell]), self.cells[cell].variable.domain
                message = f"{name} becomes {new[cell]}, outside {describe_domain(domain)}"
                return Fault(FaultKind.RANGE, message, touched[cell])
        return tuple(new)

    def is_terminal(self, state: State) -> bool:
        """Whether the machine declares ``state`` an intended end."""
        return any(self.evaluate(t.condition, state, {}) for t in self.machine.terminals)

    def arguments(self, instance: Instance) -> tuple[tuple[str, str], ...]:
        """Names and values of the instance as people read them."""
        return tuple(
            (s.name, self.machine.show(s.domain, v))
            for s, v in zip(instance.action.symbols, instance.values, strict=True)
        )

    def call(self, instance: Instance) -> str:
        """``allocate(app1, node2)``."""
        return f"{instance.action.name}({', '.join(value for _, value in self.arguments(instance))})"

    def step(self, instance: Instance, state: State, fault: Fault | None = None) -> Step:
        """The step of ``instance`` as traces tell it; ``state`` is the one after it, or before it if it is a fault."""
        named, message = named_state(self.machine, state), None if fault is None else fault.message
        return Step(instance.action.name, self.arguments(instance), named, message)

    def replay(self, trace: Trace) -> str | None:
        """None if ``trace`` is a run of this machine; else what differs, in one line."""
        starts = [s for s in self.initial_states() if named_state(self.machine, s) == trace.initial]
        if not starts:
            return "the trace's first state is not an initial state"
        state = starts[0]
        for number, step in enumerate(trace.steps, 1):
            instance = self._instance_of(step)
            if instance is None or not self.is_enabled(instance, state):
                return f"step {number}: {step.call} is not enabled"
            result = self.fire(instance, state)
            if isinstance(result, Fault):
                if number < len(trace.steps) or step.fault is None:
                    return f"step {number}: {result.message}"
                if step.fault != result.message:
                    return f"step {number}: the trace tells of another fault: {step.fault}"
                if named_state(self.machine, state) != step.state:
                    return f"step {number}: a faulty step has no state after it, the trace must repeat the one before"
                return None
            if step.fault is not None:
                return f"step {number}: the trace tells of a fault, there is none: {step.fault}"
            if named_state(self.machine, result) != step.state:
                return f"step {number}: {step.call} leads to another state"
            state = result
        if trace.loop_start is not None and not 0 <= trace.loop_start <= len(trace):
            return f"the loop starts after step {trace.loop_start}, and the trace has {len(trace)} steps"
        states = [trace.initial, *(step.state for step in trace.steps)]
        if trace.loop_start is not None and states[trace.loop_start] != states[-1]:
            return f"the loop does not close: the last state is not the one after step {trace.loop_start}"
        return None

    def _instance_of(self, step: Step) -> Instance | None:
        wanted = (step.action, step.arguments)
        return next((i for i in self.instances if (i.action.name, self.arguments(i)) == wanted), None)

    def run(self, start: State, numbers: Iterable[int]) -> Trace:
        """The run from ``start`` by the instances with these numbers, each enabled; only the last may be a fault."""
        state, steps = start, []
        for number in numbers:
            instance = self.instances[number]
            assert self.is_enabled(instance, state), f"{instance.action.name} is not enabled"
            result = self.fire(instance, state)
            fault = result if isinstance(result, Fault) else None
            state = state if isinstance(result, Fault) else result
            steps.append(self.step(instance, state, fault))
        return Trace(named_state(self.machine, start), tuple(steps))

    def run_of(self, trace: Trace) -> tuple[list[State], list[int]]:
        """The states of a ``trace`` that replays without a fault, and the numbers of the instances between them."""
        states = [s for s in self.initial_states() if named_state(self.machine, s) == trace.initial][:1]
        instances = [i for i in map(self._instance_of, trace.steps) if i is not None]
        for instance in instances:
            result = self.fire(instance, states[-1])
            assert not isinstance(result, Fault), result.message
            states.append(result)
        return states, [self.instances.index(i) for i in instances]


@dataclass(slots=True)
class Explored:
    """Every reachable state, found the slow way.

    ``distance``: steps from an initial state, in the order found. ``violated``: for each property that is violated,
    the length of a shortest trace to the violation, built-in properties included (``deadlock_free``, `FaultKind`);
    for a liveness property that of a shortest stem, see `model.semantics_liveness`;
    ``reached``: the shortest trace to each `sometimes`. ``unreached_premises``: properties of which a premise never
    holds. A step that leaves the state as it was is a step like others, also to `deadlock_free`: ``idle`` counts such
    steps by action, ``stuck`` has the distance of each state that is no end and has no other steps.
    """

    distance: dict[State, int] = field(default_factory=dict)
    transitions: int = 0
    fired: dict[str, int] = field(default_factory=dict)
    violated: dict[str, int] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    unreached_premises: set[str] = field(default_factory=set)
    idle: dict[str, int] = field(default_factory=dict)
    stuck: list[int] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """Steps to the farthest state."""
        return max(self.distance.values(), default=0)


def explore(machine: Machine, max_states: int = 1_000_000) -> Explored:
    """Breadth-first over every reachable state. OverflowError past ``max_states``: this is for small machines."""
    s = Semantics(machine)
    result = Explored(fired={a.name: 0 for a in machine.actions}, idle={a.name: 0 for a in machine.actions})
    premises_left = {(p.name, i) for p in machine.properties for i in range(len(p.premises))}
    predecessors: dict[State, set[State]] = {}
    queue: deque[State] = deque()

    def violate(name: str, steps: int) -> None:
        result.violated.setdefault(name, steps)

    def note_premises(kind: PropertyKind, state: State, after: State | None) -> None:
        for p in machine.properties:
            for i, premise in enumerate(p.premises):
                if p.kind is kind and (p.name, i) in premises_left and s.evaluate(premise, state, {}, after):
                    premises_left.discard((p.name, i))

    def visit(state: State, steps: int) -> None:
        if state in result.distance:
            return
        if len(result.distance) >= max_states:
            raise OverflowError(f"more than {max_states} states")
        result.distance[state] = steps
        queue.append(state)
        note_premises(PropertyKind.ALWAYS, state, None)
        note_premises(PropertyKind.LEADS_TO, state, None)
        for p in machine.properties:
            if p.kind is PropertyKind.ALWAYS and not s.evaluate(p.condition, state, {}):
                violate(p.name, steps)
            if p.kind is PropertyKind.SOMETIMES and p.name not in result.reached and s.evaluate(p.condition, state, {}):
                result.reached[p.name] = steps

    for state in s.initial_states():
        visit(state, 0)
    while queue:
        state = queue.popleft()
        steps = result.distance[state] + 1
        enabled = [i for i in s.instances if s.is_enabled(i, state)]
        if not enabled and not s.is_terminal(state):
            violate("deadlock_free", steps - 1)
        idle = 0
        for instance in enabled:
            result.transitions += 1
            result.fired[instance.action.name] += 1
            new = s.fire(instance, state)
            if isinstance(new, Fault):
                violate(new.kind.value, steps)
                continue
            if new == state:
                idle += 1
                result.idle[instance.action.name] += 1
            note_premises(PropertyKind.STEP, state, new)
            for p in machine.properties:
                if p.kind is PropertyKind.STEP and not s.evaluate(p.condition, state, {}, new):
                    violate(p.name, steps)
            predecessors.setdefault(new, set()).add(state)
            visit(new, steps)
        if enabled and idle == len(enabled) and not s.is_terminal(state):
            result.stuck.append(steps - 1)
    for p in machine.properties:
        if p.kind is PropertyKind.POSSIBLE:
            goal = [x for x in result.distance if s.evaluate(p.condition, x, {})]
            can_reach = set(goal)
            while goal:
                for before in predecessors.get(goal.pop(), ()):
                    if before not in can_reach:
                        can_reach.add(before)
                        goal.append(before)
            stuck = [steps for state, steps in result.distance.items() if state not in can_reach]
            if stuck:
                violate(p.name, min(stuck))
    if any(p.kind.is_liveness for p in machine.properties):
        result.violated.update(violations(s, result.distance))
    result.unreached_premises = {name for name, _ in premises_left}
    return result


__all__ = ["Environment", "Explored", "Fault", "FaultKind", "Instance", "NamedState", "Semantics", "State", "explore"]
