"""Sets, records and channels in JSON and ITF: values with parts, as the schemas say; names that would be ambiguous."""

from __future__ import annotations

import copy
import enum
import json
import pickle
from importlib.resources import files

import jsonschema
import pytest

from gangproof.trace_output import trace_text
from model.errors import QueryError
from model.explain.reach import nearest
from model.explore import explore
from model.export.graph import Merged
from model.export.itf import itf, trace_of_itf
from model.export.pictures import mermaid
from model.export.sequence import sequence_diagram
from model.language import Expr, Machine, Order, Sort, SpecError, record, require
from model.language.data.shown import BagText, Compound, QueueText, SetText, in_json
from model.query import member, read_condition, read_query
from model.semantics import Semantics
from model.trace import Trace


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Kind(enum.Enum):
    ASK = 0
    DONE = 1


def office(names: list[str] | None = None) -> Machine:
    """Applications ask in order, are noted in sets and records, and answered in any order."""
    m = Machine("office")
    m.sort(App, names=names or ["web", "db"])
    m.sort(Node, 2)
    message = record(kind=Kind, app=App, size=range(3))
    waiting = m.set("waiting", App)
    near = m.set("near", (App, Node))
    members = m.set("members", App, over=Node)
    last = m.element("last", App)
    pod = m.record("pod", App, record(kind=Kind, size=range(3)), init={"kind": Kind.ASK, "size": 0})
    m.record("all", None, record(kind=Kind, big=bool), init={"kind": Kind.ASK, "big": True})
    inbox = m.channel("inbox", message, 2)
    outbox = m.channel("outbox", message, 2, Order.ANY)
    lines = m.channel("lines", record(kind=Kind), 1, over=Node)

    @m.action
    def ask(a: App, n: Node) -> None:
        require(~waiting.contains(a))
        waiting.add(a)
        near.add((a, n))
        members[n].add(a)
        pod.size[a] = 2
        last.next = a
        inbox.send(kind=Kind.ASK, app=a, size=2)

    @m.action
    def answer(a: App, n: Node) -> None:
        inbox.receive(kind=Kind.ASK, app=a, size=2)
        lines[n].send(kind=Kind.DONE)
        for b in App:
            outbox.send(kind=Kind.DONE, app=a, size=1)

    @m.sometimes
    def answered() -> Expr:
        return outbox.length() == 2

    @m.sometimes
    def asked() -> Expr:
        return inbox.length() == 2

    return m


def run(machine: Machine, name: str) -> Trace:
    trace = explore(machine)[name].trace
    assert trace is not None
    return trace


def valid(schema: str, text: str) -> object:
    whole = json.loads(text)
    jsonschema.validate(whole, json.loads((files("gangproof") / "schemas" / f"{schema}.json").read_text()))
    return whole


def assert_reads_back(machine: Machine, trace: Trace) -> None:
    """With the parts of its values: that they have equal texts does not say so."""
    written = json.loads(json.dumps(itf(machine, trace)))
    back = trace_of_itf(written)
    assert back == trace
    assert back.to_json() == trace.to_json()
    assert itf(machine, back) == written
    states = [[t.initial, *(step.state for step in t.steps)] for t in (trace, back)]
    for one, other in zip(*states, strict=True):
        for cell, value in one.items():
            assert type(other[cell]) is type(value)
            if isinstance(value, Compound):
                assert vars(other[cell]) == vars(value)


