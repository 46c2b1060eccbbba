"""The spec walks along with the reference's autoscaler, loop by loop: each loop has to be enabled steps of the spec.

`Follower` carries out the spec's world actions on a `World`, runs a loop, and takes the spec's steps: each
change of an instance is an action of the row that stands for it, between them the loop's phases change as far as the
spec lets them, and afterwards both show the same.

The spec's rows of one type are alike, Ray's launches have names. Where the cloud has an instance, Ray gives it to the
row that was requested first; so the follower has two rows change their parts where the spec gives it to the other. An
error of one launch while another is under way is left out (`Follower.may_happen`): if the failed row is given the
instance of the other, its error is not heard and the other waits for its time out, while the spec fails the first.
Time is told by the test, which may let it jump only where the spec lets rows be stuck (`Follower.may_jump`).
"""

from __future__ import annotations

from typing import Final

from model.language import Machine
from specs.ray.binding import PAUSE_MS, TIME_OUT_S, Change, World, scope_of
from specs.ray.life_cycle import Status
from specs.ray.parameters import Timers
from specs.ray.state import Loop
from specs.ray.steps import actions_for
from specs.walking import Call, Divergence, SpecWalk

JUMP_MS: Final = int(2 * TIME_OUT_S * 1000)
"""Longer than any time out."""


class NoRowLeft(Exception):
    """The spec has a fixed number of rows, of which those that ended in this loop are free in the next."""


class Follower(SpecWalk):
    """The spec, walking along with an autoscaler."""

    code = "Ray"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.world = World(machine)
        self.names = self.world.names

    def around(self) -> list[Call]:
        """What may happen around the autoscaler now: enabled actions of the spec that `may_happen`."""
        told = (call for call in self.walked.instances if hasattr(World, f"_{call[0]}"))
        return [call for call in told if self.is_enabled(call) and self.may_happen(call)]

    def may_happen(self, call: Call) -> bool:
        """Whether both tell the same of it: see above."""
        requested = [name for name in self.names if self.shown()[f"status[{name}]"] == Status.REQUESTED.name]
        if call[0] == "fail_launch":
            return len(requested) == 1
        tries = {self.shown()[f"tries[{name}]"] for name in requested}
        return call[0] != "launch_instance" or len(tries) == 1

    def may_jump(self) -> bool:
        """Whether rows may be stuck: nothing that was asked for is still to come."""
        orders = [self.shown()[f"order[{name}]"] for name in self.names]
        free = scope_of(self.machine).timers is Timers.FREE
        return free or not {"ASKED", "FORCED"} & set(orders)

    def happen(self, call: Call) -> None:
        """One action of the spec's world, in both."""
        self.world.happen(call)
        self.fire(call)

    def loop(self, *, jumps: bool = False, idle: bool = True) -> list[Call]:
        """A loop of the autoscaler, and what it is in the spec. ``jumps``: so late that what is stuck times out;
        ``idle``: nodes without work have been idle for long. Divergence where the spec does not allow it, or both show
        other states then."""
        done = self.world.loop(JUMP_MS if jumps else PAUSE_MS, idle=None if idle else ())
        taken = [self._taken(("begin_loop", ()))]
        for change in done.changes:
            taken += self._follow(change)
        if done.error:
            taken.append(self._taken(("abort_loop", ())))
        while self.shown()["loop"] != Loop.REST.name:
            taken.append(self._taken(("next_phase", ())))
        self.compare(f"loop at {self.world.now_ms} ms", self.world.observed())
        return taken

    def _taken(self, call: Call) -> Call:
        self.fire(call)
        return call

    def _follow(self, change: Change) -> list[Call]:
        """The steps that a change of an instance is: the phases up to it, and it."""
        if change.source is None:
            free = [n for n in self.names if self.shown()[f"status[{n}]"] == Status.ABSENT.name]
            if not free:
                raise NoRowLeft(f"{len(self.names)} rows are not enough")
            self.world.row[change.instance] = free[0]
        row = self.world.row[change.instance]
        taken: list[Call] = []
        while True:
            for action in actions_for(change.source, change.target):
                if (call := self._enabled(action, change.instance)) is not None:
                    return [*taken, self._taken(call)]
            try:
                taken.append(self._taken(("next_phase", ())))
            except Divergence:
                what = f"{change.source.name if change.source else 'nothing'} to {change.target.name}"
                raise Divergence(f"{row}: {what} in {self.shown()['loop']}") from None
            if self.shown()["loop"] == Loop.REST.name:
                raise Divergence(f"{row}: nothing is {change.target.name} in this loop")

    def _enabled(self, action: str, instance: str) -> Call | None:
        rows = self.world.row
        call = action, (rows[instance],)
        if self.is_enabled(call):
            return call
        if action == "allocated":  # another row's, in the spec: they change parts
            for other, row in rows.items():
                alike = self.shown()[f"tries[{row}]"] == self.shown()[f"tries[{rows[instance]}]"]
                if alike and self.is_enabled((action, (row,))):
                    self.world.exchange(other, instance)
                    return action, (row,)
        return None
