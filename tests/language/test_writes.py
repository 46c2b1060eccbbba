"""Writes, what may be read beside them, and the statements ``require``, ``when``, ``choose`` and ``after``."""

from __future__ import annotations

import pytest
from mistakes import App, Color, Mistakes, Node, State, check_mistake, small

from model.language import Expr, after, all_, choose, implies, ite, require, sum_, when
from model.language.describe import describe

mistakes = Mistakes()
LATE = "is read after it was written at line"


# ---- read after write


@mistakes(f"tasks {LATE}", "reads see the state before the step", "or write it with +=")
def read_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        s.clock.next = s.tasks[a]  # ERR


@mistakes(f"tasks {LATE}")
def read_of_another_cell_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App, b: App) -> None:
        s.tasks[a] = 1
        s.clock.next = s.tasks[b]  # ERR


@mistakes(f"tasks {LATE}")
def read_in_a_helper_after_write() -> None:
    s = small()

    def total() -> Expr:
        return sum_(s.tasks[a] for a in App)  # ERR

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        s.clock.next = total()


@mistakes(f"tasks {LATE}")
def guard_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        require(s.tasks[a] < 3)  # ERR


@mistakes(f"clock {LATE}")
def scalar_read_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.clock.next = 1
        s.tasks[a] = s.clock + 1  # ERR


@mistakes(f"clock {LATE}", "so read it first (old = clock.now)")
def scalar_by_another_name_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        old = s.clock
        s.clock.next = 1
        s.tasks[a] = old  # ERR


@mistakes(f"clock {LATE}")
def scalar_handed_on_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.clock.next = 1
        s.tasks[a] = s.clock  # ERR


@mistakes("clock.next is assigned, it cannot be read")
def next_read_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.clock.next = 1
        s.tasks[a] = s.clock.next  # ERR


@mistakes(f"tasks {LATE}")
def read_after_addition() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] += 1
        s.clock.next = s.tasks[a]  # ERR


@mistakes(f"tasks {LATE}")
def addition_of_what_was_written() -> None:
    s = small()

    @s.m.action
    def act(a: App, b: App) -> None:
        s.tasks[a] += 1
        s.tasks[b] += s.tasks[a]  # ERR


@mistakes(f"held {LATE}")
def read_in_a_later_loop() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for n in Node:
            s.held[a, n] = 0
        for n in Node:
            s.tasks[a] += s.held[a, n]  # ERR


@mistakes(f"ready {LATE}")
def condition_after_write() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.ready[a] = False
        with when(s.ready[a]):  # ERR
            s.tasks[a] = 1


@mistakes(f"tasks {LATE}")
def enabled_after_write() -> None:
    s = small()

    @s.m.action
    def work(a: App) -> None:
        require(s.tasks[a] > 0)
        s.tasks[a] -= 1

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        s.ready[a] = s.m.enabled(work, a)  # ERR


# ---- += and -=


@mistakes("tasks: += must add to the cell it writes")
def addition_to_another_cell() -> None:
    s = small()

    @s.m.action
    def act(a: App, b: App) -> None:
        more = s.tasks[a]
        more += 1
        s.tasks[b] = more  # ERR


@mistakes("clock: += must add to the cell it writes")
def addition_to_another_variable() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        more = s.tasks[a]
        more += 1
        s.clock.next = more  # ERR


@mistakes("+= and -= add to a cell; for a Python name that holds tasks[a] write name = name + ...")
def addition_to_a_name_that_is_compared() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        more = s.tasks[a]
        more += 1
        require(more < 3)  # ERR
        s.ready[a] = True


@mistakes("+= and -= add to a cell")
def addition_to_a_name_that_is_added_on() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        total = s.clock + 0
        for scalar in ("clock",):
            total = getattr(s, scalar).next
            total += 1
        return total + 1 <= 3  # ERR


# ---- two writes of one cell


@mistakes("act: tasks is written at line", "and here again; one cell takes one value in a step")
def two_assignments() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1
        s.tasks[a] = 2  # ERR


@mistakes("tasks is written at line")
def assignment_and_addition() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] += 1
        s.tasks[a] = 2  # ERR


@mistakes("clock is written at line")
def addition_to_an_assigned_scalar() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        s.clock.next = 1
        s.clock.next += 1  # ERR


@mistakes("held is written at line")
def two_assignments_in_one_loop() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for n in Node:
            s.held[a, n] = 1
            s.held[a, n] = 0  # ERR


@mistakes("act: tasks is written once for each Node, and one cell takes one value in a step")
def assignment_that_forgets_the_loop() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for n in Node:
            s.tasks[a] = s.held[a, n]  # ERR


