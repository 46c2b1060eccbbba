"""Machines that an engine once got wrong, as small as Hypothesis made them."""

from __future__ import annotations

import pytest
from random_agreement import check_agreement

from model.language import Expr, Machine, Sort, all_, require

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


def test_a_trace_is_shortest_where_ways_of_many_lengths_meet() -> None:
    m = Machine("ways_of_many_lengths")
    m.sort(App, 1)
    m.sort(Node, 3)
    x = m.variable("x", Node, range(3), init=0)
    y = m.variable("y", App, range(3), init=0)

    @m.action
    def one(p: Node) -> None:
        require(x[p] <= 1)
        x[p] += 1

    @m.action
    def beside(p: App) -> None:
        require(y[p] <= 1)
        y[p] += 1

    @m.action
    def two(p: Node) -> None:
        require(x[p] <= 1)
        x[p] += 1
        x[p] += 1

    @m.always
    def not_all_full() -> Expr:
        return ~all_(x[n] == 2 for n in Node)

    @m.terminal
    def may_end() -> bool:
        return True

    expected = check_agreement(m)
    # two steps of two, and a third; a step of two from one is a fault
    assert expected.violated == {"not_all_full": 3, "values_in_range": 2}
