"""``for a in App`` yields one bound variable; every use of a sort that would see it as the elements is an error."""

from __future__ import annotations

import pytest
from mistakes import App, Ghost, Mistakes, Node, State, check_mistake, small

from model.language import Expr, all_, any_, choose, count_, max_, require, sum_
from model.language.expressions import Quantified

mistakes = Mistakes()
NO_ELEMENTS = "App has no elements while the spec is read"
NOT_CLOSED = "this generator over App is not closed by sum_"
ONE_GENERATOR = "takes one generator over sorts"


@mistakes(NO_ELEMENTS)
def list_of_a_sort() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for b in list(App):  # ERR
            s.ready[b] = True


@mistakes(NO_ELEMENTS)
def sorted_sort() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for b in sorted(App):  # ERR
            s.ready[b] = True


@mistakes(NO_ELEMENTS)
def enumerated_sort() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for i, b in enumerate(App):  # ERR
            s.tasks[b] = i


@mistakes("has no elements while the spec is read")
def zipped_sorts() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a, n in zip(App, Node, strict=False):  # ERR
            s.held[a, n] = 1


@mistakes(NO_ELEMENTS)
def unpacked_in_a_list() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        everyone = [*App]  # ERR
        return s.ready[everyone[0]]


@mistakes(NO_ELEMENTS)
def unpacked_in_a_call() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return max(*App)  # ERR


@mistakes(NO_ELEMENTS)
def unpacked_in_an_assignment() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        first, second = App  # ERR
        return s.ready[first] & s.ready[second]


@mistakes(NO_ELEMENTS)
def mapped_sort() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all(map(lambda a: s.ready[a], App))  # ERR


@mistakes(NO_ELEMENTS)
def iter_and_next() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.ready[next(iter(App))]  # ERR


@mistakes("len(App) is not known while the spec is read", "the spec's own parameter")
def length_of_a_sort() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return count_(s.ready[a] for a in App) < len(App)  # ERR


@mistakes("'in App' has no meaning")
def element_in_a_sort() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(a in App)  # ERR
        s.ready[a] = True


@mistakes("App[...] has no meaning", "elements are not numbered")
def numbered_element() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        s.ready[App[0]] = True  # ERR


@mistakes(NO_ELEMENTS)
def reversed_sort() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in reversed(App):  # ERR
            s.ready[a] = True


@mistakes("a list, set or dict over App would have one element")
def list_comprehension() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum([s.tasks[a] for a in App]) <= 3  # ERR


@mistakes("a list, set or dict over App would have one element")
def set_comprehension() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return {s.tasks[a] for a in App} == {0}  # ERR


@mistakes("a list, set or dict over App would have one element")
def dict_comprehension() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return {a: s.tasks[a] for a in App}  # ERR


@mistakes(NOT_CLOSED, "built-in sum")
def built_in_sum() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum(s.tasks[a] for a in App) <= 3  # ERR


@mistakes(NOT_CLOSED)
def built_in_max() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return max(s.tasks[a] for a in App) <= 3  # ERR


@mistakes(NOT_CLOSED)
def built_in_min() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return min((s.tasks[a] for a in App), default=0) <= 3  # ERR


@mistakes(NOT_CLOSED)
def built_in_any() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        require(any(s.ready[a] for a in App))  # ERR
        s.clock.next = 1


@mistakes(NOT_CLOSED)
def built_in_all() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all(s.ready[a] for a in App)  # ERR


@mistakes(NOT_CLOSED)
def generator_made_a_list() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        values = list(s.ready[a] for a in App)  # ERR
        return values[0]


@mistakes(NOT_CLOSED)
def built_in_sum_inside_sum_() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(sum(s.held[a, n] for a in App) for n in Node) <= 3  # ERR


@mistakes(NOT_CLOSED)
def built_in_any_inside_all_() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(any(s.held[a, n] == 1 for a in App) for n in Node)  # ERR


@mistakes("this generator over Node is not closed by sum_")
def wrapped_generator() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(v for v in (s.capacity[n] for n in Node)) <= 3  # ERR


@mistakes("claim must return a boolean expression, found <generator")
def generator_never_closed() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:  # ERR
        return (s.ready[a] for a in App)


@mistakes("expected an expression", "<generator")
def generator_handed_to_require() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        require(s.ready[a] for a in App)  # ERR
        s.clock.next = 1


@mistakes("has no truth value while the spec is read", "a filter in a generator")
def generator_with_a_filter() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(s.tasks[a] for a in App if s.ready[a]) <= 3  # ERR


@mistakes(f"sum_ {ONE_GENERATOR}", "0 values")
def generator_that_python_filters_empty() -> None:
    s = small()
    strict = False

    @s.m.always
    def claim() -> Expr:
        return sum_(s.tasks[a] for a in App if strict) <= 3  # ERR


@mistakes(f"sum_ {ONE_GENERATOR}", "3 values over 1 sorts")
def generator_over_a_sort_and_a_range() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(s.tasks[a] * k for a in App for k in range(3)) <= 3  # ERR