@mistakes("clock is written once for each App")
def scalar_assigned_in_a_loop() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:
            s.clock.next = s.tasks[a]  # ERR


# ---- where writes and statements belong


@mistakes("writing tasks belongs in an action, found it in a property")
def write_in_a_property() -> None:
    s = small()
    kept = []

    @s.m.action
    def act(a: App) -> None:
        kept.append(a)
        s.tasks[a] = 1

    @s.m.always
    def claim() -> Expr:
        s.tasks[kept[0]] = 1  # ERR
        return s.busy


@mistakes("writing clock belongs in an action, found it in a property")
def scalar_written_in_a_property() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        s.clock.next = 0  # ERR
        return s.clock == 0


@mistakes("writing clock belongs in an action, found it in a step property")
def write_in_a_step_property() -> None:
    s = small()

    @s.m.step
    def claim() -> Expr:
        s.clock.next += 1  # ERR
        return s.busy


@mistakes("writing clock belongs in an action, found it outside of any action and property")
def write_outside_any_body() -> None:
    s = small()
    s.clock.next = 1  # ERR


@mistakes("require() belongs in an action, found it in a property")
def require_in_a_property() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        require(s.busy)  # ERR
        return s.busy


@mistakes("require() belongs in an action, found it outside of any action and property")
def require_outside_any_body() -> None:
    s = small()
    require(s.busy)  # ERR


@mistakes("require() takes at least one condition")
def require_nothing() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        require()  # ERR
        s.clock.next = 1


@mistakes("require() inside a for statement or a when block", "use all_() or implies()")
def require_in_a_loop() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:
            require(s.ready[a])  # ERR
            s.tasks[a] = 1


@mistakes("require() inside a for statement or a when block")
def require_in_a_when_block() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        with when(s.ready[a]):
            require(s.tasks[a] > 0)  # ERR
            s.tasks[a] = 0


@mistakes("require() takes a boolean, found tasks[a], which is an integer")
def require_a_number() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.ready[a], s.tasks[a])  # ERR
        s.tasks[a] = 0


@mistakes("act: when() without 'with' does nothing; write 'with when(...):'")
def when_without_with() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        when(s.ready[a])  # ERR
        s.tasks[a] = 0


@mistakes("when() takes a boolean, found tasks[a], which is an integer")
def when_a_number() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        with when(s.tasks[a]):  # ERR
            s.tasks[a] = 0


@mistakes("when() belongs in an action, found it in a property")
def when_in_a_property() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        with when(s.busy):  # ERR
            return s.busy


@mistakes("choose() belongs in an action, found it in a property")
def choose_in_a_property() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock < choose(range(3))  # ERR


@mistakes("choose() inside a for statement or a when block; choose once, before it")
def choose_in_a_loop() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:
            s.tasks[a] = choose(range(3))  # ERR


@mistakes("choose() inside a for statement or a when block")
def choose_in_a_when_block() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        with when(s.ready[a]):
            s.tasks[a] = choose(range(3))  # ERR


@mistakes("choose() inside a generator would choose once for all elements")
def choose_in_a_generator() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        require(all_(s.tasks[a] < choose(range(3)) for a in App))  # ERR
        s.clock.next = 1


@mistakes("choose(): a range needs step 1 and at least one value, found range(0, 0)")
def choose_from_nothing() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = choose(range(0))  # ERR


@mistakes("choose(): a name is a Python identifier, found 'how many'")
def choice_with_a_bad_name() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = choose(range(3), "how many")  # ERR


@mistakes("action act has 3,000,000 instances, more than 1,000,000")
def too_many_instances() -> None:
    s = small()

    @s.m.action
    def act() -> None:  # ERR
        require(choose(range(1_000_000)) > 2, choose(range(3)) > 1)
        s.clock.next = 1


@mistakes("after() belongs in a step property, found it in a property")
def after_in_an_invariant() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return implies(s.busy, after(s.busy))  # ERR


@mistakes("after() belongs in a step property, found it in an action")
def after_in_an_action() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(after(s.tasks[a]) > 0)  # ERR
        s.tasks[a] = 1


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: object, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


# ---- what is meant to work


def test_values_read_before_the_writes_swap() -> None:
    s = small()

    @s.m.action
    def swap(a: App, b: App) -> None:
        mine, theirs = s.tasks[a], s.tasks[b]
        require(a != b)
        s.tasks[a] = theirs
        s.tasks[b] = mine

    assert [repr(u.value) for u in s.m.actions[0].updates] == ["tasks[b]", "tasks[a]"]


