"""Expressions over states as text: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import contextlib
import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import QueryError
from model.explore import Exploration
from model.export.columns import Columns
from model.language import Machine, Sort, require
from model.query import member, read_call, read_condition, read_queries, read_query
from model.semantics import Semantics


class App(Sort):
    """An application."""


class Level(Sort):
    """An ordered sort."""


class Phase(enum.Enum):
    """Phases."""

    IDLE = 0
    BUSY = 1


class Mode(enum.Enum):
    """Another enum with a member of the same name."""

    IDLE = 0
    FULL = 1


def machine() -> Machine:
    m = Machine("asked")
    m.sort(App, names=["app1", "spark driver"])
    m.sort(Level, 3, ordered=True)
    m.variable("phase", App, Phase, init=[Phase.BUSY, Phase.IDLE])
    m.variable("held", (App, Level), range(5), init=[[1, 2, 3], [0, 4, 0]])
    m.scalar("mode", Mode, init=Mode.FULL)
    m.scalar("clock", range(-5, 10), init=7)
    open_ = m.scalar("open", bool, init=True)
    m.constant("weight", App, [10, 20])

    @m.action
    def shut(a: App) -> None:
        require(open_)
        open_.next = False

    return m


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("phase[app1] == BUSY", True),
        ("BUSY == phase[app1]", True),
        ("phase['spark driver'] == IDLE", True),
        ("phase[app1] == Phase.IDLE", False),
        ("mode == IDLE", False),
        ("mode == 'FULL'", True),
        ("phase[app1] in (IDLE, BUSY) and mode not in (IDLE,)", True),
        ("phase[app1]", "BUSY"),
        ("clock", 7),
        ("-clock + 2 * 3 - 1", -2),
        ("clock // 2 % 2", 1),
        ("0 < clock <= 7 < 9", True),
        ("0 < clock < 7", False),
        ("not open or clock != 7", False),
        ("~open | (clock == 7) & true", True),
        ("open == true", True),
        ("sum(held[a, l] for a in App for l in Level)", 10),
        ("sum_(held[app1, l] for l in Level)", 6),
        ("max(held[a, level2] for a in App)", 4),
        ("min([held[a, level2] for a in App])", 2),
        ("count(held[a, l] > 0 for a in App for l in Level if l > level1)", 3),
        ("sum(held[a, l] for a in App for l in Level if phase[a] == BUSY)", 6),
        ("any(held[a, level3] == 3 for a in App if a != app1)", False),
        ("all(held[a, l] <= 3 for a in App for l in Level if a == app1)", True),
        ("all(implies(phase[a] == BUSY, weight[a] == 10) for a in App)", True),
        ("weight[app1] if open else weight['spark driver']", 10),
        ("clock if phase[app1] == IDLE else 3", 3),
    ],
)
def test_what_a_text_means(text: str, value: object) -> None:
    m = machine()
    s = Semantics(m)
    (state,) = s.initial_states()
    query = read_query(m, f" {text}\n")
    raw = s.evaluate(query.expr, state, dict(query.elements))
    assert member(m, query, raw) == value
    states = Exploration(m).states
    assert int(Columns(m).value(query.expr, states, query.elements)[0]) == raw
    if isinstance(value, bool):
        assert bool(s.evaluate(read_condition(m, text).condition, state, {})) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "cannot be read"),
        ("state[", "cannot be read"),
        ("clock = 3", "cannot be read"),
        ("clok == 3", "asked has nothing named clok; it has phase, held"),
        ("phase[app9] == BUSY", "no element of App is named app9; it has app1, spark driver"),
        ("phase[app1] == RUNNING", "Phase has no member RUNNING; it has IDLE, BUSY"),
        ("phase == BUSY", "phase is indexed by [App]"),
        ("phase[app1, app1] == BUSY", "indexed by [App], found 2"),
        ("held[app1]", "indexed by [App, Level], found 1"),
        ("held[level1, app1]", "level1 is an element of Level, expected an element of App"),
        ("clock[app1]", "clock is not indexed"),
        ("phase[1] == BUSY", "an index is an element of App, found 1"),
        ("phase[app1] == 1", "'==' compares"),
        ("phase[app1] < BUSY", "orders integers"),
        ("app1 < app1", "ordered sorts, App is not"),
        ("IDLE == IDLE", "several meanings"),
        ("clock and open", "takes a boolean"),
        ("clock + open", "takes an integer"),
        ("clock / 2", "no meaning here"),
        ("clock // held[app1, level1]", "positive constant"),
        ("clock // 0", "positive constant"),
        ("clock is 3", "use =="),
        ("clock in clock", "after 'in' stands"),
        ("2.5 < clock", "no meaning here"),
        ("__import__('os').system('true')", "no meaning here"),
        ("open.__class__", "no meaning here"),
        ("exec('1')", "no meaning here"),
        ("(lambda: 1)()", "no meaning here"),
        ("all(open for a in Apps)", "has App, Level"),
        ("all(open for a in 3)", "has App, Level"),
        ("max(held[a, level1] for a in App if open)", "takes no filter"),
        ("sum(open for a in App)", "takes an integer"),
        ("app1", "is an element"),
        ("clock < 3 < open", "'<' compares"),
        ("(" * 300 + "clock" + ")" * 300, "cannot be read"),
        ("not " * 3000 + "open", "cannot be read|nests too deeply|at most"),
        ("open" + " and open" * 2000, "at most 10,000"),
    ],
)
def test_what_means_nothing(text: str, told: str) -> None:
    with pytest.raises(QueryError) as caught:
        read_query(machine(), text)
    assert any(each in str(caught.value) for each in told.split("|")), str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_condition_is_a_boolean() -> None:
    with pytest.raises(QueryError, match="'clock' is an integer, expected a condition"):
        read_condition(machine(), "clock")


def test_several() -> None:
    assert [q.text for q in read_queries(machine(), "phase[app1], clock > 3,mode")] == [
        "phase[app1]",
        "clock > 3",
        "mode",
    ]
    assert [q.text for q in read_queries(machine(), "clock")] == ["clock"]
    with pytest.raises(QueryError, match="found nothing"):
        read_queries(machine(), "()")


MACHINE = machine()


@given(st.text(max_size=30) | st.text(alphabet="clokphase[]()app1 <>=+-*/%'\",.:{}ifornt0\n#\\", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(QueryError):
        assert read_queries(MACHINE, text)


def test_calls() -> None:
    assert read_call(machine(), "shut(app1)") == ("shut", ("app1",))
    assert read_call(machine(), "shut('spark driver')") == ("shut", ("spark driver",))
    assert read_call(machine(), "shut(-3, true, Mode.FULL, True)") == ("shut", ("-3", "true", "FULL", "true"))
    assert read_call(machine(), "shut") == ("shut", ())
    for text, told in [
        ("opens(app1)", "has no action opens; it has shut"),
        ("shut(a=app1)", "an action with its arguments"),
        ("shut(1.5)", "an argument is"),
        ("shut(", "cannot be read"),
        ("1 + 1", "an action with its arguments"),
    ]:
        with pytest.raises(QueryError, match=told.replace("(", r"\(")):
            read_call(machine(), text)
