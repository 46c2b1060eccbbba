"""An expression has no truth value, and Python's shortcuts around it (``is``, sets, forgotten calls) are caught."""

from __future__ import annotations

import pytest
from mistakes import App, Color, Level, Mistakes, Node, State, check_mistake, small

from model.language import Expr, all_, among, implies, ite, require, sum_

mistakes = Mistakes()
NO_TRUTH = "an expression has no truth value while the spec is read"


@mistakes(NO_TRUTH, "use require(), ite(), when()")
def if_statement() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        if s.ready[a]:  # ERR
            s.tasks[a] = 1


@mistakes(NO_TRUTH)
def elif_statement() -> None:
    s = small()
    first = False

    @s.m.action
    def act(a: App) -> None:
        if first:
            s.tasks[a] = 1
        elif s.tasks[a] > 2:  # ERR
            s.tasks[a] = 2


@mistakes(NO_TRUTH)
def while_statement() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        while s.tasks[a] > 0:  # ERR
            s.tasks[a] -= 1


@mistakes(NO_TRUTH)
def conditional_expression() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = 1 if s.ready[a] else 2  # ERR


@mistakes("(tasks[a] > 0): " + NO_TRUTH)
def python_and() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.tasks[a] > 0 and s.ready[a])  # ERR
        s.tasks[a] = 1


@mistakes("ready[a]: " + NO_TRUTH)
def python_or() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.ready[a] or s.busy for a in App)  # ERR


@mistakes(NO_TRUTH)
def python_not() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return not s.busy  # ERR


@mistakes(NO_TRUTH)
def chained_comparison() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return 0 < s.clock < 3  # ERR


@mistakes(NO_TRUTH)
def chained_equality() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.tasks[a] == s.clock == 0 for a in App)  # ERR


@mistakes(NO_TRUTH)
def assert_statement() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        assert s.tasks[a] < 3  # ERR
        s.tasks[a] += 1


@mistakes(NO_TRUTH)
def match_statement() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        match s.state[a]:
            case State.NEW:  # ERR
                s.state[a] = State.RUNNING


@mistakes(NO_TRUTH)
def bool_call() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return bool(s.busy)  # ERR


@mistakes(NO_TRUTH)
def max_of_two() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return max(s.clock, 2) == 2  # ERR


@mistakes(NO_TRUTH)
def sorted_values() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        low, _high = sorted([s.tasks[a], s.clock])  # ERR
        s.clock.next = low


# ---- membership


@mistakes(NO_TRUTH)
def in_a_tuple() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.state[a] in (State.NEW, State.DONE))  # ERR
        s.tasks[a] = 1


@mistakes(NO_TRUTH)
def in_a_list() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.tasks[a] in [1, 2] for a in App)  # ERR


@mistakes(NO_TRUTH)
def in_a_range() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock in range(3)  # ERR


@mistakes("state[a] cannot be looked up in a set or a dict", "among()")
def in_a_set() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.state[a] in {State.NEW, State.DONE})  # ERR
        s.tasks[a] = 1


@mistakes("cannot be looked up in a set or a dict")
def not_in_a_frozenset() -> None:
    s = small()
    ends = frozenset({State.DONE})

    @s.m.always
    def claim() -> Expr:
        return all_(s.state[a] not in ends for a in App)  # ERR


@mistakes("state[a] cannot be looked up in a set or a dict")
def looked_up_in_a_dict() -> None:
    s = small()
    cost = {State.NEW: 0, State.RUNNING: 1, State.DONE: 0}

    @s.m.always
    def claim() -> Expr:
        return sum_(cost[s.state[a]] for a in App) <= 3  # ERR


@mistakes("a cannot be looked up in a set or a dict")
def element_as_a_key() -> None:
    s = small()

    @s.m.action
    def act(a: App, b: App) -> None:
        seen = {a: 1}  # ERR
        require(b not in seen)
        s.tasks[a] = 1


@mistakes("tasks[a] is one value: it has no elements")
def contained_in_a_value() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(1 in s.tasks[a] for a in App)  # ERR


@mistakes("tasks[a] is one value: it has no elements")
def value_iterated() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for k in s.tasks[a]:  # ERR
            s.clock.next += k


@mistakes("tasks[a] is one value: it has no elements")
def value_indexed_again() -> None:
    s = small()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.tasks[a][n] = 1  # ERR


