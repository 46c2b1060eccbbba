"""What a step does, said in the state before it: every expression after the step is one over the state before.

So a claim that has to hold after a step is a claim about the state before it, its weakest precondition, and no state
after is ever written down. Starting is a step, too, from an arbitrary state of which nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from model.language import Action, After, Const, Expr, Location, Machine, Op, Quantified, Read, Sort, Symbol, Update
from model.language.types import BOOL
from model.language.variables import OneOf, VariableBase
from model.language.walking import children
from model.prove.any_size.sums import Sums
from model.prove.any_size.terms import (
    FALSE,
    TRUE,
    ZERO,
    Unreadable,
    all_of,
    both,
    either,
    freshened,
    ite_of,
    no,
    op_of,
    plus,
    rebuilt,
    replaced,
    same,
)


@dataclass(eq=False)
class Step:
    """An action with any arguments; or the start, which is no action and comes after no state; or staying in a state.

    ``guards`` are in normal form; ``written`` are the variables that it may change; ``known`` is what holds of the
    state before beside them.
    """

    action: Action | None
    sums: Sums
    reads: Callable[[Read], Expr]
    written: frozenset[str]
    guards: tuple[Expr, ...] = ()
    known: tuple[tuple[tuple[Sort, ...], Expr], ...] = ()
    is_start: bool = False
    _after: dict[int, tuple[Expr, Expr]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As people say it: ``allocate(a, n)``."""
        if self.action is None:
            return "the start" if self.is_start else "a state"
        return f"{self.action.name}({', '.join(s.name for s in self.action.symbols)})"

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The action's arguments."""
        return () if self.action is None else self.action.symbols

    def after(self, expr: Expr) -> Expr:
        """What ``expr`` is after the step, in normal form."""
        if id(expr) not in self._after:
            self._after[id(expr)] = (expr, self._of(expr))
        return self._after[id(expr)][1]

    def _of(self, expr: Expr) -> Expr:
        if isinstance(expr, Read):
            return self.reads(expr)
        if isinstance(expr, Quantified) and all(isinstance(s, Sort) for s in expr.symbols):
            return self.sums.normal(rebuilt(expr, (self.after(expr.body),)))
        below = children(expr)
        parts = [self.after(each) for each in below]
        return rebuilt(expr, parts) if below else expr

    def across(self, expr: Expr) -> Expr:
        """A claim about the step, in normal form: what stands under `After` is of the state after it."""
        if isinstance(expr, After):
            return self.after(expr.body)
        below = children(expr)
        parts = [self.across(each) for each in below]
        if all(a is b for a, b in zip(below, parts, strict=True)):
            return self.sums.normal(expr)
        return self.sums.normal(rebuilt(expr, parts))


def step_of(action: Action, sums: Sums) -> Step:
    """``action`` as a step. Unreadable for writes that are not one cell for each element."""
    effects: dict[str, list[_Write]] = {}
    for update in action.updates:
        effects.setdefault(update.variable.name, []).append(_Write(update, sums))

    def reads(read: Read) -> Expr:
        value: Expr = read
        for write in effects.get(read.variable.name, ()):
            value = write.of(value, read.indices)
        return sums.normal(value)

    guards = tuple(sums.normal(freshened(g.condition)) for g in action.guards)
    return Step(action, sums, reads, frozenset(effects), guards)


class _Write:
    """One update, for any cell that it may write."""

    def __init__(self, update: Update, sums: Sums) -> None:
        self._update: Final = update
        used = [i for i in update.indices if any(i is b for b in update.binders)]
        self._spare: Final = tuple(b for b in update.binders if not any(b is i for i in used))
        if self._spare and not update.adds:
            names = ", ".join(b.name for b in self._spare)
            raise Unreadable(f"{update.variable.name} is set once for each {names}, to one cell", update.at)

    def of(self, value: Expr, indices: tuple[Expr, ...]) -> Expr:
        """What the cell at ``indices`` has afterwards; ``value`` is what other writes leave."""
        update = self._update
        by: dict[int, Expr] = {}
        hits: Expr = TRUE
        for mine, theirs in zip(update.indices, indices, strict=True):
            assert isinstance(mine, Symbol)
            bound = any(mine is b for b in update.binders)
            if bound and mine.uid not in by:
                by[mine.uid] = theirs
            else:
                hits = both(hits, same(by.get(mine.uid, mine), theirs))
        condition = both(hits, replaced(freshened(update.condition), by))
        new = replaced(freshened(update.value), by)
        if not update.adds:
            return ite_of(condition, new, value)
        added = ite_of(condition, new, ZERO)
        return plus(value, Quantified("sum", self._spare, added) if self._spare else added)


