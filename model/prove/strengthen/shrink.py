"""The smallest part of an invariant that is one, as far as leaving out one after the other finds it.

What is left out takes with it what rests on it and on nothing else; if the claim is not among that, the rest is an
invariant too. The heaviest are tried first. z3 could make cores small itself, but recurs without end on some (5.4.1),
and takes the process with it. How much is tried is bounded by what the solver counts as its work, not by time: the
answer does not depend on how busy the machine is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from typing import Final, TypeAlias

from model.prove.needs import all_below

Name: TypeAlias = str | int
"""Of a claim, or the number of a lemma."""
Core: TypeAlias = frozenset[Name]
_MOST_FALLING: Final = 3
"""What takes more with it mostly takes a goal with it in the end."""


class Shrinker:
    """``ask``: what the step of a name rests on among others, None if that is not enough. ``weigh``: what one costs.
    ``may_go_on``: whether there is work left."""

    def __init__(
        self,
        ask: Callable[[Name, Set[Name]], Collection[Name] | None],
        weigh: Callable[[Name], int],
        may_go_on: Callable[[], bool],
    ) -> None:
        self._ask: Final = ask
        self._weigh: Final = weigh
        self._may_go_on: Final = may_go_on

    def shrunk(self, goals: Collection[Name], needs: Mapping[Name, Core]) -> dict[Name, Core]:
        """Of ``needs``, in which everything that something rests on is too, a part that has ``goals`` and is as closed,
        with what each rests on there."""
        left = _closed(goals, needs)
        tried: set[Name] = set(goals)
        while True:
            open_ = [name for name in left if name not in tried]
            if not open_ or not self._may_go_on():
                return left
            name = max(open_, key=lambda n: (self._falls_with(n, goals, left), str(n)))
            tried.add(name)
            without = self._without(name, goals, left)
            if without is not None:
                left = without

    def _falls_with(self, name: Name, goals: Collection[Name], needs: Mapping[Name, Core]) -> int:
        """What is not needed any more if ``name`` is not."""
        rest = all_below(goals, lambda n: needs[n] - {name})
        return sum(self._weigh(n) for n in needs if n not in rest or n == name)

    def _without(self, name: Name, goals: Collection[Name], needs: Mapping[Name, Core]) -> dict[Name, Core] | None:
        """The same without ``name``, and what cannot do without it; None if a goal is among that, or much else."""
        left = dict(needs)
        gone = {name}
        del left[name]
        while open_ := [n for n, on in left.items() if on & gone]:
            # Goals first: where they fail nothing else need be asked.
            open_.sort(key=lambda n: n not in goals)
            for each in open_:
                core = self._ask(each, left.keys())
                if core is not None:
                    left[each] = frozenset(core)
                    continue
                if each in goals or len(gone) > _MOST_FALLING:
                    return None
                gone.add(each)
                del left[each]
        return _closed(goals, left)


def _closed(goals: Collection[Name], needs: Mapping[Name, Core]) -> dict[Name, Core]:
    """What ``goals`` rest on, in the order of ``needs``."""
    below = all_below(goals, needs.__getitem__)
    return {name: on for name, on in needs.items() if name in below}


__all__ = ["Shrinker"]