@mistakes("tasks[a] has no value while the spec is read: it is not a Python number")
def range_of_a_value() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        for _ in range(s.tasks[a]):  # ERR
            s.clock.next += 1


@mistakes("it is not a Python number")
def int_of_a_value() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return int(s.clock) < 3  # ERR


# ---- identity


@mistakes("'is' compares Python objects, not values of the state")
def is_a_member() -> None:
    s = small()
    state = s.state

    @s.m.action
    def act(a: App) -> None:
        require(state[a] is State.NEW)  # ERR
        state[a] = State.RUNNING


@mistakes("'is' compares Python objects")
def is_not_a_member() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.state[a] is not State.DONE for a in App)  # ERR


@mistakes("'is' compares Python objects")
def is_a_member_the_other_way_round() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(State.DONE is not s.state[a] for a in App)  # ERR


@mistakes("'is' compares Python objects")
def is_true() -> None:
    s = small()
    ready = s.ready

    @s.m.action
    def act(a: App) -> None:
        require(ready[a] is True)  # ERR
        ready[a] = False


@mistakes("'is' compares Python objects")
def scalar_is_a_member() -> None:
    s = small()
    mode = s.mode

    @s.m.always
    def claim() -> Expr:
        return mode is Color.RED  # ERR


@mistakes("'is' compares Python objects")
def scalar_of_an_object_is_a_member() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.mode is not Color.RED  # ERR


@mistakes("'is' compares Python objects")
def elements_are_not_the_same() -> None:
    s = small()

    @s.m.action
    def act(a: App, b: App) -> None:
        require(a is not b)  # ERR
        s.tasks[a] = 1


@mistakes("'is' compares Python objects")
def value_read_before_is_a_member() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        now = s.state[a]
        require(now is State.NEW)  # ERR
        s.tasks[a] = 1


@mistakes("'is' compares Python objects")
def identity_in_a_helper() -> None:
    s = small()

    def running(a: App) -> object:
        return s.state[a] is State.RUNNING  # ERR

    @s.m.always
    def claim() -> Expr:
        return all_(implies(running(a), s.ready[a]) for a in App)


@mistakes("'is' compares Python objects")
def identity_in_a_method() -> None:
    class Claims:
        def __init__(self, s: object) -> None:
            self.s = s

        def running(self, a: App) -> object:
            return self.s.state[a] is State.RUNNING  # ERR

    s = small()
    claims = Claims(s)

    @s.m.always
    def claim() -> Expr:
        return all_(implies(claims.running(a), s.ready[a]) for a in App)


@mistakes("'is' compares Python objects")
def bound_variables_are_not_the_same() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.tasks[a] != s.tasks[b] for a in App for b in App if a is not b)  # ERR


@mistakes("'is' compares Python objects")
def parameters_of_a_helper_are_the_same() -> None:
    s = small()

    def differ(a: App, b: App) -> object:
        return a is not b  # ERR

    @s.m.always
    def claim() -> Expr:
        return all_(differ(a, b) for a in App for b in App)


@mistakes("'is' compares Python objects")
def a_quantifier_is_true() -> None:
    s = small()

    @s.m.action
    def act() -> None:
        require(all_(s.ready[a] for a in App) is True)  # ERR
        s.clock.next = 1


# ---- forgotten calls and indices


@mistakes("total is a function: what is meant is what it returns, total(...)")
def function_compared() -> None:
    s = small()

    def total() -> Expr:
        return sum_(s.tasks[a] for a in App)

    @s.m.always
    def claim() -> Expr:
        return total != 3  # ERR


@mistakes("total is a function")
def method_compared() -> None:
    class Totals:
        def __init__(self, s: object) -> None:
            self.s = s

        def total(self) -> Expr:
            return sum_(self.s.tasks[a] for a in App)

    s = small()
    totals = Totals(s)

    @s.m.always
    def claim() -> Expr:
        return totals.total == 3  # ERR


@mistakes("total is a function")
def function_compared_on_the_right() -> None:
    s = small()

    def total() -> Expr:
        return sum_(s.tasks[a] for a in App)

    @s.m.action
    def act(a: App) -> None:
        require(s.clock + 1 == total)  # ERR
        s.tasks[a] = 1


@mistakes("total is a function")
def function_in_a_tuple() -> None:
    s = small()

    def total() -> Expr:
        return sum_(s.tasks[a] for a in App)

    @s.m.action
    def act(a: App) -> None:
        require(total not in (1, 2))  # ERR
        s.tasks[a] = 1


