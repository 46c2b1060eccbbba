"""Python names in bodies: what a loop or a ``when`` block sets is not what it seems, unless it stays inside."""

from __future__ import annotations

import pytest
from mistakes import App, Color, Mistakes, Node, State, check_mistake, small

from model.language import Expr, require, when

mistakes = Mistakes()
IN_LOOP = "is changed inside a for statement over App"
IN_WHEN = "is set inside a when block and read after it"
seen_by_the_module = 0


@mistakes(f"total {IN_LOOP}", "its body runs once", "use sum_")
def total_in_a_loop() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        total = 0
        for a in App:  # ERR
            total = total + s.tasks[a]
        s.clock.next = total


@mistakes(f"count {IN_LOOP}")
def number_in_a_loop() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        count = 0
        for a in App:  # ERR
            count += 1
            s.tasks[a] = count


@mistakes(f"total {IN_LOOP}")
def total_in_a_helper() -> None:
    s = small()

    def held(n: Node) -> Expr:
        total = s.clock + 0
        for a in App:  # ERR
            total = total + s.held[a, n]
        return total

    @s.m.action
    def act(n: Node) -> None:
        s.clock.next = held(n)


@mistakes(f"number {IN_LOOP}")
def nonlocal_of_the_spec() -> None:
    s = small()
    number = 0

    @s.m.action
    def act() -> None:
        nonlocal number
        for a in App:  # ERR
            number = number + 1
            s.tasks[a] = number


@mistakes(f"number {IN_LOOP}")
def nonlocal_changed_by_a_helper() -> None:
    s = small()
    number = 0

    def count() -> int:
        nonlocal number
        number += 1
        return number

    @s.m.action
    def act() -> None:
        for a in App:  # ERR
            s.tasks[a] = count()


@mistakes(f"seen_by_the_module {IN_LOOP}")
def global_name() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        global seen_by_the_module
        for a in App:  # ERR
            seen_by_the_module += 1
            s.tasks[a] = 1


@mistakes(f"values {IN_LOOP}")
def list_append() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        values = []
        for a in App:  # ERR
            values.append(s.tasks[a])
        s.clock.next = len(values)


@mistakes(f"costs {IN_LOOP}")
def dict_entry() -> None:
    s = small()
    costs = {"all": 0}

    @s.m.action
    def act() -> None:
        for a in App:  # ERR
            costs["all"] += 1
            s.tasks[a] = costs["all"]


@mistakes(f"names {IN_LOOP}")
def set_entry() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        names = set()
        for a in App:  # ERR
            names.add(len(names))
            s.tasks[a] = 1
        require(len(names) < 2)


@mistakes(f"counter {IN_LOOP}")
def attribute_of_an_object() -> None:
    class Counter:
        value = 0

    s = small()

    @s.m.action
    def act() -> None:
        counter = Counter()
        for a in App:  # ERR
            counter.value += 1
            s.tasks[a] = counter.value


@mistakes(f"last {IN_LOOP}")
def last_element_kept() -> None:
    s = small()

    @s.m.action
    def act(b: App) -> None:
        last = b
        for a in App:  # ERR
            last = a
        s.tasks[last] = 1


@mistakes("a is used outside the generator, loop or action that binds it")
def element_used_after_its_loop() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:
            s.tasks[a] = 1
        s.ready[a] = True  # ERR


@mistakes("b is used outside the generator, loop or action that binds it")
def value_used_after_its_loop() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for b in App:
            value = s.tasks[b]  # ERR
        s.clock.next = value


@mistakes("a is used outside the generator, loop or action that binds it")
def element_kept_for_another_action() -> None:
    s = small()
    kept = []

    @s.m.action
    def act(a: App) -> None:
        kept.append(a)
        s.tasks[a] = 1

    @s.m.action
    def other() -> None:
        s.tasks[kept[0]] = 2  # ERR


@mistakes("a is used outside the generator, loop or action that binds it")
def element_kept_for_a_property() -> None:
    s = small()
    kept = []

    @s.m.action
    def act(a: App) -> None:
        kept.append(s.tasks[a] > 0)  # ERR
        s.tasks[a] = 1

    @s.m.always
    def claim() -> Expr:
        return kept[0]


@mistakes(f"new {IN_WHEN}", "use ite()")
def name_set_in_a_when_block() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        new = State.NEW
        with when(s.ready[a]):  # ERR
            new = State.RUNNING
        s.state[a] = new


