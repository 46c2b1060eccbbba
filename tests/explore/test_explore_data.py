"""Sets, elements, records and timers: the compiled explorer against the interpreter, and counts by hand."""

from __future__ import annotations

import pytest
from agreement import assert_agrees
from data_machines import App, Kind, Node, broadcast, outcome, pipe, relay, states_of

from model.explore import Exploration
from model.language import (
    Expr,
    Machine,
    Order,
    after,
    all_,
    count_,
    implies,
    record,
    require,
    weak,
    when,
)
from model.language.describe import describe
from model.language.mutation import mutated, without_guard
from model.verdict import Outcome

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

# ---- sets and elements


def test_sets_have_two_states_for_each_element_and_combine() -> None:
    m = Machine("sets")
    m.sort(App, 3, symmetric=True)
    one, other = m.set("one", App), m.set("other", App, full=True)

    @m.action
    def add(a: App) -> None:
        require(~one.contains(a))
        one.add(a)

    @m.action
    def drop(a: App) -> None:
        require(other.contains(a))
        other.discard(a)

    @m.action
    def swap() -> None:
        old = one.now
        one.assign(other)
        other.assign(old)

    @m.action
    def merge() -> None:
        one.assign((one | other) - (one & other))

    @m.always
    def laws() -> Expr:
        both, either = one & other, one | other
        return (
            (both <= one)
            & (either >= other)
            & (either.size() + both.size() == one.size() + other.size())
            & implies(one == other, (one - other).is_empty())
            & implies(one != other, ~(either - both).is_empty())
            & (one.size() == count_(one.contains(a) for a in App))
        )

    @m.sometimes
    def all_of_one() -> Expr:
        return (one.size() == 3) & other.is_empty()

    verdict = assert_agrees(m).verdict
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.coverage.distinct_states == 2**6


def test_an_element_or_none() -> None:
    m = Machine("elements")
    m.sort(App, 2)
    m.sort(Node, 3, symmetric=True)
    place, old = m.element("place", Node, over=App), m.element("old", Node)

    @m.action
    def move(a: App, n: Node) -> None:
        require(place[a] != n)
        old.next = place[a]
        place[a] = n

    @m.action
    def follow(a: App, b: App) -> None:
        require(a != b, place[a] != place[b])
        place[a] = place[b]

    @m.action
    def leave(a: App) -> None:
        require(~place[a].is_none())
        before = old.now
        old.next = place[a]
        with when(before == place[a]):
            place[a] = None

    @m.always
    def one_at_most() -> Expr:
        counted = all_(count_(place[a].is_(n) for n in Node) <= 1 for a in App) & (count_(old == n for n in Node) <= 1)
        return counted & (counted == (all_(place[a].consistent() for a in App) & old.consistent()))

    @m.always
    def equality_is_one() -> Expr:
        same = all_(place[a] == place[b] for a in App for b in App)
        return same == all_((place[a] == n) == (place[b] == n) for a in App for b in App for n in Node)

    verdict = assert_agrees(m).verdict
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.coverage.distinct_states == 4**3


# ---- records


def test_a_record_is_its_fields() -> None:
    m = Machine("records")
    m.sort(App, 2, symmetric=True)
    m.sort(Node, 2, symmetric=True)
    fields = record(kind=Kind, tries=range(3), node=Node)
    pod = m.record("pod", App, fields, init={"kind": Kind.ASK, "tries": 0})
    total = m.record("total", None, record(tries=range(5), last=App), init={"tries": 0})

    @m.action
    def bind(a: App, n: Node) -> None:
        require(pod.kind[a] == Kind.ASK, pod.tries[a] < 2, total.tries < 4)
        pod.assign(a, kind=Kind.RELEASE, node=n)
        pod.tries[a] += 1
        total.tries.next += 1
        total.last.next = a

    @m.action
    def release(a: App) -> None:
        require(pod.kind[a] == Kind.RELEASE)
        pod.assign(a, kind=Kind.ASK, node=None)

    @m.always
    def bound_somewhere() -> Expr:
        return all_((pod.kind[a] == Kind.ASK) == pod.node[a].is_none() for a in App)

    @m.terminal
    def worn_out() -> Expr:
        return all_(pod.tries[a] == 2 for a in App)

    exploration = assert_agrees(m)
    assert exploration.verdict.outcome is Outcome.HOLDS
    # tries and place of each pod: 0, not bound | 1 or 2, not bound or on either node; the last one that was bound
    assert exploration.verdict.coverage.distinct_states == 1 + 2 * 2 * 3 + 2 * (2 * 3) ** 2