def start_of(machine: Machine, sums: Sums) -> Step:
    """The start as a step. Unreadable where elements of a sort start differently."""
    values: dict[str, OneOf] = {}
    known: list[tuple[tuple[Sort, ...], Expr]] = []
    for variable in machine.variables:
        one_of = uniform_start(machine, variable)
        values[variable.name] = one_of
        if len(one_of.values) > 1:
            symbols = tuple(s(s.__name__.lower()) for s in variable.sorts)
            options: Expr = FALSE
            for value in one_of.values:
                options = either(options, is_value(Read(variable, symbols), value))
            known.append((symbols, options))

    def reads(read: Read) -> Expr:
        choices = values[read.variable.name].values
        return Const(choices[0]) if len(choices) == 1 else read

    start = Step(None, sums, reads, frozenset(values), known=tuple(known), is_start=True)
    constraints = [((), start.after(freshened(each.condition))) for each in machine.initial_constraints]
    return Step(None, sums, reads, frozenset(values), known=(*known, *constraints), is_start=True)


def staying(sums: Sums) -> Step:
    """No step at all: for what has to hold in every state, and is kept by no step."""
    return Step(None, sums, lambda read: read, frozenset())


def is_value(read: Expr, value: object) -> Expr:
    """``read`` has ``value``."""
    if read.type == BOOL:
        return read if value else no(read)
    return same(read, Const(value))  # type: ignore[arg-type]


def uniform_start(machine: Machine, variable: VariableBase) -> OneOf:
    """What every cell of ``variable`` may start with. Unreadable if that differs from cell to cell."""
    choices = [one_of for _, one_of in machine.initial_choices(variable)]
    if any(set(each.values) != set(choices[0].values) for each in choices):
        raise Unreadable(f"elements start with different {variable.label}: how others start is not said", variable.at)
    return choices[0]


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that a step must keep: for all ``symbols``, ``condition``, in normal form over the state before."""

    symbols: tuple[Sort, ...]
    condition: Expr
    at: Location | None = None


def range_goals(step: Step) -> list[Goal]:
    """Every value that the step writes is in the domain of its variable."""
    goals = []
    for update in () if step.action is None else step.action.updates:
        variable, symbols = update.variable, tuple(b for b in update.binders if isinstance(b, Sort))
        if isinstance(variable.domain, range):
            fits = in_range(step.after(Read(variable, update.indices)), variable.domain)
            condition = step.sums.normal(update.condition)
            goals.append(Goal(symbols, either(no(condition), fits), update.at))
    return goals


def in_range(value: Expr, domain: range) -> Expr:
    """``value`` lies in ``domain``."""
    low = op_of(">=", BOOL, value, Const(domain.start))
    return both(low, op_of("<=", BOOL, value, Const(domain.stop - 1)))


def write_goals(step: Step) -> list[Goal]:
    """No cell is set twice, or set and added to."""
    goals = []
    updates = () if step.action is None else step.action.updates
    for number, first in enumerate(updates):
        for second in updates[number:]:
            if first.variable is not second.variable or (first.adds and second.adds):
                continue
            mine, by_mine = _renamed(first)
            theirs, by_theirs = _renamed(second)
            if first is second and not mine:
                continue
            here = [replaced(i, by_mine) for i in first.indices]
            there = [replaced(i, by_theirs) for i in second.indices]
            clash = all_of(
                [
                    *(same(a, b) for a, b in zip(here, there, strict=True)),
                    replaced(first.condition, by_mine),
                    replaced(second.condition, by_theirs),
                ]
            )
            if first is second:
                clash = both(clash, no(all_of(same(a, b) for a, b in zip(mine, theirs, strict=True))))
            if clash is not FALSE:
                goals.append(Goal((*mine, *theirs), step.sums.normal(no(clash)), second.at))
    return goals


def _renamed(update: Update) -> tuple[tuple[Sort, ...], dict[int, Expr]]:
    """Symbols of its own for each binder of ``update``, so that two of them may differ."""
    fresh = tuple(type(b)(b.name) for b in update.binders if isinstance(b, Sort))
    return fresh, {b.uid: f for b, f in zip(update.binders, fresh, strict=True)}


def parts_of(condition: Expr) -> list[tuple[tuple[Sort, ...], Expr]]:
    """``condition`` as claims for all elements: conjunctions and outer quantifiers taken apart."""
    match condition:
        case Op(op="&", args=(left, right)):
            return [*parts_of(left), *parts_of(right)]
        case Quantified(kind="all", symbols=symbols, body=body) if all(isinstance(s, Sort) for s in symbols):
            outer = tuple(s for s in symbols if isinstance(s, Sort))
            return [((*outer, *inner), each) for inner, each in parts_of(body)]
    return [((), condition)]


__all__ = ["Goal", "Step", "in_range", "parts_of", "range_goals", "start_of", "staying", "step_of", "write_goals"]
