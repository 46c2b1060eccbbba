"""The current edition of the yunikorn spec: what it shows in which scope, its life cycles beside the published ones,
and the findings: what the code of today does that a property forbids."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from finding_traces import SHOWN, rewritten
from samples import one_in
from tables import assert_same_counts, found, load, rows, told

import specs.yunikorn.current
from model.explore import explore
from model.export.graph import merged_graphs
from model.language.mutation import mutated, without_guard
from model.query import read_query
from model.semantics import Semantics
from model.trace import named_state
from model.verdict import Outcome, Verdict
from specs.loading import SpecLoadError, load_spec
from specs.registry import mutants

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

HERE = Path(specs.yunikorn.current.__file__).parent
README = (HERE / "README.md").read_text(encoding="utf-8")
ROWS = rows(README)
CURRENT = "edition=current"
FINDING = re.compile(
    r"^Shown by `gangproof check yunikorn edition=current (.+) --property (\w+)`: `\w+` is violated after (\d+)"
)
FINDINGS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "findings").glob("*.md"))}


@cache
def checked(parameters: str) -> Verdict:
    return explore(load("yunikorn", parameters, CURRENT))


# ---- what it shows


def test_the_table_is_read() -> None:
    assert len(ROWS) > 25
    assert ROWS["(default)"]["answer"] == "holds"


LARGE = [parameters for parameters, row in ROWS.items() if int(row["states"].replace(",", "")) > 60_000]


@pytest.mark.parametrize(
    "parameters",
    [
        *one_in(6, (parameters for parameters in ROWS if parameters not in LARGE)),
        *(pytest.param(parameters, marks=pytest.mark.slow) for parameters in LARGE),
    ],
)
def test_the_table_tells_what_is_found(parameters: str) -> None:
    verdict = checked(parameters)
    assert found(verdict) == told(ROWS[parameters])
    assert verdict.never_fired == ()


def test_everything_that_is_not_repaired_is_a_finding() -> None:
    """Where events that take something away are allowed, repairs are what makes the spec hold."""
    rows = {parameters: row["answer"] for parameters, row in ROWS.items()}
    for parameters in ("deletions=1", "preemptions=1", "node_removals=1", "reals=2"):
        assert rows[parameters].startswith("violated")
        assert rows[parameters + " repaired=true"] == "holds"


EVENTS = "duplicates deletions bind_failures preemptions node_removals app_removals restarts config_updates".split()


@pytest.mark.parametrize("event", EVENTS)
def test_each_event_has_a_scope_in_which_the_spec_holds(event: str) -> None:
    """And no larger one than that: no other event is in it."""
    named = {parameters: set(re.findall(r"(\w+)=[12]\b", parameters)) & set(EVENTS) for parameters in ROWS}
    assert any(named[p] == {event} and row["answer"] == "holds" for p, row in ROWS.items())
    assert any(set(EVENTS) - {"config_updates"} == found for found in named.values())


# ---- capacity and quotas

BINDS = re.findall(
    r"^\| (node|leaf|parent|root) \| (.+) \| (.+) \| (node_capacity|quota_on_every_level) \|$", README, re.MULTILINE
)
GUARDS = {"node": "node_used", "leaf": "leaf_used", "parent": "(parent_used + 1) <= {quota}", "root": "<= total"}
"""What the guard of a level reads."""


def test_every_level_is_told_to_bind_somewhere() -> None:
    assert [level for level, *_ in BINDS] == list(GUARDS)
    assert {scope for _, *both, _ in BINDS for scope in both} <= {*ROWS, "the same"}


@pytest.mark.parametrize(
    ("action", "level", "scope", "broken"),
    one_in(
        6,
        (
            (action, level, one if action == "allocate_placeholder" or other == "the same" else other, broken)
            for level, one, other, broken in reversed(BINDS)
            for action in ("allocate_placeholder", "allocate_real")
        ),
    ),
)
def test_a_level_binds_where_it_is_told_to(action: str, level: str, scope: str, broken: str) -> None:
    machine = load("yunikorn", scope, CURRENT)
    guard = GUARDS[level].format(quota=machine.parameters["quota"])
    faulty = mutated(lambda: load("yunikorn", scope, CURRENT), without_guard(action, guard))
    assert explore(faulty)[broken].outcome is Outcome.VIOLATED


# ---- crashes


@pytest.mark.parametrize("where", ["same", "other"])
def test_a_crash_follows_from_what_is_read(where: str) -> None:
    """A replacement is confirmed whose real pod is parked no more, and nothing asks whether it is."""
    faulty = mutated(
        lambda: load("yunikorn", "node_removals=1 size=1 repaired=true", CURRENT),
        without_guard(f"confirm_on_{where}_node", "linked["),
    )
    assert explore(faulty)["core_does_not_crash"].outcome is Outcome.VIOLATED


# ---- memory


@pytest.mark.slow
def test_memory_binds_as_units_do() -> None:
    """A node for one pod is one, whichever resource it is short of; nothing gets less of both."""
    scarce = checked("memory=1 placeholder_memory=1 real_memory=1")
    assert found(scarce) == found(checked("capacity=1"))
    assert found(checked("memory=2 placeholder_memory=1 real_memory=1")) == found(checked("(default)"))


# ---- task groups


@pytest.mark.slow
def test_the_golden_interpreter_agrees_on_task_groups() -> None:
    machine = load("yunikorn", "groups=2 timers=off repaired=true", CURRENT)
    slow, fast = assert_same_counts(machine)
    assert slow.violated == {}
    assert fast.outcome is Outcome.HOLDS


def test_a_real_pod_replaces_a_placeholder_of_its_group() -> None:
    """Of three placeholders the second is alone in its group, so a real pod of that group goes nowhere else."""
    machine = load("yunikorn", "size=3 groups=2 timers=off repaired=true", CURRENT)
    verdict = explore(machine)
    assert verdict.outcome is Outcome.HOLDS
    s = Semantics(machine)
    state = s.initial_states()[0]
    wanted = ["submit_application", "accept_application", "try_reserve", "ask_for_placeholders"]
    wanted += ["allocate_placeholder", "hear_allocation", "bind_placeholder"] * 3
    wanted += ["reservation_done", "ask_for_real_pod"]
    for name in wanted:
        fires = [i for i in s.instances if i.action.name == name and s.is_enabled(i, state)]
        after = s.fire(fires[-1], state)
        assert isinstance(after, tuple)
        state = after
    assert named_state(machine, state)["real_asks[app1, group2]"] == 1
    enabled = [i for i in s.instances if i.action.name == "replace_on_same_node" and s.is_enabled(i, state)]
    assert {dict(s.arguments(i))["p"] for i in enabled} == {"member2"}


# ---- findings


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_is_found(name: str) -> None:
    told = FINDING.search(FINDINGS[name].split("\n", 2)[2])
    assert told is not None
    verdict = checked(told[1])
    trace = verdict[told[2]].trace
    assert verdict[told[2]].outcome is Outcome.VIOLATED
    assert trace is not None
    assert len(trace) == int(told[3])
    assert f"findings/{name}.md" in README
    assert re.search(r"^Confirmed: (yes|no)\b", FINDINGS[name], re.MULTILINE)


@pytest.mark.parametrize("name", one_in(6, FINDINGS))
def test_a_finding_has_the_trace_that_is_printed(name: str) -> None:
    assert SHOWN.search(FINDINGS[name])
    assert rewritten(FINDINGS[name]) == FINDINGS[name]


# ---- life cycles

PUBLISHED = Path(__file__).parent / "data" / "yunikorn_transitions.csv"
"""The transitions of the state machines of yunikorn-core and yunikorn-k8shim (application_state.go, task_state.go,
object_state.go), as the code of summer 2026 has them: which actions show one, or why it is left out."""
CELLS = {"core.app": "core[app1]", "shim.app": "shim[app1]", "shim.task": "task[app1, member1]"}
SCOPES = (
    "(default)",
    "style=hard",
    "size=5",
    "deletions=2 reals=2",
    "preemptions=1 style=hard",
    "node_removals=1 size=1",
    "app_removals=1",
    "bind_failures=1",
)
Pair = tuple[str, str]
"""From a state to another."""


@cache
def published() -> list[dict[str, str]]:
    """The rows."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def shown() -> dict[str, dict[Pair, set[str]]]:
    """For each state machine the transitions that some scope shows, and the actions that make them."""
    found: dict[str, dict[Pair, set[str]]] = {name: defaultdict(set) for name in CELLS}
    for scope in SCOPES:
        machine = load("yunikorn", scope, CURRENT)
        graphs = merged_graphs(machine, [[read_query(machine, c)] for c in CELLS.values()])
        for name, graph in zip(CELLS, graphs, strict=True):
            for edge in graph.edges:
                pair = (str(graph.nodes[edge.source].values[0]), str(graph.nodes[edge.target].values[0]))
                if pair[0] != pair[1]:
                    found[name][pair].update(edge.actions)
    return found