@mistakes(f"all_ {ONE_GENERATOR}", "3 values over 0 sorts")
def generator_over_an_enum() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(all_(s.state[a] != each for each in State))  # ERR
        s.ready[a] = True


@mistakes(f"max_ {ONE_GENERATOR}")
def quantifier_over_a_list() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return max_([s.clock, s.clock]) <= 3  # ERR


@mistakes(f"sum_ {ONE_GENERATOR}")
def quantifier_over_a_sort() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(App) <= 3  # ERR


@mistakes(f"any_ {ONE_GENERATOR}")
def generator_used_twice() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        readies = (s.ready[a] for a in App)
        return any_(readies) & any_(readies)  # ERR


@mistakes("a for statement over App writes for all elements and belongs in an action", "use sum_")
def generator_function() -> None:
    s = small()

    def values() -> object:
        for a in App:  # ERR
            yield s.tasks[a]

    @s.m.always
    def claim() -> Expr:
        return sum_(values()) <= 3


@mistakes("a for statement over App writes for all elements and belongs in an action")
def for_statement_in_a_property() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        total = 0
        for a in App:  # ERR
            total = total + s.tasks[a]
        return total <= 3


@mistakes("a for statement over App writes for all elements and belongs in an action")
def for_statement_outside_any_body() -> None:
    s = small()
    for a in App:  # ERR
        s.m.constant("c", App, [1, 2])


@mistakes("a for statement over App writes for all elements and belongs in an action")
def for_statement_in_a_helper_of_a_generator() -> None:
    s = small()

    def helper(n: Node) -> Expr:
        for a in App:  # ERR
            s.held[a, n] = 0
        return s.clock

    @s.m.action
    def act() -> None:
        require(all_(helper(n) == 0 for n in Node))
        s.busy.next = True


@mistakes("left early")
def break_in_a_for_statement() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:  # ERR
            s.ready[a] = True
            break


@mistakes("left early")
def return_in_a_for_statement() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:  # ERR
            s.ready[a] = True
            return


@mistakes("act: ZeroDivisionError: integer division or modulo by zero")
def exception_in_a_for_statement() -> None:
    s = small()
    nodes = 0

    @s.m.action
    def act() -> None:
        for a in App:
            s.tasks[a] = 3 // nodes  # ERR


@mistakes("left early")
def exception_in_a_for_statement_that_is_caught() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        try:
            for a in App:  # ERR
                s.ready[a] = True
                raise LookupError
        except LookupError:
            pass


@mistakes("Ghost is not declared in this machine")
def undeclared_sort_in_a_quantifier() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum_(1 for g in Ghost) <= 3  # ERR


@mistakes("Ghost is not declared in this machine")
def undeclared_sort_in_a_for_statement() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for g in Ghost:
            s.clock.next += 1  # ERR


@mistakes("Ghost is not declared in this machine")
def undeclared_sort_chosen() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        choose(Ghost)  # ERR
        s.clock.next += 1


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: object, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


# ---- what is meant to work


def test_a_generator_may_be_stored_and_closed_elsewhere() -> None:
    s = small()

    def close(values: object) -> Expr:
        return sum_(values)

    @s.m.always
    def claim() -> Expr:
        values = (s.tasks[a] for a in App)
        return close(values) <= 3

    (found,) = s.m.properties
    assert repr(found.condition) == "(sum_(tasks[a] for a in App) <= 3)"


def test_two_sorts_in_one_generator_and_nested_generators() -> None:
    s = small()

    @s.m.always
    def flat() -> Expr:
        return sum_(s.held[a, n] for a in App for n in Node) <= 3

    @s.m.always
    def nested() -> Expr:
        return sum_(max_(s.held[a, n] for a in App) for n in Node) <= 3

    one, two = (p.condition for p in s.m.properties)
    assert repr(one) == "(sum_(held[a, n] for a in App for n in Node) <= 3)"
    assert repr(two) == "(sum_(max_(held[a, n] for a in App) for n in Node) <= 3)"


def test_a_generator_over_the_same_sort_twice_has_two_symbols() -> None:
    s = small()

    @s.m.always
    def differ() -> Expr:
        return all_((a == b) | (s.tasks[a] != s.tasks[b]) for a in App for b in App)

    (found,) = s.m.properties
    assert isinstance(found.condition, Quantified)
    assert len({symbol.uid for symbol in found.condition.symbols}) == 2


def test_a_bound_variable_has_the_author_s_name_also_in_closures() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(any_(s.held[who, place] > 0 for place in Node) for who in App)

    assert repr(s.m.properties[0].condition) == "all_(any_((held[who, place] > 0) for place in Node) for who in App)"


def test_a_for_statement_with_else_and_continue() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        for a in App:
            s.ready[a] = True
            if s.m.name == "small":
                continue
            s.tasks[a] = 1
        else:
            s.clock.next = 1

    updates = s.m.actions[0].updates
    assert [(repr(u.variable), len(u.binders)) for u in updates] == [("ready", 1), ("clock", 0)]