def test_scalars_read_before_the_writes_swap() -> None:
    s = small()
    other = s.m.scalar("other", Color, init=Color.GREEN)

    @s.m.action
    def swap() -> None:
        mine, theirs = s.mode.now, other.now
        s.mode.next = theirs
        other.next = mine

    assert [repr(u.value) for u in s.m.actions[0].updates] == ["other", "mode"]
    assert "before = mode.now" in [line.strip() for line in describe(s.m).splitlines()]


def test_additions_read_their_own_cell_only() -> None:
    s = small()

    @s.m.action
    def move(a: App, b: App) -> None:
        amount = s.tasks[a] // 2
        s.tasks[a] -= amount
        s.tasks[b] += amount
        s.clock.next += 1
        s.clock.next -= 2

    updates = s.m.actions[0].updates
    assert [(u.adds, repr(u.value)) for u in updates] == [
        (True, "(0 - (tasks[a] // 2))"),
        (True, "(tasks[a] // 2)"),
        (True, "1"),
        (True, "-2"),
    ]


def test_an_addition_may_add_its_own_variable() -> None:
    s = small()

    @s.m.action
    def double(a: App, b: App) -> None:
        s.tasks[a] += s.tasks[a] + s.tasks[b]

    assert repr(s.m.actions[0].updates[0].value) == "(tasks[a] + tasks[b])"


def test_when_blocks_nest_and_hold_loops() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        with when(s.ready[a]):
            s.state[a] = State.RUNNING
            with when(s.busy):
                for n in Node:
                    with when(s.held[a, n] > 0):
                        s.held[a, n] = 0
        s.tasks[a] = 1

    updates = s.m.actions[0].updates
    assert [repr(u.condition) for u in updates] == [
        "ready[a]",
        "(ready[a] & (busy & (held[a, n] > 0)))",
        "True",
    ]
    assert [len(u.binders) for u in updates] == [0, 1, 0]


def test_one_condition_may_be_used_for_two_blocks() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        block = when(s.ready[a])
        with block:
            s.tasks[a] = 1
        s.clock.next = 2
        with block:
            s.busy.next = True

    assert [repr(u.condition) for u in s.m.actions[0].updates] == ["ready[a]", "True", "ready[a]"]


def test_choices_of_every_kind() -> None:
    s = small()

    @s.m.action
    def act(choice: App) -> None:
        n = choose(Node, "where")
        s.held[choice, n] = choose(range(1, 3))
        s.mode.next = choose(Color, "where")
        s.busy.next = choose(bool)

    (action,) = s.m.actions
    assert [x.name for x in action.parameters] == ["choice"]
    # the names that traces show are told apart, also from the parameters
    assert [x.name for x in action.choices] == ["where", "choice2", "where2", "choice3"]
    assert [repr(u.value) for u in action.updates] == ["choice2", "where2", "choice3"]


def test_a_helper_may_require_write_and_choose() -> None:
    s = small()

    def clear(a: App) -> None:
        require(s.ready[a])
        s.ready[a] = choose(bool)

    @s.m.action
    def act(a: App) -> None:
        clear(a)
        s.tasks[a] = ite(s.busy, 0, 1)

    (action,) = s.m.actions
    assert repr(action.guard) == "ready[a]"
    assert [repr(u.variable) for u in action.updates] == ["ready", "tasks"]


def test_an_action_may_take_over_another_ones_body() -> None:
    s = small()

    @s.m.action
    def finish(a: App) -> None:
        require(s.state[a] == State.RUNNING)
        s.state[a] = State.DONE

    @s.m.action
    def finish_and_tick(a: App) -> None:
        finish(a)
        s.clock.next += 1

    first, second = s.m.actions
    assert repr(second.guard) == repr(first.guard)
    assert len(second.updates) == 2


def test_conflicts_that_depend_on_the_instance_are_left_to_the_engines() -> None:
    s = small()

    @s.m.action
    def act(a: App, b: App) -> None:
        s.tasks[a] = 1
        s.tasks[b] = 2
        with when(s.busy):
            s.tasks[a] = 3
        for c in App:
            s.tasks[c] += 1

    assert len(s.m.actions[0].updates) == 4


def test_a_loop_over_a_sort_of_one_element_may_assign_one_cell() -> None:
    s = small()
    s.m.sorts.pop(App)
    s.m.sort(App, 1)

    @s.m.action
    def act() -> None:
        for a in App:
            s.clock.next = s.tasks[a]

    assert len(s.m.actions[0].updates) == 1
