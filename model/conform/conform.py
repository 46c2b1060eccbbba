"""Whether a log is a run of a spec: the pass over it, and what is said at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from model.conform.answer import Broken, Conformance, Divergence, Ending
from model.conform.candidates import BudgetSpent, Layer
from model.conform.changes import Changes, stretches
from model.conform.diverging import Place, Teller
from model.conform.follower import Follower, Limits, Work
from model.conform.log import Log, Record, groups
from model.conform.naming import Naming
from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.language import Machine, Property
from model.lowering.lower import EventKind
from model.semantics import Semantics
from model.trace import named_state

_SAMPLES: Final = 10

Progress: TypeAlias = Callable[[int, int, int], None]
"""Called with the records that are explained, those there are, and the candidates."""


def conform(machine: Machine, log: Log, limits: Limits | None = None, progress: Progress | None = None) -> Conformance:
    """Whether ``log`` is a run of ``machine``, or where it stops to be one.

    FileError where the log names what the machine does not have; SpecError if the machine cannot be compiled.
    """
    naming = Naming(machine, log)
    program = pack(machine)
    work = Work(program, Native(program), Semantics(machine), naming, log, limits or Limits())
    return _Pass(work, progress).answer()


def _follower(work: Work, avoid: Property | None = None, deadline: float | None = None) -> Follower:
    return (Changes if work.log.observed else Follower)(work, avoid, deadline)


class _Pass:
    """One pass over the log, and the answer."""

    def __init__(self, work: Work, progress: Progress | None) -> None:
        self._work: Final = work
        self._records: Final = work.log.records
        self._groups: Final = stretches(self._records) if work.log.observed else groups(self._records)
        self._progress: Final = progress
        self._follower: Final = _follower(work)
        self._matched = 0

    def answer(self) -> Conformance:
        """The answer, with the properties that the log breaks."""
        layer: Layer | None = None
        try:
            self._follower.tell = self._tell
            layer = self._follower.initial()
            for group in self._groups:
                place = self._follower.after(layer, group)
                if isinstance(place, Place):
                    return self._diverged(place, group)
                layer = place
                self._matched += len(group)
                self._tell(0, len(layer))
            layer = self._follower.at_end(layer)
            broken = self._broken(self._groups)
        except BudgetSpent as spent:
            return self._told(Ending.UNKNOWN, layer, budget=str(spent))
        # where no record could be refused, nothing was asked
        return self._told(Ending.CONFORMS if self._follower.checked else Ending.VACUOUS, layer, broken=broken)

    def _tell(self, more: int, candidates: int) -> None:
        if self._progress is not None:
            self._progress(self._matched + more, len(self._records), candidates)

    def _diverged(self, place: Place, group: Sequence[Record]) -> Conformance:
        follower = self._follower
        before = self._groups[: next(i for i, g in enumerate(self._groups) if g is group)]
        teller = Teller(self._work.program, self._work.semantics, self._work.naming, follower.states, follower.steps)
        self._matched += place.matched
        divergence = teller.divergence(place, self._matched + 1, follower.history)
        try:
            broken = self._broken(before)
        except BudgetSpent:  # that no run explains the record is certain all the same
            broken = ()
        return self._told(Ending.DIVERGES, place.closed, divergence=divergence, broken=broken)

    def _broken(self, records: Sequence[Sequence[Record]]) -> tuple[Broken, ...]:
        """Properties that all runs violate which explain ``records``.

        Only those can be that the compiled code saw violated somewhere: each of them is avoided in a pass of its own.
        """
        events = self._work.program.events
        kinds = (EventKind.ALWAYS, EventKind.STEP)
        names = {events[n.event].name for n in self._follower.stepper.noted() if events[n.event].kind in kinds}
        found = []
        for p in self._work.semantics.machine.properties:
            if p.name in names:
                record = _follower(self._work, p, self._follower.deadline).first_refused(records)
                if record is not None:
                    found.append(Broken(p.name, record.where, str(record)))
        return tuple(found)

    def _told(
        self,
        ending: Ending,
        layer: Layer | None,
        *,
        divergence: Divergence | None = None,
        broken: tuple[Broken, ...] = (),
        budget: str | None = None,
    ) -> Conformance:
        unpack, machine = self._work.program.layout.unpack, self._work.semantics.machine
        states: list[tuple[int, ...]] = []
        run, names = None, {}
        if layer is not None and len(layer):
            states = sorted({unpack(row) for row in layer.states.tolist()})
            first, instances = self._follower.history.run(layer.first)
            run = self._work.semantics.run(unpack(first.tolist()), instances)
            names = self._follower.names(layer)
        return Conformance(
            ending,
            self._matched,
            len(self._records),
            len(states),
            self._follower.most,
            names,
            divergence,
            broken,
            run,
            tuple(named_state(machine, s) for s in states[:_SAMPLES]),
            budget,
        )


__all__ = ["Limits", "Progress", "conform"]
