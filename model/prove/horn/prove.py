"""Claims by Spacer: what it answers, checked, and told in the words of the spec."""

from __future__ import annotations

import enum
from typing import Final

from model.language import Machine
from model.lowering.ground import Node
from model.proof import Claimed, Lemma, Method
from model.prove.claims import Claim
from model.prove.encoding import Encoding
from model.prove.horn.answers import clause_of
from model.prove.horn.checked import Invariants
from model.prove.horn.clauses import Horn
from model.prove.solving import Deadline, OutOfTime
from model.prove.words import Words, atoms_of
from model.verdict import Outcome, PropertyVerdict

LONGEST = 1000
"""Steps of a run that is searched for where Spacer says that there is one."""
MOST_ATOMS = 200
"""A proof that has more comparisons in it is told as one that has too many to be read."""


class Reachable(enum.Enum):
    """What is known of a violation where there is no proof."""

    YES = "yes"
    UNKNOWN = "unknown"


class BySpacer:
    """Asks claim after claim; what is proved of one is known for the next. ``deadline`` is for all."""

    def __init__(self, machine: Machine, encoding: Encoding, deadline: Deadline) -> None:
        self._machine: Final = machine
        self._graph: Final = encoding.program.graph
        self._horn: Final = Horn(encoding.program)
        self._invariants: Final = Invariants(encoding)
        self._proved: Final[list[Claim]] = []
        self._deadline: Final = deadline

    def ask(self, claim: Claim, left: int) -> Claimed | Reachable:
        """The proof of ``claim``, which may take one of ``left`` parts of the time that is left."""
        share = self._deadline if self._deadline.left is None else self._deadline.within(self._deadline.left / left)
        try:
            found = self._horn.invariant(claim, self._known(), share)
            if found is None:
                return Reachable.YES
            clauses = [clause_of(self._graph, node) for node in found]
            if not self._invariants.prove(claim, clauses, self._deadline):
                return Reachable.UNKNOWN
        except OutOfTime:
            return Reachable.UNKNOWN
        self._proved.append(claim)
        return self._claimed(claim)

    def _known(self) -> list[Node]:
        lemmas = [self._graph.either(clause) for clause in self._invariants.lemmas.values()]
        return [*lemmas, *(self._graph.no(c.state) for c in self._proved if c.state is not None)]

    def _claimed(self, claim: Claim) -> Claimed:
        words, rests = Words(self._machine), self._invariants.rests_on(claim.name)
        used = [self._invariants.lemmas[n] for n in sorted(n for n in rests if isinstance(n, int))]
        lemmas = tuple(Lemma(words.clause(each), atoms_of(each), each) for each in used)
        atoms = sum(lemma.atoms for lemma in lemmas)
        helped = tuple(c.name for c in self._proved if c.name in rests and c is not claim)
        how = f"inductive invariant of {atoms} {'atom' if atoms == 1 else 'atoms'}"
        how += f", more than {MOST_ATOMS}" if atoms > MOST_ATOMS else ""
        how += f", with {', '.join(helped)}" if helped else ""
        verdict = PropertyVerdict(claim.name, claim.kind, Outcome.HOLDS, how)
        return Claimed(verdict, Method.SPACER, 1, lemmas, helped)


__all__ = ["LONGEST", "MOST_ATOMS", "BySpacer", "Reachable"]
