"""Formulas without quantifiers, for any number of elements.

What holds for all elements is written down for the elements that are there: the arguments of a step, those for which a
goal fails, and what a quantifier says to exist. That is less than what is known, so what is proved of it is proved; a
model of it is a state that the solver cannot exclude, and need not be one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import z3

from model.language import Const, Expr, Ite, Op, Quantified, Read, Sort, Symbol
from model.language.types import BOOL, SortType, Type, domain_type
from model.language.walking import walk
from model.prove.any_size.sums import ghost
from model.prove.any_size.terms import Unreadable
from model.prove.any_size.words import Words
from model.prove.arithmetic import Formula
from model.prove.solving import is_refuted

Env = Mapping[int, Formula]
"""What symbols stand for, by uid."""

MOST_GENERATIONS: Final = 2
"""How often an element that is said to exist may make for others that are said to exist."""


@dataclass(frozen=True, slots=True)
class Universal:
    """``body`` for all ``symbols``, where ``condition`` holds; ``generation`` of what else is in ``env``."""

    condition: Formula
    symbols: tuple[Symbol, ...]
    body: Expr
    env: Env
    generation: int
    negated: bool = False
    bound: Formula | None = None
    """For a least or greatest value: what is not more, or not less, than ``body``."""
    greatest: bool = False


class Ground:
    """Formulas over one state. ``clauses`` hold in it: they say what names of parts mean, and what is known of reads
    and counters. `close` has to be called when all is written.

    ``opaque``: sums and quantifiers are functions of which nothing is known. ``witnesses``: where a counter of what is
    never negative is more than 0, some element is named that has more than 0.
    """

    def __init__(self, words: Words, opaque: bool = False, witnesses: bool = False) -> None:
        self._witnesses: Final = witnesses
        self._witnessed: Final[set[str]] = set()
        self.words: Final = words
        self.clauses: Final[list[Formula]] = []
        self.elements: Final[dict[type[Sort], list[tuple[Formula, int]]]] = {sort: [] for sort in words.sorts}
        self.reads: Final[dict[str, tuple[Formula, Read]]] = {}
        self.counters: Final[dict[str, tuple[Formula, Quantified, Env]]] = {}
        self._opaque: Final = opaque
        self._known: Final[dict[tuple[int, tuple[int, ...], str], tuple[Expr, Env, Formula]]] = {}
        self._universals: Final[list[Universal]] = []
        self._done: Final[list[set[tuple[int, ...]]]] = []
        self._counted_at: Final[dict[str, int]] = {}
        self._everywhere: Final[list[tuple[Formula, Quantified, Env]]] = []
        self._generation = 0

    def extended(self, witnesses: bool = False) -> Ground:
        """One that knows what this one, which is closed, does; ``clauses`` has only what comes to that."""
        other = Ground(self.words, self._opaque, witnesses)
        other.elements.update({sort: list(found) for sort, found in self.elements.items()})
        other.reads.update(self.reads)
        other.counters.update(self.counters)
        other._known.update(self._known)
        other._universals.extend(self._universals)
        other._done.extend(set(done) for done in self._done)
        if not witnesses:
            other._counted_at.update(self._counted_at)
        other._everywhere.extend(self._everywhere)
        return other

    # ---- elements

    def element(self, sort: type[Sort], name: str, generation: int = 0) -> Formula:
        """A new element, which may be one of those that are there."""
        found = self.words.element(name, sort)
        self.elements[sort].append((found, generation))
        return found

    def tuples(self, symbols: tuple[Symbol, ...], newest: int = MOST_GENERATIONS) -> Iterator[tuple[Env, int]]:
        """All elements for ``symbols``, and the latest generation among them."""
        pools = [[e for e in self.elements[_sort(s)] if e[1] <= newest] for s in symbols]
        for chosen in itertools.product(*pools):
            env = {s.uid: e for s, (e, _) in zip(symbols, chosen, strict=True)}
            yield env, max((g for _, g in chosen), default=0)

    # ---- expressions

    def truth(self, expr: Expr, env: Env, sign: str = "+") -> Formula:
        """``expr``, a condition. ``sign`` says how it is used: ``+`` as something that is known to hold, ``-`` as
        something that is known not to, ``=`` as both; it is as strong as that needs."""
        return self._kept(expr, env, sign)

    def number(self, expr: Expr, env: Env) -> Formula:
        """``expr``, a number, a member or an element."""
        return self._kept(expr, env, "=")

    def _kept(self, expr: Expr, env: Env, sign: str) -> Formula:
        if isinstance(expr, Symbol):
            return env[expr.uid]
        mine = {uid: env[uid] for uid in self.words.free(expr)}
        key = (id(expr), tuple(each.get_id() for each in mine.values()), sign)
        if key not in self._known:
            self._known[key] = (expr, mine, self._of(expr, mine, sign))
        return self._known[key][2]

    def _of(self, expr: Expr, env: Env, sign: str) -> Formula:
        match expr:
            case Const(raw=raw):
                terms = self.words.terms
                return terms.truth(bool(raw)) if expr.type == BOOL else terms.constant(raw)
            case Read():
                return self._read(expr, env)
            case Ite(condition=c, then=t, otherwise=e):
                test = self.truth(c, env, "=")
                if expr.type == BOOL:
                    return z3.If(test, self.truth(t, env, sign), self.truth(e, env, sign))
                return z3.If(test, self.number(t, env), self.number(e, env))
            case Quantified(kind="sum"):
                return self._counter(expr, env)
            case Quantified():
                return self._quantified(expr, env, sign)
            case Op():
                return self._op(expr, env, sign)
        raise Unreadable(f"{expr!r} cannot be read", expr.at)

    def _op(self, expr: Op, env: Env, sign: str) -> Formula:
        op, args = expr.op, expr.args
        if op == "~":
            return z3.Not(self.truth(args[0], env, _OTHER[sign]))
        if op == "=>":
            return z3.Or(z3.Not(self.truth(args[0], env, _OTHER[sign])), self.truth(args[1], env, sign))
        if op in ("&", "|"):
            parts = [self.truth(a, env, sign) for a in args]
            return z3.And(parts) if op == "&" else z3.Or(parts)
        if op in ("<", "<=", ">", ">=") and isinstance(args[0].type, SortType):
            raise Unreadable(f"{expr!r} orders elements, and of how many nothing is said", expr.at)
        a, b = (self.truth(x, env, "=") if x.type == BOOL else self.number(x, env) for x in args)
        match op:
            case "==":
                return a == b
            case "!=":
                return a != b
            case "<":
                return a < b
            case "<=":
                return a <= b
            case ">":
                return a > b
            case ">=":
                return a >= b
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "//":
                return a / b  # of integers, rounded down for what is positive
        return a % b

    def _read(self, read: Read, env: Env) -> Formula:
        found = self.words.function(read.variable.name, [self.number(i, env) for i in read.indices], read.type == BOOL)
        key = found.sexpr()
        if key not in self.reads:
            self.reads[key] = (found, read)
            if read.type != BOOL:
                values = self.words.machine.values(read.variable.domain)
                self.clauses.append(z3.And(values.start <= found, found < values.stop))
        return found

    def _counter(self, expr: Quantified, env: Env) -> Formula:
        name = self.words.name(expr)
        found = self.words.function(name.text, [env[s.uid] for s in name.free], False)
        self.counters.setdefault(found.sexpr(), (found, expr, env))
        return found

    def _quantified(self, expr: Quantified, env: Env, sign: str) -> Formula:
        if self._opaque:
            name = self.words.name(expr)
            return self.words.function(name.text, [env[s.uid] for s in name.free], expr.type == BOOL)
        generation = self._generation
        if expr.kind in ("min", "max"):
            found = self.words.terms.variable(f"{expr.kind}!{next(self.words.fresh)}")
            value = self.number(expr.body, self._witness(expr, env, generation))
            self.clauses.append(found == value)
            universal = Universal(
                self.words.terms.truth(True),
                expr.symbols,
                expr.body,
                env,
                generation,
                bound=found,
                greatest=expr.kind == "max",
            )
            self._universal(universal)
            return found
        found = self.words.terms.condition(f"{expr.kind}!{next(self.words.fresh)}")
        every_ = expr.kind == "all"
        if sign != "-":
            if every_:
                self._everywhere.append((found, expr, env))
            self._says(found, expr, env, generation, holds_for_all=every_, negated=False)
        if sign != "+":
            self._says(z3.Not(found), expr, env, generation, holds_for_all=not every_, negated=True)
        return found

    def _says(
        self, where: Formula, expr: Quantified, env: Env, generation: int, holds_for_all: bool, negated: bool
    ) -> None:
        """Where ``where`` holds the body does, or does not, for all elements, or for one."""
        if holds_for_all:
            self._universal(Universal(where, expr.symbols, expr.body, env, generation, negated))
            return
        inner = self._witness(expr, env, generation)
        body = self.truth(expr.body, inner, "-" if negated else "+")
        self.clauses.append(z3.Implies(where, z3.Not(body) if negated else body))

    def _witness(self, expr: Quantified, env: Env, generation: int) -> Env:
        new = {
            s.uid: self.element(_sort(s), f"{s.name}!{next(self.words.fresh)}", generation + 1) for s in expr.symbols
        }
        return {**env, **new}

    # ---- what is known

    def _universal(self, universal: Universal) -> None:
        self._universals.append(universal)
        self._done.append(set())

    def holds_for_all(self, symbols: tuple[Symbol, ...], body: Expr, where: Formula, env: Env) -> None:
        """``body`` holds for all ``symbols``, where ``where`` does."""
        self._universal(Universal(where, symbols, body, env, 0))

    def close(self) -> None:
        """Write down what holds for all elements for those that are there, and what is known of the counters."""
        while self._instances() or self._counted():
            pass
        self._vanishing()

    def _instances(self) -> bool:
        count, number = 0, 0
        while number < len(self._universals):
            universal, done = self._universals[number], self._done[number]
            number += 1
            for env, generation in list(self.tuples(universal.symbols)):
                latest = max(generation, universal.generation)
                key = tuple(each.get_id() for each in env.values())
                if key in done or latest > MOST_GENERATIONS:
                    continue
                done.add(key)
                count += 1
                self._generation = latest
                self._instance(universal, {**universal.env, **env})
                self._generation = 0
        return count > 0

    def _instance(self, universal: Universal, env: Env) -> None:
        self.words.deadline.check()
        if universal.bound is not None:
            value = self.number(universal.body, env)
            fits = universal.bound >= value if universal.greatest else universal.bound <= value
            self.clauses.append(fits)
            return
        body = self.truth(universal.body, env, "-" if universal.negated else "+")
        self.clauses.append(z3.Implies(universal.condition, z3.Not(body) if universal.negated else body))

    def _counted(self) -> bool:
        """Facts about counters of what is never negative: one is at least what any different elements have together,
        and at least what their own counters have together, if it sums over several sorts."""
        # What a summand says to exist is no summand itself, or there would be no end of them.
        self._generation = MOST_GENERATIONS - 1
        counted, size = self._counted_at, sum(map(len, self.elements.values()))
        fresh = [key for key in self.counters if counted.get(key) != size]
        for key in fresh:
            counted[key] = size
            found, expr, env = self.counters[key]
            if not self.words.never_negative(expr):
                continue
            self.clauses.append(found >= 0)
            if self._witnesses and key not in self._witnessed:
                self._witness_of(key)
            self._at_least(found, expr.symbols, expr.body, env)
            if len(expr.symbols) > 1:
                for symbol in expr.symbols:
                    rest = tuple(s for s in expr.symbols if s is not symbol)
                    self._at_least(found, (symbol,), ghost(rest, expr.body), env)
        self._generation = 0
        return bool(fresh)

    def _vanishing(self) -> None:
        """Where something holds for all elements, and makes each summand of a counter 0, the counter is 0."""
        for where, expr, env in self._everywhere:
            for found, counter, inside in list(self.counters.values()):
                if tuple(map(_sort, expr.symbols)) == tuple(map(_sort, counter.symbols)):
                    if self._vanishes(expr, env, counter, inside):
                        self.clauses.append(z3.Implies(where, found == 0))

    def _vanishes(self, expr: Quantified, env: Env, counter: Quantified, inside: Env) -> bool:
        if not _variables(expr) & _variables(counter):
            return False
        other = Ground(self.words, opaque=True)
        any_ = [self.words.element(f"each {s.name}", _sort(s)) for s in expr.symbols]
        here = {**env, **{s.uid: e for s, e in zip(expr.symbols, any_, strict=True)}}
        there = {**inside, **{s.uid: e for s, e in zip(counter.symbols, any_, strict=True)}}
        solver = self.words.terms.solver()
        solver.add(other.truth(expr.body, here, "="), other.number(counter.body, there) != 0, *other.clauses)
        return is_refuted(solver, self.words.deadline)

    def _witness_of(self, key: str) -> None:
        self._witnessed.add(key)
        found, expr, env = self.counters[key]
        mine = {each.get_id() for each in env.values()}
        generation = max((g for pool in self.elements.values() for e, g in pool if e.get_id() in mine), default=0)
        if generation < MOST_GENERATIONS:
            inner = self._witness(expr, env, generation)
            self.clauses.append(z3.Implies(found > 0, self.number(expr.body, inner) > 0))

    def _at_least(self, whole: Formula, symbols: tuple[Symbol, ...], part: Expr, env: Env) -> None:
        tuples = [inner for inner, _ in self.tuples(symbols, 1)]
        values = [self.number(part, {**env, **inner}) for inner in tuples]
        terms = []
        for number, (inner, value) in enumerate(zip(tuples, values, strict=True)):
            again = [self.words.terms.every([inner[u] == other[u] for u in inner]) for other in tuples[:number]]
            terms.append(z3.If(z3.Or(again), 0, value) if again else value)
        if terms:
            self.clauses.append(whole >= z3.Sum(terms))


def _variables(expr: Expr) -> set[str]:
    return {each.variable.name for each in walk(expr) if isinstance(each, Read)}


_OTHER: Final = {"+": "-", "-": "+", "=": "="}


def _sort(symbol: Symbol) -> type[Sort]:
    kind: Type = domain_type(symbol.domain)
    assert isinstance(kind, SortType), f"{symbol.name} is no element"
    return kind.sort


__all__ = ["Env", "Ground"]
