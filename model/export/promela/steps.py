"""One instance of an action as a ``d_step``: guard, faults, new values, claims on steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from model.export.promela import terms
from model.export.promela.ground import Environment, Grounder
from model.export.promela.terms import Term
from model.language import Action, Machine, Property


@dataclass(slots=True)
class Written:
    """What happens to one cell: assignments and additions, each under its condition."""

    assigned: list[tuple[Term, Term]] = field(default_factory=list)
    added: list[tuple[Term, Term]] = field(default_factory=list)

    def value(self, before: Term) -> Term:
        """The cell after the step; assignments come alone, or it is a fault."""
        value = before
        for condition, amount in self.added:
            value = terms.add(value, terms.choice(condition, amount, terms.number(0)))
        for condition, each in reversed(self.assigned):
            value = terms.choice(condition, each, value)
        return value

    def clashes(self) -> Term:
        """Whether it is assigned twice, or assigned and added to."""
        pairs = [*itertools.combinations(self.assigned, 2), *itertools.product(self.assigned, self.added)]
        return terms.either([terms.both([one[0], other[0]]) for one, other in pairs])


@dataclass(frozen=True, slots=True)
class Flags:
    """The hidden variables whose assertion says which claim is violated."""

    write: str
    range: str
    steps: Sequence[tuple[Property, str]]


class Steps:
    """Writes instances. ``temporary`` is what the names of hidden variables for new values begin with."""

    def __init__(self, machine: Machine, grounder: Grounder, flags: Flags, temporary: str) -> None:
        self.machine = machine
        self.grounder = grounder
        self.flags = flags
        self.temporary = temporary
        self.most = 0
        self.used: set[str] = set()

    def step(self, action: Action, env: Environment) -> list[str] | None:
        """The statements of an instance, the guard first; None if it can never fire."""
        guard = terms.both([self.grounder.ground(g.condition, env) for g in action.guards])
        if guard.constant == 0:
            return None
        written = self._written(action, env)
        clash = terms.either([w.clashes() for w in written.values()])
        values = {n: w.value(self.grounder.cells[n]) for n, w in written.items()}
        lines = [guard.text]
        if clash.constant != 0:
            lines += self._assert(self.flags.write, terms.negation(clash))
        lines += self._changes({n: v for n, v in values.items() if v.text != self.grounder.cells[n].text}, env)
        return lines

    def _written(self, action: Action, env: Environment) -> dict[int, Written]:
        found: dict[int, Written] = {}
        for update in action.updates:
            for inner in self.grounder.bindings(update.binders, env):
                condition = self.grounder.ground(update.condition, inner)
                if condition.constant != 0:
                    position = self.grounder.position(update.indices, inner)
                    cell = found.setdefault(self.grounder.index[update.variable.name, position], Written())
                    value = self.grounder.ground(update.value, inner)
                    (cell.added if update.adds else cell.assigned).append((condition, value))
        return dict(sorted(found.items()))

    def _changes(self, values: Mapping[int, Term], env: Environment) -> Iterator[str]:
        """New values into hidden variables where something else has to be said before they are stored."""
        new: dict[int, Term] = {}
        checks: list[str] = []
        named = 0
        claimed = list(self._claims(values))
        # Alone and without claims a cell can be written at once; of several each reads the others as they were.
        needs_names = bool(claimed) or len(values) > 1
        for cell, value in values.items():
            before = self.grounder.cells[cell]
            inside = before.low <= value.low and value.high <= before.high
            if value.constant is not None:
                new[cell] = self.grounder.value_in(cell, value.low) if inside else value
            elif not inside or (needs_names and (claimed or value.cells & (values.keys() - {cell}))):
                name = f"{self.temporary}{named}"
                named += 1
                self.most = max(self.most, named)
                yield f"{name} = {value.text}"
                new[cell] = terms.variable(name, value.low, value.high)
            else:
                new[cell] = value
            if not inside:
                low, high = terms.number(before.low), terms.number(before.high)
                holds = terms.both([terms.at_most(low, new[cell]), terms.at_most(new[cell], high)])
                checks += self._assert(self.flags.range, holds)
        yield from checks
        for claim, flag in self.flags.steps:
            holds = self.grounder.after(claim.condition, {}, new)
            if holds.constant != 1:
                yield from self._assert(flag, holds)
        for cell, value in new.items():
            yield f"{self.grounder.cells[cell].text} = {value.text}"
        yield from (f"{self.temporary}{i} = 0" for i in range(named))
        if not values:
            yield "skip"

    def _claims(self, values: Mapping[int, Term]) -> Iterator[str]:
        """The claims on steps that are not true of this one as a matter of form."""
        for claim, flag in self.flags.steps:
            if self.grounder.after(claim.condition, {}, values).constant != 1:
                yield flag

    def _assert(self, flag: str, holds: Term) -> list[str]:
        self.used.add(flag)
        return [f"{flag} = {holds.text}", f"assert({flag})"]


__all__ = ["Flags", "Steps"]