def test_in_itf_values_have_parts_and_read_back() -> None:
    machine = office()
    asked, answered = run(machine, "asked"), run(machine, "answered")
    for trace in (asked, answered):
        valid("itf", trace_text(machine, trace, "itf", ""))
        assert_reads_back(machine, trace)
    first, *_, last = itf(machine, asked)["states"]
    two = {"#bigint": "2"}
    assert (first["waiting"], last["waiting"]) == ({"#set": []}, {"#set": ["web", "db"]})
    assert {"#tup": ["web", "node1"]} in last["near"]["#set"] or {"#tup": ["web", "node2"]} in last["near"]["#set"]
    assert first["inbox"] == []
    assert sorted(m["app"] for m in last["inbox"]) == ["db", "web"]
    assert last["inbox"][0] == {"kind": "ASK", "app": last["inbox"][0]["app"], "size": two}
    assert last["pod"] == {"#map": [[a, {"kind": "ASK", "size": two}] for a in ("web", "db")]}
    assert last["all"] == {"kind": "ASK", "big": True}
    assert last["members"]["#map"][0][0] == "node1"
    end = itf(machine, answered)["states"][-1]
    ((message, count),) = end["outbox"]["#map"]
    assert (message["kind"], count) == ("DONE", two)
    types = itf(machine, answered)["#meta"]["varTypes"]
    assert types["waiting"] == "Set(Str)"
    assert types["near"] == "Set(<<Str, Str>>)"
    assert types["members"] == "Str -> Set(Str)"
    assert types["inbox"] == "Seq({ kind: Str, app: Str, size: Int })"
    assert types["outbox"] == "({ kind: Str, app: Str, size: Int } -> Int)"
    assert types["lines"] == "Str -> Seq({ kind: Str })"
    assert types["pod"] == "Str -> { kind: Str, size: Int }"
    assert types["all"] == "{ kind: Str, big: Bool }"
    assert itf(machine, asked)["#meta"]["varTypes"]["outbox"] == "(a -> Int)"


def test_in_json_they_are_lists_and_objects_and_in_the_table_words() -> None:
    machine = office()
    trace = run(machine, "answered")
    valid("trace", trace_text(machine, trace, "json", ""))
    rows = trace.to_json()
    assert rows[0]["state"]["waiting"] == rows[0]["state"]["inbox"] == []
    app = rows[1]["arguments"]["a"]
    assert rows[1]["changed"]["inbox"] == [{"kind": "ASK", "app": app, "size": 2}]
    assert rows[2]["changed"]["outbox"] == [{"message": {"kind": "DONE", "app": app, "size": 1}, "count": 2}]
    assert f"outbox: {{}} -> {{DONE({app}, 1) x2}}" in trace.table(120)
    assert f"inbox: [] -> [ASK({app}, 2)]" in trace.table(120)


def test_a_channel_that_was_broken_keeps_its_type() -> None:
    """Its length says something else than what is in it, as only an edit of the spec can bring about."""
    m = office()
    lengths = [v for v in m.variables if v.name in ("inbox_length", "outbox_length")]
    done = m.scalar("done", bool, init=False)

    @m.action
    def forget() -> None:
        for length in lengths:
            require(length > 0)
            length.next = 0
        done.next = True

    @m.sometimes
    def forgotten() -> Expr:
        return done == True

    trace = run(m, "forgotten")
    last = trace.last
    assert_reads_back(m, trace)
    assert_reads_back(m, Trace(last, ()))
    whole = valid("itf", trace_text(m, trace, "itf", ""))
    assert isinstance(whole, dict)
    assert whole["#meta"]["varTypes"]["inbox"] == "Seq({ kind: Str, app: Str, size: Int })"
    assert whole["states"][-1]["inbox"] == []
    assert str(last["inbox"]) == "[]" + whole["states"][-1]["#meta"]["besides"]["inbox"]
    assert whole["states"][-1]["#meta"]["besides"]["outbox"] == " of 0"
    assert str(last["outbox"]).endswith("} of 0")
    assert str(last["inbox"]).startswith("[] before [ASK(")
    assert trace.to_json()[-1]["changed"]["inbox"] == str(last["inbox"])
    valid("trace", trace_text(m, trace, "json", ""))


def test_texts_and_parts() -> None:
    flags = QueueText([{"last": True}, {"last": False}])
    assert (flags, in_json(flags)) == ("[true, false]", [{"last": True}, {"last": False}])
    assert SetText(["a", ("b", "c")]) == "{a, (b, c)}"
    assert BagText([]) == SetText([]) == "{}"
    assert in_json("{a}") == "{a}"


