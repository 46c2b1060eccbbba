"""Channels: the compiled explorer against the interpreter, and counts by hand."""

from __future__ import annotations

import enum
import math

import pytest
from agreement import assert_agrees
from data_machines import App, Kind, Node, broadcast, outcome, pipe, relay, states_of
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import (
    Expr,
    Machine,
    Order,
    all_,
    choose,
    ite,
    record,
    require,
    when,
)
from model.language.mutation import mutated, with_update, without_guard, without_update
from model.verdict import Outcome

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


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


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("conditional", [False, True])
def test_several_sends_and_a_receive_in_one_step(order: Order, conditional: bool) -> None:
    verdict = assert_agrees(relay(order, conditional=conditional)).verdict
    assert verdict["consistent"].outcome is Outcome.HOLDS
    assert verdict["values_in_range"].outcome is Outcome.HOLDS
    assert verdict["one_write_per_cell"].outcome is Outcome.HOLDS


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
