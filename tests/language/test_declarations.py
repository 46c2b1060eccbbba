"""Declarations: sorts, variables, tables, initial values, actions, properties, and what speaks of actions."""

from __future__ import annotations

import enum

import pytest
from mistakes import App, Color, Ghost, Mistakes, Node, State, check_mistake, small

from model.language import Expr, Machine, Sort, all_, one_of, require

mistakes = Mistakes()


class Nothing(enum.Enum):
    """No members."""


# ---- sorts


@mistakes("App is declared twice")
def sort_declared_twice() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.sort(App, 2)  # ERR


@mistakes("expected a subclass of Sort, found <enum 'State'>")
def enum_as_a_sort() -> None:
    m = Machine("m")
    m.sort(State, 3)  # ERR


@mistakes("expected a subclass of Sort")
def the_base_of_all_sorts() -> None:
    m = Machine("m")
    m.sort(Sort, 3)  # ERR


@mistakes("App: an ordered sort is not symmetric")
def ordered_and_symmetric() -> None:
    m = Machine("m")
    m.sort(App, 2, ordered=True, symmetric=True)  # ERR


@mistakes("App: size is an integer from 1 to 1000, found 0")
def sort_without_elements() -> None:
    m = Machine("m")
    m.sort(App, 0)  # ERR


@mistakes("App: size is an integer from 1 to 1000, found 1000000000")
def enormous_sort() -> None:
    m = Machine("m")
    m.sort(App, 10**9)  # ERR


@mistakes("App: size is an integer from 1 to 1000, found 2.0")
def size_of_a_float() -> None:
    m = Machine("m")
    m.sort(App, 4 / 2)  # ERR


@mistakes("App: size is an integer from 1 to 1000, found True")
def size_of_a_bool() -> None:
    m = Machine("m")
    m.sort(App, True)  # ERR


@mistakes("App: size is an integer from 1 to 1000, found None")
def no_size() -> None:
    m = Machine("m")
    m.sort(App)  # ERR


@mistakes("App: names must be different and as many as size, found ['a', 'a']")
def equal_names() -> None:
    m = Machine("m")
    m.sort(App, names=["a", "a"])  # ERR


@mistakes("App: names must be different and as many as size")
def fewer_names_than_elements() -> None:
    m = Machine("m")
    m.sort(App, 3, names=["a", "b"])  # ERR


@mistakes("App: names is a list of 1 to 1000 names, found 'ab'")
def names_as_a_string() -> None:
    m = Machine("m")
    m.sort(App, names="ab")  # ERR


@mistakes("App: names is a list of 1 to 1000 names, found []")
def no_names() -> None:
    m = Machine("m")
    m.sort(App, names=[])  # ERR


@mistakes("App: a name is a text without , [ ] { } ( ), found 'a, b'")
def name_that_looks_like_two() -> None:
    m = Machine("m")
    m.sort(App, names=["a, b", "c"])  # ERR


@mistakes("App: a name is a text without", "found 7")
def name_that_is_a_number() -> None:
    m = Machine("m")
    m.sort(App, names=[7, 8])  # ERR


# ---- variables


@mistakes("x: declare the sort first, with m.sort(Ghost, ...)")
def variable_over_an_undeclared_sort() -> None:
    m = Machine("m")
    m.variable("x", Ghost, bool, init=False)  # ERR


@mistakes("x: an index is a sort, found <enum 'State'>")
def variable_over_an_enum() -> None:
    m = Machine("m")
    m.variable("x", State, bool, init=False)  # ERR


@mistakes("x is indexed by one to three sorts, found 4")
def variable_over_four_sorts() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.variable("x", (App, App, App, App), bool, init=False)  # ERR


@mistakes("x is indexed by one to three sorts, found 0")
def variable_over_no_sort() -> None:
    m = Machine("m")
    m.variable("x", (), bool, init=False)  # ERR


@mistakes("x: a state of 1,000,000 values, more than 10,000")
def enormous_state() -> None:
    m = Machine("m")
    m.sort(App, 1000)
    m.sort(Node, 1000)
    m.variable("x", (App, Node), bool, init=False)  # ERR


@mistakes("two variables or tables are named x")
def two_variables_of_one_name() -> None:
    m = Machine("m")
    m.scalar("x", bool, init=False)
    m.scalar("x", bool, init=False)  # ERR


@mistakes("two variables or tables are named x")
def variable_and_table_of_one_name() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.constant("x", App, [1, 2])
    m.variable("x", App, bool, init=False)  # ERR


