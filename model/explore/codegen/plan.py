"""What a compiled function does, as a tree of steps in regions: the program's decision tree, spelled out.

`Planner` also tells the placement of values what each step uses and in which region, which is all that it needs to
compute every shared value once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from model.explore.codegen.blocks import Placement, Region
from model.explore.codegen.decide import Branch, Fire, Switch, When
from model.explore.packing import PackedProgram
from model.lowering.ground import Node
from model.lowering.lower import Instance

# Lines of text of a function, roughly: the time that good code takes to generate grows faster than a function's size.
_PART = 4000

Events: TypeAlias = tuple[tuple[int, Node], ...]


@dataclass(slots=True)
class Body:
    """What happens in a region, in order."""

    region: Region
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Tell of events that hardly ever occur: number and condition. ``instance`` is -1 for those of the state alone."""

    events: Events
    instance: int


@dataclass(frozen=True, slots=True)
class Hope:
    """Tell of events that are soon seen; ``body`` holds the `Note` and is passed by once all of them were."""

    events: Events
    body: Body


@dataclass(frozen=True, slots=True)
class Note:
    """Tell of events not seen before."""

    events: Events
    instance: int


@dataclass(frozen=True, slots=True)
class Test:
    """``body`` where ``condition`` holds."""

    condition: Node
    body: Body


@dataclass(frozen=True, slots=True)
class Cases:
    """The body for the value of ``subject``, if it has one."""

    subject: Node
    cases: tuple[tuple[int, Body], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """The action fires here."""

    action: int


@dataclass(frozen=True, slots=True)
class Sound:
    """``body`` where the step of ``instance`` is no fault; the fault is noted else."""

    instance: Instance
    body: Body


@dataclass(frozen=True, slots=True)
class Produce:
    """Write the successor's record."""

    instance: Instance


@dataclass(frozen=True, slots=True)
class Stuck:
    """``body`` where no instance was enabled."""

    body: Body


@dataclass(frozen=True, slots=True)
class Part:
    """Call the function that deals with further instances."""

    number: int


@dataclass(frozen=True, slots=True)
class Bits:
    """Store ``conditions`` as bits of one word."""

    conditions: tuple[Node, ...]


Step: TypeAlias = Alarm | Hope | Note | Test | Cases | Count | Sound | Produce | Stuck | Part | Bits


class Planner:
    """Builds the steps of one function, from its root region down.

    A function that would grow too large leaves branches to others: they are appended to ``parts``, to be planned later.
    """

    def __init__(self, program: PackedProgram, parts: list[list[Branch]]) -> None:
        self._program: Final = program
        self._parts: Final = parts
        self.placement: Final = Placement(program.graph, program.layout)
        self.root: Final = Body(Region(None))

    def add(self, body: Body, *steps: Step) -> None:
        """Append ``steps`` to ``body``."""
        for step in steps:
            body.steps.append(step)
            self.placement.use(_uses(step), body.region)

    def below(self, body: Body) -> Body:
        """A new body inside ``body``."""
        return Body(Region(body.region))

    def events(self, body: Body, events: Events, instance: int) -> None:
        """Tell of ``events``: violations, which are rare, apart from what should occur, which is soon seen."""
        kinds = self._program.events
        alarms = tuple(e for e in events if kinds[e[0]].is_violation)
        hopes = tuple(e for e in events if not kinds[e[0]].is_violation)
        if alarms:
            self.add(body, Alarm(alarms, instance))
        if hopes:
            inside = self.below(body)
            self.add(inside, Note(hopes, instance))
            self.add(body, Hope(hopes, inside))

    def branches(self, body: Body, branches: Sequence[Branch]) -> None:
        """A decision tree."""
        groups = _groups(branches)
        for group in groups:
            if len(groups) == 1 or len(group) == 1:
                self._inline(body, group)
            else:
                self.add(body, Part(len(self._parts)))
                self._parts.append(group)

    def _inline(self, body: Body, branches: Iterable[Branch]) -> None:
        for branch in branches:
            match branch:
                case When(condition=condition, body=inside):
                    then = self.below(body)
                    self.branches(then, inside)
                    self.add(body, Test(condition, then))
                case Switch(subject=subject, cases=cases):
                    bodies = [(value, self.below(body)) for value, _ in cases]
                    for (_, case), (_, inside) in zip(bodies, cases, strict=True):
                        self.branches(case, inside)
                    self.add(body, Cases(subject, tuple(bodies)))
                case Fire(instance=instance):
                    self._fire(body, instance)

    def _fire(self, body: Body, instance: Instance) -> None:
        self.add(body, Count(instance.action))
        false = self._program.graph.false
        if instance.write_fault is not false or instance.range_fault is not false:
            sound = self.below(body)
            self.add(body, Sound(instance, sound))
            body = sound
        self.events(body, instance.events, instance.number)
        self.add(body, Produce(instance))


def _uses(step: Step) -> Sequence[Node]:
    match step:
        case Note(events=events) | Alarm(events=events):
            return [node for _, node in events]
        case Test(condition=condition):
            return [condition]
        case Cases(subject=subject):
            return [subject]
        case Sound(instance=instance):
            return [instance.write_fault, instance.range_fault]
        case Produce(instance=instance):
            return [w.delta if w.delta is not None else w.value for w in instance.writes]
        case Bits(conditions=conditions):
            return conditions
        case _:
            return ()


def _groups(branches: Sequence[Branch]) -> list[list[Branch]]:
    """``branches`` in groups that are not too large for a function, unless they are a single branch."""
    groups: list[list[Branch]] = []
    room = 0
    for branch in branches:
        size = _size(branch)
        if not groups or size > room:
            groups.append([])
            room = _PART
        groups[-1].append(branch)
        room -= size
    return groups


def _size(branch: Branch) -> int:
    """Roughly, the lines of text."""
    match branch:
        case Fire(instance=i):
            return 30 + 8 * (len(i.writes) + len(i.events) + len(i.conjuncts))
        case When(body=body):
            return sum(map(_size, body))
        case Switch(cases=cases):
            return sum(_size(b) for _, body in cases for b in body)


__all__ = [
    "Alarm",
    "Bits",
    "Body",
    "Cases",
    "Count",
    "Events",
    "Hope",
    "Note",
    "Part",
    "Planner",
    "Produce",
    "Sound",
    "Step",
    "Stuck",
    "Test",
]
