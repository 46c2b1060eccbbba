# No `from __future__ import annotations` here: annotations are then classes, not text.
"""What a spec may say, and what the machine then is."""

import enum

import pytest
from mistakes import App, Color, Job, Node, State, small

from model.language import (
    Expr,
    Machine,
    PropertyKind,
    Sort,
    SpecError,
    after,
    all_,
    any_,
    choose,
    count_,
    implies,
    one_of,
    require,
)
from model.semantics import Semantics


def test_sorts_and_enums_may_be_local_to_the_spec() -> None:
    class Pod(Sort):
        """A pod."""

    class Phase(enum.Enum):
        WAITING = "waiting"
        BOUND = "bound"

    m = Machine("local")
    m.sort(Pod, 2)
    phase = m.variable("phase", Pod, Phase, init=Phase.WAITING)

    @m.action
    def bind(p: Pod) -> None:
        require(phase[p] == Phase.WAITING)
        phase[p] = Phase.BOUND

    assert [x.name for x in m.actions[0].parameters] == ["p"]
    assert Semantics(m).initial_states() == [(0, 0)]


def test_names_of_elements() -> None:
    m = Machine("names")
    m.sort(App, names=["spark-pi", "spark.etl"])
    m.sort(Node, 2)
    m.variable("held", (App, Node), bool, init=False)
    assert [m.show_cell(c) for c in m.cells()] == [
        "held[spark-pi, node1]",
        "held[spark-pi, node2]",
        "held[spark.etl, node1]",
        "held[spark.etl, node2]",
    ]
    m.rename(Node, ["gpu-a", "gpu-b"])
    assert m.show_cell(m.cells()[1]) == "held[spark-pi, gpu-b]"
    with pytest.raises(SpecError, match="as many as size"):
        m.rename(Node, ["only-one"])


def test_flags_of_sorts() -> None:
    m = Machine("flags")
    m.sort(App, 2, symmetric=True)
    m.sort(Job, 3, ordered=True)
    assert [(d.size, d.symmetric, d.ordered) for d in m.sorts.values()] == [(2, True, False), (3, False, True)]


@pytest.mark.parametrize(
    ("domain", "init", "raw"),
    [
        (range(-2, 3), -2, -2),
        (range(5, 6), 5, 5),
        (range(-1, 0), -1, -1),
        (bool, True, 1),
        (State, State.DONE, 2),
        (Color, one_of(Color.GREEN), 1),
        (range(-(2**40), 2**40), 2**39, 2**39),
    ],
)
def test_domains(domain: object, init: object, raw: int) -> None:
    m = Machine("domains")
    x = m.scalar("x", domain, init=init)

    @m.action
    def keep() -> None:
        x.next = x

    assert Semantics(m).initial_states() == [(raw,)]


def test_initial_values_per_element() -> None:
    m = Machine("initial")
    m.sort(App, 2)
    m.sort(Node, 2)
    x = m.variable("x", App, range(4), init=[3, 1])
    m.variable("y", (App, Node), range(4), init=[[0, 1], 2])
    m.variable("z", App, bool, init=(True, one_of(True, False)))

    @m.action
    def act(a: App) -> None:
        x[a] = 0

    assert Semantics(m).initial_states() == [(3, 1, 0, 1, 2, 2, 1, 0), (3, 1, 0, 1, 2, 2, 1, 1)]


def test_initially_narrows_the_combinations() -> None:
    m = Machine("initially")
    m.sort(App, 3)
    x = m.variable("x", App, bool, init=one_of(False, True))

    @m.action
    def act(a: App) -> None:
        x[a] = False

    @m.initially
    def one_is_set() -> Expr:
        return count_(x[a] for a in App) == 1

    assert Semantics(m).initial_states() == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]


def test_no_initial_state_is_an_error_with_the_line_of_the_constraint() -> None:
    m = Machine("none")
    x = m.scalar("x", range(3), init=one_of(0, 1))

    @m.action
    def act() -> None:
        x.next = 0

    @m.initially
    def impossible() -> Expr:
        return x == 2

    with pytest.raises(SpecError, match="none has no initial state: no combination satisfies impossible") as caught:
        Semantics(m).initial_states()
    assert caught.value.at == m.initial_constraints[0].at


def test_tables_are_read_by_position() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.distance[n, k] == s.distance[k, n] for n in Node for k in Node)

    @s.m.action
    def act(n: Node) -> None:
        s.clock.next = s.capacity[n]

    semantics = Semantics(s.m)
    (state,) = semantics.initial_states()
    assert semantics.evaluate(s.m.properties[0].condition, state, {}) == 1
    value = s.m.actions[0].updates[0].value
    env = [i.environment() for i in semantics.instances]
    assert [semantics.evaluate(value, state, e) for e in env] == [1, 2, 3]


