"""Models for Spin, read by an interpreter of their own: they are the machines that they were made from."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from peers_agreement import expected
from promela_reader import explored

from gangproof.cli import run
from model.export.promela import promela
from model.language import (
    Expr,
    Machine,
    PropertyKind,
    Sort,
    SpecError,
    after,
    all_,
    choose,
    one_of,
    require,
    sum_,
    when,
)
from model.strategies import machines
from specs.gang import gang
from specs.loading import load_spec

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


def agrees(machine: Machine) -> None:
    wanted, found = expected(machine), explored(promela(machine).text)
    assert found.states == wanted.states
    told = {
        n: s - (wanted.kinds.get(n) is not None and wanted.kinds[n].value == "always") for n, s in found.failed.items()
    }
    deadlock = wanted.violated.pop("deadlock_free", None)
    assert told == wanted.violated
    # Spin calls it none where a failing assertion can be taken.
    if not any(k is PropertyKind.ALWAYS and n in told for n, k in wanted.kinds.items()):
        assert found.stuck == deadlock


@settings(max_examples=60, suppress_health_check=SLOW_TO_DRAW)
@given(machines(300))
def test_random_machines(machine: Machine) -> None:
    agrees(machine)


@pytest.mark.slow
@settings(suppress_health_check=SLOW_TO_DRAW)
@given(machines(1000))
def test_many_random_machines(machine: Machine) -> None:
    agrees(machine)


@pytest.mark.parametrize("name", ["gang", "coscheduling"])
def test_shipped_specs(name: str) -> None:
    agrees(load_spec(name, []))


def test_all_at_once() -> None:
    """What a step reads is what was before it, in whatever order it is written."""
    m = Machine("swap")
    m.sort(App, 2)
    m.sort(Node, 2)
    x = m.variable("x", App, range(4), init=[0, 3])
    total = m.scalar("total", range(-3, 9), init=0)

    @m.action
    def swap(a: App, b: App) -> None:
        require(a != b)
        mine, other = x[a], x[b]
        x[a] = other
        x[b] = mine
        total.next += other - mine

    @m.action
    def add_up() -> None:
        much = total.now > 2
        for n in App:
            total.next += x[n]
        with when(much):
            total.next -= 3

    @m.always
    def small() -> Expr:
        return total < 4

    @m.step
    def not_by_much() -> Expr:
        return after(total) <= total + 2

    agrees(m)


def test_several_initial_states() -> None:
    m = Machine("starts")
    m.sort(App, 2)
    x = m.variable("x", App, range(-1, 3), init=one_of(-1, 2))
    y = m.variable("y", (App, App), bool, init=[[True, one_of(True, False)], [False, True]])

    @m.initially
    def some() -> Expr:
        return sum_(x[a] for a in App) < 4

    @m.action
    def change(a: App, b: App) -> None:
        c = choose(range(-1, 3), "c")
        negative = x[b] // 2 < 0
        x[a] = (c * x[b]) % 3
        y[a, b] = negative

    @m.terminal
    def any_end() -> Expr:
        return all_(x[a] >= -1 for a in App)

    assert promela(m).starts == 6
    agrees(m)


def test_only_some_claims() -> None:
    text = promela(gang(), ["node_capacity", "every_app_finishes"]).text
    ran = explored(text)
    assert ran.failed.keys() == {"every_app_finishes"}
    assert "holds_quota_never_exceeded" not in text
    assert "holds_node_capacity = false" in text


def test_names_that_mean_something_to_spin() -> None:
    m = Machine("odd names")
    m.sort(App, names=["end", "driver #1", "init"])
    run_ = m.variable("run", App, bool, init=False)
    x = m.variable("do", (App, App), range(2), init=0)

    @m.action
    def atomic(a: App, b: App) -> None:
        """It says */ in the middle."""
        run_[a] = ~run_[b]
        x[a, b] = 1 - x[a, b]

    agrees(m)
    assert "\nbool run_2[3] = false;" in promela(m).text


def test_numbers_that_spin_has_no_room_for() -> None:
    m = Machine("large")
    x = m.scalar("x", range(2**40), init=0)

    @m.action
    def grow() -> None:
        x.next += 1

    with pytest.raises(SpecError, match="x: Spin has integers of 32 bits"):
        promela(m)
    m = Machine("product")
    y = m.scalar("y", range(2**20), init=0)

    @m.action
    def multiply() -> None:
        require(y * y < 5)
        y.next += 1

    with pytest.raises(
        SpecError, match=r"test_promela.py:\d+: Spin has integers of 32 bits, this may take values from 0"
    ):
        promela(m)


def test_what_is_left_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "composite", "--to", "promela"]) == 0
    out = capsys.readouterr()
    assert out.err.splitlines() == [
        "not checked there: the_root_can_finish (Spin cannot say that a state stays reachable)",
        "not checked there: a_complete_hierarchy_finishes (Spin knows no fairness of actions)",
    ]
    assert "the_root_can_finish" not in out.out
