"""Sets, elements, records, channels and timers: the compiled explorer against the interpreter, and counts by hand."""

from __future__ import annotations

import enum
import math

import pytest
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st

from model.explore import Exploration
from model.language import (
    Expr,
    Machine,
    Order,
    Sort,
    after,
    all_,
    choose,
    count_,
    implies,
    ite,
    record,
    require,
    weak,
    when,
)
from model.language.describe import describe
from model.language.mutation import mutated, with_update, without_guard, without_update
from model.verdict import Outcome


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Kind(enum.Enum):
    ASK = 0
    RELEASE = 1


def states_of(machine: Machine) -> int:
    return assert_agrees(machine).verdict.coverage.distinct_states


def outcome(machine: Machine, name: str) -> Outcome:
    return assert_agrees(machine).verdict[name].outcome


# ---- channels


def pipe(
    order: Order,
    capacity: int,
    apps: int = 2,
    units: int = 2,
    *,
    blocking: bool = True,
    duplicates: bool = False,
    lossy: bool = False,
) -> Machine:
    """Any message may be sent, whenever there is room, and is received some time."""
    m = Machine("pipe")
    m.sort(App, apps, symmetric=True)
    fields = record(kind=Kind, app=App, units=range(1, units + 1), urgent=bool)
    channel = m.channel("pipe", fields, capacity, order, blocking=blocking, duplicates=duplicates, lossy=lossy)

    @m.action
    def send(a: App) -> None:
        channel.send(kind=choose(Kind), app=a, units=choose(range(1, units + 1)), urgent=choose(bool))

    @m.action
    def receive() -> None:
        channel.receive()

    @m.always
    def consistent() -> Expr:
        return channel.consistent()

    @m.always
    def counts_add_up() -> Expr:
        return (channel.count(kind=Kind.ASK) + channel.count(kind=Kind.RELEASE) == channel.length()) & (
            channel.has() == ~channel.is_empty()
        )

    return m


def sequences(contents: int, capacity: int) -> int:
    return sum(contents**n for n in range(capacity + 1))


def bags(contents: int, capacity: int) -> int:
    return sum(math.comb(contents + n - 1, n) for n in range(capacity + 1))


@pytest.mark.parametrize(("capacity", "apps", "units"), [(1, 1, 1), (1, 2, 2), (2, 2, 1), (3, 1, 1), (2, 1, 3)])
@pytest.mark.parametrize("extra", ["", "duplicates", "lossy", "both"])
def test_a_channel_has_as_many_states_as_contents(capacity: int, apps: int, units: int, extra: str) -> None:
    contents = 2 * apps * units * 2
    options = {"duplicates": extra in ("duplicates", "both"), "lossy": extra in ("lossy", "both")}
    fifo = assert_agrees(pipe(Order.FIFO, capacity, apps, units, **options))
    bag = assert_agrees(pipe(Order.ANY, capacity, apps, units, **options))
    assert fifo.verdict.coverage.distinct_states == sequences(contents, capacity)
    assert bag.verdict.coverage.distinct_states == bags(contents, capacity)
    for each in (fifo, bag):
        assert each.verdict.outcome is Outcome.HOLDS


def test_steps_are_as_many_as_messages() -> None:
    """All states but full ones can send each content; a queue gives its first message, a bag any that it has."""
    contents, capacity = 8, 2
    fifo = assert_agrees(pipe(Order.FIFO, capacity, 2, 1)).verdict.coverage
    assert fifo.actions == {
        "send": contents * sequences(contents, capacity - 1),
        "receive": sequences(contents, capacity) - 1,
    }
    bag = assert_agrees(pipe(Order.ANY, capacity, 2, 1)).verdict.coverage
    distinct_kinds = contents + (contents + 2 * math.comb(contents, 2))
    assert bag.actions == {"send": contents * bags(contents, capacity - 1), "receive": distinct_kinds}


@pytest.mark.parametrize("order", Order)
def test_a_message_into_a_full_channel_is_a_fault_with_a_trace(order: Order) -> None:
    verdict = assert_agrees(pipe(order, 2, 1, 1, blocking=False)).verdict
    found = verdict["values_in_range"]
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert len(found.trace) == 3
    assert found.trace.steps[-1].fault == "pipe.length becomes 3, outside 0..2"
    assert str(verdict.coverage.distinct_states) == str((sequences if order is Order.FIFO else bags)(4, 2))


