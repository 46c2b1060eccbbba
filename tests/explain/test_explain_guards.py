"""Why an action is enabled or not: against the interpreter, on random machines and by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.errors import QueryError
from model.explain.guards import Part, explain_call
from model.explain.wording import Wording
from model.language import Machine, Sort, choose, implies, require
from model.query import read_query
from model.semantics import Fault, Semantics, explore
from model.strategies import machines
from model.trace import named_state
from specs.gang import gang
from specs.loading import load_spec

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


class App(Sort):
    """An application."""


def parts(part: Part) -> Iterator[Part]:
    yield part
    for each in part.parts:
        yield from parts(each)


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(machines(200), st.data())
def test_guards_of_random_machines(machine: Machine, data: st.DataObject) -> None:
    s = Semantics(machine)
    state = data.draw(st.sampled_from(sorted(explore(machine).distance)))
    for instance in data.draw(st.lists(st.sampled_from(s.instances), max_size=8)):
        call = f"{instance.action.name}({', '.join(v for _, v in s.arguments(instance))})"
        told = explain_call(machine, call, state)
        assert told.call == call
        assert told.enabled == s.is_enabled(instance, state)
        assert told.state == named_state(machine, state)
        assert told.choices is None
        env = instance.environment()
        holds = [bool(s.evaluate(g.condition, state, env)) for g in instance.action.guards]
        assert all(c.holds for c in told.conjuncts) == all(holds)
        for part in itertools.chain.from_iterable(parts(c.part) for c in told.conjuncts):
            # The text is an expression that means what it says.
            query = read_query(machine, part.text)
            raw = s.evaluate(query.expr, state, dict(query.elements))
            assert Wording(machine).value(query.expr, raw) == part.value, part
        if told.enabled:
            after = s.fire(instance, state)
            if isinstance(after, Fault):
                assert told.fault == after.message
            else:
                changed = {name: new for name, (_, new) in told.effect.items()}
                assert {**told.state, **changed} == named_state(machine, after)
                assert all(told.state[name] == old != new for name, (old, new) in told.effect.items())


def choosing() -> Machine:
    m = Machine("choosing")
    m.sort(App, names=["a1", "spark driver"])
    held = m.variable("held", App, range(4), init=[1, 3])
    shut = m.scalar("shut", bool, init=False)

    @m.action
    def grow(a: App) -> None:
        by = choose(range(4), "by")
        require(~shut | (held[a] == 0), implies(by == 2, held[a] == 3))
        require((by > 0) & (held[a] + by <= 3))
        held[a] += by
        shut.next = True

    @m.action
    def burst(a: App) -> None:
        held[a] += 3

    return m


def test_choices_may_be_left_open() -> None:
    m = choosing()
    (state,) = Semantics(m).initial_states()
    told = explain_call(m, "grow(a1)", state)
    assert (told.call, told.enabled, told.choices) == ("grow(a1, 1)", True, (1, 4))
    assert told.effect == {"held[a1]": (1, 2), "shut": (False, True)}
    full = explain_call(m, "grow('spark driver')", state)
    assert (full.enabled, full.choices) == (False, (0, 4))
    given_ = explain_call(m, "grow(a1, 2)", state)
    assert given_.choices is None
    assert [(c.part.text, c.holds) for c in given_.conjuncts] == [
        ("not shut or held[a1] == 0", True),
        ("implies(2 == 2, held[a1] == 3)", False),
        ("2 > 0", True),
        ("held[a1] + 2 <= 3", True),
    ]
    broken = given_.conjuncts[1].part
    assert [(p.text, p.value, p.compared) for p in broken.parts] == [
        ("2 == 2", True, "2 == 2"),
        ("held[a1] == 3", False, "1 == 3"),
    ]


def test_a_faulty_step_is_told() -> None:
    m = choosing()
    (state,) = Semantics(m).initial_states()
    told = explain_call(m, "burst(a1)", state)
    assert told.enabled
    assert told.fault == "held[a1] becomes 4, outside 0..3"
    assert not told.effect


def test_what_a_sum_comes_from() -> None:
    m = gang()
    s = Semantics(m)
    state = s.initial_states()[0]
    for call in ("submit(app1)", "submit(app2)", "allocate(app1, node1)", "allocate(app1, node1)"):
        name, arguments = call.split("(")
        instance = next(
            i
            for i in s.instances
            if i.action.name == name and ", ".join(v for _, v in s.arguments(i)) == arguments.rstrip(")")
        )
        after = s.fire(instance, state)
        assert not isinstance(after, Fault)
        state = after
    told = explain_call(m, "allocate(app2, node1)", state)
    failing = [c for c in told.conjuncts if not c.holds]
    assert [(c.part.text, c.part.compared) for c in failing] == [
        ("sum(placeholders[a, node1] + reals[a, node1] for a in App) < 2", "2 < 2")
    ]
    assert failing[0].at.endswith("specs/gang/machine.py:80")
    (total,) = failing[0].part.parts
    assert total.value == 2
    assert [(p.text, p.value) for p in total.parts] == [("placeholders[app1, node1] + reals[app1, node1]", 2)]
    assert [(p.text, p.value) for p in total.parts[0].parts] == [("placeholders[app1, node1]", 2)]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("allocate", "allocate takes (a, n), found 0 arguments"),
        ("allocate(app1)", "allocate takes (a, n), found 1 arguments"),
        ("allocate(app1, node1, node2)", "found 3 arguments"),
        ("allocate(app9, node1)", "a is one of app1, app2; found app9"),
        ("allocate(node1, app1)", "a is one of app1, app2; found node1"),
        ("evict(app1)", "gang has no action evict; it has submit, allocate"),
        ("allocate(", "cannot be read"),
    ],
)
def test_a_call_that_is_none(call: str, told: str) -> None:
    m = gang()
    with pytest.raises(QueryError) as caught:
        explain_call(m, call, Semantics(m).initial_states()[0])
    assert told in str(caught.value)


def test_every_guard_of_the_shipped_specs_can_be_told() -> None:
    for name in ("gang", "yunikorn", "autoscaled_gang"):
        m = load_spec(name, [])
        s = Semantics(m)
        state = s.initial_states()[0]
        for instance in s.instances:
            call = f"{instance.action.name}({', '.join(v for _, v in s.arguments(instance))})"
            assert explain_call(m, call, state).enabled == s.is_enabled(instance, state)
