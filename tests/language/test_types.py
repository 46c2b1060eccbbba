"""Types: what may be compared, added, written and looked up with what."""

from __future__ import annotations

import enum

import pytest
from mistakes import App, Color, Job, Level, Mistakes, Node, State, check_mistake, small

from model.language import (
    Expr,
    Machine,
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
    require,
    sum_,
)

mistakes = Mistakes()


@mistakes("'==' compares state[a], which is a State, with Color.RED, which is a Color")
def two_enums() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.state[a] == Color.RED for a in App)  # ERR


@mistakes("'==' compares state[a], which is a State, with 1, which is an integer")
def enum_and_int() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.state[a] == 1 for a in App)  # ERR


@mistakes("'!=' compares tasks[a], which is an integer, with State.NEW, which is a State")
def int_and_enum() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.tasks[a] != State.NEW for a in App)  # ERR


@mistakes("'==' compares tasks[a], which is an integer, with 1, which is a Level")
def int_and_int_enum() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.tasks[a] == Level.LOW for a in App)  # ERR


@mistakes("'==' compares tasks[a], which is an integer, with 1, which is a Level")
def int_enum_on_the_left() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(Level.LOW == s.tasks[a] for a in App)  # ERR


@mistakes("'==' compares ready[a], which is a boolean, with 1, which is an integer")
def bool_and_int() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.ready[a] == 1 for a in App)  # ERR


@mistakes("'==' compares tasks[a], which is an integer, with True, which is a boolean")
def int_and_bool() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.tasks[a] == True for a in App)  # ERR


@mistakes("'==' compares a, which is an element of App, with n, which is an element of Node")
def two_sorts() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(a == n for a in App for n in Node)  # ERR


@mistakes("'==' compares a, which is an element of App, with 0, which is an integer")
def element_and_int() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(a == 0 for a in App)  # ERR


@mistakes("expected an expression, an int, a bool or an enum member, found 1.5")
def a_float() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock < 1.5  # ERR


@mistakes("found 0.5")
def a_float_on_the_left() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return 0.5 * s.clock < 2  # ERR


@mistakes("found 'NEW'")
def a_string() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.state[a] == "NEW" for a in App)  # ERR


@mistakes("found 'NEW'")
def a_string_on_the_left() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_("NEW" != s.state[a] for a in App)  # ERR


@mistakes("found None")
def none() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock == None  # ERR


@mistakes("found <class 'mistakes.App'>")
def a_sort_compared() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(App != a)  # ERR
        s.tasks[a] = 1


@mistakes("'<' orders integers or elements of an ordered sort, found ready[a], which is a boolean")
def booleans_ordered() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.ready[a] < True for a in App)  # ERR


@mistakes("'>=' orders integers or elements of an ordered sort, found state[a], which is a State")
def enums_ordered() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.state[a] >= State.RUNNING for a in App)  # ERR


@mistakes("claim: (a < b) compares elements of App, which is not declared ordered=True")
def unordered_elements_ordered() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(a < b for a in App for b in App)  # ERR


@mistakes("compares elements of App, which is not declared ordered=True")
def first_of_an_unordered_sort() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(first(a, lambda b: s.ready[b]))  # ERR
        s.ready[a] = False


@mistakes("first() takes an element of an ordered sort, found tasks[a]")
def first_of_a_value() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(first(s.tasks[a], lambda b: s.ready[b]))  # ERR
        s.ready[a] = False


@mistakes("first()'s condition takes a boolean, found rank[j], which is an integer")
def first_by_a_number() -> None:
    s = small()

    @s.m.action
    def act(j: Job) -> None:
        require(first(j, lambda k: s.rank[k]))  # ERR
        s.rank[j] = 0


@mistakes("'+' takes an integer, found ready[a], which is a boolean")
def boolean_added() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(s.tasks[a] + s.ready[a] for a in App) <= 3  # ERR


@mistakes("sum_ takes an integer, found ready[a], which is a boolean")
def booleans_summed() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(s.ready[a] for a in App) <= 3  # ERR


@mistakes("count_ takes a boolean, found tasks[a], which is an integer")
def integers_counted() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return count_(s.tasks[a] for a in App) <= 3  # ERR


@mistakes("any_ takes a boolean, found state[a], which is a State")
def any_of_enums() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return any_(s.state[a] for a in App)  # ERR


@mistakes("min_ takes an integer, found state[a], which is a State")
def least_enum() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return min_(s.state[a] for a in App) == State.NEW  # ERR


@mistakes("max_ takes an integer, found j, which is an element of Job")
def greatest_element() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return max_(j for j in Job) == 1  # ERR