def test_all_of_the_published_tables_is_there() -> None:
    machines = Counter(row["machine"] for row in published())
    assert machines == {"core.app": 18, "shim.app": 27, "shim.task": 28, "core.object": 7}
    assert len({(row["machine"], row["from"], row["event"]) for row in published()}) == 80


def test_every_transition_is_published_and_made_by_the_actions_that_are_told() -> None:
    for name, pairs in shown().items():
        for pair, actions in pairs.items():
            told = [r["shown by"].split() for r in published() if (r["machine"], r["from"], r["to"]) == (name, *pair)]
            assert {action for row in told for action in row} == actions, (name, pair)


def test_every_published_transition_is_shown_or_left_out_for_a_reason() -> None:
    for row in published():
        made_by = shown().get(row["machine"], {}).get((row["from"], row["to"]), set())
        assert set(row["shown by"].split()) <= made_by, row
        assert (row["shown by"] == "") == (len(row["left out"]) > 20), row


# ---- the museum


def test_the_museum_has_its_reports() -> None:
    reports = {m.report for m in mutants("yunikorn") if m.report}
    assert len(reports) >= 25
    assert all(re.fullmatch(r"YUNIKORN-\d+", report) for report in reports)
    assert all(m.lines <= 10 for m in mutants("yunikorn"))
    listed = set(re.findall(r"^\| (YUNIKORN-\d+) \|", README, re.MULTILINE))
    assert reports <= listed


