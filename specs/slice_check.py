"""Whether a slice is one, at a given size: every step of the full machine is compared with it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from model.errors import GraphTooLarge
from model.explore.search.limits import Progress
from model.explore.traces.steps import Steps
from model.export.graph import whole_search
from model.language import Machine
from model.language.walking import in_text
from model.prove.solving import Deadline
from model.semantics import Fault, Instance, Semantics
from model.semantics import State as Raw
from model.trace import NamedState, named_state, show, summary
from specs.slice_follows import check_follows
from specs.slice_view import Projection, projection_of
from specs.slicing import Slice, SliceError

MOST_STATES: Final = 2_000_000
_PART: Final = 1 << 16
_WIDTH: Final = 80


@dataclass(frozen=True, slots=True)
class BadStep:
    """A step of the full machine, after ``distance`` others, that is none of the slice: the states as the slice sees
    them, and why. ``call`` is empty for an initial state."""

    call: str
    distance: int
    full_before: NamedState
    full_after: NamedState
    before: NamedState
    after: NamedState
    why: str

    @property
    def text(self) -> str:
        """The step for people: what changes in the full machine, and in the slice."""
        if not self.call:
            return "\n    ".join([f"the full spec starts where the slice does not: {self.why}", *summary(self.after)])
        return "\n".join(
            [
                textwrap.fill(
                    f"step {self.distance + 1}, {self.call}, is no step of the slice: {self.why}",
                    _WIDTH,
                    subsequent_indent="  ",
                ),
                _told("in the full spec", self.full_after, self.full_before),
                _told("in the slice", self.after, self.before),
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """The step: null as ``call`` for an initial state."""
        return {
            "call": self.call or None,
            "step": self.distance + 1 if self.call else 0,
            "why": self.why,
            "full": {"before": dict(self.full_before), "after": dict(self.full_after)},
            "slice": {"before": dict(self.before), "after": dict(self.after)},
        }


def _told(title: str, after: NamedState, before: NamedState) -> str:
    changed = [
        f"{cell}: {show(before[cell])} -> {show(value)}" for cell, value in after.items() if before[cell] != value
    ]
    return "\n    ".join([f"  {title}:", *(changed or ["nothing changes"])])


@dataclass(frozen=True, slots=True)
class SliceReport:
    """What was compared: ``states`` of the full machine, which are ``slice_states`` to the slice, and ``steps``, of
    which ``stutters`` change nothing that it sees.

    ``seen_as``: for each action of the full machine those of the slice that its steps were. ``first_bad`` is a step
    that is none of the slice, and to which no run is shorter; steps that begin farther from the start are then not
    compared.
    """

    states: int
    slice_states: int
    steps: int
    stutters: int
    seen_as: Mapping[str, tuple[str, ...]]
    first_bad: BadStep | None

    @property
    def is_slice(self) -> bool:
        """Whether every step was one of the slice."""
        return self.first_bad is None

    def to_json(self) -> dict[str, Any]:
        """The counts, what actions were, and the first bad step, null if there is none."""
        return {
            "states": self.states,
            "slice_states": self.slice_states,
            "steps": self.steps,
            "stutters": self.stutters,
            "seen_as": {name: list(others) for name, others in self.seen_as.items()},
            "first_bad": None if self.first_bad is None else self.first_bad.to_json(),
        }


def check_slice(slice_: Slice, *, max_states: int = MOST_STATES, **parameters: Any) -> SliceReport:
    """Compare every step of the full spec, in the scope of ``parameters``, with the slice.

    SliceError if something of the full spec is neither seen nor said to be removed; ValueError for a scope that the
    slice does not have; GraphTooLarge past ``max_states``.
    """
    return compare(slice_, *slice_.machines(parameters), max_states=max_states)


def compare(
    slice_: Slice,
    full: Machine,
    small: Machine,
    *,
    max_states: int = MOST_STATES,
    progress: Callable[[Progress], None] | None = None,
    deadline: Deadline | None = None,
) -> SliceReport:
    """The same for machines at hand: ``full`` may be a mutant. Its faulty steps lead nowhere, and are not compared.

    Of a slice it is proved that the properties which are said to follow do: see `check_follows`.
    OutOfTime past ``deadline``.
    """
    deadline = deadline or Deadline(None)
    projection = projection_of(slice_, full, small)
    try:
        search = whole_search(full, max_states, progress, seconds=deadline.left, stop=deadline.stop)
    except GraphTooLarge:
        deadline.check()
        raise
    report = _Comparison(slice_, full, projection, Steps(search), deadline).report()
    if report.is_slice:
        check_follows(slice_, full, small, deadline)
    return report


def check_names(slice_: Slice, full: Machine, small: Machine) -> None:
    """SliceError if something of ``full`` is neither seen by the slice nor removed, or both."""
    projection_of(slice_, full, small)


class _Comparison:
    """All steps of the full machine, merged by what the slice sees of them."""

    def __init__(self, slice_: Slice, full: Machine, projection: Projection, steps: Steps, deadline: Deadline) -> None:
        self._deadline: Final = deadline
        self._slice: Final = slice_
        self._projection: Final = projection
        self._steps: Final = steps
        self._full: Final = Semantics(full)
        self._small: Final = Semantics(projection.small)
        self._actions: Final = [a.name for a in full.actions]
        self._rows, self._classes = self._classified()
        self._after: dict[tuple[int, str], frozenset[Raw]] = {}

    def _classified(self) -> tuple[list[Raw], NDArray[np.int64]]:
        known: dict[Raw, int] = {}
        classes = np.empty(self._steps.count, np.int64)
        for first in range(0, self._steps.count, _PART):
            self._deadline.check()
            numbers = np.arange(first, min(first + _PART, self._steps.count), dtype=np.int64)
            rows, inverse = np.unique(self._projection.of(self._steps.raw(numbers)), axis=0, return_inverse=True)
            place = np.array([known.setdefault(tuple(row), len(known)) for row in rows.tolist()], np.int64)
            classes[numbers] = place[inverse.reshape(-1)]
        return list(known), classes

    def report(self) -> SliceReport:
        """Everything compared, from the start on, until a step is none of the slice."""
        number_of = {name: i for i, name in enumerate(self._actions)}
        action_of = np.array([number_of[i.action.name] for i in self._full.instances], np.int64)
        seen: dict[str, set[str]] = {}
        judged: set[tuple[int, int, int]] = set()
        count = stutters = 0
        bad = self._bad_start()
        for depth in range(self._steps.depth + 1):
            if bad is not None:
                break
            for batch in self._steps.batches(self._steps.at_depth(depth)):
                sources, targets = self._classes[batch.sources], self._classes[batch.targets]
                self._deadline.check()
                count += len(sources)
                stutters += int((sources == targets).sum())
                ends = np.stack([sources, targets, action_of[batch.instances]], axis=1)
                distinct, first = np.unique(ends, axis=0, return_index=True)
                for (source, target, action), at in zip(distinct.tolist(), first.tolist(), strict=True):
                    if source == target or (source, target, action) in judged:
                        continue
                    self._deadline.check()
                    judged.add((source, target, action))
                    name = self._actions[action]
                    found = {other for other in self._slice.actions.get(name, ()) if self._leads(source, target, other)}
                    seen.setdefault(name, set()).update(found)
                    if not found and bad is None:
                        bad = self._bad(int(batch.sources[at]), int(batch.targets[at]), int(batch.instances[at]), depth)
        return SliceReport(
            states=self._steps.count,
            slice_states=len(self._rows),
            steps=count,
            stutters=stutters,
            seen_as={name: tuple(sorted(seen[name])) for name in self._actions if name in seen},
            first_bad=bad,
        )

    def _leads(self, source: int, target: int, action: str) -> bool:
        """Whether ``action`` of the slice leads from one of its states to another."""
        if self._projection.outside(self._rows[source]):
            return False
        key = (source, action)
        if key not in self._after:
            row = self._rows[source]
            results = [
                self._small.fire(i, row)
                for i in self._small.instances
                if i.action.name == action and self._small.is_enabled(i, row)
            ]
            self._after[key] = frozenset(r for r in results if not isinstance(r, Fault))
        return self._rows[target] in self._after[key]

    def _bad_start(self) -> BadStep | None:
        starts = set(self._small.initial_states())
        for number in self._steps.at_depth(0).tolist():
            row = self._rows[self._classes[number]]
            if row not in starts:
                state = self._named(number)
                why = self._projection.outside(row) or "the slice starts otherwise"
                named = self._projection.named(row)
                return BadStep("", 0, state, state, named, named, why)
        return None

    def _bad(self, source: int, target: int, instance: int, depth: int) -> BadStep:
        before, after = (self._rows[self._classes[number]] for number in (source, target))
        called = self._full.instances[instance]
        others = self._slice.actions.get(called.action.name, ())
        near = [self._differs(i, before, after) for i in self._small.instances if i.action.name in others]
        is_none = min(near)[1] if near else f"{called.action.name} is to change nothing there"
        return BadStep(
            self._full.call(called),
            depth,
            self._named(source),
            self._named(target),
            self._projection.named(before),
            self._projection.named(after),
            self._projection.outside(after) or is_none,
        )

    def _differs(self, instance: Instance, before: Raw, after: Raw) -> tuple[tuple[int, int], str]:
        """How far an instance of the slice is from being this step, and what is in its way."""
        call, env = self._small.call(instance), instance.environment()
        needed = [g.condition for g in instance.action.guards if not self._small.evaluate(g.condition, before, env)]
        if needed:
            return (len(needed), 0), f"{call} needs {'; '.join(map(in_text, needed))}"
        result = self._small.fire(instance, before)
        if isinstance(result, Fault):
            return (0, len(after) + 1), f"by {call} {result.message}"
        mine, theirs = self._projection.named(result), self._projection.named(after)
        other = [f"{cell} = {show(value)}" for cell, value in mine.items() if value != theirs[cell]]
        return (0, len(other)), f"{call} makes {', '.join(other)}"

    def _named(self, number: int) -> NamedState:
        raw = self._steps.raw(np.array([number], np.int64))[0]
        return named_state(self._full.machine, raw.tolist())


__all__ = ["BadStep", "SliceError", "SliceReport", "check_follows", "check_names", "check_slice", "compare"]