# ---- timers


def alarm(most: int, apps: int, *, urgent: bool = True, unless: bool = False) -> Machine:
    m = Machine("alarm")
    m.sort(App, apps, symmetric=True)
    busy = m.scalar("busy", bool, init=False)
    timer = m.timer("timer", App, most=most, urgent=urgent)
    m.clock(timer, unless=(lambda: busy) if unless else None)

    @m.action
    def start(a: App) -> None:
        require(timer.off(a))
        timer.start(a)

    @m.action
    def stop(a: App) -> None:
        require(timer.running(a))
        timer.stop(a)

    @m.action
    def ring(a: App) -> None:
        timer.expire(a)
        busy.next = True

    @m.action
    def rest() -> None:
        require(busy)
        busy.next = False

    @m.step
    def time_waits() -> Expr:
        passes = all_(after(timer.left(a)) == timer.left(a) - 1 for a in App) & all_(timer.running(a) for a in App)
        return implies(passes, all_(~timer.expired(a) for a in App))

    return m


@pytest.mark.parametrize(("most", "apps"), [(1, 1), (2, 2), (3, 2), (2, 3)])
def test_a_timer_is_off_or_counts_down_or_has_expired(most: int, apps: int) -> None:
    """Lazy timers take every value; urgent ones, too: one that has expired lets the others be started at any value."""
    for urgent in (True, False):
        assert states_of(alarm(most, apps, urgent=urgent)) <= 2 * (most + 2) ** apps
    assert states_of(alarm(most, apps, urgent=False)) == 2 * (most + 2) ** apps


def test_an_urgent_timer_stops_the_clock_and_a_lazy_one_does_not() -> None:
    def late(urgent: bool) -> Machine:
        m = Machine("late")
        due, other = m.timer("due", most=1, urgent=urgent), m.timer("other", most=3)
        m.clock(due, other)

        @m.action
        def start() -> None:
            require(due.off(), other.off())
            due.start()
            other.start()

        @m.action
        def handle() -> None:
            due.expire()

        @m.action
        def end() -> None:
            other.expire()

        @m.always
        def in_time() -> Expr:
            return implies(due.expired(), other.left() == 2)

        return m

    assert outcome(late(True), "in_time") is Outcome.HOLDS
    assert outcome(late(False), "in_time") is Outcome.VIOLATED
    mutant = mutated(lambda: late(True), without_guard("tick", "due == 0"))
    assert outcome(mutant, "in_time") is Outcome.VIOLATED


def test_the_clock_stands_still_where_no_timer_runs() -> None:
    m = Machine("still")
    timer = m.timer("timer", most=2)
    tick = m.clock(timer, name="second")
    started = m.scalar("started", bool, init=False)

    @m.action
    def start() -> None:
        require(~started)
        started.next = True
        timer.start(units=1)

    @m.always
    def named() -> Expr:
        return m.enabled(tick) == timer.running()

    verdict = assert_agrees(m).verdict
    assert verdict["named"].outcome is Outcome.HOLDS
    assert verdict["deadlock_free"].outcome is Outcome.VIOLATED
    assert verdict.coverage.actions == {"second": 1, "start": 1}


def test_time_does_not_pass_where_the_spec_says_so() -> None:
    assert outcome(alarm(2, 2, unless=True), "values_in_range") is Outcome.HOLDS
    free, held = (assert_agrees(alarm(2, 2, unless=u)).verdict.coverage.actions["tick"] for u in (False, True))
    assert held < free


