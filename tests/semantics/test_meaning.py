"""What a machine means, on machines small enough to be worked out by hand."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from runs import enabled, fire

from model.language import (
    Expr,
    Machine,
    Sort,
    after,
    all_,
    any_,
    choose,
    count_,
    first,
    implies,
    ite,
    max_,
    min_,
    one_of,
    require,
    sum_,
    when,
)
from model.semantics import Explored, Fault, FaultKind, Semantics, explore


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Light(enum.Enum):
    RED = 0
    GREEN = 1
    BROKEN = 2


def counter(guarded: bool = True, top: int = 3) -> tuple[Machine, Any]:
    """Counts from 0 to ``top``; without its guard it counts beyond."""
    m = Machine("counter")
    x = m.scalar("x", range(top + 1), init=0)

    @m.action
    def up() -> None:
        require(x < top if guarded else True)
        x.next += 1

    return m, x


def test_a_counter() -> None:
    m, x = counter()

    @m.always
    def small() -> Expr:
        return x < 2

    @m.step
    def grows() -> Expr:
        return after(x) == x + 1

    @m.step
    def stays_small() -> Expr:
        return after(x) < 3

    @m.sometimes
    def full() -> Expr:
        return x == 3

    @m.sometimes
    def overfull() -> Expr:
        return x > 3

    @m.possible
    def back() -> Expr:
        return x == 0

    @m.possible
    def forth() -> Expr:
        return x == 3

    assert explore(m) == Explored(
        distance={(0,): 0, (1,): 1, (2,): 2, (3,): 3},
        transitions=3,
        fired={"up": 3},
        violated={"small": 2, "stays_small": 3, "deadlock_free": 3, "back": 1},
        reached={"full": 3},
        unreached_premises=set(),
        idle={"up": 0},
        stuck=[],
    )


def test_a_step_that_changes_nothing_is_a_step() -> None:
    m = Machine("when")
    x = m.scalar("x", range(3), init=0)

    @m.action
    def up() -> None:
        with when(x < 2):
            x.next += 1

    found = explore(m)
    assert found.violated == {}
    assert (found.fired, found.idle, found.stuck) == ({"up": 3}, {"up": 1}, [2])

    @m.terminal
    def full() -> Expr:
        return x == 2

    assert (explore(m).idle, explore(m).stuck) == ({"up": 1}, [])


def test_an_intended_end_is_no_deadlock() -> None:
    m, x = counter()

    @m.terminal
    def full() -> Expr:
        return x == 3

    assert explore(m).violated == {}
    m, x = counter()

    @m.terminal
    def half_full() -> Expr:
        return x == 2

    assert explore(m).violated == {"deadlock_free": 3}


def test_several_ends() -> None:
    m, x = counter()

    @m.terminal
    def nothing() -> Expr:
        return x < 0

    @m.terminal
    def full() -> Expr:
        return x >= 3

    assert explore(m).violated == {}


def test_leaving_a_domain_is_a_fault_not_a_wrap() -> None:
    m, _ = counter(guarded=False)
    found = explore(m)
    assert found.violated == {"values_in_range": 4}
    assert found.distance == {(0,): 0, (1,): 1, (2,): 2, (3,): 3}
    # the faulty step is enabled: it counts as fired, but it leads nowhere
    assert (found.transitions, found.fired) == (4, {"up": 4})
    assert fire(m, (3,), "up()") == Fault(FaultKind.RANGE, "x becomes 4, outside 0..3", m.actions[0].updates[0].at)


def test_leaving_a_domain_below() -> None:
    m = Machine("below")
    x = m.scalar("x", range(-2, 1), init=0)

    @m.action
    def down() -> None:
        x.next -= 2

    assert fire(m, (0,), "down()") == (-2,)
    fault = fire(m, (-2,), "down()")
    assert isinstance(fault, Fault)
    assert fault.message == "x becomes -4, outside -2..0"


def test_assigning_a_value_outside_the_domain() -> None:
    m = Machine("outside")
    x = m.scalar("x", range(1, 4), init=1)
    y = m.scalar("y", range(10), init=0)

    @m.action
    def copy() -> None:
        x.next = y

    @m.action
    def grow() -> None:
        require(y < 4)
        y.next += 2

    found = explore(m)
    assert found.violated == {"values_in_range": 1}
    # (1,0) -grow-> (1,2) -grow-> (1,4), -copy-> (2,2) -grow-> (2,4); copying 0 and 4 are faults
    assert found.distance == {(1, 0): 0, (1, 2): 1, (1, 4): 2, (2, 2): 2, (2, 4): 3}
    assert found.fired == {"copy": 5, "grow": 3}


def two_cells(top: int = 9) -> tuple[Machine, Any]:
    m = Machine("cells")
    m.sort(App, 2)
    return m, m.variable("x", App, range(top + 1), init=0)


def test_switches() -> None:
    m, x = two_cells(top=1)

    @m.action
    def flip(a: App) -> None:
        x[a] = 1 - x[a]

    found = explore(m)
    assert found.distance == {(0, 0): 0, (1, 0): 1, (0, 1): 1, (1, 1): 2}
    assert (found.transitions, found.depth, found.violated) == (8, 2, {})


def test_reads_see_the_state_before_the_step() -> None:
    m, x = two_cells()

    @m.action
    def rotate(a: App, b: App) -> None:
        require(a != b)
        mine, theirs = x[a], x[b]
        x[a] = theirs + 1
        x[b] = mine

    assert fire(m, (3, 5), "rotate(app1, app2)") == (6, 3)
    assert fire(m, (3, 5), "rotate(app2, app1)") == (5, 4)


def test_additions_add_up_also_where_indices_coincide() -> None:
    m, x = two_cells()

    @m.action
    def move(a: App, b: App) -> None:
        x[a] -= 2
        x[b] += 3

    assert fire(m, (5, 5), "move(app1, app2)") == (3, 8)
    assert fire(m, (5, 5), "move(app1, app1)") == (6, 5)
    # 1 - 2 is outside the domain, but only the sum counts
    assert fire(m, (1, 0), "move(app1, app1)") == (2, 0)


def test_additions_in_a_loop_add_up_in_one_cell() -> None:
    m, x = two_cells()
    total = m.scalar("total", range(20), init=1)

    @m.action
    def collect() -> None:
        for a in App:
            total.next += x[a]
            x[a] = 0

    assert fire(m, (4, 5, 1), "collect()") == (0, 0, 10)


def test_two_assignments_clash_where_the_indices_coincide() -> None:
    m, x = two_cells()

    @m.action
    def set_both(a: App, b: App) -> None:
        x[a] = 1
        x[b] = 2

    first_line, second_line = (u.at.line for u in m.actions[0].updates)
    assert fire(m, (0, 0), "set_both(app2, app1)") == (2, 1)
    assert fire(m, (0, 0), "set_both(app1, app1)") == Fault(
        FaultKind.WRITE,
        f"x[app1] is written at line {first_line} and line {second_line}",
        m.actions[0].updates[1].at,
    )
    found = explore(m)
    assert found.violated == {"one_write_per_cell": 1}
    assert found.distance == {(0, 0): 0, (1, 2): 1, (2, 1): 1}
    assert found.transitions == 12


def test_equal_values_clash_too() -> None:
    m, x = two_cells()

    @m.action
    def set_both(a: App, b: App) -> None:
        x[a] = 1
        x[b] = 1

    assert isinstance(fire(m, (0, 0), "set_both(app1, app1)"), Fault)


@pytest.mark.parametrize("assigned_first", [True, False])
def test_an_assignment_and_an_addition_clash(assigned_first: bool) -> None:
    m, x = two_cells()

    @m.action
    def both(a: App, b: App) -> None:
        if assigned_first:
            x[a] = 1
            x[b] += 1
        else:
            x[b] += 1
            x[a] = 1

    assert fire(m, (0, 5), "both(app1, app2)") == (1, 6)
    fault = fire(m, (0, 5), "both(app2, app2)")
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.WRITE


def test_whether_writes_clash_is_decided_under_guard_and_conditions() -> None:
    m, x = two_cells()
    on = m.scalar("on", bool, init=False)

    @m.action
    def act(a: App, b: App) -> None:
        high = x[b] > 5
        require((a != b) | on)
        x[a] = 1
        with when((a != b) | high):
            x[b] = 2

    assert "act(app1, app1)" not in enabled(m, (0, 0, 0))
    assert fire(m, (0, 0, 0), "act(app1, app2)") == (1, 2, 0)
    assert fire(m, (0, 0, 1), "act(app1, app1)") == (1, 0, 1)
    assert isinstance(fire(m, (6, 0, 1), "act(app1, app1)"), Fault)


def test_a_loop_writes_for_all_elements_and_only_where_the_condition_holds() -> None:
    m = Machine("loop")
    m.sort(App, 2)
    m.sort(Node, 2)
    held = m.variable("held", (App, Node), range(4), init=0)

    @m.action
    def clear(a: App) -> None:
        for n in Node:
            with when(held[a, n] > 1):
                held[a, n] = held[a, n] - 2

    @m.action
    def fill() -> None:
        for a in App:
            for n in Node:
                held[a, n] = 3

    assert fire(m, (0, 3, 2, 2), "clear(app1)") == (0, 1, 2, 2)
    assert fire(m, (0, 3, 2, 2), "clear(app2)") == (0, 3, 0, 0)
    assert fire(m, (0, 3, 2, 2), "fill()") == (3, 3, 3, 3)


def test_when_blocks_nest_and_alternatives_do_not_clash() -> None:
    m = Machine("light")
    light = m.scalar("light", Light, init=Light.RED)
    broken = m.scalar("broken", bool, init=False)

    @m.action
    def switch() -> None:
        red, green = light == Light.RED, light == Light.GREEN
        with when(~broken):
            with when(red):
                light.next = Light.GREEN
            with when(green):
                light.next = Light.RED
        with when(broken):
            light.next = Light.BROKEN

    assert fire(m, (0, 0), "switch()") == (1, 0)
    assert fire(m, (1, 0), "switch()") == (0, 0)
    assert fire(m, (1, 1), "switch()") == (2, 1)
    assert fire(m, (2, 0), "switch()") == (2, 0)


def test_choices_make_instances() -> None:
    m = Machine("choices")
    m.sort(App, 2)
    x = m.variable("x", App, range(3), init=0)
    light = m.scalar("light", Light, init=Light.RED)

    @m.action
    def act() -> None:
        a = choose(App, "who")
        by = choose(range(1, 3), "by")
        require(x[a] == 0)
        x[a] = by
        light.next = choose(Light)

    assert len(Semantics(m).instances) == 2 * 2 * 3
    assert enabled(m, (0, 1, 0)) == [
        f"act(app1, {by}, {light})" for by in (1, 2) for light in ("RED", "GREEN", "BROKEN")
    ]
    assert fire(m, (0, 0, 0), "act(app2, 2, BROKEN)") == (0, 2, 2)
    found = explore(m)
    # x: none, one or both of two cells are 1 or 2; with none set the light is red
    assert len(found.distance) == 1 + (4 + 4) * 3
    assert (found.transitions, found.depth) == (12 + 4 * 3 * 6, 2)


def test_several_initial_states() -> None:
    m = Machine("several")
    m.sort(App, 2)
    x = m.variable("x", App, range(3), init=[one_of(0, 2), one_of(1, 0)])

    @m.action
    def down(a: App) -> None:
        require(x[a] > 0)
        x[a] -= 1

    @m.sometimes
    def spent() -> Expr:
        return all_(x[a] == 0 for a in App)

    def some_is(k: int) -> Expr:
        return any_(x[a] == k for a in App)

    @m.always
    def not_both() -> Expr:
        return ~(some_is(2) & some_is(1))

    found = explore(m)
    assert [s for s, d in found.distance.items() if d == 0] == [(0, 0), (0, 1), (2, 0), (2, 1)]
    assert found.distance[(1, 0)] == 1
    assert found.distance[(1, 1)] == 1
    assert found.reached == {"spent": 0}
    assert found.violated == {"not_both": 0, "deadlock_free": 0}
    assert found.transitions == 7


def test_possible_is_asked_of_every_state() -> None:
    m = Machine("trap")
    light = m.scalar("light", Light, init=Light.RED)

    @m.action
    def switch() -> None:
        require(light != Light.BROKEN)
        light.next = ite(light == Light.RED, Light.GREEN, Light.RED)

    @m.action
    def break_down() -> None:
        require(light == Light.GREEN)
        light.next = Light.BROKEN

    @m.possible
    def green_again() -> Expr:
        return light == Light.GREEN

    @m.possible
    def breaks() -> Expr:
        return light == Light.BROKEN

    @m.terminal
    def broken() -> Expr:
        return light == Light.BROKEN

    assert explore(m).violated == {"green_again": 2}


def test_a_faulty_step_leads_nowhere_so_it_makes_nothing_possible() -> None:
    m, x = counter(guarded=False, top=1)

    @m.possible
    def beyond() -> Expr:
        return x > 1

    assert explore(m).violated == {"values_in_range": 2, "beyond": 0}


def test_premises_that_never_hold() -> None:
    m, x = counter()

    @m.always
    def says_something() -> Expr:
        return implies(x == 3, x > 2)

    @m.always
    def says_nothing() -> Expr:
        return implies(x > 2, x == 3) & implies(x == 7, x < 0)

    @m.step
    def no_such_step() -> Expr:
        return implies(after(x) < x, x == 0)

    @m.step
    def such_a_step() -> Expr:
        return implies(after(x) == 3, x == 2)

    assert explore(m).unreached_premises == {"says_nothing", "no_such_step"}


def test_premises_of_elements() -> None:
    m, x = two_cells(top=1)

    @m.action
    def set_first(a: App, b: App) -> None:
        require(a != b, x[b] == 0)
        x[a] = 1

    @m.always
    def some() -> Expr:
        return all_(implies(x[a] == 1, count_(x[b] == 1 for b in App) == 1) for a in App)

    @m.always
    def none() -> Expr:
        return all_(implies((x[a] == 1) & (x[b] == 1) & (a != b), x[a] < x[b]) for a in App for b in App)

    found = explore(m)
    assert found.unreached_premises == {"none"}
    assert "some" not in found.violated


def test_an_action_that_never_fires() -> None:
    m, x = counter()

    @m.action
    def never() -> None:
        require(x > 5)
        x.next = 0

    assert explore(m).fired == {"up": 3, "never": 0}


def test_more_states_than_allowed() -> None:
    m, _ = counter()
    assert len(explore(m, max_states=4).distance) == 4
    with pytest.raises(OverflowError, match="more than 3 states"):
        explore(m, max_states=3)


# ---- expressions


def value(expression: Any, state: tuple[int, ...] = (2, 0, 3)) -> int:
    """The value of a claim's expression in a state of three cells."""
    m = Machine("values")
    m.sort(App, 3, ordered=True)
    x = m.variable("x", App, range(-9, 10), init=0)
    weight = m.constant("weight", App, [5, -1, 2])
    distance = m.constant("distance", (App, App), [[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    y = m.variable("y", App, range(-99, 100), init=0)

    @m.action
    def act(a: App) -> None:
        y[a] = expression(x, weight, distance, a)

    semantics = Semantics(m)
    one, *_ = semantics.instances
    return semantics.evaluate(m.actions[0].updates[0].value, (*state, 0, 0, 0), one.environment())


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda x, w, d, a: x[a] * 3 - 1, 5),
        (lambda x, w, d, a: 1 - x[a] * x[a], -3),
        (lambda x, w, d, a: -x[a] // 3, -1),
        (lambda x, w, d, a: -x[a] % 3, 1),
        (lambda x, w, d, a: (x[a] + 5) // 3 * 10 + (x[a] + 5) % 3, 21),
        (lambda x, w, d, a: sum_(x[b] for b in App), 5),
        (lambda x, w, d, a: count_(x[b] > 0 for b in App), 2),
        (lambda x, w, d, a: min_(x[b] * w[b] for b in App), 0),
        (lambda x, w, d, a: max_(x[b] * w[b] for b in App), 10),
        (lambda x, w, d, a: sum_(d[b, c] for b in App for c in App), 21),
        (lambda x, w, d, a: sum_(d[a, b] * x[b] for b in App), 6),
        (lambda x, w, d, a: sum_(min_(d[b, c] + x[c] for c in App) for b in App), 1 + 0 + 3),
        (lambda x, w, d, a: count_((b < c) & (x[b] < x[c]) for b in App for c in App), 2),
        (lambda x, w, d, a: ite(any_(x[b] == 0 for b in App), 7, 8), 7),
        (lambda x, w, d, a: ite(all_(x[b] == 0 for b in App), 7, 8), 8),
        (lambda x, w, d, a: ite(implies(x[a] == 2, w[a] == 5) & ~(x[a] == 0), 1, 0), 1),
        (lambda x, w, d, a: ite((x[a] != 2) | (x[a] >= 3), 1, 0), 0),
        (lambda x, w, d, a: ite(first(a, lambda b: x[b] > 1), 1, 0), 1),
        (lambda x, w, d, a: count_(first(b, lambda c: x[c] < 3) for b in App), 1),
        (lambda x, w, d, a: ite(first(a, lambda b: x[b] > 2), 1, 0), 0),
        (lambda x, w, d, a: 2**39 // 2**38, 2),
    ],
)
def test_expressions(expression: Any, expected: int) -> None:
    assert value(expression) == expected
