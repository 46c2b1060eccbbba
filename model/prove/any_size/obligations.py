"""What the computations with sums rest on, proved by z3: for every element, a summand is what its parts say.

A sum of equals is equal: so the sums are, too, by the laws that `sums` names. The formulas have one unknown for each
element, read variables at them, and take other sums for functions of which nothing is known.
"""

from __future__ import annotations

from typing import Final

import z3

from model.language import Quantified, Sort, Symbol
from model.language.walking import free_symbols
from model.prove.any_size.ground import Env, Ground
from model.prove.any_size.sums import Obligation
from model.prove.any_size.terms import Unreadable
from model.prove.any_size.words import Words
from model.prove.arithmetic import Formula
from model.prove.solving import Deadline, ask


class Obligations:
    """Proves them; ``proved`` counts."""

    def __init__(self, words: Words, deadline: Deadline) -> None:
        self.proved = 0
        self._words: Final = words
        self._deadline: Final = deadline
        self._never_negative: Final[dict[str, bool]] = {}
        words.never_negative = self.never_negative

    def prove(self, obligation: Obligation) -> None:
        """Unreadable if it does not hold; OutOfTime if it is not known whether."""
        ground = Ground(self._words, opaque=True)
        exprs = [obligation.summand]
        for piece in obligation.pieces:
            exprs += [piece.atom, piece.condition, *(s for pair in piece.fixed for s in pair)]
        env = self._unknowns([*obligation.bound, *(s for e in exprs for s in free_symbols(e))])
        terms, parts = self._words.terms, []
        for piece in obligation.pieces:
            here = [env[b.uid] == env[p.uid] for b, p in piece.fixed]
            there = terms.every([*here, ground.truth(piece.condition, env, "=")])
            parts.append(piece.coefficient * z3.If(there, ground.number(piece.atom, env), 0))
        claimed = z3.Sum(parts) if parts else terms.constant(0)
        if self._model(ground, ground.number(obligation.summand, env) != claimed) is not None:
            raise Unreadable(f"the sum of {obligation.summand!r} is not what its parts are", obligation.summand.at)
        self.proved += 1

    def never_negative(self, counter: Quantified) -> bool:
        """Whether no summand of ``counter`` is negative, in any state whose values are in their domains."""
        name = self._words.name(counter).text
        if name not in self._never_negative:
            ground = Ground(self._words, opaque=True)
            env = self._unknowns(list(free_symbols(counter.body)))
            self._never_negative[name] = self._model(ground, ground.number(counter.body, env) < 0) is None
        return self._never_negative[name]

    def _unknowns(self, symbols: list[Symbol]) -> Env:
        found: dict[int, Formula] = {}
        for symbol in symbols:
            if symbol.uid not in found:
                if isinstance(symbol, Sort):
                    found[symbol.uid] = self._words.element(self._words.called(symbol), type(symbol))
                else:
                    found[symbol.uid] = self._words.value(symbol)[0]
        return found

    def _model(self, ground: Ground, wrong: Formula) -> z3.ModelRef | None:
        solver = self._words.terms.solver()
        solver.add(*ground.clauses, wrong)
        return ask(solver, self._deadline)


__all__ = ["Obligations"]
