"""The reference's autoscaler makes the runs of the spec: what `specs.replaying` needs to know of it.

The spec goes step by step and is free where the program is not: which rows change first, which nodes were idle for
long, who is stuck. So a subject is all ways in which the program can have come along so far. Where the spec begins a
loop, each of them runs a whole one for every choice that is the world's: which nodes were idle for long, and, state by
state, since when a row has to be in it to be stuck, as if the user had changed the time out. Then the spec's steps
decide: a way is left if it has made the same changes, row by row and phase by phase, and nothing more when the loop is
over. Which row of the spec a new instance is, is open as long as nothing tells.

The changes of one loop have an order between rows in the program and none here: what is compared is what a row goes
through.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from model.language import Machine
from model.trace import NamedState, Value
from specs.ray.branching import BranchingWorld
from specs.ray.life_cycle import COUNTED, Status
from specs.ray.state import Loop, Node
from specs.ray.steps import actions_for, phase_of
from specs.replaying import Excused
from specs.walking import Call, Divergence

_REST: Final = Loop.REST.name
_FREE: Final = frozenset(status.name for status in COUNTED)
_CHOSEN: Final[Mapping[str, Sequence[str]]] = {
    "oldest_launch": ("launch",),
    "oldest_request": ("allocated",),
    "over_maximum": ("cancel_queued", "terminate_unstarted", "drain_over_maximum"),
}
"""Of what the spec does with any row, and Ray with one that its order names."""


@dataclass(frozen=True)
class Way:
    """A world after the loop that the spec is in. ``left``: what each instance still goes through in the loop, by the
    spec's steps that are to come; ``error``: why the loop ends early then."""

    world: BranchingWorld
    left: Mapping[str, tuple[Status, ...]] = field(default_factory=dict)
    error: str = ""

    def key(self) -> Hashable:
        """Equal for ways that nothing tells apart."""
        return (
            self.world.key(),
            tuple(sorted((i, tuple(s.name for s in left)) for i, left in self.left.items())),
            self.error,
        )

    def shown(self, loop: Value) -> Mapping[str, Value]:
        """The spec's cells; orders between loops only, for a loop that has ended has given all of them."""
        seen = self.world.observed({instance: len(left) for instance, left in self.left.items()})
        return seen | self.world.shown_orders() if loop == _REST else seen

    def begun(self) -> Iterator[Way]:
        """Every loop that may come now."""
        for world, ran in self.world.loops():
            left: dict[str, tuple[Status, ...]] = {}
            for change in ran.changes:
                left[change.instance] = (*left.get(change.instance, ()), change.target)
            yield Way(world, left, ran.error)

    def stepped(self, action: str, row: str) -> Iterator[Way]:
        """The ways in which the row's next change is ``action``."""
        for instance, left in self.left.items():
            mine = self.world.row.get(instance)
            if action not in actions_for(self._status(instance), left[0]):
                continue
            if mine == row or mine is None:
                yield Way(self.world.with_rows({instance: row}), self._without(instance), self.error)
            elif action == "allocated":
                other = self.world.instance_of(row)
                yield Way(self.world.with_rows({instance: row, other: mine}), self._without(instance), self.error)

    def has_other(self, actions: Sequence[str], row: str) -> bool:
        """Whether another row's next change may be one of ``actions``."""
        changing = [i for i, left in self.left.items() if set(actions) & set(actions_for(self._status(i), left[0]))]
        return any(self.world.row.get(instance, row) != row for instance in changing)

    def is_unheard(self, row: str) -> bool:
        """Whether the error of the row's launch was told of another's, and the row waits."""
        instance = self.world.instance_of(row)
        return instance in self.world.unheard and instance not in self.left

    def has_ended(self, row: str = "") -> bool:
        """Whether an error ends the loop before it does anything more, or anything more with the row."""
        rows = {self.world.row.get(instance, "") for instance in self.left}
        return bool(self.error) and not (rows & {row} if row else rows)

    def is_new(self, row: str) -> bool:
        """Whether the row has come to its state in this loop."""
        instance = self.world.instance_of(row)
        return self.world.since(instance, len(self.left.get(instance, ())))[1] == self.world.now_ms

    def is_late(self) -> bool:
        """Whether someone is still to be stuck who is in a state no shorter than one who was stuck in this loop."""
        was_stuck: dict[Status, int] = {}
        for instance in self.world.row:
            for status, since, to in self.world.moves(instance, len(self.left.get(instance, ()))):
                if Loop.STUCK in {phase_of(action) for action in actions_for(status, to)}:
                    was_stuck[status] = max(since, was_stuck.get(status, since))
        still = [
            self.world.since(instance, len(left))
            for instance, left in self.left.items()
            if not self._leaves(instance, Loop.STUCK)
        ]
        return any(at <= was_stuck.get(status, -1) for status, at in still)

    def leaves(self, loop: Loop) -> bool:
        """Whether nothing is left to do in that phase."""
        return all(self._leaves(instance, loop) for instance in self.left)

    def _leaves(self, instance: str, loop: Loop) -> bool:
        phases = {phase_of(action) for action in actions_for(self._status(instance), self.left[instance][0])}
        return any(self._order(phase) > self._order(loop) for phase in phases)

    def has_new(self) -> bool:
        """Whether the loop still makes an instance."""
        return any(self._status(instance) is None for instance in self.left)

    def _status(self, instance: str) -> Status | None:
        return self.world.status(instance, len(self.left.get(instance, ())))

    def _without(self, instance: str) -> dict[str, tuple[Status, ...]]:
        left = {**self.left, instance: self.left[instance][1:]}
        return {i: changes for i, changes in left.items() if changes}

    def _order(self, phase: Loop) -> int:
        return self.world.phases.index(phase)


