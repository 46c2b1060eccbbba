"""Claims by Spacer: what it answers, checked, and told in the words of the spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from model.language import Machine
from model.lowering.ground import Node, parts
from model.proof import Claimed, Lemma, Method
from model.prove.arithmetic import Words as Bits
from model.prove.arithmetic import words_for
from model.prove.claims import Claim
from model.prove.encoding import Encoding
from model.prove.horn.answers import clause_of
from model.prove.horn.checked import Invariants
from model.prove.horn.clauses import Horn
from model.prove.needs import claim_atoms
from model.prove.solving import Deadline, OutOfTime
from model.prove.words import Words, atoms_of
from model.verdict import Outcome, PropertyVerdict

LONGEST = 1000
"""Steps of a run that is searched for where Spacer says that there is one."""
TURNS = 8
_FIRST_SECONDS = 3
_MORE_BITS = 8


@dataclass(frozen=True, slots=True)
class Unproved:
    """There is no proof. ``reachable``: Spacer says that a run violates the claim. ``why``: what it says else."""

    reachable: bool
    why: str


class BySpacer:
    """Asks claim after claim; what is proved of one is known for the next. ``deadline`` is for all."""

    def __init__(self, machine: Machine, encoding: Encoding, deadline: Deadline) -> None:
        self._machine: Final = machine
        self._graph: Final = encoding.program.graph
        self._horn: Final = Horn(encoding.program)
        # Spacer's sums may be larger than all in the spec.
        domains = [machine.values(cell.variable.domain) for cell in machine.cells()]
        self._words: Final = Bits(words_for(self._graph.nodes, domains).width + _MORE_BITS)
        self._invariants: Final = Invariants(Encoding(encoding.program, self._words))
        self._proved: Final[list[Claim]] = []
        self._deadline: Final = deadline

    def ask(self, claim: Claim, turn: int) -> Claimed | Unproved:
        """The proof of ``claim``; the later the turn, the more time it may take, with other random choices."""
        self._deadline.check()
        share = self._deadline.within(_FIRST_SECONDS * 2**turn)
        try:
            found = self._horn.invariant(claim, self._known(turn), turn, share)
            if found is None:
                return Unproved(True, "Spacer says that a run violates it")
            if words_for(parts(found)).width > self._words.width:
                return Unproved(False, "what Spacer answers has numbers that are too large")
            clauses = [clause_of(self._graph, node) for node in found]
            if not self._invariants.prove(claim, clauses, self._deadline):
                return Unproved(False, "what Spacer answers is no invariant")
        except OutOfTime as out:
            return Unproved(False, f"Spacer: {out}")
        self._proved.append(claim)
        return self._claimed(claim)

    def _known(self, turn: int) -> list[Node]:
        """What was proved. Lemmas help, but not always: they are told in every other turn only."""
        lemmas = [] if turn % 2 == 0 else [self._graph.either(clause) for clause in self._invariants.lemmas.values()]
        return [*lemmas, *(self._graph.no(c.state) for c in self._proved if c.state is not None)]

    def _claimed(self, claim: Claim) -> Claimed:
        words, rests = Words(self._machine), self._invariants.rests_on(claim.name)
        used = [self._invariants.lemmas[n] for n in sorted(n for n in rests if isinstance(n, int))]
        lemmas = tuple(Lemma(words.clause(each), atoms_of(each), (each,)) for each in used)
        helped = tuple(c.name for c in self._proved if c.name in rests and c is not claim)
        helping = sum(claim_atoms(self._machine, name) for name in helped)
        atoms = sum(lemma.atoms for lemma in lemmas) + helping
        how = f"inductive invariant of {atoms} {'atom' if atoms == 1 else 'atoms'}"
        how += f", with {', '.join(helped)}" if helped else ""
        verdict = PropertyVerdict(claim.name, claim.kind, Outcome.HOLDS, how)
        return Claimed(verdict, Method.SPACER, 1, lemmas, helped, helping=helping)


__all__ = ["LONGEST", "TURNS", "BySpacer", "Unproved"]