@pytest.mark.parametrize("order", Order)
def test_a_channel_that_blocks_is_red_without_its_guard(order: Order) -> None:
    mutant = mutated(lambda: pipe(order, 2, 1, 1), without_guard("send", "<= 2"))
    assert outcome(pipe(order, 2, 1, 1), "values_in_range") is Outcome.HOLDS
    assert outcome(mutant, "values_in_range") is Outcome.VIOLATED


@pytest.mark.parametrize(
    "edit",
    [
        without_update("receive", "pipe_2_kind"),
        without_update("receive", "pipe_2_app"),
        without_update("receive", "pipe_length"),
        with_update("receive", "pipe_2_units", lambda value: ite(value == 2, value, 2)),
    ],
)
def test_the_invariant_of_a_queue_is_red_when_a_write_is_missing(edit: object) -> None:
    assert outcome(mutated(lambda: pipe(Order.FIFO, 2), edit), "consistent") is Outcome.VIOLATED  # type: ignore[arg-type]


@pytest.mark.parametrize("edit", [without_update("receive", "pipe_1"), without_update("send", "pipe_6")])
def test_the_invariant_of_a_bag_is_red_when_a_write_is_missing(edit: object) -> None:
    assert outcome(mutated(lambda: pipe(Order.ANY, 1, 1), edit), "consistent") is Outcome.VIOLATED  # type: ignore[arg-type]


def relay(order: Order, capacity: int = 3, *, conditional: bool = False) -> Machine:
    """One step may receive one message and send two; what comes out is noted."""
    m = Machine("relay")
    m.sort(App, 2)
    channel = m.channel("line", record(app=App, hops=range(3)), capacity, order, blocking=True)
    first = m.element("first", App)
    seen = m.set("seen", (App, App))

    @m.action
    def start(a: App, b: App) -> None:
        require(channel.is_empty(), first.is_none())
        first.next = a
        channel.send(app=a, hops=0)
        with when(a != b):
            channel.send(app=b, hops=1)
        channel.send(app=b, hops=2)

    @m.action
    def pass_on(a: App) -> None:
        """The message comes back behind those that wait, with one hop more."""
        message = channel.receive(app=a)
        split = choose(bool)
        require(message.hops < 2)
        if conditional:
            with when(split):
                channel.send(app=a, hops=message.hops + 1)
            with when(~split):
                channel.send(app=a, hops=2)
        else:
            channel.send(app=a, hops=message.hops + 1)
            with when(split):
                channel.send(app=a, hops=2)

    @m.action
    def arrive(a: App) -> None:
        channel.receive(app=a, hops=2)
        for b in App:
            with when(first == b):
                seen.add((a, b))

    @m.action
    def over() -> None:
        require(channel.is_empty(), ~first.is_none())
        first.next = None
        seen.clear()

    @m.always
    def consistent() -> Expr:
        return channel.consistent()

    @m.terminal
    def stuck() -> Expr:
        return channel.is_full()

    return m


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("conditional", [False, True])
def test_several_sends_and_a_receive_in_one_step(order: Order, conditional: bool) -> None:
    verdict = assert_agrees(relay(order, conditional=conditional)).verdict
    assert verdict["consistent"].outcome is Outcome.HOLDS
    assert verdict["values_in_range"].outcome is Outcome.HOLDS
    assert verdict["one_write_per_cell"].outcome is Outcome.HOLDS


