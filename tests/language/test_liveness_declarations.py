"""``eventually``, ``leads_to`` and the fairness that they name: what is declared, and how mistakes are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from mistakes import App, Ghost, Mistakes, Node, State, check_mistake, small
from test_describe import rebuilt

from model.language import (
    Expr,
    Fairness,
    Machine,
    PropertyKind,
    SpecError,
    after,
    choose,
    each,
    implies,
    require,
    strong,
    weak,
)
from model.language.mutation import mutated, without_guard
from model.semantics import Semantics, explore
from model.semantics_liveness import demands
from model.strategies import live_machines

mistakes = Mistakes()


def machine() -> Any:
    """The small machine, with two actions."""
    s = small()

    @s.m.action
    def start(a: App, n: Node) -> None:
        require(s.state[a] == State.NEW, s.held[a, n] == 0)
        s.state[a] = State.RUNNING
        s.held[a, n] = choose(range(1, 3), "many")

    @s.m.action
    def tick() -> None:
        s.clock.next = (s.clock + 1) % 4

    s.start, s.tick = start, tick
    return s


# ---- mistakes


@mistakes("@m.eventually names the fairness that it assumes", "fairness=[] assumes none")
def eventually_without_fairness() -> None:
    s = machine()

    @s.m.eventually  # ERR
    def done() -> Expr:
        return s.busy


@mistakes("@m.leads_to names the fairness that it assumes", "@m.leads_to(fairness=[weak(finish)])")
def leads_to_without_fairness() -> None:
    s = machine()

    @s.m.leads_to()  # ERR
    def done() -> tuple[Expr, Expr]:
        return s.busy, s.busy


@mistakes("@m.eventually: fairness is a list", "found weak(tick)")
def fairness_that_is_no_list() -> None:
    s = machine()

    @s.m.eventually(fairness=weak(s.tick))  # ERR
    def done() -> Expr:
        return s.busy


@mistakes("@m.eventually: fairness is made by weak(), strong() or m.progress(), found <function")
def an_action_instead_of_its_fairness() -> None:
    s = machine()

    @s.m.eventually(fairness=[s.tick])  # ERR
    def done() -> Expr:
        return s.busy


@mistakes("@m.leads_to: fairness is made by weak(), strong() or m.progress(), found each(start)")
def each_without_weak_or_strong() -> None:
    s = machine()

    @s.m.leads_to(fairness=[each(s.start)])  # ERR
    def done() -> tuple[Expr, Expr]:
        return s.busy, s.busy


@mistakes("weak() takes an action, declared by @m.action before, found <function")
def fairness_of_a_helper() -> None:
    def helper() -> None: ...

    weak(helper)  # ERR


@mistakes("strong() takes an action, declared by @m.action before, found 'tick'")
def fairness_of_a_name() -> None:
    strong("tick")  # type: ignore[arg-type]  # ERR


@mistakes("weak(start) belongs to another machine")
def fairness_of_another_machine() -> None:
    s, other = machine(), machine()
    foreign = weak(other.start)  # ERR

    @s.m.eventually(fairness=[foreign])
    def done() -> Expr:
        return s.busy


@mistakes("each(tick): tick has no parameters; leave each() out")
def each_of_an_action_without_parameters() -> None:
    each(machine().tick)  # ERR


@mistakes("each(start, ...) takes names of parameters of start", "('a', 'n')", "found 'm'")
def each_of_a_parameter_that_is_not_there() -> None:
    each(machine().start, "m")  # ERR


@mistakes("each(start, ...) takes names of parameters of start, each once", "found 'a'")
def each_of_a_parameter_twice() -> None:
    each(machine().start, "a", "a")  # ERR


@mistakes("each(start, ...) takes names of parameters of start", "found 'many'")
def each_of_a_choice() -> None:
    each(machine().start, "many")  # ERR


@mistakes("progress(but=...) takes actions of this machine")
def progress_but_another_machines_action() -> None:
    machine().m.progress(but=[machine().tick])  # ERR


@mistakes("progress() needs an action that counts")
def progress_of_nothing() -> None:
    s = machine()
    s.m.progress(but=[s.tick, s.start])  # ERR


@mistakes("action late comes after", "which speaks of all actions; declare it before")
def an_action_after_progress() -> None:
    s = machine()
    s.m.progress()

    @s.m.action
    def late() -> None:  # ERR
        s.busy.next = True


@mistakes("done must return a pair, what comes first and what follows, found")
def leads_to_of_one_condition() -> None:
    s = machine()

    @s.m.leads_to(fairness=[])
    def done() -> Expr:  # ERR
        return implies(s.busy, s.clock == 0)


@mistakes("done must return a pair", "found None")
def leads_to_of_nothing() -> None:
    s = machine()

    @s.m.leads_to(fairness=[])
    def done() -> None:  # ERR
        s.busy


@mistakes("done must return a boolean expression, found (clock + 0)")
def leads_to_a_number() -> None:
    s = machine()

    @s.m.leads_to(fairness=[])
    def done() -> tuple[Expr, Expr]:  # ERR
        return s.busy, s.clock + 0


@mistakes("done must return a boolean expression, found (")
def eventually_a_pair() -> None:
    s = machine()

    @s.m.eventually(fairness=[])
    def done() -> tuple[Expr, Expr]:  # ERR
        return s.busy, s.busy


@mistakes("done returns nothing")
def eventually_nothing() -> None:
    s = machine()

    @s.m.eventually(fairness=[])
    def done() -> None:  # ERR
        s.busy


@mistakes("property done: parameter n must be annotated with a sort, found int")
def a_parameter_that_is_no_element() -> None:
    s = machine()

    @s.m.eventually(fairness=[])
    def done(n: int) -> Expr:  # ERR
        return s.clock == n


@mistakes("property done: declare the sort first, with m.sort(Ghost, ...)")
def a_parameter_of_an_undeclared_sort() -> None:
    s = machine()

    @s.m.eventually(fairness=[])
    def done(g: Ghost) -> Expr:  # ERR
        return s.busy


@mistakes("after() belongs in a step property, found it in a property")
def the_state_after() -> None:
    s = machine()

    @s.m.eventually(fairness=[])
    def done() -> Expr:
        return after(s.busy)  # ERR


@mistakes("two properties are named done")
def two_of_one_name() -> None:
    s = machine()

    @s.m.always
    def done() -> Expr:
        return ~s.busy

    @s.m.eventually(fairness=[])
    def done() -> Expr:  # ERR
        return s.busy


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: Any, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


# ---- what is declared


def test_properties_keep_what_they_say() -> None:
    s = machine()

    @s.m.eventually(fairness=[weak(s.tick)])
    def runs(a: App) -> Expr:
        """Every application runs."""
        return s.state[a] == State.RUNNING

    @s.m.leads_to(fairness=(strong(each(s.start)), weak(each(s.start, "n")), s.m.progress(but=[s.tick])))
    def ready_ones_run(a: App) -> tuple[Expr, Expr]:
        return s.ready[a], s.state[a] == State.RUNNING

    first, second = s.m.properties
    assert (first.kind, first.doc, first.trigger, first.premises) == (
        PropertyKind.EVENTUALLY,
        "Every application runs.",
        None,
        (),
    )
    assert [repr(x) for x in (first.condition, second.trigger, second.condition)] == [
        "(state[a] == State.RUNNING)",
        "ready[a]",
        "(state[a] == State.RUNNING)",
    ]
    assert [repr(p) for p in second.premises] == ["any_(ready[a] for a in App)"]
    assert [p.name for p in second.parameters] == ["a"]
    assert [str(f) for f in (*first.fairness, *second.fairness)] == [
        "weak(tick)",
        "strong(each(start))",
        'weak(each(start, "n"))',
        "progress of start",
    ]


@pytest.mark.parametrize(
    ("fairness", "expected"),
    [
        (lambda s: weak(s.tick), {"weak fairness of tick()": 1}),
        (lambda s: strong(s.start), {"strong fairness of start(any, any)": 12}),
        (
            lambda s: weak(each(s.start, "a")),
            {"weak fairness of start(app1, any)": 6, "weak fairness of start(app2, any)": 6},
        ),
        (
            lambda s: strong(each(s.start)),
            {f"strong fairness of start(app{i}, node{j})": 2 for i in (1, 2) for j in (1, 2, 3)},
        ),
        (lambda s: s.m.progress(), {"progress of start, tick": 13}),
        (lambda s: s.m.progress(but=[s.start]), {"progress of tick": 1}),
    ],
)
def test_what_is_demanded(fairness: Any, expected: dict[str, int]) -> None:
    s = machine()
    one: Fairness = fairness(s)
    found = demands(s.m, Semantics(s.m).instances, [one])
    assert {d.label: len(d.instances) for d in found} == expected
    assert {d.strong for d in found} == {one.strong}
    assert sum(expected.values()) == len(set().union(*(d.instances for d in found)))


def test_a_mutant_is_fair_to_its_edited_action() -> None:
    def build() -> Machine:
        s = machine()

        @s.m.eventually(fairness=[weak(s.start)])
        def runs() -> Expr:
            return s.busy

        found: Machine = s.m
        return found

    mutant = mutated(build, without_guard("start", "held"))
    assert len(mutant.actions[0].guards) == 1
    assert mutant.properties[0].fairness[0].actions == (mutant.actions[0],)
    explore(mutant)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(live_machines(40))
def test_random_machines_come_back(tmp_path: Path, machine: Machine) -> None:
    again = rebuilt(machine, tmp_path)
    assert explore(again) == explore(machine)
    assert [list(map(str, p.fairness)) for p in again.properties] == [
        list(map(str, p.fairness)) for p in machine.properties
    ]


def test_a_property_with_another_machines_variable_is_refused() -> None:
    s, other = machine(), machine()
    with pytest.raises(SpecError, match="busy belongs to another machine"):

        @s.m.leads_to(fairness=[])
        def done() -> tuple[Expr, Expr]:
            return other.busy, s.busy
