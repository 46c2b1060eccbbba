"""The compiled explorer against the golden interpreter, machine by machine: what each operator and statement means."""

from __future__ import annotations

import enum
from collections.abc import Callable

import pytest
from agreement import assert_agrees

from model.explore import explore
from model.language import (
    Expr,
    Machine,
    Sort,
    SpecError,
    after,
    all_,
    among,
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
from model.verdict import Outcome
from specs.gang import gang

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Light(enum.Enum):
    """A traffic light."""

    RED = 7
    GREEN = 1
    AMBER = 3


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"apps": 1, "size": 1, "nodes": 1, "capacity": 1, "quota": 1},
        {"apps": 2, "size": 3, "nodes": 2, "capacity": 2, "quota": 4},
        {"apps": 3, "size": 2, "nodes": 2, "capacity": 2, "quota": 4},
        {"apps": 2, "size": 2, "nodes": 3, "capacity": 2, "quota": 3},
    ],
)
def test_gang(parameters: dict[str, int]) -> None:
    exploration = assert_agrees(gang(**parameters))
    assert exploration.verdict.outcome is Outcome.HOLDS or parameters


def arithmetic() -> Machine:
    m = Machine("arithmetic")
    x = m.scalar("x", range(-9, 10), init=0)
    y = m.scalar("y", range(-5, 6), init=3)

    @m.action
    def move() -> None:
        by = choose(range(-3, 4))
        require(x + by <= 9, x + by >= -9)
        y.next = (x * y - by) % 11 - 5
        x.next += by

    @m.action
    def halve() -> None:
        require(x != 0, x // 4 != y)
        x.next = x // 2
        y.next = -y // 3

    @m.action
    def fold() -> None:
        require(x % 4 > y % 3)
        x.next = ite(x < y, x - (x - y) // 2, -(x % 5))

    @m.always
    def bounded() -> Expr:
        return (x * x * y + 3 * y <= 400) & (x - y * 2 >= -20)

    @m.always
    def violated() -> Expr:
        return implies(x > 7, (y - x) // 4 * 4 + (y - x) % 4 != y - x)

    @m.always
    def vacuous() -> Expr:
        return implies(x + y > 15, y == 0)

    @m.sometimes
    def never() -> Expr:
        return (x == 9) & (y == 5) & (x == 8)

    @m.step
    def small_steps() -> Expr:
        return (after(x) - x) * (after(x) - x) < 100

    @m.possible
    def back() -> Expr:
        return (x == 0) & (y == 3)

    return m


def booleans() -> Machine:
    m = Machine("booleans")
    m.sort(App, 3, symmetric=True)
    on = m.variable("on", App, bool, init=one_of(True, False))
    armed = m.scalar("armed", bool, init=False)

    @m.initially
    def one_is_off() -> Expr:
        return any_(~on[a] for a in App)

    @m.action
    def toggle(a: App) -> None:
        armed.next = ite(on[a] == armed, armed | on[a], all_(on[b] for b in App))
        on[a] = ~on[a]

    @m.action
    def swap(a: App, b: App) -> None:
        require(a != b, on[a] != on[b], implies(armed, on[a]))
        mine, other = on[a], on[b]
        on[a] = other
        on[b] = mine

    @m.action
    def flag() -> None:
        value = choose(bool, "value")
        require(armed != value)
        armed.next = value & any_(on[a] for a in App) | ~value & armed

    @m.always
    def counted() -> Expr:
        return count_(on[a] for a in App) + count_(~on[a] for a in App) == 3

    @m.step
    def latch() -> Expr:
        return implies(armed & (count_(on[a] for a in App) == 2), after(armed))

    @m.sometimes
    def all_on() -> Expr:
        return all_(on[a] & armed for a in App)

    @m.possible
    def rest() -> Expr:
        return ~armed

    return m


def quantifiers() -> Machine:
    m = Machine("quantifiers")
    m.sort(App, 3, ordered=True)
    m.sort(Node, names=["left", "right"])
    weight = m.constant("weight", App, [3, -1, 2])
    room = m.constant("room", (App, Node), [[1, 2], [2, 1], [0, 3]])
    light = m.variable("light", Node, Light, init=[Light.RED, Light.AMBER])
    load = m.variable("load", (App, Node), range(4), init=0)

    @m.action
    def put(a: App, n: Node) -> None:
        require(load[a, n] < room[a, n], first(a, lambda b: load[b, n] < room[b, n]), light[n] != Light.RED)
        load[a, n] += 1

    @m.action
    def turn(n: Node) -> None:
        to = choose(Light)
        require(
            to != light[n], max_(load[a, n] for a in App) >= min_(load[a, k] * weight[a] for a in App for k in Node)
        )
        light[n] = to

    @m.action
    def clear(n: Node) -> None:
        require(sum_(load[a, n] for a in App) > 2, among(light[n], Light.GREEN, Light.AMBER))
        for a in App:
            with when((load[a, n] > 0) & any_(b < a for b in App)):
                load[a, n] -= 1
            with when(weight[a] < 0):
                light[n] = Light.RED

    @m.action
    def level() -> None:
        a = choose(App)
        require(any_(load[a, n] > 1 for n in Node))
        for n in Node:
            load[a, n] = min_(load[a, k] for k in Node)

    @m.always
    def weighted() -> Expr:
        return sum_(weight[a] * load[a, n] for a in App for n in Node) <= 14

    @m.always
    def ordered() -> Expr:
        return all_(
            implies((a < b) & (load[b, n] > 0), load[a, n] >= load[b, n] - 2) for a in App for b in App for n in Node
        )

    @m.step
    def one_light_at_a_time() -> Expr:
        return count_(light[n] != after(light[n]) for n in Node) <= 1

    @m.step
    def greens_fill() -> Expr:
        return all_(
            implies(light[n] == Light.GREEN, sum_(after(load[a, n]) - load[a, n] for a in App) >= -1) for n in Node
        )

    return m


def faults() -> Machine:
    m = Machine("faults")
    m.sort(App, 2)
    x = m.variable("x", App, range(3), init=0)
    y = m.scalar("y", range(-1, 2), init=0)

    @m.action
    def grow(a: App) -> None:
        x[a] += 1

    @m.action
    def both(a: App, b: App) -> None:
        require(x[a] == 1)
        full = x[b] == 2
        x[a] = 2
        with when(full):
            x[b] += 1

    @m.action
    def drift() -> None:
        require(sum_(x[a] for a in App) == 2)
        y.next = sum_(x[a] for a in App) - 2 - y

    @m.action
    def pile() -> None:
        require(all_(x[a] > 0 for a in App))
        for a in App:
            y.next += x[a] - 1

    @m.action
    def clash() -> None:
        require(any_(x[a] == 2 for a in App), y == 1)
        for a in App:
            with when(x[a] >= 1):
                y.next = 5

    @m.always
    def low() -> Expr:
        return sum_(x[a] for a in App) < 4

    @m.step
    def slow() -> Expr:
        return after(y) - y < 2

    return m


def ends() -> Machine:
    m = Machine("ends")
    x = m.scalar("x", range(6), init=one_of(0, 3))

    @m.action
    def one() -> None:
        require(x < 2)
        x.next += 1

    @m.action
    def two() -> None:
        require(x != 2, x < 4)
        x.next += 2

    @m.action
    def never() -> None:
        require(x > 5)
        x.next = 0

    @m.terminal
    def five() -> Expr:
        return x == 5

    @m.terminal
    def four() -> Expr:
        return x == 4

    @m.possible
    def at_five() -> Expr:
        return x == 5

    return m


def no_start() -> Machine:
    m = Machine("no_start")
    x = m.scalar("x", range(3), init=one_of(0, 1))

    @m.initially
    def contradiction() -> Expr:
        return x == 2

    @m.action
    def step() -> None:
        x.next = 0

    @m.always
    def fine() -> Expr:
        return x < 3

    @m.sometimes
    def two() -> Expr:
        return x == 2

    @m.possible
    def one() -> Expr:
        return x == 1

    return m


def constant_cells() -> Machine:
    """Domains of one value take no bits."""
    m = Machine("constant_cells")
    m.sort(App, 2)
    fixed = m.variable("fixed", App, range(5, 6), init=5)
    x = m.variable("x", App, range(4), init=0)

    @m.action
    def keep(a: App) -> None:
        fixed[a] = x[a] + 5
        x[a] = 1

    @m.action
    def add(a: App) -> None:
        require(x[a] < 3)
        x[a] += fixed[a] - 4
        fixed[a] += 0

    @m.always
    def five() -> Expr:
        return all_(fixed[a] == 5 for a in App)

    return m


def enabledness() -> Machine:
    """Properties that speak of what can happen."""
    m = Machine("enabledness")
    m.sort(App, 2, symmetric=True)
    state = m.variable("state", App, Light, init=Light.RED)
    tokens = m.scalar("tokens", range(3), init=2)

    @m.action
    def take(a: App) -> None:
        require(state[a] == Light.RED, tokens > 0)
        state[a] = Light.GREEN
        tokens.next -= 1

    @m.action
    def give(a: App) -> None:
        slow = choose(bool, "slow")
        require(state[a] == Light.GREEN, implies(slow, tokens == 0))
        state[a] = ite(slow, Light.AMBER, Light.RED)
        tokens.next += 1

    @m.always
    def something_can_happen() -> Expr:
        return m.any_enabled()

    @m.always
    def not_only_giving() -> Expr:
        return implies(m.enabled(give), m.any_enabled(but=[give]))

    @m.always
    def takers_wait() -> Expr:
        return all_(implies(m.enabled(take, a), tokens > 0) for a in App)

    return m


MACHINES: list[Callable[[], Machine]] = [
    arithmetic,
    booleans,
    quantifiers,
    faults,
    ends,
    constant_cells,
    enabledness,
]


@pytest.mark.parametrize("build", MACHINES, ids=lambda f: f.__name__)
def test_machine(build: Callable[[], Machine]) -> None:
    assert_agrees(build())


def test_no_initial_state_is_an_error() -> None:
    with pytest.raises(SpecError, match="no_start has no initial state: no combination satisfies contradiction"):
        explore(no_start())