@mistakes("idle is a function")
def function_in_a_conjunction() -> None:
    s = small()

    def idle() -> Expr:
        return all_(~s.ready[a] for a in App)

    @s.m.action
    def act(a: App) -> None:
        require(idle and s.busy)  # ERR
        s.tasks[a] = 1


@mistakes("idle is a function")
def function_negated() -> None:
    s = small()

    def idle() -> Expr:
        return all_(~s.ready[a] for a in App)

    @s.m.always
    def claim() -> Expr:
        return not idle  # ERR


@mistakes("TypeError", "'<' not supported")
def function_ordered() -> None:
    s = small()

    def total() -> Expr:
        return sum_(s.tasks[a] for a in App)

    @s.m.always
    def claim() -> Expr:
        return total < 3  # ERR


@mistakes("state is compared without its index; write state[...]")
def variable_without_index_compared() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.state == State.NEW)  # ERR
        s.state[a] = State.RUNNING


@mistakes("state is compared without its index")
def variable_without_index_differs() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return State.DONE != s.state  # ERR


@mistakes("state is looked up without its index")
def variable_without_index_in_a_set() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.state in {State.NEW}  # ERR


@mistakes("ready is used as a truth value without its index")
def variable_without_index_negated() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(not s.ready)  # ERR
        s.tasks[a] = 1


@mistakes("capacity is compared without its index")
def table_without_index() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.capacity == 2  # ERR


@mistakes("tasks is indexed by elements (tasks[a]), it cannot be iterated")
def variable_iterated() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return sum(s.tasks) <= 3  # ERR


@mistakes("expected an expression", "found tasks")
def variable_without_index_as_a_value() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.clock <= s.tasks  # ERR


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: object, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


# ---- what is meant to work


def test_python_may_decide_what_python_knows() -> None:
    s = small()
    policy, limit = Color.RED, None
    weights = {Color.RED: 2, Color.GREEN: 3}

    def bound(most: int | None) -> int:
        return 3 if most is None else most

    @s.m.action
    def act(a: App) -> None:
        if policy is Color.RED and limit is None:
            require(s.clock < bound(limit))
        if weights[policy] == 2 and policy in weights:
            s.tasks[a] = weights[policy]

    (found,) = s.m.actions
    assert repr(found.guard) == "(clock < 3)"
    assert [repr(u.value) for u in found.updates] == ["2"]


def test_an_optional_action_may_be_asked_for() -> None:
    def spec(with_timer: bool) -> list[str]:
        s = small()

        @s.m.action
        def work(a: App) -> None:
            require(s.ready[a])
            s.ready[a] = False

        timer = None
        if with_timer:

            @s.m.action
            def timer() -> None:
                s.clock.next = 0

        @s.m.always
        def alive() -> Expr:
            return s.m.any_enabled(but=[] if timer is None else [timer]) | (s.m.enabled(timer) if timer else s.busy)

        return [repr(p.condition) for p in s.m.properties]

    assert spec(True) == ["(any_(ready[a] for a in App) | True)"]
    assert spec(False) == ["(any_(ready[a] for a in App) | busy)"]


def test_dicts_of_variables_and_plain_containers_may_be_used() -> None:
    s = small()
    by_name = {"tasks": s.tasks}
    kinds = [Color.RED, Color.GREEN]
    s.kinds, s.policy = kinds, Color.RED

    def is_red(color: Color) -> bool:
        return color is Color.RED

    @s.m.action
    def act(a: App) -> None:
        require(
            kinds[0] is Color.RED,
            s.kinds[1] is Color.GREEN,
            s.policy is Color.RED,
            is_red(s.policy),
            by_name["tasks"][a] < 3,
        )
        by_name["tasks"][a] += 1

    assert repr(s.m.actions[0].updates[0].variable) == "tasks"


def test_an_int_enum_is_an_enum_in_a_spec() -> None:
    s = small()
    level = s.m.scalar("level", Level, init=Level.LOW)

    @s.m.always
    def claim() -> Expr:
        return ite(level == Level.LOW, 1, 2) <= 2

    assert repr(s.m.properties[0].condition) == "(ite((level == 1), 1, 2) <= 2)"


def test_among_says_what_in_would() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(among(s.state[a], State.NEW, State.DONE) for a in App)

    condition = s.m.properties[0].condition
    assert repr(condition) == "all_(((state[a] == State.NEW) | (state[a] == State.DONE)) for a in App)"
