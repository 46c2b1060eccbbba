"""The formulas say what `model.semantics` does, no more and no less: on random machines, state by state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import z3
from few_examples import a_few
from hypothesis import given, settings

from model.language import Machine, PropertyKind, Sort
from model.lowering.lower import lower
from model.prove.arithmetic import LOGIC, Formula, words_for
from model.prove.claims import Claim, claims, violated_by, violated_in
from model.prove.encoding import Encoding, View
from model.semantics import Fault, FaultKind, Semantics, State, explore
from model.strategies import machines

# A tracer would take more time here than the tests do.
pytestmark = pytest.mark.no_cover

RANDOM = a_few(8)
STATES = 8


class App(Sort):
    pass


class Formulas:
    """One state, one step and one state of ``machine``, in one solver."""

    def __init__(self, machine: Machine) -> None:
        self.program = lower(machine)
        self.claims = claims(self.program)
        self.encoding = Encoding(self.program)
        self.view = View(self.encoding.state("0"), self.encoding.state("1"))
        self.chosen = self.encoding.chosen("0")

    def at(self, state: State) -> list[Formula]:
        """The state before the step is ``state``."""
        e = self.encoding
        return [u == e.raw(u, v) for u, v in zip(self.view.before, state, strict=True)]

    def steps(self, state: State) -> set[tuple[int, State]]:
        """All steps from ``state`` that the formulas have: instance and state after."""
        e = self.encoding
        assert self.view.after is not None
        solver = e.words.solver(LOGIC)
        solver.add(*self.at(state), e.is_step(self.view, self.chosen), e.in_domains(self.view.after))
        found: set[tuple[int, State]] = set()
        while solver.check() == z3.sat:
            model = solver.model()
            after, place = e.value(model, self.view.after), e.place(model, self.chosen)
            step = self.program.instances[place].number, after
            assert step not in found
            found.add(step)
            same = [u == e.raw(u, v) for u, v in zip(self.view.after, after, strict=True)]
            solver.add(z3.Not(z3.And([*same, e.is_chosen(self.chosen, place)])))
        return found

    def violating(self, claim: Claim, state: State) -> bool | set[int]:
        """Whether ``state`` violates the claim, or which instances do from there."""
        e = self.encoding
        solver = e.words.solver(LOGIC)
        solver.add(*self.at(state))
        if not claim.of_steps:
            solver.add(violated_in(e, claim, self.view))
            return bool(solver.check() == z3.sat)
        if not claim.leads_nowhere:
            solver.add(e.is_step(self.view, self.chosen))
        solver.add(violated_by(e, claim, self.view, self.chosen))
        found = set()
        while solver.check() == z3.sat:
            place = e.place(solver.model(), self.chosen)
            found.add(self.program.instances[place].number)
            solver.add(z3.Not(e.is_chosen(self.chosen, place)))
        return found


def some_states(machine: Machine) -> Iterator[State]:
    """Some that runs come to, far ones too."""
    found = list(explore(machine).distance)
    return iter(found[:: max(1, len(found) // STATES)])


def steps_of(s: Semantics, state: State) -> dict[int, State | Fault]:
    """All steps from ``state``, faults too, by number of the instance."""
    return {n: s.fire(i, state) for n, i in enumerate(s.instances) if s.is_enabled(i, state)}


@RANDOM
@given(machines(200))
def test_the_steps_are_those_of_the_semantics(machine: Machine) -> None:
    same_steps(machine)


@pytest.mark.slow
@settings(RANDOM, max_examples=300)
@given(machines(200))
def test_the_steps_of_many_machines_are_those_of_the_semantics(machine: Machine) -> None:
    same_steps(machine)


def same_steps(machine: Machine) -> None:
    """The formulas have the steps that the interpreter makes, and no others."""
    formulas, s = Formulas(machine), Semantics(machine)
    for state in some_states(machine):
        expected = {(n, after) for n, after in steps_of(s, state).items() if not isinstance(after, Fault)}
        assert formulas.steps(state) == expected


def test_a_cell_that_nothing_reads_has_room() -> None:
    """Two bits hold every number that is spoken of here; the values of y need three."""
    m = Machine("quiet")
    m.sort(App, 1)
    x = m.variable("x", App, bool, init=False)
    m.variable("y", App, range(3), init=0)

    @m.action
    def turn(a: App) -> None:
        x[a] = ~x[a]

    assert Formulas(m).steps((0, 0)) == {(0, (1, 0))}


@RANDOM
@given(machines(200))
def test_claims_are_violated_where_the_semantics_says(machine: Machine) -> None:
    formulas, s = Formulas(machine), Semantics(machine)
    properties = {p.name: p for p in machine.properties}
    for state in some_states(machine):
        steps = steps_of(s, state)
        for claim in formulas.claims:
            expected: bool | set[int]
            if claim.name in properties:
                condition = properties[claim.name].condition
                if properties[claim.name].kind is PropertyKind.STEP:
                    sound = {n: after for n, after in steps.items() if not isinstance(after, Fault)}
                    expected = {n for n, after in sound.items() if not s.evaluate(condition, state, {}, after)}
                else:
                    expected = bool(s.evaluate(condition, state, {})) == claim.is_goal
            elif claim.name == "deadlock_free":
                expected = not steps and not s.is_terminal(state)
            else:
                kind = FaultKind(claim.name)
                expected = {n for n, after in steps.items() if isinstance(after, Fault) and after.kind is kind}
            assert formulas.violating(claim, state) == expected, claim.name


@RANDOM
@given(machines(200))
def test_the_initial_states_are_those_of_the_semantics(machine: Machine) -> None:
    e = Formulas(machine).encoding
    state = e.state("0")
    solver = e.words.solver(LOGIC)
    solver.add(e.initial(state), e.in_domains(state))
    expected, found = set(Semantics(machine).initial_states()), set()
    while solver.check() == z3.sat and len(found) <= len(expected):
        raw = e.value(solver.model(), state)
        found.add(raw)
        solver.add(z3.Not(z3.And([u == e.raw(u, v) for u, v in zip(state, raw, strict=True)])))
    assert found == expected


@pytest.mark.parametrize("by", [1, 2, 3, 7])
def test_division_rounds_down_and_words_are_wide_enough(by: int) -> None:
    """-8 is the least that four bits hold; -8 // 3 * 3 is less."""
    from model.lowering.ground import Graph

    graph = Graph()
    cell = graph.cell(0, range(-8, 8), False)
    nodes = [graph.div(cell, by), graph.mod(cell, by), graph.mul(cell, cell)]
    words = words_for(graph.nodes)
    unknown = words.variable("x")
    for value in range(-8, 8):
        at = (unknown, words.constant(value))
        told = [
            z3.simplify(z3.substitute(f, at)).as_signed_long()
            for f in (words.quotient(unknown, by), words.remainder(unknown, by), unknown * unknown)
        ]
        assert told == [value // by, value % by, value * value]
    assert len(nodes) == 3
