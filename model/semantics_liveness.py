"""The meaning of ``eventually`` and ``leads_to``: small, slow, obvious, like `model.semantics`, of which it is a part.

A run goes on forever: it takes steps, and it may stay in a state as long as it likes. For fairness only a step that
changes the state counts; such a step of an instance is what "enabled" and "taken" speak of. (Staying and a step that
changes nothing cannot be told apart; a faulty step has no state after it.) A run is fair to a `Demand` if

- weak: its instances are taken infinitely often, or in infinitely many states none of them is enabled;
- strong: its instances are taken infinitely often, or only in finitely many states any of them is enabled.

`eventually` is violated by a fair run in which the claim never holds; `leads_to` by a fair run with a state in which
the trigger holds and from which on the claim never does. From some point on a run stays among the states that it
visits infinitely often, which can all reach each other: so such runs are found among strongly connected sets of states.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from model.language import Fairness, Machine, Property
from model.trace import Trace

if TYPE_CHECKING:
    from model.semantics import Instance, Semantics, State

Steps: TypeAlias = "Mapping[State, Sequence[tuple[int, State]]]"
"""From each state the steps that change it: the instance's number and the state after it."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What fairness asks for one set of instances (by number); ``label`` says it: "weak fairness of finish(app1)"."""

    label: str
    strong: bool
    instances: frozenset[int]


def demands(machine: Machine, instances: Sequence[Instance], fairness: Sequence[Fairness]) -> tuple[Demand, ...]:
    """What ``fairness`` asks, for each combination of the arguments that are meant separately."""
    found: list[Demand] = []
    for each in fairness:
        groups: dict[tuple[int, ...], set[int]] = {}
        for number, instance in enumerate(instances):
            if any(instance.action is a for a in each.actions):
                env = instance.environment()
                groups.setdefault(tuple(env[p.uid] for p in each.apart), set()).add(number)
        for values, numbers in sorted(groups.items()):
            known = {p.uid: machine.show(p.domain, v) for p, v in zip(each.apart, values, strict=True)}
            shown = ", ".join(known.get(p.uid, "any") for p in each.actions[0].parameters)
            what = str(each) if each.progress else f"{each.actions[0].name}({shown})"
            label = what if each.progress else f"{'strong' if each.strong else 'weak'} fairness of {what}"
            found.append(Demand(label, each.strong, frozenset(numbers)))
    return tuple(found)


def violations(s: Semantics, distance: Mapping[State, int]) -> dict[str, int]:
    """For each violated liveness property the least number of steps to where a violating run can go round forever.

    ``distance`` has all reachable states, with the steps to them.
    """
    found: dict[str, int] = {}
    steps: Steps = {state: moves(s, state) for state in distance}
    for p in s.machine.properties:
        if p.kind.is_liveness:
            asked = demands(s.machine, s.instances, p.fairness)
            for env in arguments(s.machine, p):
                nearest = _nearest(s, p, env, steps, distance, asked)
                if nearest is not None:
                    found[p.name] = min(nearest, found.get(p.name, nearest))
    return found


def moves(s: Semantics, state: State) -> list[tuple[int, State]]:
    """The steps from ``state`` that change it."""
    result = []
    for number, instance in enumerate(s.instances):
        if s.is_enabled(instance, state):
            new = s.fire(instance, state)
            if isinstance(new, tuple) and new != state:
                result.append((number, new))
    return result


def arguments(machine: Machine, p: Property) -> Iterator[dict[int, int]]:
    """Every combination of values of the property's parameters, by uid."""
    for values in itertools.product(*(machine.values(q.domain) for q in p.parameters)):
        yield {q.uid: v for q, v in zip(p.parameters, values, strict=True)}


def _nearest(
    s: Semantics,
    p: Property,
    env: dict[int, int],
    steps: Steps,
    distance: Mapping[State, int],
    asked: Sequence[Demand],
) -> int | None:
    """The least number of steps to a state where a violating run can go round forever; None if there is none."""
    without = {state for state in distance if not s.evaluate(p.condition, state, env)}
    if p.trigger is None:
        starts = [state for state in without if distance[state] == 0]
    else:
        starts = [state for state in without if s.evaluate(p.trigger, state, env)]
    reached: dict[State, int] = {}
    for length in range(max(distance.values()) + 1):
        for state in (x for x in starts if distance[x] == length):
            # Of the ways to a state, the shortest counts: later starts are farther away.
            queue = deque([(state, length)])
            while queue:
                here, far = queue.popleft()
                if here in without and far < reached.get(here, far + 1):
                    reached[here] = far
                    queue.extend((after, far + 1) for _, after in steps[here])
    return min((reached[state] for state in fair_states(reached.keys(), steps, asked)), default=None)


def fair_states(region: Set[State], steps: Steps, asked: Sequence[Demand]) -> set[State]:
    """The states among which a fair run that never leaves ``region`` can go round forever, or stay."""
    found: set[State] = set()
    todo = [set(region)]
    while todo:
        for component in components(todo.pop(), steps):
            taken = {number for state in component for number, after in steps[state] if after in component}
            enabled = {state: {number for number, _ in steps[state]} for state in component}
            unmet = [d for d in asked if not d.instances & taken]
            if any(not d.strong and all(d.instances & enabled[state] for state in component) for d in unmet):
                continue
            avoided = {state for state in component for d in unmet if d.strong and d.instances & enabled[state]}
            if not avoided:
                found |= component
            elif component - avoided:
                todo.append(component - avoided)
    return found


def components(region: set[State], steps: Steps) -> Iterator[set[State]]:
    """The sets of states of ``region`` that can reach each other inside it; each state is in one of them."""
    after = {state: [target for _, target in steps[state]] for state in region}
    before: dict[State, list[State]] = {}
    for state, targets in after.items():
        for target in targets:
            before.setdefault(target, []).append(state)
    left = set(region)
    for state in sorted(region):
        if state in left:
            component = _reach(state, left, after) & _reach(state, left, before)
            left -= component
            yield component


def _reach(start: State, inside: set[State], follow: Mapping[State, Sequence[State]]) -> set[State]:
    found, todo = {start}, [start]
    while todo:
        for state in follow.get(todo.pop(), ()):
            if state in inside and state not in found:
                found.add(state)
                todo.append(state)
    return found


def refutes(s: Semantics, p: Property, trace: Trace) -> str | None:
    """None if ``trace``, with its loop gone round forever, is a fair run that violates ``p``; else why not."""
    problem = s.replay(trace)
    if problem is not None:
        return problem
    if trace.loop_start is None:
        return "the trace has no loop"
    states, numbers = s.run_of(trace)
    start = trace.loop_start
    loop = states[start:]
    taken = {n for n, before, after in zip(numbers[start:], loop, loop[1:], strict=False) if before != after}
    enabled = [{number for number, _ in moves(s, state)} for state in loop]
    for d in demands(s.machine, s.instances, p.fairness):
        asked = any(d.instances & e for e in enabled) if d.strong else all(d.instances & e for e in enabled)
        if asked and not d.instances & taken:
            return f"the loop is not fair: {d.label}"
    for env in arguments(s.machine, p):
        lacks = [not s.evaluate(p.condition, state, env) for state in states]
        # After a state of the loop comes the whole loop again.
        if p.trigger is None:
            begins = [0]
        else:
            begins = [min(i, start) for i, state in enumerate(states) if s.evaluate(p.trigger, state, env)]
        if any(all(lacks[i:]) for i in begins):
            return None
    return "what is claimed happens on this run"


__all__ = ["Demand", "demands", "fair_states", "refutes", "violations"]
