"""What formulas for any size say is true in real states: of random machines, and of sums by brute force."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace

import pytest
import z3
from families import families
from few_examples import a_few
from hypothesis import given
from hypothesis import strategies as st

from model.language import Expr, Machine, PropertyKind, Quantified, Sort, Variable, all_, count_, ite, sum_
from model.prove.any_size.ground import Ground
from model.prove.any_size.obligations import Obligations
from model.prove.any_size.sums import Obligation, Piece, Sums
from model.prove.any_size.terms import TRUE, Unreadable, freshened
from model.prove.any_size.words import Words
from model.prove.solving import Deadline
from model.semantics import Semantics, State, explore

pytestmark = pytest.mark.no_cover

RANDOM = a_few(4)


class Real:
    """One state of a finite machine: what formulas for any size are about, with elements that are there."""

    def __init__(self, machine: Machine, state: State, chance: random.Random) -> None:
        self._machine = machine
        self._semantics = Semantics(machine)
        self._state = state
        self._chance = chance

    def contradicts(self, ground: Ground) -> bool:
        """Whether some clause is false, however elements that are said to exist are chosen."""
        words, machine = ground.words, self._machine
        solver = words.terms.solver()
        values = {
            sort: [z3.Const(f"the {name}", words.sorts[sort]) for name in declared.names]
            for sort, declared in machine.sorts.items()
        }
        for sort, found in values.items():
            solver.add(z3.Distinct(found))
            for element, generation in ground.elements[sort]:
                if generation:
                    solver.add(z3.Or([element == value for value in found]))
                else:
                    solver.add(element == self._chance.choice(found))
        for cell, raw in zip(machine.cells(), self._state, strict=True):
            variable = cell.variable
            at = [values[s][i] for s, i in zip(variable.sorts, cell.indices, strict=True)]
            boolean = variable.domain is bool
            solver.add(words.function(variable.name, at, boolean) == (bool(raw) if boolean else raw))
        for _, counter, _ in ground.counters.values():
            free = words.name(counter).free
            for places in itertools.product(*(range(machine.sorts[type(s)].size) for s in free)):
                env = {s.uid: place for s, place in zip(free, places, strict=True)}
                at = [values[type(s)][place] for s, place in zip(free, places, strict=True)]
                value = self._semantics.evaluate(counter, self._state, env)
                solver.add(words.function(words.name(counter).text, at, False) == value)
        solver.add(*ground.clauses)
        return bool(solver.check() == z3.unsat)


def everything_said(machine: Machine, state: State, seed: int) -> None:
    """Write down what is known of a state in which the claims hold that do hold there, for two elements of each sort
    that may be the same, and compare with the state."""
    words = Words(machine)
    sums = Sums(Obligations(words, Deadline(60)).prove)
    semantics = Semantics(machine)
    for witnesses in (False, True):
        ground = Ground(words, witnesses=witnesses)
        for sort in machine.sorts:
            for name in ("one", "other"):
                ground.element(sort, f"{name} {sort.__name__}")
        for p in machine.properties:
            if p.kind not in (PropertyKind.ALWAYS, PropertyKind.SOMETIMES, PropertyKind.POSSIBLE):
                continue
            try:
                normal = sums.normal(freshened(p.condition))
            except Unreadable:
                continue
            holds = bool(semantics.evaluate(p.condition, state, {}))
            said = ground.truth(normal, {}, "+" if holds else "-")
            ground.clauses.append(said if holds else z3.Not(said))
        ground.close()
        assert not Real(machine, state, random.Random(seed)).contradicts(ground)


@RANDOM
@given(families(200), st.integers(0, 1000))
def test_what_is_said_of_a_state_is_true_there(machine: Machine, seed: int) -> None:
    for state in list(explore(machine).distance)[:3]:
        everything_said(machine, state, seed)


class App(Sort):
    """A sort of this test."""


class Node(Sort):
    """A sort of this test."""


@dataclass(frozen=True)
class Pods:
    """A machine with numbers, some of them negative, and flags."""

    machine: Machine
    held: Variable[tuple[App, Node]]
    debt: Variable[tuple[App, Node]]
    runs: Variable[App]


def pods(apps: int, nodes: int) -> Pods:
    """So many of them."""
    m = Machine("pods")
    m.sort(App, apps)
    m.sort(Node, nodes)
    held = m.variable("held", (App, Node), range(4), init=0)
    debt = m.variable("debt", (App, Node), range(-2, 3), init=0)
    runs = m.variable("runs", App, bool, init=False)

    @m.action
    def start(a: App) -> None:
        runs[a] = True

    return Pods(m, held, debt, runs)


@pytest.mark.parametrize("seed", range(3))
def test_facts_about_sums_are_true_of_random_numbers(seed: int) -> None:
    chance = random.Random(seed)
    p = pods(chance.randint(1, 3), chance.randint(1, 3))
    state = tuple(chance.choice(p.machine.values(c.variable.domain)) for c in p.machine.cells())

    @p.machine.always
    def sums() -> Expr:
        total = sum_(p.held[a, n] + p.debt[a, n] for a in App for n in Node)
        rows = all_(sum_(p.held[a, n] for n in Node) <= 2 for a in App)
        columns = all_(sum_(ite(p.runs[a], p.held[a, n], 0) for a in App) == 0 for n in Node)
        empty = all_(p.held[a, n] == 0 for a in App for n in Node)
        return ((total > 1) | rows) & (columns | (count_(p.runs[a] for a in App) > 1) | empty)

    everything_said(p.machine, state, seed)


def test_only_counters_of_what_is_never_negative_are_known_to_be() -> None:
    p = pods(2, 2)
    obligations = Obligations(Words(p.machine), Deadline(60))
    a, n = App("a"), Node("n")
    assert obligations.never_negative(Quantified("sum", (n,), p.held[a, n]))
    assert not obligations.never_negative(Quantified("sum", (n,), p.debt[a, n]))


def test_a_claim_about_a_sum_that_is_false_is_refused() -> None:
    p = pods(2, 2)
    obligations = Obligations(Words(p.machine), Deadline(60))
    a, n = App("a"), Node("n")
    piece = Piece(1, TRUE, (), (n,), p.held[a, n])
    obligations.prove(Obligation((n,), p.held[a, n], (piece,)))
    with pytest.raises(Unreadable, match="is not what its parts are"):
        obligations.prove(Obligation((n,), p.held[a, n], (replace(piece, coefficient=2),)))
