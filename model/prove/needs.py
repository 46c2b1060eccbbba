"""What proofs rest on, and how long one may be to count as one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from model.language import Machine
from model.proof import Claimed, Method
from model.proof_limits import MOST_ATOMS, MOST_K
from model.prove.any_size.wording import atoms_in
from model.verdict import Outcome

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Limits:
    """What counts as a proof: an induction over ``k`` steps at most, or an invariant of at most so many ``atoms``."""

    k: int = MOST_K
    atoms: int = MOST_ATOMS

    def judged(self, claimed: Claimed) -> Claimed:
        """``claimed``, UNKNOWN where what holds is shown by more than these allow; where they allow more than usual,
        and it is needed, the answer says so."""
        verdict = claimed.verdict
        if verdict.outcome is not Outcome.HOLDS or claimed.k is None:
            return claimed
        for what, found, limit, usual, option in (
            ("steps", claimed.k, self.k, MOST_K, "--max-k"),
            ("atoms", claimed.atoms, self.atoms, MOST_ATOMS, "--max-atoms"),
        ):
            if what == "atoms" and claimed.method is Method.INDUCTION:
                continue  # without lemmas; what it rests on are claims of the spec
            if found > limit:
                how = f"{verdict.how}: more than the {limit} {what} that a proof has at most ({option})"
                return replace(claimed, verdict=replace(verdict, outcome=Outcome.UNKNOWN, how=how))
            if found > usual:
                verdict = replace(verdict, how=f"{verdict.how}; more than {usual} {what}, as {option} {limit} allows")
        return replace(claimed, verdict=verdict)


USUAL: Final = Limits()


def claim_atoms(machine: Machine, name: str) -> int:
    """How many comparisons the claim ``name`` has, one that speaks of all elements counted once: what it costs where
    it is a part of another claim's invariant."""
    for p in machine.properties:
        if p.name == name:
            return atoms_in(p.condition)
    # That some action can happen, or that it is an end.
    guards = [g.condition for action in machine.actions for g in action.guards]
    return sum(map(atoms_in, [*guards, *(p.condition for p in machine.terminals)]))


def all_below(names: Iterable[T], needs: Callable[[T], Iterable[T]]) -> set[T]:
    """``names``, and all that they rest on, where each rests on what ``needs`` gives directly."""
    found: set[T] = set()
    open_ = list(names)
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += needs(name)
    return found


__all__ = ["USUAL", "Limits", "all_below", "claim_atoms"]