@mistakes("a name is a Python identifier, found 'free slots'")
def name_with_a_space() -> None:
    m = Machine("m")
    m.scalar("free slots", range(3), init=0)  # ERR


@mistakes("x: a domain is bool, an enum class or range(...), found <class 'int'>")
def domain_int() -> None:
    m = Machine("m")
    m.scalar("x", int, init=0)  # ERR


@mistakes("x: a domain is bool, an enum class or range(...), found [1, 2]")
def domain_list() -> None:
    m = Machine("m")
    m.scalar("x", [1, 2], init=1)  # ERR


@mistakes("x: a range needs step 1 and at least one value, found range(3, 3)")
def empty_range() -> None:
    m = Machine("m")
    m.scalar("x", range(3, 3), init=3)  # ERR


@mistakes("x: a range needs step 1 and at least one value, found range(0, 9, 2)")
def range_with_a_step() -> None:
    m = Machine("m")
    m.scalar("x", range(0, 9, 2), init=0)  # ERR


@mistakes("x: a range lies within -2**40..2**40")
def enormous_range() -> None:
    m = Machine("m")
    m.scalar("x", range(10**30), init=0)  # ERR


@mistakes("x: the enum Nothing has no members")
def empty_enum() -> None:
    m = Machine("m")
    m.scalar("x", Nothing, init=0)  # ERR


# ---- initial values


@mistakes("x: initial value 3 is not in 0..2")
def initial_value_outside_the_range() -> None:
    m = Machine("m")
    m.scalar("x", range(3), init=3)  # ERR


@mistakes("x: initial value -3 is not in -2..2")
def initial_value_below_the_range() -> None:
    m = Machine("m")
    m.scalar("x", range(-2, 3), init=-3)  # ERR


@mistakes("x: initial value 0 is not in true/false")
def integer_as_an_initial_boolean() -> None:
    m = Machine("m")
    m.scalar("x", bool, init=0)  # ERR


@mistakes("x: initial value True is not in 0..1")
def boolean_as_an_initial_integer() -> None:
    m = Machine("m")
    m.scalar("x", range(2), init=True)  # ERR


@mistakes("x: initial value 0 is not in State")
def integer_as_an_initial_member() -> None:
    m = Machine("m")
    m.scalar("x", State, init=0)  # ERR


@mistakes("x: initial value <Color.RED: 0> is not in State")
def member_of_another_enum() -> None:
    m = Machine("m")
    m.scalar("x", State, init=Color.RED)  # ERR


@mistakes("x: initial value 'NEW' is not in State")
def string_as_an_initial_value() -> None:
    m = Machine("m")
    m.scalar("x", State, init="NEW")  # ERR


@mistakes("x: initial value 5 is not in 0..2")
def one_of_several_outside_the_range() -> None:
    m = Machine("m")
    m.scalar("x", range(3), init=one_of(0, 5))  # ERR


@mistakes("one_of() takes at least one value")
def one_of_nothing() -> None:
    m = Machine("m")
    m.scalar("x", range(3), init=one_of())  # ERR


@mistakes("x: expected 2 values, one per App, found 3")
def list_of_the_wrong_length() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.variable("x", App, range(3), init=[0, 1, 2])  # ERR


@mistakes("x: expected 3 values, one per Node, found 2")
def inner_list_of_the_wrong_length() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.sort(Node, 3)
    m.variable("x", (App, Node), range(3), init=[[0, 1], [1, 2]])  # ERR


@mistakes("x: expected a single value, found 2")
def list_for_a_scalar() -> None:
    m = Machine("m")
    m.scalar("x", range(3), init=[0, 1])  # ERR


@mistakes("x: expected a single value, found 2")
def list_nested_too_deep() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.variable("x", App, range(3), init=[[0, 1], [1, 2]])  # ERR


@mistakes("m: more than 10,000,000 combinations of initial values, counted up to x")
def enormous_number_of_initial_states() -> None:
    m = Machine("m")
    m.sort(App, 30)
    x = m.variable("x", App, bool, init=one_of(False, True))  # ERR

    @m.action
    def act(a: App) -> None:
        x[a] = False

    m.finish()


# ---- tables


@mistakes("c: expected 2 values, one per App, found 1")
def table_of_the_wrong_length() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.constant("c", App, [1])  # ERR


@mistakes("c[0, 1]: a constant is an int", "found 'far'")
def table_of_strings() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.constant("c", (App, App), [[0, "far"], [1, 0]])  # ERR


@mistakes("c[1]: a constant is an int", "found True")
def table_of_booleans() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.constant("c", App, [0, True])  # ERR