def test_a_gang_is_rejected_for_what_a_level_does_not_list_and_for_nothing_else() -> None:
    """YUNIKORN-2789 changes how the least maximum is taken, which is the same where every level lists one."""
    (fault,) = [m for m in mutants("yunikorn") if m.report == "YUNIKORN-2789"]
    listed = {**fault.parameters, "leaf_quota": 4}
    assert found(explore(replace(fault, parameters=listed).make())) == told(ROWS["(default)"])
    assert explore(fault.make())["oversized_gangs_are_rejected"].outcome is Outcome.VIOLATED


GATHERED = (Path(__file__).parent / "data" / "yunikorn_reports.txt").read_text(encoding="utf-8").split()
"""The reports that were looked at."""


def test_a_report_is_in_the_museum_or_left_out_for_a_reason() -> None:
    modelled = {m.report for m in mutants("yunikorn") if m.report}
    table = README.split("Looked at and not modelled:")[1].split("\n## ")[0]
    left_out = re.findall(r"^\| ((?:[\w-]+#?\d+(?:, )?)+) \| .{10,} \|$", table, re.MULTILINE)
    ids = [each for row in left_out for each in row.split(", ")]
    assert len(ids) == len(set(ids))
    assert not modelled & set(ids)
    assert len(GATHERED) > 55
    assert set(GATHERED) <= modelled | set(ids)


# ---- parameters


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["apps=0"], "yunikorn: apps is an integer from 1 to 4, found 0"),
        (["groups=3"], "yunikorn: groups is an integer from 1 to 2, found 3"),
        (["groups=2", "size=1"], "yunikorn: groups is an integer from 1 to 1, found 2"),
        (["queues=3"], "yunikorn: queues: expected one_leaf|two_leaves, found '3'"),
        (["leaf_quota=5"], "leaf_quota is at most quota, which is 4; found 5"),
        (["memory=2"], "memory, placeholder_memory and real_memory go together; found 2, 0, 0"),
        (["config_updates=1"], "config_updates raise the user_limit, of which there is none; found 1"),
        (["restarts=3"], "restarts is an integer from 0 to 2, found 3"),
        (["style=firm"], "yunikorn: style: expected soft|hard, found 'firm'"),
    ],
)
def test_a_bad_parameter_is_told(assignments: list[str], message: str) -> None:
    with pytest.raises(SpecLoadError, match=re.escape(message)):
        load_spec("yunikorn", [CURRENT, *assignments])