@mistakes("'&' takes a boolean, found tasks[a], which is an integer")
def number_in_a_conjunction() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.ready[a] & s.tasks[a] for a in App)  # ERR


@mistakes("'|' takes a boolean, found 1, which is an integer")
def precedence_of_or() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.ready[a] | 1 == s.tasks[a] for a in App)  # ERR


@mistakes("'~' takes a boolean, found tasks[a], which is an integer")
def number_inverted() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(~s.tasks[a] == 0 for a in App)  # ERR


@mistakes("require() takes a boolean, found -2, which is an integer")
def python_bool_inverted() -> None:
    s = small()
    strict = True

    @s.m.action
    def act(a: App) -> None:
        require(~strict)  # ERR
        s.tasks[a] = 1


@mistakes("'=>' takes a boolean, found clock, which is an integer")
def implication_of_numbers() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return implies(s.clock, s.busy)  # ERR


@mistakes("ite's condition takes a boolean, found clock, which is an integer")
def number_as_a_condition() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return ite(s.clock, True, False)  # ERR


@mistakes("ite's branches differ in type: 1 is an integer, False is a boolean")
def branches_of_two_types() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return ite(s.busy, 1, False) == 1  # ERR


@mistakes("among() takes at least one option")
def among_nothing() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return among(s.mode, *[])  # ERR


@mistakes("'==' compares mode, which is a Color, with State.NEW, which is a State")
def among_of_another_enum() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return among(s.mode, Color.RED, State.NEW)  # ERR


@mistakes("integers have + - * and, by a positive constant, // and %")
def true_division() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock / 2 < 1  # ERR


@mistakes("integers have + - *")
def power() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock**2 < 5  # ERR


@mistakes("integers have + - *")
def absolute_value() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return abs(s.clock - 2) < 5  # ERR


@mistakes("booleans have & | ~")
def exclusive_or() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.busy ^ s.busy  # ERR


@mistakes("'//' divides by a positive constant, found 0")
def division_by_zero() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock // 0 < 5  # ERR


@mistakes("'%' divides by a positive constant, found -2")
def remainder_of_a_negative() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock % -2 < 5  # ERR


@mistakes("'//' divides by a positive constant, found tasks[a]")
def division_by_a_variable() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.clock // s.tasks[a] < 5 for a in App)  # ERR


@mistakes("integers have + - *")
def constant_divided_by_a_variable() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return 6 // s.clock < 5  # ERR


@mistakes("tasks holds an integer, found State.NEW, which is a State")
def enum_written_to_an_integer() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = State.NEW  # ERR


@mistakes("state holds a State, found 1, which is an integer")
def integer_written_to_an_enum() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.state[a] = 1  # ERR


@mistakes("ready holds a boolean, found 1, which is an integer")
def integer_written_to_a_boolean() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.ready[a] = 1  # ERR


@mistakes("clock holds an integer, found True, which is a boolean")
def boolean_written_to_an_integer() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.clock.next = True  # ERR


@mistakes("ready: += needs an integer variable")
def boolean_added_to() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.ready[a] += 1  # ERR


@mistakes("+= takes an integer, found ready[a], which is a boolean")
def boolean_is_added() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] += s.ready[a]  # ERR


@mistakes("an integer lies within -2**40..2**40, found 1099511627777")
def enormous_integer() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock < 2**40 + 1  # ERR


@mistakes("claim: an expression of too many levels")
def sum_of_thousands() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:  # ERR
        total = s.clock + 0
        for _ in range(5000):
            total = total + s.clock
        return total > 3


class Perm(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()


@mistakes("Perm is a Flag, whose members combine")
def flag_domain() -> None:
    m = Machine("flags")
    m.scalar("perm", Perm, init=Perm.READ)  # ERR


@mistakes("choose(): a domain is bool, an enum class or range(...), found 'RED'")
def choice_of_a_string() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        s.mode.next = choose("RED")  # ERR


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: object, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


def test_what_has_the_same_type_mixes() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(
            (s.tasks[a] + s.clock * 2 - 1 >= s.capacity[n] // 2 % 2) & (s.ready[a] == s.busy) & (s.ready[a] != (a == b))
            for a in App
            for b in App
            for n in Node
        )

    assert len(s.m.properties) == 1


def test_ordered_elements_compare() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(implies((i < j) & (i <= j), (j > i) & (j >= i)) for i in Job for j in Job)

    @s.m.action
    def act(j: Job) -> None:
        require(first(j, lambda k: s.rank[k] > 0))
        s.rank[j] = 0

    guard = repr(s.m.actions[0].guard)
    assert guard == "((rank[j] > 0) & all_(((other < j) => ~(rank[other] > 0)) for other in Job))"
