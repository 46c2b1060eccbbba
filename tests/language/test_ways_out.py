"""What was silently lost or silently read: ways out of a when block, lists changed later, ``x.next`` as a value."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from model.explore import explore
from model.language import Expr, Machine, Sort, SpecError, after, all_, choose, implies, ite, when


class Job(Sort):
    """A job."""


def returns() -> Machine:
    m = Machine("returns")
    x = m.scalar("x", range(3), init=0)
    y = m.scalar("y", range(3), init=0)

    @m.action
    def step() -> None:
        with when(x == 2):  # ERR
            x.next = 0
            return
        y.next = 2

    return m


def breaks() -> Machine:
    m = Machine("breaks")
    x = m.scalar("x", range(3), init=0)

    @m.action
    def step() -> None:
        for k in (0, 1, 2):
            with when(x == k):  # ERR
                x.next = (k + 1) % 3
                break

    return m


def next_in_a_step_property() -> Machine:
    m = Machine("next_read")
    x = m.scalar("x", range(3), init=2)

    @m.action
    def down() -> None:
        x.next -= 1

    @m.step
    def only_grows() -> Expr:
        return x.next >= x  # ERR

    return m


def next_in_an_action() -> Machine:
    m = Machine("next_read")
    x = m.scalar("x", range(3), init=0)
    y = m.scalar("y", range(3), init=0)

    @m.action
    def follow() -> None:
        y.next = x.next  # ERR

    return m


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (returns, "'return' inside a when block"),
        (breaks, "'break' inside a when block"),
        (next_in_a_step_property, r"after\(x\) the value after it"),
        (next_in_an_action, "x.next is assigned, it cannot be read"),
    ],
)
def test_it_is_an_error_with_its_line(spec: Callable[[], Machine], told: str) -> None:
    lines, first = inspect.getsourcelines(spec)
    (wrong,) = [first + i for i, line in enumerate(lines) if "# ERR" in line]
    with pytest.raises(SpecError, match=told) as caught:
        spec()
    assert caught.value.at is not None
    assert caught.value.at.line == wrong


def test_loops_and_functions_inside_a_when_block_are_their_own() -> None:
    m = Machine("fine")
    m.sort(Job, 2)
    x = m.variable("x", Job, range(4), init=0)

    @m.action
    def step(j: Job) -> None:
        with when(x[j] == 0):

            def one() -> int:
                return 1

            for k in (1, 2, 3):
                if k == 2:
                    break
            x[j] = one()

    assert len(m.actions) == 1


def test_a_list_that_is_changed_later_does_not_change_the_machine() -> None:
    m = Machine("lists")
    m.sort(Job, 2)
    start = [0, 0]
    x = m.variable("x", Job, range(4), init=start)
    start[0] = 9
    assert m.initial_choices(x)[0][1].values == (0,)


def test_a_step_property_reads_the_value_after() -> None:
    m = Machine("grows")
    x = m.scalar("x", range(3), init=2)

    @m.action
    def down() -> None:
        x.next -= 1

    @m.step
    def only_grows() -> Expr:
        return after(x) >= x

    assert explore(m)["only_grows"].outcome.value == "violated"


def test_more_instances_than_a_record_numbers_are_refused() -> None:
    m = Machine("many")
    m.sort(Job, 1)
    x = m.variable("x", Job, bool, init=False)
    for i in range(22):

        def pad(j: Job) -> None:
            choose(range(50_000))
            x[j] = True

        pad.__name__ = f"pad{i}"
        m.action(pad)

    @m.always
    def nothing() -> Expr:
        return all_(x[j] | ~x[j] for j in Job)

    with pytest.raises(SpecError, match="at most 1,048,576 can be explored"):
        explore(m)


def test_an_inner_premise_that_is_never_true_is_vacuous() -> None:
    m = Machine("nested")
    x = m.scalar("x", range(3), init=0)

    @m.action
    def up() -> None:
        x.next = ite(x == 2, 0, x + 1)

    @m.always
    def says_nothing() -> Expr:
        return implies(x >= 0, implies(x > 7, x == 8))

    assert explore(m)["says_nothing"].outcome.value == "vacuous"


def test_a_value_that_is_used_again_and_again_is_looked_at_once() -> None:
    m = Machine("chain")
    cells = [m.scalar(f"x{i}", range(2), init=0) for i in range(60)]

    @m.action
    def flip() -> None:
        cells[0].next = 1 - cells[0]

    @m.always
    def largest() -> Expr:
        best = cells[0] + 0
        for x in cells[1:]:
            best = ite(x > best, x, best)
        return best < 2

    assert explore(m)["largest"].outcome.value == "holds"


def test_more_possible_properties_than_one_word_holds_are_refused() -> None:
    m = Machine("many")
    x = m.scalar("x", range(2), init=0)

    @m.action
    def flip() -> None:
        x.next = 1 - x

    for i in range(64):

        def back() -> Expr:
            return x == 0

        back.__name__ = f"back{i}"
        m.possible(back)
    with pytest.raises(SpecError, match="at most 63 properties of kind possible"):
        explore(m)
