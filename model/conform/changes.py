"""Follows a log that tells how the state changes, not which steps are taken.

Such a log observes some variables whole: what it does not tell of them does not change. One step may change several
cells, and a source writes a record for each; so a step takes one record or several that follow each other, and after
it the observed cells are what they were but for what these records tell. Steps that change no observed cell have no
record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.conform.candidates import NO_STEP, Layer, Steps, both
from model.conform.diverging import Place
from model.conform.follower import Follower, Work
from model.conform.log import Record, Told
from model.errors import FileError
from model.language import Property

MOST_MERGED: Final = 16
"""So many records may be of one step."""

_Bucket: TypeAlias = dict[tuple[bytes, int], tuple[int, int]]
"""Of candidates, by state and world: the candidate before, and the instance between."""


class Changes(Follower):
    """One pass over such a log."""

    def __init__(self, work: Work, avoid: Property | None = None, deadline: float | None = None) -> None:
        super().__init__(work, avoid, deadline)
        labels = {c.variable.label for c in work.semantics.cells}
        for name in work.log.observed:
            if name not in labels:
                raise FileError(
                    f"observed: {work.program.machine.name} has no variable {name!r}: {', '.join(sorted(labels))}"
                )
        cells = zip(work.semantics.cells, work.program.layout.fields, strict=True)
        self._mask: Final = np.zeros(work.program.layout.words, np.uint64)
        for cell, field in cells:
            if cell.variable.label in work.log.observed:
                self._mask[field.word] |= np.uint64(field.mask)

    def _quiet(self, layer: Layer, steps: Steps) -> NDArray[np.bool_]:
        """Steps that may be taken without a record: those that change nothing that is observed."""
        changed = (layer.states[steps.rows] ^ steps.targets) & self._mask
        return np.asarray(~changed.any(axis=1))

    def after(self, layer: Layer, group: Sequence[Record]) -> Layer | Place:
        """The candidates after the records of ``group``, all that stand between two gaps."""
        if group[0].forget or group[0].gap or group[0].end:
            return super().after(layer, group)
        self.checked += sum(r.says_something for r in group)
        buckets: list[_Bucket] = [{} for _ in range(len(group) + 1)]
        reached = (layer, Steps(np.zeros(0, np.int64), np.zeros(0, np.int64), layer.states[:0]), 0)
        for position in range(len(group)):
            if position:
                if not buckets[position]:
                    continue
                layer = self._layer(buckets[position])
            window = group[position : position + MOST_MERGED]
            layer = self._named(layer, window)
            new, steps = self._closed(layer)
            closed = both(layer, self.history.keep(new))
            self.tell(position, len(closed))
            reached = (closed, steps, position)
            for world in sorted(set(closed.worlds.tolist())):
                self._take_some(closed, steps, window, world, buckets[position + 1 :])
        if not buckets[-1]:
            closed, steps, position = reached
            return self._place(closed, steps, (group[position],), position)
        return self._layer(buckets[-1])

    def _layer(self, bucket: _Bucket) -> Layer:
        builder = self._builder()
        for (state, world), (parent, instance) in bucket.items():
            builder.add(state, world, 0, parent, instance)
        return self.history.keep(builder.layer())

    def _take_some(
        self, closed: Layer, steps: Steps, window: Sequence[Record], world: int, after: Sequence[_Bucket]
    ) -> None:
        """Put into ``after`` where the first records of ``window`` lead, one of them or more."""
        here = np.flatnonzero(closed.worlds[steps.rows] == world)
        sources, targets = closed.states[steps.rows[here]], steps.targets[here]
        changed = (sources ^ targets) & self._mask
        told = np.zeros_like(self._mask)
        cells: dict[str, Told] = {}
        for record, bucket in zip(window, after, strict=False):
            some = self.states.told(record, self.worlds[world])
            cells |= some
            for cell in some:
                field = self.states.field(cell, record.where)
                told[field.word] |= np.uint64(field.mask)
            fits = ~(changed & ~told).any(axis=1) & self.states.showing(targets, cells, record.where)
            for row, instance, target in zip(
                steps.rows[here[fits]].tolist(), steps.instances[here[fits]].tolist(), targets[fits], strict=True
            ):
                bucket.setdefault((target.tobytes(), world), (closed.first + row, instance))
        # a record may tell what is so already
        same = np.flatnonzero(closed.worlds == world)
        same = same[self.states.fitting(closed.states[same], window[0], self.worlds[world])]
        for row in same.tolist():
            after[0].setdefault((closed.states[row].tobytes(), world), (closed.first + row, NO_STEP))


def stretches(records: Sequence[Record]) -> list[list[Record]]:
    """Records that follow each other; a gap, an end or names that are forgotten stand by themselves."""
    found: list[list[Record]] = []
    for record in records:
        alone = record.gap or record.end or bool(record.forget)
        if found and not alone and not (found[-1][-1].gap or found[-1][-1].end or found[-1][-1].forget):
            found[-1].append(record)
        else:
            found.append([record])
    return found


__all__ = ["MOST_MERGED", "Changes", "stretches"]