@pytest.mark.parametrize("name", ["none", "a x2", "web x13", "{web}"])
def test_names_that_mean_something_else_in_a_trace_are_refused(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        office([name, "db"])
    assert repr(name) in str(caught.value)
    assert "App" in str(caught.value)


@pytest.mark.parametrize("name", ["None", "nonesuch", "x2", "a x", "ax2"])
def test_names_that_only_look_like_it_are_not(name: str) -> None:
    assert office([name, "db"])


def test_what_was_not_seen_is_told_in_the_specs_words() -> None:
    found = explore(office(), coverage=True).unseen
    assert found is not None
    named = [each.variable for each in found.values]
    assert {"waiting", "pod.kind", "len(inbox)", "len(lines)", "len(outbox)", "outbox.count(DONE, 1)"} <= set(named)
    assert "inbox.app in slot 1" in named
    assert not [name for name in named if "_" in name]


ODD = 'a "title"; with #1\nand a\r\nline <b>'


def test_titles_keep_to_the_syntax_of_mermaid() -> None:
    text = sequence_diagram(office(), run(office(), "asked"), ODD)
    assert text.splitlines()[1] == 'title: "a \\"title\\"; with #1 and a line <b>"'
    assert all(not line.startswith("and a") for line in text.splitlines())
    one = Merged(ODD, (), (), (), 0, 0)
    assert mermaid([one]).splitlines()[1] == text.splitlines()[1]
    both = mermaid([one, one]).splitlines()
    assert both[2] == '  state "a #34;title#34;#59; with #35;1 and a line #60;b#62;" as g0 {'


def test_names_keep_to_the_syntax_of_mermaid() -> None:
    machine = office(['a"b;c#d<e>', "db"])
    for name in ("asked", "answered"):
        text = sequence_diagram(machine, run(machine, name), "")
        assert "b;c" not in text
        assert '"' not in text
        assert "participant p0 as App a#34;b#59;c#35;d#60;e#62;" in text or "participant p0 as App db" in text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("len(inbox) == 0", True),
        ("len(inbox) + len(outbox)", 0),
        ("inbox == []", True),
        ("[] != inbox or len(lines[node1]) > 0", False),
        ("lines[node2] == [] and members[node1] == {}", True),
        ("waiting != {}", False),
        ("len(waiting) + len(near) + len(members[node1])", 0),
        ("all(len(lines[n]) < 1 for n in Node)", True),
        ("web in waiting or (web, node1) in near", False),
    ],
)
def test_sets_and_channels_can_be_asked_about(text: str, value: object) -> None:
    m = office()
    (state,) = Semantics(m).initial_states()
    query = read_query(m, text)
    assert member(m, query, Semantics(m).evaluate(query.expr, state, dict(query.elements))) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("len(pod) > 0", "pod is no set and no channel; office has waiting, near, members, inbox, outbox, lines"),
        ("len(lines) > 0", "lines is indexed by [Node]; write lines[...]"),
        ("len(inbox[web]) > 0", "inbox is not indexed"),
        ("inbox == [ASK]", "inbox is not compared with [ASK]; there are len(inbox), inbox == []"),
        ("inbox", "inbox is no value; there are len(inbox), inbox == []"),
        ("ASK in inbox", "what is in inbox cannot be asked; there are len(inbox), inbox == []"),
        ("inbox[0] == 1", "what is in inbox cannot be asked"),
        ("lines[node1]", "what is in lines cannot be asked; there are len(lines[node]), lines[node] == []"),
        ("waiting == near", "waiting is not compared with near; there are len(waiting), waiting == {}, A in waiting"),
        ("waiting < {}", "{} is compared by == and !="),
        ("len(nothing) == 0", "nothing is no set and no channel"),
    ],
)
def test_what_cannot_be_asked_is_said(text: str, told: str) -> None:
    with pytest.raises(QueryError) as caught:
        read_query(office(), text)
    assert told in str(caught.value)


def test_the_explorer_finds_what_was_asked() -> None:
    machine = office()
    found = nearest(machine, read_condition(machine, "len(inbox) == 2 and web in members[node1]"))
    assert found.trace is not None
    assert len(found.trace) == 2


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (SetText(["app1", ("app2", "node1")]), "elements"),
        (QueueText([{"kind": "ASK", "app": "app1", "urgent": True}]), "messages"),
        (BagText([({"kind": "ASK"}, 1), ({"kind": "DONE"}, 2)]), "counts"),
        (QueueText([{"kind": "ASK"}], " before [DONE]"), "besides"),
        (BagText([({"kind": "ASK"}, 1)], " of 2"), "besides"),
    ],
)
def test_copies_have_the_parts_too(value: Compound, parts: str) -> None:
    """Also in another process, to which a pickle travels."""
    for other in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert type(other) is type(value)
        assert (str(other), getattr(other, parts)) == (str(value), getattr(value, parts))
