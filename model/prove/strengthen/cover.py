"""The clause that excludes one state and is true in all samples, with few literals, and that excludes much else.

A literal of it must be false in the state; together they must be true in every sample: a cover. One literal is tried,
then two, then more by taking each time the one that is true in most of the samples that are left. Of clauses with one
or two literals the one is taken that excludes most strangers: states like the samples, but changed a little, which are
no samples.

Covers are looked for among some of the samples; a clause that is false in another one brings that one in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.prove.strengthen.samples import Bits, States, Values, truth
from model.prove.strengthen.vocabulary import Vocabulary

MOST_LITERALS = 6
_FIRST = 64
_CORE = 1024
_STRANGERS = 2048
_MORE = 64


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom, or what it is not."""

    atom: int
    positive: bool


def _literal(number: int) -> Literal:
    """Literal 2i is atom i, 2i + 1 what it is not."""
    return Literal(int(number) // 2, not number % 2)


class Samples:
    """The atoms of ``vocabulary`` in ``states``, to which runs come. ``sizes``: of each cell the least value and how
    many it has. ``tick`` is called time and again, and may raise what ends it."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        states: States,
        sizes: NDArray[np.int64],
        tick: Callable[[], None] = lambda: None,
        seed: int = 0,
    ) -> None:
        self._tick: Final = tick
        chance = np.random.default_rng(seed)
        self.atoms: Final = vocabulary.atoms
        self._values: Final = Values(self.atoms)
        self._states: Final = states
        self._all: Final = truth(self.atoms, states)
        core = np.sort(chance.permutation(len(states))[:_CORE])
        self._core = truth(self.atoms, states[core])
        self._core_count = len(core)
        strangers = _strangers(states, sizes, chance)
        self._stranger_count: Final = len(strangers)
        self._strangers: Final = truth(self.atoms, strangers)
        self._facts: Final = self._single()
        self._plain: Final = self._plain_clauses(vocabulary.plain)

    def _single(self) -> NDArray[np.int64]:
        """Literals that are true in all samples, those that exclude most strangers first."""
        whole = np.flatnonzero((_both_signs(self._all, len(self._states)) == 0xFF).all(axis=1))
        strangers = _both_signs(self._strangers, self._stranger_count)[whole]
        excluded = np.bitwise_count(~strangers).sum(axis=1).astype(np.int64)
        return np.asarray(whole[np.argsort(-excluded, kind="stable")])

    def _plain_clauses(self, plain: int) -> NDArray[np.int64]:
        """Clauses of at most two plain literals that are true in all samples, those that exclude most strangers first:
        shape (clauses, 2). Literal 2i is atom i, 2i + 1 what it is not; a clause of one has it twice."""
        rows = _both_signs(self._all[:plain], len(self._states))
        strangers = _both_signs(self._strangers[:plain], self._stranger_count)
        whole = (rows == 0xFF).all(axis=1)
        found = [(int(each), int(each)) for each in np.flatnonzero(whole)]
        rest = np.flatnonzero(~whole)
        for at, first in enumerate(rest):
            self._tick()
            others = rest[at + 1 :]
            open_ = np.flatnonzero(rows[first] != 0xFF)
            missing = ~rows[first][open_]
            seconds = others[((rows[np.ix_(others, open_)] & missing) == missing).all(axis=1)]
            found += [(int(first), int(second)) for second in seconds if second != first ^ 1]
        clauses = np.array(found, np.int64).reshape(-1, 2)
        excluded = np.bitwise_count(~(strangers[clauses[:, 0]] | strangers[clauses[:, 1]])).sum(axis=1)
        return clauses[np.argsort(-excluded.astype(np.int64), kind="stable")]

    def clause(self, state: tuple[int, ...]) -> tuple[Literal, ...] | None:
        """A clause that excludes ``state``. None if none of at most `MOST_LITERALS` literals is true in all samples."""
        there = self._values.truth(state)
        literals = np.stack([there, ~there], axis=1).reshape(-1)
        single = np.flatnonzero(~literals[self._facts])
        if len(single):
            return (_literal(self._facts[single[0]]),)
        plain = np.flatnonzero(~literals[self._plain].any(axis=1))
        if len(plain):
            first, second = self._plain[plain[0]]
            return tuple(map(_literal, dict.fromkeys((first, second))))
        return self._cover(there)

    def _cover(self, there: NDArray[np.bool_]) -> tuple[Literal, ...] | None:
        strangers = _literals(self._strangers, there, self._stranger_count)
        while True:
            self._tick()
            rows = _literals(self._core, there, self._core_count)
            found = _two(rows, strangers) or _greedy(rows)
            if found is None:
                return None
            wrong = self._wrong(found, there)
            if not len(wrong):
                return tuple(Literal(i, not there[i]) for i in found)
            self._bring_in(wrong[:_MORE])

    def _wrong(self, found: list[int], there: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The samples in which every literal is false."""
        covered = np.bitwise_or.reduce(_literals(self._all[found], there[found], len(self._states)))
        return np.flatnonzero(np.unpackbits(~covered))

    def _bring_in(self, more: NDArray[np.int64]) -> None:
        bits = np.unpackbits(self._core, axis=1, count=self._core_count)
        new = np.unpackbits(truth(self.atoms, self._states[more]), axis=1, count=len(more))
        self._core = np.packbits(np.concatenate([bits, new], axis=1), axis=1)
        self._core_count += len(more)


def _strangers(states: States, sizes: NDArray[np.int64], chance: np.random.Generator) -> States:
    """Samples with one or two cells changed that are no samples."""
    if not states.shape[1]:
        return states[:0]
    picked = states[chance.integers(0, len(states), _STRANGERS)].copy()
    for _ in range(2):
        cells = chance.integers(0, states.shape[1], _STRANGERS)
        picked[np.arange(_STRANGERS), cells] = sizes[cells, 0] + chance.integers(0, sizes[cells, 1])
    known = set(map(bytes, np.ascontiguousarray(states)))
    return picked[[bytes(each) not in known for each in np.ascontiguousarray(picked)]]


def _after(bits: Bits, count: int) -> Bits:
    """The bits after the last of ``count``, which belong to no state."""
    return np.packbits(np.arange(bits.shape[1] * 8) >= count)


def _literals(true: Bits, there: NDArray[np.bool_], count: int) -> Bits:
    """Where the literal of each atom that is false in the state is true; bits that belong to no state are ones."""
    return true ^ np.where(there, np.uint8(0xFF), np.uint8(0))[:, None] | _after(true, count)


def _both_signs(true: Bits, count: int) -> Bits:
    """Each atom, and what it is not, in turn."""
    both = np.stack([true, ~true], axis=1).reshape(2 * len(true), true.shape[1])
    return np.asarray(both | _after(true, count))


def _two(rows: Bits, strangers: Bits) -> list[int] | None:
    sizes = np.bitwise_count(rows).sum(axis=1)
    best, most = None, -1
    for first in np.argsort(-sizes, kind="stable")[:_FIRST]:
        open_ = np.flatnonzero(rows[first] != 0xFF)
        missing = ~rows[first][open_]
        second = np.flatnonzero(((rows[:, open_] & missing) == missing).all(axis=1))
        if not len(second):
            continue
        excluded = np.bitwise_count(~(strangers[first] | strangers[second])).sum(axis=1)
        at = int(np.argmax(excluded))
        if excluded[at] > most:
            best, most = [int(first), int(second[at])], int(excluded[at])
    return best


def _greedy(rows: Bits) -> list[int] | None:
    left = np.full(rows.shape[1], 0xFF, np.uint8)
    chosen: list[int] = []
    while left.any():
        if len(chosen) == MOST_LITERALS:
            return None
        open_ = np.flatnonzero(left)
        gains = np.bitwise_count(rows[:, open_] & left[open_]).sum(axis=1)
        best = int(np.argmax(gains))
        if not gains[best]:
            return None
        chosen.append(best)
        left &= ~rows[best]
    for each in list(chosen):
        others = [c for c in chosen if c != each]
        if others and (np.bitwise_or.reduce(rows[others]) == 0xFF).all():
            chosen = others
    return chosen


__all__ = ["MOST_LITERALS", "Literal", "Samples"]