def _may_pack(shown: NamedState, row: str) -> bool:
    """Whether Ray's scheduler may give what is waited for to the row's node, or else to another that is free."""
    others = {cell[7:-1]: value for cell, value in shown.items() if cell.startswith("status[") and cell[7:-1] != row}
    free = [name for name, status in others.items() if status in _FREE and shown[f"node[{name}]"] != Node.BUSY.name]
    return bool(free) and bool(shown["pending"] or shown["constraint"])


Ways = tuple[Way, ...]


class RayReplayer:
    """Ray's autoscaler, making the runs of a machine with one worker group, whose loops are atomic."""

    code = "Ray"
    excuses: ClassVar[Mapping[str, str]] = {
        "no_row": "Ray makes a row at once where one has ended in this loop, whose place the spec has free in the next",
        "unheard_error": "Ray gives an instance to who was requested first, and then hears of no error of its launch; "
        "who asked for the instance waits",
        "older_first": "who is in a state at least as long as one that is stuck, is stuck too",
        "packing": "of nodes that are free, Ray's scheduler chooses the one that a waiting job keeps from being idle",
        "oldest_launch": "what was queued first is launched first",
        "oldest_request": "what was requested first gets the instance",
        "over_maximum": "of rows over the maximum those go first that Ray's order of termination names",
        "at_once": "with timers=free a row may be stuck in the very loop in which it has come to its state",
        "ends_early": "the program ends this loop by an error",
    }

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def start(self) -> Ways:
        """A cluster of a head, which the autoscaler has found."""
        return (Way(BranchingWorld(self._machine)),)

    def perform(self, subject: Ways, call: Call, before: NamedState, after: NamedState) -> Ways | Excused:
        """The ways that go on like this."""
        made, why = self._made(subject, call, before, after)
        shown: list[Way] = []
        for way in made:
            differing = [
                f"{cell}: spec {after[cell]}, Ray {v}"
                for cell, v in way.shown(after["loop"]).items()
                if after[cell] != v
            ]
            if differing:
                why.extend(differing)
            else:
                shown.append(way)
        if not shown:
            if reason := self._excuse(subject, call, before):
                return Excused(reason)
            raise Divergence("; ".join(dict.fromkeys(why)) or "no loop of Ray goes on like this")
        return tuple({way.key(): way for way in shown}.values())

    def _excuse(self, ways: Ways, call: Call, before: NamedState) -> str:
        """For which reason no way goes on with this step; empty if for none."""
        absent = Status.ABSENT.name in before.values()
        action = call[0]
        for reason, alike in _CHOSEN.items():
            if action in alike and any(way.has_other(alike, call[1][0]) for way in ways):
                return reason
        if action.endswith("timed_out") and any(way.is_new(call[1][0]) for way in ways):
            return "at_once"
        if action == "launch_failed" and any(way.is_unheard(call[1][0]) for way in ways):
            return "unheard_error"
        if action == "terminate_idle" and _may_pack(before, call[1][0]):
            return "packing"
        if action == "next_phase" and before["loop"] == Loop.STUCK.name and any(way.is_late() for way in ways):
            return "older_first"
        if action == "next_phase" and not absent and any(way.has_new() for way in ways):
            return "no_row"
        if before["loop"] != _REST and any(way.has_ended(*call[1]) for way in ways):
            return "ends_early"
        return ""

    def _made(self, ways: Ways, call: Call, before: NamedState, after: NamedState) -> tuple[list[Way], list[str]]:
        action, arguments = call
        loop = Loop[str(before["loop"])]
        if action == "begin_loop":
            return [each for way in ways for each in way.begun()], []
        if action == "abort_loop":
            return [way for way in ways if way.error and not way.left], []
        if action == "next_phase":
            over = after["loop"] == _REST
            return [way for way in ways if way.leaves(loop) and not (over and (way.left or way.error))], []
        if loop is not Loop.REST:
            return [each for way in ways for each in way.stepped(action, *arguments)], []
        made: list[Way] = []
        why: list[str] = []
        for way in ways:
            world = way.world.copy()
            try:
                world.happen(call)
            except Divergence as error:
                why.append(str(error))
            else:
                made.append(Way(world))
        return made, why

    def observed(self, subject: Ways, shown: NamedState) -> Mapping[str, Value]:
        """What all ways show."""
        return subject[0].shown(shown["loop"])

    def key(self, subject: Ways) -> Hashable:
        """Equal for the same ways."""
        return frozenset(way.key() for way in subject)
