"""What can be proved of a machine: that no state, or no step, is bad.

Built-in claims, `always` and `step` properties are all of that form; a `sometimes` is a state that is looked for. What
is claimed of all runs, or of what remains possible, is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.language import PropertyKind
from model.lowering.ground import Node
from model.lowering.lower import Event, EventKind, Program
from model.prove.arithmetic import Formula
from model.prove.encoding import Encoding, View

NOT_PROVED = (PropertyKind.POSSIBLE, PropertyKind.EVENTUALLY, PropertyKind.LEADS_TO)
"""Kinds of properties that are about runs: exploring decides them."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as what would violate it: a state in which ``state`` holds, or a step of an instance in which its
    condition does. A step that is a fault ``leads_nowhere``. ``is_goal``: such a state is looked for instead."""

    name: str
    kind: str
    state: Node | None
    steps: tuple[tuple[int, Node], ...] = ()
    leads_nowhere: bool = False
    is_goal: bool = False

    @property
    def of_steps(self) -> bool:
        """Whether it speaks of steps."""
        return self.state is None


def claims(program: Program) -> tuple[Claim, ...]:
    """The claims of ``program``, properties first and built-in ones last, as `check` lists them."""
    found = [_claim(program, number, event) for number, event in enumerate(program.events)]
    return tuple(c for c in [*found[3:], *found[:3]] if c is not None)


def _claim(program: Program, number: int, event: Event) -> Claim | None:
    graph, kind = program.graph, event.kind
    name, shown = event.name, kind.value
    match kind:
        case EventKind.DEADLOCK:
            no_step = [graph.no(graph.both(i.conjuncts)) for i in program.instances]
            return Claim(name, shown, graph.both([*no_step, graph.no(program.terminal)]))
        case EventKind.RANGE:
            faults = enumerate((i.write_fault, i.range_fault) for i in program.instances)
            leaving = [(place, graph.both([graph.no(written), leaves])) for place, (written, leaves) in faults]
            return Claim(name, shown, None, _possible(program, leaving), leads_nowhere=True)
        case EventKind.WRITE:
            clashes = [(place, i.write_fault) for place, i in enumerate(program.instances)]
            return Claim(name, shown, None, _possible(program, clashes), leads_nowhere=True)
        case EventKind.ALWAYS | EventKind.SOMETIMES:
            goal = kind is EventKind.SOMETIMES
            return Claim(name, shown, dict(program.state_events)[number], is_goal=goal)
        case EventKind.STEP:
            bad = [(place, n) for place, i in enumerate(program.instances) for event, n in i.events if event == number]
            return Claim(name, shown, None, _possible(program, bad))
        case EventKind.PREMISE:
            return None


def premise_name(name: str, number: int) -> str:
    """What a premise is called as a claim: of the property ``name``, counted from 0."""
    return f"premise {number + 1} of {name}"


def premises(program: Program) -> dict[Event, Claim]:
    """Each premise of a property as a claim that it never comes true."""
    found = {}
    for number, event in enumerate(program.events):
        if event.kind is EventKind.PREMISE:
            name = premise_name(event.name, event.premise)
            state = dict(program.state_events).get(number)
            steps = [(place, n) for place, i in enumerate(program.instances) for e, n in i.events if e == number]
            found[event] = Claim(name, event.kind.value, state, () if state is not None else _possible(program, steps))
    return found


def _possible(program: Program, steps: list[tuple[int, Node]]) -> tuple[tuple[int, Node], ...]:
    return tuple((place, node) for place, node in steps if node is not program.graph.false)


def violated_in(encoding: Encoding, claim: Claim, view: View) -> Formula:
    """The state before the step violates ``claim``, or is the goal that is looked for."""
    assert claim.state is not None
    return encoding.holds(claim.state, view)


def violated_by(encoding: Encoding, claim: Claim, view: View, chosen: Formula) -> Formula:
    """The chosen step violates ``claim``. For a claim that leads nowhere that is all that is said of the step."""
    bad = []
    for place, condition in claim.steps:
        instance = encoding.program.instances[place]
        this = [encoding.is_chosen(chosen, place), encoding.holds(condition, view)]
        # Of other claims the step is asserted beside this.
        bad.append(encoding.words.every([*this, encoding.is_enabled(instance, view)] if claim.leads_nowhere else this))
    return encoding.words.some(bad)


__all__ = ["NOT_PROVED", "Claim", "claims", "premise_name", "premises", "violated_by", "violated_in"]
