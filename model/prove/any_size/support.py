"""What the proof of each claim rests on: of all that is inductive together, little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from model.prove.any_size.invariant import Blocking, Candidate, Keeping
from model.prove.any_size.terms import name_of
from model.prove.needs import all_below
from model.prove.solving import Deadline


class Support:
    """``holding`` is inductive together; each part of a proof rests on few of them. What a proof rests on already is
    tried first, then claims, then lemmas."""

    def __init__(self, keeping: Sequence[Keeping], holding: Sequence[Candidate], deadline: Deadline) -> None:
        self.keeping: Final = keeping
        self.holding: Final = holding
        self._deadline: Final = deadline
        self._needs: Final[dict[str | int, list[Candidate] | None]] = {}
        self._chosen: Final[dict[int, Candidate]] = {id(c): c for c in holding if c.claim is not None}

    def of(self, claim: str, candidates: Sequence[Candidate]) -> list[Candidate] | None:
        """All that the proof of ``claim`` rests on; None if there is no proof. ``candidates``: parts of claims."""
        parts = [c for c in candidates if c.claim == claim]
        if any(c not in self.holding for c in parts):
            return None
        if parts:
            return self.below(*parts)
        needed = self._core(claim)
        return None if needed is None else self.below(*needed)

    @property
    def chosen(self) -> list[Candidate]:
        """Claims, and what proofs rest on so far."""
        return [c for c in self.holding if id(c) in self._chosen]

    def fewer(self, claims: Sequence[str]) -> list[Candidate]:
        """Of what proofs rest on what cannot be left out, tried one by one, the longest first: all of it together is
        inductive, and enough for ``claims``, which are no parts of it."""
        left, again = self.chosen, True
        while again:
            # What leaned on one that is left out may be left out later, and another one then.
            again = False
            for each in sorted((c for c in left if c.claim is None), key=lambda c: -len(name_of(c.body).text)):
                others = [c for c in left if c is not each]
                if self._enough(others, claims):
                    left, again = others, True
        return left

    def _enough(self, of: Sequence[Candidate], claims: Sequence[str]) -> bool:
        """Whether these are inductive together, and enough for ``claims``."""
        return all(
            not keeping.not_kept(of, of, self._deadline)
            and all(keeping.core(claim, of, self._deadline) is not None for claim in claims)
            for keeping in self.keeping
        )

    def below(self, *of: Candidate) -> list[Candidate]:
        """These, and all that their proofs rest on."""
        by_id = {id(c): c for c in self.holding}

        def needs(each: int) -> list[int]:
            needed = self._core(by_id[each])
            assert needed is not None, "what is inductive together is not"
            return [id(c) for c in needed]

        found = all_below([id(c) for c in of], needs)
        return [c for c in self.holding if id(c) in found]

    def _core(self, goal: Candidate | str) -> list[Candidate] | None:
        key = goal if isinstance(goal, str) else id(goal)
        if key not in self._needs:
            self._needs[key] = self._all_cores(goal)
        return self._needs[key]

    def _all_cores(self, goal: Candidate | str) -> list[Candidate] | None:
        """What ``goal`` rests on, step by step."""
        found: dict[int, Candidate] = {}
        for each in self.keeping:
            core = each.core(goal, self.chosen, self._deadline)
            if core is None:
                core = each.core(goal, self.holding, self._deadline)
            if core is None:
                return None
            found |= {id(c): c for c in core}
            self._chosen.update(found)
        return list(found.values())

    def blocking(self, claim: str, candidates: Sequence[Candidate]) -> Blocking | None:
        """What blocks ``claim``: where it is itself assumed, with all that is inductive."""
        parts = [c for c in candidates if c.claim == claim]
        goals: list[Candidate | str] = [*parts] if parts else [claim]
        for goal in goals:
            assumed = [*self.holding, *(c for c in parts if c not in self.holding)]
            for each in self.keeping:
                found = each.blocking(goal, assumed, self._deadline)
                if found is not None:
                    return found
        return None


__all__ = ["Support"]
