"""What is refused before anything runs, how folding keeps the meaning, and how the compiled text grows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.explore import explore
from model.explore.codegen.emit import expand_text
from model.explore.codegen.native import Native, kernels
from model.explore.packing import pack
from model.language import Expr, Machine, Scalar, SpecError, after, choose, implies, ite, require
from model.lowering.ground import Graph, Node
from model.semantics import Semantics

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


def one_cell(domain: range) -> tuple[Machine, Scalar]:
    m = Machine("cell")
    x = m.scalar("x", domain, init=domain.start)

    @m.action
    def move() -> None:
        x.next = domain.start

    return m, x


def test_an_expression_that_may_leave_64_bits_is_refused_with_its_line() -> None:
    m, x = one_cell(range(2**39))

    @m.always
    def bounded() -> Expr:
        return x * 2**23 >= 0

    @m.always
    def beyond() -> Expr:
        return x * x > 7

    line = beyond.__code__.co_firstlineno + 2
    with pytest.raises(SpecError, match=rf"test_compilation\.py:{line}: .*leaves 64 bits"):
        explore(m)


def test_too_many_instances_are_refused_with_their_action() -> None:
    m, x = one_cell(range(10))

    @m.action
    def pick() -> None:
        a, b = choose(range(1000)), choose(range(1000))
        require(a + b < 3)
        x.next = 0

    with pytest.raises(SpecError, match=r"pick has 1000000 instances .* at most 50000 can be explored"):
        explore(m)


# ---- folding


VALUES = st.integers(-6, 6)
CELLS = [range(-3, 4), range(5), range(2), range(-4, 0)]
Pair = tuple[Expr | int, Callable[[tuple[int, ...]], int]]


@st.composite
def integers(draw: st.DrawFn, cells: list[Scalar], depth: int) -> tuple[object, Callable[[tuple[int, ...]], int]]:
    """An expression over ``cells`` and a Python function that says what it means."""
    if depth == 0:
        if draw(st.booleans()):
            value = draw(VALUES)
            return value, lambda s: value
        at = draw(st.integers(0, len(cells) - 1))
        return cells[at], lambda s: s[at]
    kind = draw(st.sampled_from(["+", "-", "*", "//", "%", "ite", "neg"]))
    left, f = draw(integers(cells, depth - 1))
    if kind in ("//", "%"):
        by = draw(st.integers(1, 5))
        meaning = operator.floordiv if kind == "//" else operator.mod
        wrapped = left + cells[0] - cells[0]  # type: ignore[operator]
        return (wrapped // by if kind == "//" else wrapped % by), lambda s: int(meaning(f(s), by))
    if kind == "neg":
        return 0 - (left + cells[1]), lambda s: -(f(s) + s[1])  # type: ignore[operator]
    right, g = draw(integers(cells, depth - 1))
    if kind == "ite":
        condition, holds = draw(booleans(cells, depth - 1))
        return ite(condition, left, right), lambda s: f(s) if holds(s) else g(s)  # type: ignore[arg-type]
    apply = {"+": operator.add, "-": operator.sub, "*": operator.mul}[kind]
    # An expression on the left, so that Python does not compute with two numbers.
    return apply(left + cells[0] * 0, right), lambda s: int(apply(f(s), g(s)))  # type: ignore[operator]


@st.composite
def booleans(draw: st.DrawFn, cells: list[Scalar], depth: int) -> tuple[object, Callable[[tuple[int, ...]], bool]]:
    kind = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "&", "|", "~", "=>", "same"]))
    if depth == 0 or kind in ("==", "!=", "<", "<=", ">", ">="):
        compare = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt}
        apply = compare.get(kind, operator.ge)
        left, f = draw(integers(cells, max(0, depth - 1)))
        right, g = draw(integers(cells, max(0, depth - 1)))
        return apply(left + cells[1] * 0, right), lambda s: bool(apply(f(s), g(s)))  # type: ignore[operator]
    first, p = draw(booleans(cells, depth - 1))
    if kind == "~":
        return ~first, lambda s: not p(s)  # type: ignore[operator]
    second, q = draw(booleans(cells, depth - 1))
    if kind == "=>":
        return implies(first, second), lambda s: not p(s) or q(s)  # type: ignore[arg-type]
    if kind == "same":
        return first == second, lambda s: p(s) == q(s)
    combine = {"&": operator.and_, "|": operator.or_}[kind]
    return combine(first, second), lambda s: bool(combine(p(s), q(s)))


@given(st.data())
@settings(max_examples=80)
def test_compiled_expressions_mean_what_python_means(data: st.DataObject) -> None:
    m = Machine("expressions")
    cells = [m.scalar(f"x{i}", domain, init=domain.start) for i, domain in enumerate(CELLS)]

    @m.action
    def nothing() -> None:
        cells[0].next = 0

    wanted = []
    for number in range(4):
        expr, meaning = data.draw(booleans(cells, 3))

        def possible() -> object:
            return expr

        possible.__name__ = f"p{number}"
        m.possible(possible)
        wanted.append(meaning)
    program = pack(m)
    native = Native(program)
    states = [(a, b, c, d) for a in CELLS[0] for b in CELLS[1] for c in CELLS[2] for d in CELLS[3]]
    packed = np.array([program.layout.pack(s) for s in states], np.uint64)
    bits = np.empty(len(states), np.uint64)
    native.predicates(packed.ctypes.data, len(states), bits.ctypes.data)
    semantics = Semantics(m)
    for state, found in zip(states, bits.tolist(), strict=True):
        for number, meaning in enumerate(wanted):
            assert (found >> (number + 1)) & 1 == meaning(state)
    # The golden interpreter reads the same expressions.
    for state in states[:: len(states) // 7]:
        for p, meaning in zip(m.properties, wanted, strict=True):
            assert semantics.evaluate(p.condition, state, {}) == meaning(state)


def leaves(graph: Graph) -> tuple[Node, Node, Node, Node]:
    return (
        graph.cell(0, range(4), False),
        graph.cell(1, range(-2, 6), False),
        graph.cell(2, range(2), True),
        graph.cell(3, range(2), True),
    )


def test_equal_expressions_are_one_and_trivial_ones_fold() -> None:
    g = Graph()
    x, y, p, q = leaves(g)
    assert g.add(x, y) is g.add(x, y)
    assert g.add(g.add(x, g.const(2)), g.const(-2)) is x
    assert g.sub(x, x) is g.const(0)
    assert g.both([p, g.no(p)]) is g.false
    assert g.either([p, q, g.no(p)]) is g.true
    assert g.both([g.equal(x, g.const(1)), q, g.equal(x, g.const(2))]) is g.false
    assert g.both([q, g.true, p, q]) is g.both([p, q])
    assert g.less(x, g.const(4)) is g.true
    assert g.less(g.const(3), x) is g.false
    # At the edge of an interval an order is an equality.
    assert g.less(x, g.const(1)) is g.equal(x, g.const(0))
    assert g.less(g.const(2), x) is g.equal(x, g.const(3))
    assert g.equal(g.ite(p, g.const(1), g.const(2)), g.const(2)) is g.no(p)
    assert g.equal(g.add(x, g.const(3)), g.const(5)) is g.equal(x, g.const(2))
    assert g.equal(x, g.const(9)) is g.false
    assert g.equal(p, g.no(p)) is g.false
    assert g.ite(p, g.true, q) is g.either([p, q])
    assert g.div(x, 4) is g.const(0)
    assert g.mod(x, 4) is x
    assert g.mod(g.sub(x, g.const(4)), 4) is x
    assert g.least(x, g.const(7)) is x
    assert g.greatest(g.const(7), x) is g.const(7)


@pytest.mark.parametrize(("low", "high"), [(-7, 9), (-12, -3), (0, 5)])
@pytest.mark.parametrize("by", [1, 2, 3, 5])
def test_bounds_are_bounds(low: int, high: int, by: int) -> None:
    g = Graph()
    x, y = g.cell(0, range(low, high + 1), False), g.cell(1, range(-3, 4), False)
    for a in range(low, high + 1):
        for node, value in ((g.div(x, by), a // by), (g.mod(x, by), a % by)):
            assert node.low <= value <= node.high
        for b in range(-3, 4):
            for node, value in ((g.mul(x, y), a * b), (g.sub(x, y), a - b), (g.least(x, y), min(a, b))):
                assert node.low <= value <= node.high


# ---- growth


def switchboard(actions: int, sixty: int = 60) -> Machine:
    m = Machine("switchboard")
    cells = [m.scalar(f"x{i}", range(5), init=0) for i in range(sixty)]
    for k in range(actions):
        a, b, c = cells[k % sixty], cells[7 * k % sixty], cells[(3 * k + 1) % sixty]

        def move() -> None:
            require(a < 4, b + c < 6)
            a.next += 1

        move.__name__ = f"move{k}"
        m.action(move)
    for k in range(10):

        def rises() -> Expr:
            return after(cells[k]) >= cells[k]

        rises.__name__ = f"rises{k}"
        m.step(rises)
    return m


def test_text_grows_with_the_actions_and_no_faster() -> None:
    lines = [len(expand_text(pack(switchboard(n)), 4).splitlines()) for n in (20, 40, 80, 160)]
    for less, more in pairwise(lines):
        assert more < 2.2 * less


def test_no_function_is_much_larger_than_a_part() -> None:
    m, x = one_cell(range(1, 4000))

    @m.action
    def jump() -> None:
        x.next = choose(range(1, 3000))

    text = expand_text(pack(m), 4)
    sizes = [len(function.splitlines()) for function in text.split("\n\n")]
    assert len(sizes) > 10
    assert max(sizes) < 6000
    assert explore(m).coverage.distinct_states == 2999


def test_kernels_are_compiled_once_per_number_of_words() -> None:
    assert kernels(2, 4) is kernels(2, 4)
    assert kernels(2, 4) is not kernels(3, 4)


def test_both_codes_find_the_same() -> None:
    """The quick code of the successor function, and the good one that follows if a search lasts."""
    from model.explore.search.limits import Limits
    from model.explore.search.search import Search
    from specs.gang import gang

    program = pack(gang(apps=3, size=3, nodes=2, capacity=3, quota=5))
    native = Native(program)
    quick = Search(program, native, Limits())
    quick.run()
    native.improve()
    good = Search(program, native, Limits())
    good.run()
    assert quick.counts == good.counts
    assert quick.fired == good.fired
    assert quick.first == good.first
    assert all((a.states == b.states).all() for a, b in zip(quick.shards, good.shards, strict=True))
