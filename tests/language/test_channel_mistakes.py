"""Channels and timers used wrongly: the message and the line."""

from __future__ import annotations

import pytest
from data_mistakes import rich
from mistakes import App, Build, Color, Mistakes, Node, State, check_mistake

from model.language import Expr, Machine, Order, all_, record, require, when

mistakes = Mistakes()


@mistakes("two variables or tables are named line")
def a_variable_named_as_a_channel() -> None:
    rich().m.scalar("line", range(2), init=0)  # ERR


@mistakes("two variables or tables are named clock")
def a_channel_named_as_a_variable() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.scalar("clock", range(2), init=0)
    m.channel("clock", record(app=App), 2)  # ERR


# ---- channels


@mistakes("line.send() needs a value for size")
def message_without_a_field() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.line.send(color=Color.RED, app=a)  # ERR


@mistakes("line.send() has no field colour; it has color, app, size")
def message_with_an_unknown_field() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.line.send(colour=Color.RED, app=a, size=1)  # ERR


@mistakes("line.send(): color takes a Color, found State.NEW, which is a State")
def message_of_another_enum() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.line.send(color=State.NEW, app=a, size=1)  # ERR


@mistakes("line.send(): size lies within 0..2, found 3")
def message_of_a_number_too_large() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.line.send(color=Color.RED, app=a, size=3)  # ERR


@mistakes("bag.send(): app takes an element of App, found n, which is an element of Node")
def message_of_another_sort() -> None:
    s = rich()

    @s.m.action
    def act(n: Node) -> None:
        s.bag.send(color=Color.RED, app=n)  # ERR


@mistakes("line.send() belongs in an action")
def message_sent_by_a_property() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        s.line.send(color=Color.RED, app=None, size=1)  # ERR
        return s.line.is_empty()


@mistakes("line.receive() inside a for statement, a when block or a generator")
def message_received_under_a_condition() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        with when(s.waiting.contains(a)):
            s.line.receive(app=a)  # ERR


@mistakes("bag is received from at line", "an action receives one message of a channel")
def two_messages_received() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.bag.receive(app=a)
        s.bag.receive(color=Color.RED)  # ERR


@mistakes("line.send() inside a for statement over App: in which order the messages are sent is not said")
def queue_filled_in_a_loop() -> None:
    s = rich()

    @s.m.action
    def act() -> None:
        for a in App:
            s.line.send(color=Color.RED, app=a, size=1)  # ERR


@mistakes("line is read after it was written at line")
def channel_read_after_a_send() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.line.send(color=Color.RED, app=a, size=1)
        require(~s.line.is_full())  # ERR


@mistakes("line is read after it was written at line")
def channel_received_after_a_send() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.line.send(color=Color.RED, app=a, size=1)
        s.line.receive()  # ERR


@mistakes("a message of line has no field colour; it has color, app, size")
def unknown_field_of_a_message() -> None:
    s = rich()

    @s.m.action
    def act() -> None:
        message = s.line.receive()
        require(message.colour == Color.RED)  # ERR


@mistakes("inbox[...] takes Node as its elements, found 2")
def channel_by_two_elements() -> None:
    s = rich()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.inbox[n, n].send(app=a)  # ERR


@mistakes("write line.length()")
def length_of_a_channel() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return len(s.line) < 2  # ERR


@mistakes("late: capacity is a number from 1 to 64, found 0")
def channel_without_room() -> None:
    rich().m.channel("late", record(app=App), 0)  # ERR


@mistakes("late: order is Order.FIFO or Order.ANY, found 'fifo'")
def channel_of_an_unknown_order() -> None:
    rich().m.channel("late", record(app=App), 2, "fifo")  # ERR


@mistakes("late: with size a message has 2,000 contents", "at most 256")
def bag_of_too_many_contents() -> None:
    rich().m.channel("late", record(color=Color, size=range(1000)), 2, Order.ANY)  # ERR


@mistakes("two actions are named lose_late")
def lossy_channel_beside_an_action_of_its_name() -> None:
    s = rich()

    @s.m.action
    def lose_late(a: App) -> None:
        s.waiting.add(a)

    s.m.channel("late", record(app=App), 2, lossy=True)  # ERR


# ---- timers


@mistakes("timer late belongs to no clock, so it would never expire; declare m.clock(late)")
def timer_without_a_clock() -> None:
    s = rich()
    s.m.timer("late", most=2)  # ERR
    s.m.finish()


@mistakes("clock tick2: timer timer has a clock already")
def timer_with_two_clocks() -> None:
    s = rich()
    s.m.clock(s.timer, name="tick2")  # ERR


@mistakes("clock tick needs the timers that it moves")
def clock_without_timers() -> None:
    Machine("m").clock()  # ERR


@mistakes("timer: units lie within 0..3, found 4")
def timer_started_too_high() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.timer.start(a, units=4)  # ERR


@mistakes("timer.start() takes App as its elements, found 0")
def timer_without_its_element() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.timer.start()  # ERR


@mistakes("timer.expire() inside a for statement, a when block or a generator")
def timer_that_expires_for_all() -> None:
    s = rich()

    @s.m.action
    def act() -> None:
        for a in App:
            s.timer.expire(a)  # ERR


@mistakes("timer is not indexed; ask running(), expired() or left()")
def timer_as_a_variable() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return all_(s.timer[a] == 0 for a in App)  # ERR


@mistakes("late: most is a number of units, at least 1, found 0")
def timer_of_no_time() -> None:
    rich().m.timer("late", App, most=0)  # ERR


@mistakes("clock second's unless takes a boolean, found 1")
def clock_with_a_number() -> None:
    s = rich()
    late = s.m.timer("late", most=2)
    s.m.clock(late, name="second", unless=lambda: 1)  # ERR


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: Build, words: tuple[str, ...]) -> None:
    check_mistake(build, words)