def test_properties_of_every_kind_keep_their_text_and_their_premises() -> None:
    s = small()

    @s.m.always
    def safe() -> Expr:
        """Nothing bad.

        In more words.
        """
        return all_(implies(s.state[a] == State.DONE, s.ready[a]) for a in App) & implies(s.busy, s.clock > 0)

    @s.m.step
    def latch() -> Expr:
        return all_(implies(s.ready[a], after(s.ready[a])) for a in App)

    @s.m.sometimes
    def goal() -> Expr:
        return implies(s.busy, s.clock > 0)

    @s.m.possible
    def way_back() -> Expr:
        return ~s.busy

    @s.m.terminal
    def over() -> Expr:
        return s.busy

    assert [p.kind for p in s.m.properties] == [
        PropertyKind.ALWAYS,
        PropertyKind.STEP,
        PropertyKind.SOMETIMES,
        PropertyKind.POSSIBLE,
    ]
    assert s.m.properties[0].doc == "Nothing bad.\n\nIn more words."
    assert [[repr(x) for x in p.premises] for p in s.m.properties] == [
        ["any_((state[a] == State.DONE) for a in App)", "busy"],
        ["any_(ready[a] for a in App)"],
        [],
        [],
    ]
    assert [p.name for p in s.m.terminals] == ["over"]


def test_a_property_may_be_a_python_bool() -> None:
    s = small()

    @s.m.always
    def trivially() -> bool:
        return True

    assert repr(s.m.properties[0].condition) == "True"


def test_enabled_puts_arguments_into_the_guard_and_quantifies_the_rest() -> None:
    s = small()

    @s.m.action
    def move(a: App, n: Node) -> None:
        k = choose(range(2), "k")
        require(s.held[a, n] > k, any_(s.held[b, n] == 0 for b in App))
        s.held[a, n] -= 1

    @s.m.always
    def some() -> Expr:
        return s.m.enabled(move)

    @s.m.always
    def given() -> Expr:
        return all_(s.m.enabled(move, x, y) for x in App for y in Node)

    one, two = (repr(p.condition) for p in s.m.properties)
    assert one == (
        "any_(((held[a, n] > k) & any_((held[b, n] == 0) for b in App)) "
        "for a in App for n in Node for k in range(0, 2))"
    )
    assert two == (
        "all_(any_(((held[x, y] > k) & any_((held[b, y] == 0) for b in App)) for k in range(0, 2)) "
        "for x in App for y in Node)"
    )


def test_any_enabled_leaves_out_what_it_is_told() -> None:
    s = small()

    @s.m.action
    def tick() -> None:
        require(s.clock < 3)
        s.clock.next += 1

    @s.m.action
    def work(a: App) -> None:
        require(s.ready[a])
        s.ready[a] = False

    @s.m.action
    def always_there() -> None:
        s.busy.next = True

    @s.m.always
    def alive() -> Expr:
        return s.m.any_enabled()

    @s.m.always
    def without_time() -> Expr:
        return s.m.any_enabled(but=[tick, always_there])

    one, two = (repr(p.condition) for p in s.m.properties)
    assert one == "((clock < 3) | (any_(ready[a] for a in App) | True))"
    assert two == "any_(ready[a] for a in App)"


def test_an_action_without_a_guard_is_always_enabled() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        """Doc of the action."""
        s.tasks[a] = 1

    (action,) = s.m.actions
    assert action.guards == ()
    assert repr(action.guard) == "True"
    assert action.doc == "Doc of the action."


def test_helpers_may_be_lambdas_methods_and_nested_functions() -> None:
    s = small()

    class Helpers:
        def total(self, n: Node) -> Expr:
            def one(a: App) -> Expr:
                return s.held[a, n]

            return count_(one(a) > 0 for a in App)

    helpers, is_new = Helpers(), lambda a: s.state[a] == State.NEW

    @s.m.action
    def act(a: App, n: Node) -> None:
        require(is_new(a), helpers.total(n) < 2)
        s.held[a, n] += 1

    assert repr(s.m.actions[0].guard) == "((state[a] == State.NEW) & (count_((held[a, n] > 0) for a in App) < 2))"


def test_expressions_have_a_hash_outside_of_bodies() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return s.busy

    condition = s.m.properties[0].condition
    assert {condition: 1}[condition] == 1
    assert {s.tasks: 2, s.clock: 3, s.capacity: 4}[s.clock] == 3
    assert s.tasks != s.state


def test_a_machine_prints_short() -> None:
    assert repr(small().m) == "<Machine small>"