def broadcast(order: Order, nodes: int, capacity: int, *, to_all: bool = False) -> Machine:
    """A channel for each node: one step sends to all of them, or to one."""
    m = Machine("broadcast")
    m.sort(App, 2, symmetric=True)
    m.sort(Node, nodes, symmetric=True)
    inbox = m.channel("inbox", record(kind=Kind, app=App), capacity, order, over=Node, blocking=True, lossy=True)
    known = m.set("known", App, over=Node)

    @m.action
    def tell(a: App, n: Node) -> None:
        if to_all:
            for k in Node:
                inbox[k].send(kind=Kind.ASK, app=a)
        else:
            inbox[n].send(kind=Kind.ASK, app=a)

    @m.action
    def hear(a: App, n: Node) -> None:
        inbox[n].receive(app=a)
        known[n].add(a)

    @m.always
    def consistent() -> Expr:
        return all_(inbox[n].consistent() for n in Node)

    @m.always
    def nothing_else() -> Expr:
        return all_(inbox[n].count(kind=Kind.RELEASE) == 0 for n in Node)

    return m


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("to_all", [False, True])
def test_a_channel_for_each_node(order: Order, to_all: bool) -> None:
    verdict = assert_agrees(broadcast(order, 2, 2, to_all=to_all)).verdict
    each = sequences(2, 2) if order is Order.FIFO else bags(2, 2)
    if not to_all:
        # a set of apps beside each inbox; what was heard is known for good
        assert verdict.coverage.distinct_states == (each * 2**2) ** 2
    assert verdict["consistent"].outcome is Outcome.HOLDS
    assert verdict["values_in_range"].outcome is Outcome.HOLDS


def test_two_names_for_one_channel_are_two_writes() -> None:
    def spec() -> Machine:
        m = Machine("twice")
        m.sort(Node, 2)
        inbox = m.channel("inbox", record(urgent=bool), 3, over=Node)

        @m.action
        def tell(n: Node, k: Node) -> None:
            inbox[n].send(urgent=True)
            inbox[k].send(urgent=False)

        return m

    found = assert_agrees(spec()).verdict["one_write_per_cell"]
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert found.trace.steps[-1].call == "tell(node1, node1)"
    assert ": inbox.length[node1] is written at line " in found.how


def twice(order: Order, capacity: int, how: str) -> Machine:
    """One step of two channels that may be the same one."""
    m = Machine("twice")
    m.sort(Node, 2)
    inbox = m.channel("inbox", record(urgent=bool), capacity, order, over=Node, blocking=True)

    @m.action
    def tell(a: Node, b: Node) -> None:
        if how == "forward":
            inbox[a].receive()
            inbox[b].send(urgent=False)
        elif how == "all":
            for k in Node:
                inbox[k].send(urgent=True)
            inbox[b].send(urgent=False)
        elif how == "all but one":
            for k in Node:
                with when(k != b):
                    inbox[k].send(urgent=True)
            inbox[b].send(urgent=False)
        else:
            inbox[a].send(urgent=True)
            inbox[b].send(urgent=False)

    if how == "forward":

        @m.action
        def begin(a: Node) -> None:
            inbox[a].send(urgent=True)

    return m


@pytest.mark.parametrize(
    ("capacity", "how", "states"),
    [
        # Two different channels, each urgent or not; no room for both in one.
        (1, "both", 3),
        # One channel gets two messages, so this never happens.
        (1, "all", 1),
        (1, "all but one", 3),
        # Two bags of any contents: (c + 1)(c + 2) / 2 each.
        (1, "forward", 9),
        (2, "forward", 36),
    ],
)
def test_room_for_all_that_comes_by_two_names(capacity: int, how: str, states: int) -> None:
    verdict = assert_agrees(twice(Order.ANY, capacity, how)).verdict
    assert verdict["values_in_range"].outcome is Outcome.HOLDS
    assert verdict["one_write_per_cell"].outcome is Outcome.HOLDS
    assert verdict.coverage.distinct_states == states


@pytest.mark.parametrize(("capacity", "how"), [(1, "both"), (1, "all"), (2, "all but one")])
def test_a_queue_by_two_names_waits_for_room(capacity: int, how: str) -> None:
    verdict = assert_agrees(twice(Order.FIFO, capacity, how)).verdict
    assert verdict["values_in_range"].outcome is Outcome.HOLDS
    assert verdict["one_write_per_cell"].outcome is Outcome.HOLDS


def test_a_queue_that_is_received_from_and_sent_to_by_two_names() -> None:
    found = assert_agrees(twice(Order.FIFO, 2, "forward")).verdict["one_write_per_cell"]
    assert found.outcome is Outcome.VIOLATED
    assert ": inbox.length[node1] is written at line " in found.how