@mistakes(f"new {IN_WHEN}")
def name_born_in_a_when_block() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        with when(s.ready[a]):  # ERR
            new = State.RUNNING
            s.tasks[a] = 1
        s.state[a] = new


@mistakes(f"new {IN_WHEN}")
def name_set_in_a_when_block_and_read_in_a_branch() -> None:
    s = small()
    eager = True

    @s.m.action
    def act(a: App) -> None:
        with when(s.ready[a]):  # ERR
            new = State.RUNNING
            s.tasks[a] = 1
        if eager:
            s.state[a] = new


# ---- a variable's name set as a Python name


@mistakes("clock is a variable of the machine, and this only sets a Python name", "clock.next = ...")
def scalar_assigned_by_its_name() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        clock = 3  # noqa: F841  # ERR


@mistakes("time is a variable of the machine", "time.next = ...")
def scalar_assigned_by_the_name_that_holds_it() -> None:
    s = small()
    time = s.clock  # noqa: F841

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        time = 3  # noqa: F841  # ERR


@mistakes("state is a variable of the machine", "state[...] = ...")
def variable_assigned_by_its_name() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        state = State.DONE  # noqa: F841  # ERR


@mistakes("clock is a variable; write clock.next += ...")
def scalar_added_to_by_its_name() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        s.clock += 1  # ERR


@mistakes("time is a variable of the machine, and this only sets a Python name")
def scalar_subtracted_from_by_its_name() -> None:
    s = small()
    time = s.clock

    @s.m.action
    def act(a: App) -> None:
        nonlocal time
        s.tasks[a] = 1
        time -= 1  # ERR


@mistakes("tasks.next cannot be set; a write is tasks[...] = ...")
def variable_written_with_next() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.ready[a] = True
        s.tasks.next = 1  # ERR


@mistakes("clock.value cannot be set; a write is clock.next = ...")
def scalar_written_with_another_attribute() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.ready[a] = True
        s.clock.value = 1  # ERR


@mistakes("act: AttributeError", "next")
def cell_written_with_next() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a].next = 1  # ERR


@mistakes("act: NameError", "'taks' is not defined")
def name_misspelt() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        taks[a] = 1  # noqa: F821  # ERR


@mistakes("ticks is a variable of the machine, and this only sets a Python name")
def scalar_set_from_itself() -> None:
    s = small()
    ticks = s.clock

    @s.m.action
    def act(a: App) -> None:
        ticks = ticks + 1  # noqa: F823, F841  # ERR
        s.tasks[a] = 1


@mistakes("act: UnboundLocalError")
def name_used_before_it_is_set() -> None:
    s = small()
    limit = 2

    @s.m.action
    def act(a: App) -> None:
        require(s.tasks[a] < limit)  # noqa: F823  # ERR
        limit = 3  # noqa: F841
        s.tasks[a] = 1


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: object, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


# ---- what is meant to work


def test_names_that_stay_inside_a_block_may_be_set_again() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for n in Node:
            value = s.held[a, n]
            s.held[a, n] = value % 2
        for b in App:
            value = s.tasks[b]
            s.tasks[b] = value // 2
            with when(value > 1):
                new = State.DONE
                s.state[b] = new
        with when(s.ready[a]):
            new = 1
            s.clock.next = new
        with when(~s.ready[a]):
            new = True
            s.busy.next = new

    assert [repr(u.variable) for u in s.m.actions[0].updates] == ["held", "tasks", "state", "clock", "busy"]


def test_nested_loops_may_use_the_same_names_again() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:
            for n in Node:
                s.held[a, n] = 0
        for a in App:
            for n in Node:
                with when(s.tasks[a] < s.capacity[n]):
                    s.ready[a] = True

    first, second = s.m.actions[0].updates
    assert [x.name for x in first.binders] == [x.name for x in second.binders] == ["a", "n"]
    assert not {x.uid for x in first.binders} & {x.uid for x in second.binders}


def test_a_name_read_before_the_block_only() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        factor = 2
        require(s.tasks[a] * factor < 3)
        for n in Node:
            factor = s.held[a, n]
            s.held[a, n] = factor % 2

    assert len(s.m.actions[0].updates) == 1


def test_python_loops_may_change_what_they_like() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        total: Expr | int = 0
        for color in Color:
            total = total + s.tasks[a]
            with when(s.mode == color):
                s.ready[a] = color is Color.RED
        s.clock.next = total % 4

    assert [repr(u.condition) for u in s.m.actions[0].updates] == [
        "(mode == Color.RED)",
        "(mode == Color.GREEN)",
        "True",
    ]