@pytest.mark.parametrize("units", [-1, 0, 2, 3, 4])
def test_units_that_are_computed_stay_in_range_or_are_a_fault(units: int) -> None:
    m = Machine("computed")
    level = m.scalar("level", range(-1, 5), init=units)
    timer = m.timer("timer", most=3)
    m.clock(timer)

    @m.action
    def start() -> None:
        require(timer.off())
        timer.start(units=level)

    @m.action
    def stop() -> None:
        require(timer.expired())
        timer.stop()

    expected = Outcome.HOLDS if 0 <= units <= 3 else Outcome.VIOLATED
    assert outcome(m, "values_in_range") is expected


# ---- nothing but plain variables


@pytest.mark.parametrize(
    "build",
    [
        lambda: pipe(Order.FIFO, 2, duplicates=True, lossy=True),
        lambda: pipe(Order.ANY, 2, duplicates=True, lossy=True),
        lambda: relay(Order.FIFO),
        lambda: broadcast(Order.FIFO, 2, 1, to_all=True),
        lambda: broadcast(Order.ANY, 2, 1),
        lambda: alarm(2, 2),
    ],
)
def test_the_text_without_constructs_is_the_same_machine(build: object) -> None:
    machine: Machine = build()  # type: ignore[operator]
    names: dict[str, object] = {}
    exec(describe(machine), names)  # noqa: S102
    plain = names[machine.name]()  # type: ignore[operator]
    assert not plain.views
    a, b = Exploration(machine), Exploration(plain)
    assert a.states.tolist() == b.states.tolist()
    assert a.verdict.coverage.actions == b.verdict.coverage.actions


def test_three_sorts_index_a_variable() -> None:
    m = Machine("three")
    m.sort(App, 2)
    m.sort(Node, 3)
    cell = m.variable("cell", (App, Node, App), bool, init=[[[False, True]] * 3, [[False, False]] * 3])

    @m.action
    def flip(a: App, n: Node, b: App) -> None:
        require(a != b)
        cell[a, n, b] = ~cell[a, n, b]

    @m.always
    def diagonal() -> Expr:
        return all_(~cell[a, n, a] for a in App for n in Node)

    exploration = assert_agrees(m)
    assert exploration.verdict.outcome is Outcome.HOLDS
    assert exploration.verdict.coverage.distinct_states == 2**6
    names: dict[str, object] = {}
    exec(describe(m), names)  # noqa: S102
    assert Exploration(names["three"]()).states.tolist() == exploration.states.tolist()  # type: ignore[operator]


# ---- the actions that constructs bring along, in fairness and in claims


def test_fairness_speaks_of_the_clock_and_of_losses() -> None:
    m = Machine("fair")
    line = m.channel("line", record(urgent=bool), 1, lossy=True)
    timer = m.timer("timer", most=2)
    tick = m.clock(timer)

    @m.action
    def send() -> None:
        require(line.is_empty(), timer.off())
        line.send(urgent=True)
        timer.start()

    @m.action
    def hear() -> None:
        line.receive()
        timer.stop()

    @m.action
    def resend() -> None:
        require(line.is_empty())
        timer.expire()
        line.send(urgent=False)

    @m.always
    def losing_is_an_action() -> Expr:
        return m.enabled(line.lose) == ~line.is_empty()

    @m.leads_to(fairness=[weak(tick), weak(hear), weak(resend)])
    def a_loss_is_noticed() -> tuple[Expr, Expr]:
        return line.is_empty() & ~timer.off(), timer.expired() | ~line.is_empty()

    @m.leads_to(fairness=[weak(hear), weak(resend)])
    def without_time_it_is_not() -> tuple[Expr, Expr]:
        return line.is_empty() & ~timer.off(), timer.expired() | ~line.is_empty()

    @m.leads_to(fairness=[m.progress(but=[line.lose])])
    def sooner_or_later_all_is_quiet() -> tuple[Expr, Expr]:
        return ~line.is_empty(), timer.off() & line.is_empty()

    verdict = assert_agrees(m).verdict
    expected = {
        "losing_is_an_action": Outcome.HOLDS,
        "a_loss_is_noticed": Outcome.HOLDS,
        "without_time_it_is_not": Outcome.VIOLATED,
        "sooner_or_later_all_is_quiet": Outcome.HOLDS,
    }
    assert {name: verdict[name].outcome for name in expected} == expected
