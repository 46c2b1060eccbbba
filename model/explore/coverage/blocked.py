"""Why an action never fired: in how many cases each conjunct of its guard was false, and in how many only that one was.

All conjuncts of an instance are computed for every state by compiled code, as bits of a number; how often each pattern
of bits occurs (`patterns`) says everything else. At most `MOST_CONDITIONS` are computed for an action, and no more
cases than a search of this size is worth: where an action has more instances than that, the first ones are looked at.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.coverage import Blocked, Conjunct
from model.explore.codegen.native import Native
from model.explore.coverage.patterns import MOST_BITS, counter_of
from model.explore.packing import PackedProgram
from model.language import Action, Expr
from model.language.walking import conjunction, in_text, operands
from model.lowering.ground import Node
from model.lowering.grounding import Grounder
from model.semantics import Semantics

MOST_CONDITIONS: Final = 2_048
MOST_CONJUNCTS: Final = 64
_AT_ONCE: Final = 256  # conditions in one compiled function

States = Callable[[], Iterator[NDArray[np.uint64]]]
"""All packed states, part by part."""
Patterns = Counter[int]
"""How often each pattern of true conjuncts occurs: bit i is conjunct i."""


def conjuncts_of(action: Action) -> list[Expr]:
    """The conditions that a guard joins; those of one ``require`` that are joined by & come apart."""
    parts = [part for guard in action.guards for part in operands(guard.condition, "&")]
    if len(parts) > MOST_CONJUNCTS:
        parts[MOST_CONJUNCTS - 1 :] = [conjunction(tuple(parts[MOST_CONJUNCTS - 1 :]))]
    return parts


@dataclass(frozen=True, slots=True)
class _Instance:
    arguments: tuple[tuple[str, str], ...]
    nodes: tuple[Node, ...]


class Blockers:
    """Explains never-fired actions over a set of ``count`` states. ``most_cases``: how many to look at for each."""

    def __init__(
        self,
        semantics: Semantics,
        program: PackedProgram,
        native: Native,
        grounder: Grounder,
        count: int,
        most_cases: int,
    ) -> None:
        self._semantics = semantics
        self._program = program
        self._native = native
        self._grounder = grounder
        self._count = count
        self._most_cases = most_cases

    def explain(self, action: Action, states: States) -> Blocked:
        """What kept ``action`` from firing in all ``states``."""
        conjuncts = conjuncts_of(action)
        all_instances = [i for i in self._semantics.instances if i.action is action]
        room = min(self._most_cases // max(1, self._count), MOST_CONDITIONS // max(1, len(conjuncts)))
        instances = [
            _Instance(self._semantics.arguments(i), tuple(self._grounder.ground(c, i.environment()) for c in conjuncts))
            for i in all_instances[: max(1, room)]
        ]
        found = self._patterns(instances, states)
        together: Patterns = sum(found, Counter())
        full = (1 << len(conjuncts)) - 1
        told = []
        for number, conjunct in enumerate(conjuncts):
            bit = 1 << number
            alone = [patterns[full ^ bit] for patterns in found]
            most = max(alone)
            nearest = instances[alone.index(most)].arguments if most else None
            false = sum(n for pattern, n in together.items() if not pattern & bit)
            told.append(Conjunct(in_text(conjunct), str(conjunct.at), false, sum(alone), nearest, most))
        return Blocked(
            action.name,
            len(all_instances),
            len(instances),
            self._count * len(instances),
            tuple(told),
            never_together(set(together), len(conjuncts)),
        )

    def _patterns(self, instances: list[_Instance], states: States) -> list[Patterns]:
        """For each of ``instances`` how often each pattern occurs."""
        width = len(instances[0].nodes)
        if width > MOST_BITS:
            return [self._sorted(i, states) for i in instances]
        each, size = max(1, _AT_ONCE // max(1, width)), 1 << width
        found: list[Patterns] = []
        for first in range(0, len(instances), each):
            chosen = instances[first : first + each]
            look = counter_of(self._program, [i.nodes for i in chosen])
            counts = np.zeros((len(chosen), size), np.int64)
            for part in states():
                look(part.ctypes.data, len(part), counts.ctypes.data)
            found += [Counter({n: c for n, c in enumerate(row) if c}) for row in counts.tolist()]
        return found

    def _sorted(self, instance: _Instance, states: States) -> Patterns:
        """The same for one instance with more patterns than there can be counters."""
        patterns: Patterns = Counter()
        look = self._native.predicates_of(instance.nodes)
        for part in states():
            words = np.empty(len(part), np.uint64)
            look(part.ctypes.data, len(part), words.ctypes.data)
            values, counts = np.unique(words, return_counts=True)
            patterns.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        return patterns


def never_together(patterns: set[int], width: int) -> tuple[tuple[int, ...], ...]:
    """The smallest sets of at most three bits of which no pattern has all; none where ``patterns`` has such for all."""
    for size in (1, 2, 3):
        found = [
            chosen
            for chosen in itertools.combinations(range(width), size)
            if not any(all(pattern >> bit & 1 for bit in chosen) for pattern in patterns)
        ]
        if found:
            return tuple(found)
    return ()


__all__ = ["Blockers", "conjuncts_of", "never_together"]
