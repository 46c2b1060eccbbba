"""Liveness on more states than one batch, more demands than one word, more levels than can be wasted; and budgets."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.explore import Exploration, explore
from model.explore.liveness.components import strong_components
from model.explore.liveness.liveness import Liveness
from model.explore.search.budget import Budget
from model.explore.traces.recover import Recovery
from model.language import Expr, Fairness, Machine, Sort, all_, any_, each, require, strong, weak
from model.language.fairness import Each
from model.semantics import Semantics
from model.semantics_liveness import refutes
from model.verdict import Outcome, PropertyVerdict


class Cell(Sort):
    """A wheel."""


class Row(Sort):
    """A row."""


class Column(Sort):
    """A column."""


def wheels(cells: int, size: int, *, exit_on_all: bool = False, apart: bool = True) -> Machine:
    """Wheels turn; one may leave while any (or only while all) of them stand at 1."""
    m = Machine("wheels")
    m.sort(Cell, cells)
    x = m.variable("x", Cell, range(size), init=0)
    out = m.scalar("out", bool, init=False)

    @m.action
    def turn(c: Cell) -> None:
        require(~out)
        x[c] = (x[c] + 1) % size

    @m.action
    def leave() -> None:
        at_one = all_(x[c] == 1 for c in Cell) if exit_on_all else any_(x[c] == 1 for c in Cell)
        require(~out, at_one)
        out.next = True

    @m.terminal
    def over() -> Expr:
        return out

    @m.eventually(fairness=[weak(each(turn)) if apart else weak(turn), strong(leave)])
    def leaves() -> Expr:
        return out

    return m


def judged(machine: Machine, name: str) -> PropertyVerdict:
    """The answer, whose lasso, if any, is a fair run that violates it."""
    answer = explore(machine)[name]
    if answer.trace is not None:
        p = next(p for p in machine.properties if p.name == name)
        assert refutes(Semantics(machine), p, answer.trace) is None
    return answer


def test_fair_wheels_in_many_batches() -> None:
    """100,000 states before the exit. Each wheel comes to 1 again and again, so strong fairness lets one leave."""
    assert judged(wheels(5, 10), "leaves").outcome is Outcome.HOLDS


def test_wheels_that_never_agree() -> None:
    """They need not ever stand at 1 together. On the loop each must turn, and so turns ten times."""
    answer = judged(wheels(5, 10, exit_on_all=True), "leaves")
    assert answer.outcome is Outcome.VIOLATED
    assert answer.how == "a fair run goes round 50 steps forever, after 0 steps"


def test_two_fair_wheels_that_must_not_turn_far() -> None:
    """Without fairness for each, the loop turns only one; it would pass 1, so it does not exist."""
    assert judged(wheels(3, 10, apart=False), "leaves").outcome is Outcome.HOLDS


def board(kind: Callable[[Each], Fairness]) -> Machine:
    """81 lamps, one of which is lit, and a demand for each; the last one can only be lit after lamp 40."""
    m = Machine("board")
    m.sort(Row, 9)
    m.sort(Column, 9)
    lit = m.scalar("lit", range(81), init=0)
    lamp = m.constant("lamp", (Row, Column), [[9 * i + j for j in range(9)] for i in range(9)])

    @m.action
    def light(r: Row, c: Column) -> None:
        require((lamp[r, c] < 80) | (lit == 40))
        lit.next = lamp[r, c]

    @m.eventually(fairness=[kind(each(light))])
    def last_lamp() -> Expr:
        return lit == 80

    return m


def test_more_demands_than_one_word_holds() -> None:
    """Weakly fair runs light all others in turn: a lamp cannot be lit while it is."""
    assert judged(board(strong), "last_lamp").outcome is Outcome.HOLDS
    answer = judged(board(weak), "last_lamp")
    assert answer.outcome is Outcome.VIOLATED
    assert answer.how == "a fair run goes round 80 steps forever, after 0 steps"


def pairs(size: int) -> Machine:
    """A property with as many combinations of arguments as two groups of predicates."""
    m = Machine("pairs")
    m.sort(Row, size)
    m.sort(Column, size)
    row = m.scalar("row", range(size), init=0)
    column = m.scalar("column", range(size), init=0)
    at = m.constant("at", Row, list(range(size)))
    across = m.constant("across", Column, list(range(size)))

    @m.action
    def right() -> None:
        column.next = (column + 1) % size
        row.next = row

    @m.action
    def down() -> None:
        require(column == size - 1)
        row.next = (row + 1) % size
        column.next = 0

    @m.eventually(fairness=[strong(down)])
    def is_visited(r: Row, c: Column) -> Expr:
        return (row == at[r]) & (column == across[c])

    @m.eventually(fairness=[m.progress(), strong(down)])
    def is_visited_at_last(r: Row, c: Column) -> Expr:
        return (row == at[r]) & (column == across[c])

    return m


def test_many_arguments() -> None:
    machine = pairs(7)
    answer = judged(machine, "is_visited")
    assert answer.outcome is Outcome.VIOLATED
    assert "for r = row1, c = column2" in answer.how
    assert judged(machine, "is_visited_at_last").outcome is Outcome.HOLDS


def chain(length: int) -> Machine:
    """A long way up, and one step below the top back to the start."""
    m = Machine("chain")
    x = m.scalar("x", range(length + 1), init=0)

    @m.action
    def up() -> None:
        require(x < length)
        x.next += 1

    @m.action
    def reset() -> None:
        require(x == length - 1)
        x.next = 0

    @m.terminal
    def over() -> Expr:
        return x == length

    @m.leads_to(fairness=[weak(up)])
    def half_leads_to_top() -> tuple[Expr, Expr]:
        return x == length // 2, x == length

    return m


def test_a_long_stem_and_a_long_loop() -> None:
    answer = judged(chain(1_000), "half_leads_to_top")
    assert answer.trace is not None
    assert (answer.trace.loop_start, len(answer.trace)) == (500, 1_500)


def test_the_same_answer_with_any_number_of_threads() -> None:
    """And the same lasso, step by step."""
    for machine in (wheels(4, 8, exit_on_all=True), pairs(5), chain(300)):
        one, two, four = (explore(machine, threads=n) for n in (1, 2, 4))
        assert one.properties == two.properties == four.properties


# ---- budgets


def test_unknown_where_the_search_was_not_complete() -> None:
    answer = explore(wheels(3, 10), max_states=100)["leaves"]
    assert answer.outcome is Outcome.UNKNOWN
    assert "state budget of 100 ran out" in answer.how


def test_unknown_where_memory_ran_out() -> None:
    machine = wheels(4, 10, exit_on_all=True)
    enough = Exploration(machine).search.memory
    answers = [Exploration(machine, max_memory=enough + extra).verdict for extra in (20_000, 50_000_000)]
    assert answers[0].coverage.complete
    assert answers[0]["leaves"].outcome is Outcome.UNKNOWN
    assert answers[0]["leaves"].how == "memory ran out while fair runs were looked for in all 10,001 states"
    assert answers[1]["leaves"].outcome is Outcome.VIOLATED


def counters() -> Machine:
    """Four cells count to 9."""
    m = Machine("counters")
    m.sort(Cell, 4)
    x = m.variable("x", Cell, range(10), init=0)

    @m.action
    def count(c: Cell) -> None:
        require(x[c] < 9)
        x[c] += 1

    @m.terminal
    def over() -> Expr:
        return all_(x[c] == 9 for c in Cell)

    @m.eventually(fairness=[m.progress()])
    def all_done() -> Expr:
        return all_(x[c] == 9 for c in Cell)

    return m


def test_where_memory_is_scarce_states_from_which_every_way_ends_are_struck_out_first() -> None:
    """The steps of all states would take 660,000 bytes; what a search leaves of its budget is less."""
    machine = counters()
    search = Exploration(machine).search
    assert search.count * 48 + 5 * search.transitions > 650_000
    little, some = (Exploration(machine, max_memory=search.memory + more) for more in (-60_000, 300_000))
    for run, least, most, outcome in (
        (little, 30_000, 90_000, Outcome.UNKNOWN),
        (some, 150_000, 350_000, Outcome.HOLDS),
    ):
        assert run.search.complete
        assert least < run.search.growth.limit - run.search.memory < most
        assert run.verdict["all_done"].outcome is outcome


def test_unknown_where_time_ran_out() -> None:
    machine = wheels(2, 10)
    search = Exploration(machine, time_limit=60).search
    (p,) = machine.properties
    assert Liveness(search, Recovery(search), "all states", Budget(search)).verdict(p).outcome is Outcome.HOLDS
    search.seconds = 61.0
    answer = Liveness(search, Recovery(search), "all states", Budget(search)).verdict(p)
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.how == "time limit of 60 s ran out while fair runs were looked for in all states"


# ---- components


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Targets of each node, and labels."""
    n = draw(st.integers(1, 12))
    targets = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=4), min_size=n, max_size=n))
    return targets, draw(st.lists(st.sampled_from((0, 0, 0, 1, -1)), min_size=n, max_size=n))


