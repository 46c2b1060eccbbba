"""Every operator of a ground expression, as z3's words and integers have it and as SMT-LIB text: against Python's own.

Random machines seldom have all operators. Here expressions are made of them directly, and each is computed beside.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pytest
import z3

from model.language import Machine, require
from model.lowering.ground import Graph, Node
from model.lowering.lower import Program, lower
from model.prove.arithmetic import Formula, Integers
from model.prove.certificate.cells import CellNames
from model.prove.certificate.syntax import SExpr, number, one_line, symbol
from model.prove.certificate.terms import Terms, shared
from model.prove.encoding import Encoding, View, _writers
from model.prove.horn.answers import nodes_of
from model.prove.solving import OutOfTime
from model.prove.strengthen.samples import Values

# A tracer would take more time here than the tests do.
pytestmark = pytest.mark.no_cover

Numbers: TypeAlias = tuple[int, ...]
"""What an expression is at each of the `POINTS` points."""

POINTS = 4
EACH = 50
"""Expressions of one machine."""
_LARGEST = 1000


@dataclass(frozen=True, slots=True)
class Made:
    """An expression, and what it is."""

    node: Node
    values: Numbers


class Expressions:
    """Expressions of all operators over the cells of one machine, in the state before a step and the one after it."""

    def __init__(self, seed: int, linear: bool = False) -> None:
        """``linear``: what a lemma of one state may be, without products of two unknowns."""
        self._random = random.Random(seed)
        self._linear = linear
        self.program = lower(_machine())
        self.machine = self.program.machine
        domains = [(c.variable.domain is bool, self.machine.values(c.variable.domain)) for c in self.machine.cells()]
        # before and after the step: (points, cells)
        self.points = [
            tuple([self._random.choice(values) for _, values in domains] for _ in range(2)) for _ in range(POINTS)
        ]
        self.made: list[Made] = []
        for after in (False, True)[: 1 if linear else 2]:
            for n, (boolean, values) in enumerate(domains):
                node = self.program.graph.cell(n, values, boolean, after)
                self.made.append(Made(node, tuple(point[after][n] for point in self.points)))
        for value in (-2, 1, 3):
            self.made.append(Made(self.program.graph.const(value), (value,) * POINTS))
        while len(self.made) < EACH:
            made = self._more(self.program.graph)
            if -_LARGEST <= made.node.low and made.node.high <= _LARGEST:
                self.made.append(made)

    def _more(self, graph: Graph) -> Made:
        a, b = self._pick(False), self._pick(False)
        c = self._near(a)
        p, q, r = (self._pick(True) for _ in range(3))
        by = self._random.randint(1, 5)

        def of(node: Node, f: Callable[..., int], *args: Made) -> Made:
            return Made(node, tuple(int(f(*each)) for each in zip(*(x.values for x in args), strict=True)))

        match self._random.randrange(16):
            case 0:
                return of(graph.add(a.node, b.node), lambda x, y: x + y, a, b)
            case 1:
                return of(graph.sub(a.node, b.node), lambda x, y: x - y, a, b)
            case 2 if self._linear:
                return of(graph.mul(a.node, graph.const(by)), lambda x: x * by, a)
            case 2:
                return of(graph.mul(a.node, b.node), lambda x, y: x * y, a, b)
            case 3:
                return of(graph.div(a.node, by), lambda x: x // by, a)
            case 4:
                return of(graph.mod(a.node, by), lambda x: x % by, a)
            case 5:
                return of(graph.least(a.node, b.node), min, a, b)
            case 6:
                return of(graph.greatest(a.node, b.node), max, a, b)
            case 7:
                return of(graph.integer(p.node), int, p)
            case 8:
                return of(graph.ite(p.node, a.node, b.node), lambda x, y, z: y if x else z, p, a, b)
            case 9:
                return of(graph.equal(a.node, c.node), lambda x, y: x == y, a, c)
            case 10:
                return of(graph.equal(p.node, q.node), lambda x, y: x == y, p, q)
            case 11:
                return of(graph.less(a.node, c.node), lambda x, y: x < y, a, c)
            case 12:
                return of(graph.both([p.node, q.node, r.node]), lambda *x: all(x), p, q, r)
            case 13:
                return of(graph.either([p.node, q.node, r.node]), lambda *x: any(x), p, q, r)
            case 14:
                return of(graph.no(graph.less(a.node, c.node)), lambda x, y: x >= y, a, c)
        return of(graph.no(p.node), lambda x: not x, p)

    def _near(self, a: Made) -> Made:
        """An integer that equals ``a`` at some point: there comparisons differ most."""
        numbers = [each for each in self.made if not each.node.boolean and each.node is not a.node]
        equal = [each for each in numbers if any(x == y for x, y in zip(each.values, a.values, strict=True))]
        return self._random.choice(equal or numbers)

    def _pick(self, boolean: bool) -> Made:
        return self._random.choice([each for each in self.made if each.node.boolean == boolean])

    def operators(self) -> set[str]:
        """Those that occur."""
        return {each.node.op for each in self.made}


def _machine() -> Machine:
    m = Machine("numbers")
    wide = m.scalar("wide", range(-20, 21), init=0)
    m.scalar("low", range(-7, 3), init=0)
    m.scalar("high", range(2, 9), init=2)
    m.scalar("on", bool, init=False)
    m.scalar("off", bool, init=True)

    @m.action
    def up() -> None:
        require(wide < 20)
        wide.next += 1

    return m


def every_operator(found: set[str]) -> None:
    """None is left out, or nothing would be said of it."""
    left = set(_writers(Integers())) - found
    assert not left, f"no expression has {left}"


@pytest.mark.parametrize("integers", [False, True], ids=["words", "integers"])
def test_formulas_are_what_python_computes(integers: bool) -> None:
    found: set[str] = set()
    for seed in range(10):
        e = Expressions(seed)
        found |= e.operators()
        encoding = Encoding(e.program, Integers() if integers else None)
        for at, (before, after) in enumerate(e.points):
            view = View(_raw(encoding, before), _raw(encoding, after))
            for made in e.made:
                formula = z3.simplify(encoding.holds(made.node, view))
                assert _number(formula) == made.values[at], made.node
    every_operator(found)


def _raw(encoding: Encoding, state: Sequence[int]) -> list[Formula]:
    return [encoding.raw(u, value) for u, value in zip(encoding.state("0"), state, strict=True)]


def _number(formula: Formula) -> int:
    if z3.is_bool(formula):
        assert z3.is_true(formula) or z3.is_false(formula), formula
        return int(z3.is_true(formula))
    return int(formula.as_signed_long() if z3.is_bv(formula) else formula.as_long())


def test_text_in_smtlib_is_what_python_computes() -> None:
    found: set[str] = set()
    for seed in range(10):
        e = Expressions(seed)
        found |= e.operators()
        for at, (before, after) in enumerate(e.points):
            asserted = z3.parse_smt2_string(_text(e, at, (before, after)))
            assert len(asserted) == len(e.made)
            for made, equation in zip(e.made, asserted, strict=True):
                assert z3.is_true(z3.simplify(equation)), f"{made.node} is {made.values[at]}, not what {equation} says"
    every_operator(found)


def _text(e: Expressions, at: int, states: Sequence[Sequence[int]]) -> str:
    """That each expression is what it is at this point, as a certificate would define and name its parts."""
    cells = CellNames(e.machine)
    lines: list[SExpr] = []
    for number_, state in enumerate(states):
        for n, value in enumerate(state):
            lines.append(("define-fun", cells.cell(n, number_), (), cells.sort(n), cells.value(n, value)))
    named: dict[int, str] = {}
    terms = Terms(cells, 0, named)
    for each in shared([made.node for made in e.made]):
        name = symbol(f"expression {each.number}")
        lines.append(("define-fun", name, (), "Bool" if each.boolean else "Int", terms.written_out(each)))
        named[each.number] = name
    for made in e.made:
        value = made.values[at]
        told = ("false", "true")[value] if made.node.boolean else number(value)
        lines.append(("assert", ("=", terms.of(made.node), told)))
    return "\n".join(map(one_line, lines))


def test_lemmas_that_a_solver_answers_are_read_as_they_are_meant() -> None:
    """Formulas over integers, simplified by z3 as it likes, read back as ground expressions."""
    found: set[str] = set()
    read = 0
    for seed in range(10):
        e = Expressions(seed, linear=True)
        encoding = Encoding(e.program, Integers())
        state = [z3.Var(n, unknown.sort()) for n, unknown in enumerate(encoding.state("0"))]
        for made in e.made:
            if made.node.boolean and (nodes := _read(e.program, encoding.holds(made.node, View(state)))) is not None:
                read += 1
                found.add(made.node.op)
                told = [bool(Values(nodes).truth(before).all()) for before, _ in e.points]
                assert told == list(map(bool, made.values)), made.node
    assert {"<", "==", "same", "and", "or", "not"} <= found
    assert read > 100


def _read(program: Program, formula: Formula) -> list[Node] | None:
    try:
        return nodes_of(program, z3.simplify(formula))
    except OutOfTime:
        return None