@mistakes("c[1]: a constant is an int within -2**40..2**40, found 10")
def table_with_an_enormous_value() -> None:
    m = Machine("m")
    m.sort(App, 2)
    m.constant("c", App, [0, 10**20])  # ERR


# ---- indices


@mistakes("held is indexed by [App, Node], found n, which is an element of Node, where a parameter")
def swapped_indices() -> None:
    s = small()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.held[n, a] = 1  # ERR


@mistakes("held is indexed by [App, Node], found n, which is an element of Node,")
def swapped_indices_in_a_read() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.held[n, a] < 3 for a in App for n in Node)  # ERR


@mistakes("held is indexed by [App, Node], found 1 indices")
def too_few_indices() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.held[a] = 1  # ERR


@mistakes("tasks is indexed by [App], found 2 indices")
def too_many_indices() -> None:
    s = small()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.tasks[a, n] = 1  # ERR


@mistakes("tasks is indexed by [App], found 0")
def index_by_a_number() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        s.tasks[0] = 1  # ERR


@mistakes("tasks is indexed by [App], found slice(None, None, None)")
def index_by_a_slice() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        s.tasks[:] = 1  # ERR


@mistakes("tasks is indexed by [App], found tasks[a], which is an integer,")
def index_by_a_value() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[s.tasks[a]] = 1  # ERR


@mistakes("capacity is indexed by [Node], found a, which is an element of App,")
def table_indexed_by_another_sort() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.capacity[a] < 3 for a in App)  # ERR


@mistakes("distance is indexed by [Node, Node], found 1 indices")
def table_with_too_few_indices() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.distance[n] < 3 for n in Node)  # ERR


@mistakes("capacity is a table of constants, it cannot be written")
def table_written() -> None:
    s = small()

    @s.m.action
    def act(n: Node) -> None:
        s.capacity[n] = 3  # ERR


# ---- actions


@mistakes("action act returns (tasks[a] < 3); an action returns nothing")
def action_that_returns() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> Expr:  # ERR
        room = s.tasks[a] < 3
        s.tasks[a] += 1
        return room


@mistakes("action act writes nothing")
def action_that_writes_nothing() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:  # ERR
        require(s.ready[a])


@mistakes("two actions are named act")
def two_actions_of_one_name() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1

    @s.m.action
    def act(a: App) -> None:  # ERR
        s.tasks[a] = 2


@mistakes("action act: parameter a must be annotated with a sort, found nothing", "choose()")
def parameter_without_annotation() -> None:
    s = small()

    @s.m.action
    def act(a) -> None:  # ERR
        s.tasks[a] = 1


@mistakes("action act: parameter state must be annotated with a sort, found State")
def parameter_of_an_enum() -> None:
    s = small()

    @s.m.action
    def act(state: State) -> None:  # ERR
        s.clock.next = 1


@mistakes("action act: parameter k must be annotated with a sort, found int")
def parameter_of_a_number() -> None:
    s = small()

    @s.m.action
    def act(a: App, k: int) -> None:  # ERR
        s.tasks[a] = k


@mistakes("action act: parameter apps must be annotated with a sort")
def any_number_of_parameters() -> None:
    s = small()

    @s.m.action
    def act(*apps: App) -> None:  # ERR
        s.clock.next = 1


@mistakes("action act: declare the sort first, with m.sort(Ghost, ...)")
def parameter_of_an_undeclared_sort() -> None:
    s = small()

    @s.m.action
    def act(g: Ghost) -> None:  # ERR
        s.clock.next = 1


@mistakes("action act: name 'Ap' is not defined")
def annotation_misspelt() -> None:
    s = small()

    @s.m.action
    def act(a: Ap) -> None:  # noqa: F821  # ERR
        s.tasks[a] = 1


@mistakes("an action is declared by a function with a name, found <function", "<lambda>")
def lambda_as_an_action() -> None:
    s = small()
    s.m.action(lambda: None)  # ERR


@mistakes("an action is declared by a function with a name, found 'act'")
def decorator_with_a_name() -> None:
    s = small()
    s.m.action("act")  # ERR


@mistakes("act: the body of an action is an ordinary function, without yield and async")
def action_with_yield() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> object:  # ERR
        s.tasks[a] = 1
        yield s.tasks[a]


@mistakes("action inner is declared inside act")
def action_inside_an_action() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        @s.m.action  # ERR
        def inner(b: App) -> None:
            s.tasks[b] = 1

        s.tasks[a] = 2


@mistakes("property inner is declared inside act")
def property_inside_an_action() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        @s.m.always  # ERR
        def inner() -> Expr:
            return s.busy

        s.tasks[a] = 2