@given(graphs())
def test_components(graph: tuple[list[list[int]], list[int]]) -> None:
    targets, label = graph
    offsets = np.cumsum([0, *map(len, targets)]).astype(np.int64)
    flat = np.array([t for ts in targets for t in ts], np.int32)
    component, count = strong_components(offsets, flat, np.array(label, np.int32))
    kept = nx.DiGraph()
    kept.add_nodes_from(v for v, mark in enumerate(label) if mark >= 0)
    kept.add_edges_from((v, t) for v in kept.nodes for t in targets[v] if label[t] == label[v])
    expected = {frozenset(c) for c in nx.strongly_connected_components(kept)}
    found = {frozenset(np.flatnonzero(component == c).tolist()) for c in range(count)}
    assert found == expected
    assert {v for v, c in enumerate(component.tolist()) if c < 0} == {v for v, mark in enumerate(label) if mark < 0}
    # A component is numbered after those that it leads to.
    assert all(component[v] >= component[t] for v, t in kept.edges)


def test_components_of_a_long_path_need_no_recursion() -> None:
    n = 300_000
    offsets, targets = np.arange(n + 1), np.roll(np.arange(n, dtype=np.int32), -1)
    component, count = strong_components(offsets, targets, np.zeros(n, np.int32))
    assert (count, set(component.tolist())) == (1, {0})
    label = np.zeros(n, np.int32)
    label[n // 2] = -1
    assert strong_components(offsets, targets, label)[1] == n - 1