class Urgency(enum.Enum):
    A = 0
    A_B = 1


class Cause(enum.Enum):
    C = 0
    B_C = 1


def test_contents_whose_words_are_the_same_when_joined() -> None:
    m = Machine("words")
    bag = m.channel("bag", record(urgency=Urgency, cause=Cause), 1, Order.ANY, blocking=True)

    @m.action
    def send() -> None:
        bag.send(urgency=choose(Urgency), cause=choose(Cause))

    @m.action
    def receive() -> None:
        bag.receive()

    assert states_of(m) == 1 + 2 * 2


@pytest.mark.parametrize("order", Order)
def test_a_number_outside_its_field_is_a_fault(order: Order) -> None:
    m = Machine("outside")
    level = m.scalar("level", range(4), init=0)
    channel = m.channel("levels", record(level=range(3)), 5, order)

    @m.action
    def rise() -> None:
        require(level < 3)
        channel.send(level=level + 1)
        level.next += 1

    found = assert_agrees(m).verdict["values_in_range"]
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert len(found.trace) == 3


def test_sending_in_a_for_statement_fills_a_bag() -> None:
    m = Machine("flood")
    m.sort(App, 3, symmetric=True)
    waiting = m.set("waiting", App, full=True)
    channel = m.channel("bag", record(app=App), 3, Order.ANY, blocking=True)

    @m.action
    def flood() -> None:
        require(~waiting.is_empty())
        for a in App:
            with when(waiting.contains(a)):
                channel.send(app=a)
        waiting.clear()

    @m.action
    def take(a: App) -> None:
        channel.receive(app=a)

    @m.action
    def again(a: App) -> None:
        require(~waiting.contains(a), channel.is_empty())
        waiting.add(a)

    verdict = assert_agrees(m).verdict
    assert verdict.outcome is Outcome.HOLDS
    # nothing sent: any set waits; else any set but the empty one is under way
    assert verdict.coverage.distinct_states == 2**3 + (2**3 - 1)


FIELDS = {"kind": Kind, "app": App, "node": Node, "units": range(-1, 1), "urgent": bool}


@settings(max_examples=12)
@given(data=st.data())
def test_any_channel_has_as_many_states_as_contents(data: st.DataObject) -> None:
    """Any fields, options and pattern of receiving; each channel holds any sequence, or any bag, of its contents."""
    order, over = data.draw(st.sampled_from(Order), "order"), data.draw(st.booleans(), "over")
    most = 2 if over else 3
    names = data.draw(st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=most, unique=True), "fields")
    asked = data.draw(st.lists(st.sampled_from(names), unique=True), "asked for")
    options = {o: data.draw(st.booleans(), o) for o in ("blocking", "duplicates", "lossy")}
    contents = math.prod(len(FIELDS[n]) if n in ("kind", "units") else 2 for n in names)  # type: ignore[arg-type]
    capacity = data.draw(st.integers(1, 1 if contents > 4 else 2), "capacity")
    m = Machine("any")
    m.sort(App, 2, symmetric=True)
    m.sort(Node, 2, symmetric=True)
    fields = record(**{name: FIELDS[name] for name in names})
    channel = m.channel("line", fields, capacity, order, over=Node if over else None, **options)  # type: ignore[call-overload]
    seen = m.variable("seen", Node, bool, init=False)

    @m.action
    def send(n: Node) -> None:
        (channel[n] if over else channel).send(**{name: choose(FIELDS[name], name) for name in names})

    @m.action
    def receive(n: Node) -> None:
        here = channel[n] if over else channel
        message = here.receive(**{name: choose(FIELDS[name], name) for name in asked})
        with when(message.node == n if "node" in names else True):
            seen[n] = False

    @m.always
    def consistent() -> Expr:
        return all_(channel[n].consistent() for n in Node) if over else channel.consistent()

    verdict = assert_agrees(m).verdict
    each = (sequences if order is Order.FIFO else bags)(contents, capacity)
    assert verdict.coverage.distinct_states == each ** (2 if over else 1)
    assert verdict["consistent"].outcome is Outcome.HOLDS
    assert (verdict["values_in_range"].outcome is Outcome.HOLDS) == options["blocking"]


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