@mistakes("a variable or table is declared inside act; declare it before")
def variable_inside_an_action() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        more = s.m.scalar("more", bool, init=False)  # ERR
        more.next = True


@mistakes("a sort is declared inside claim; declare it before")
def sort_inside_a_property() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        s.m.sort(Ghost, 2)  # ERR
        return s.busy


# ---- properties


@mistakes("claim returns nothing; it must return a boolean expression")
def property_that_returns_nothing() -> None:
    s = small()

    @s.m.always
    def claim() -> None:  # ERR
        s.clock < 3


@mistakes("claim must return a boolean expression, found clock")
def property_that_returns_a_number() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:  # ERR
        return s.clock


@mistakes("claim must return a boolean expression, found 1")
def property_that_returns_one() -> None:
    s = small()

    @s.m.sometimes
    def claim() -> int:  # ERR
        return 1


@mistakes("claim must return a boolean expression, found (busy, (clock < 3))")
def property_that_returns_two() -> None:
    s = small()

    @s.m.possible
    def claim() -> object:  # ERR
        return s.busy, s.clock < 3


@mistakes("property claim takes no parameters; speak of all elements with all_")
def property_with_a_parameter() -> None:
    s = small()

    @s.m.always
    def claim(a: App) -> Expr:  # ERR
        return s.ready[a]


@mistakes("two properties are named claim")
def two_properties_of_one_name() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.busy

    @s.m.sometimes
    def claim() -> Expr:  # ERR
        return s.busy


@mistakes("deadlock_free is a property that every machine has; choose another name")
def property_with_a_built_in_name() -> None:
    s = small()

    @s.m.always
    def deadlock_free() -> Expr:  # ERR
        return s.busy


@mistakes("a property is declared by a function with a name")
def property_without_a_function() -> None:
    s = small()
    s.m.always(s.busy)  # ERR


# ---- what speaks of actions


@mistakes("enabled() takes actions of this machine, found <function")
def enabled_of_a_function() -> None:
    s = small()

    def helper(a: App) -> None: ...

    @s.m.always
    def claim() -> Expr:
        return s.m.enabled(helper)  # ERR


@mistakes("enabled() takes actions of this machine")
def enabled_of_another_machine() -> None:
    s, other = small(), small()

    @other.m.action
    def act(a: App) -> None:
        other.tasks[a] = 1

    @s.m.always
    def claim() -> Expr:
        return s.m.enabled(act)  # ERR


@mistakes("enabled(act): expected (a, n)")
def enabled_with_too_few_arguments() -> None:
    s = small()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.held[a, n] = 1

    @s.m.always
    def claim() -> Expr:
        return all_(s.m.enabled(act, a) for a in App)  # ERR


@mistakes("enabled(act): expected (a, n)")
def enabled_with_swapped_arguments() -> None:
    s = small()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.held[a, n] = 1

    @s.m.always
    def claim() -> Expr:
        return all_(s.m.enabled(act, n, a) for a in App for n in Node)  # ERR


@mistakes("enabled(act): expected (a)")
def enabled_with_a_number() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1

    @s.m.always
    def claim() -> Expr:
        return s.m.enabled(act, 0)  # ERR


@mistakes("claim: NameError", "'act'")
def enabled_of_a_later_action() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.m.enabled(act)  # ERR

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1


@mistakes("action late comes after", "which speaks of all actions; declare it before")
def action_after_any_enabled() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1

    @s.m.always
    def claim() -> Expr:
        return s.m.any_enabled()

    @s.m.action
    def late(a: App) -> None:  # ERR
        s.tasks[a] = 2


@mistakes("any_enabled(but=...) takes actions of this machine")
def any_enabled_but_a_function() -> None:
    s = small()

    def helper() -> None: ...

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1

    @s.m.always
    def claim() -> Expr:
        return s.m.any_enabled(but=[helper])  # ERR


# ---- two machines


@mistakes("claim: clock belongs to another machine")
def variable_of_another_machine_read() -> None:
    s, other = small(), small()

    @s.m.always
    def claim() -> Expr:
        return other.clock < 3  # ERR


@mistakes("act: clock belongs to another machine")
def variable_of_another_machine_written() -> None:
    s, other = small(), small()

    @s.m.action
    def act() -> None:
        other.clock.next = 3  # ERR


@mistakes("claim: capacity belongs to another machine")
def table_of_another_machine() -> None:
    s, other = small(), small()

    @s.m.always
    def claim() -> Expr:
        return all_(other.capacity[n] < 3 for n in Node)  # ERR


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: object, words: tuple[str, ...]) -> None:
    check_mistake(build, words)
