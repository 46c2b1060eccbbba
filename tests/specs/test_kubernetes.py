"""The specs of Kubernetes PodGroups, composite groups, coscheduling and Kueue: what their READMEs say is found."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import pytest
from rules import Rules
from samples import one_in
from tables import found, load, rows, told

import specs
from model.explore import explore
from model.export.graph import merged_graphs
from model.query import read_query
from model.semantics import Semantics
from model.verdict import Outcome
from specs.composite import composite
from specs.kubernetes import Cycle, kubernetes
from specs.loading import SpecLoadError, load_spec

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

FOLDER = Path(str(specs.__file__)).parent
NAMES = ("kubernetes", "composite", "coscheduling", "kueue")


def readme(spec: str) -> str:
    return (FOLDER / spec / "README.md").read_text(encoding="utf-8")


ROWS = {(spec, parameters): row for spec in NAMES for parameters, row in rows(readme(spec)).items()}
LARGE = [key for key, row in ROWS.items() if int(row["states"].replace(",", "")) > 100_000]


def test_the_tables_are_read() -> None:
    assert {spec for spec, _ in ROWS} == set(NAMES)
    assert len(ROWS) >= 35


@pytest.mark.parametrize(
    ("spec", "parameters"),
    [
        *one_in(6, (key for key in ROWS if key not in LARGE)),
        *(pytest.param(*key, marks=pytest.mark.slow) for key in LARGE),
    ],
)
def test_the_tables_tell_what_is_found(spec: str, parameters: str) -> None:
    verdict = explore(load(spec, parameters))
    assert found(verdict) == told(ROWS[spec, parameters])


@pytest.mark.parametrize("spec", NAMES)
def test_the_default_holds_and_is_not_empty(spec: str) -> None:
    verdict = explore(load(spec, "(default)"))
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.never_fired == ()


# ---- rules


# Together these have every action and every property.
NESTED = composite(children=4, middles=(2, 4), middle_min=(2, 1), min_groups=1, pods=1, min_count=1)
MACHINES = (
    kubernetes(),
    kubernetes(cycle=Cycle.POD_BY_POD, misfits=0),
    kubernetes(misfits=0, late=True),
    composite(),
    NESTED,
)
RULES = Rules("K", readme("kubernetes").split("## Rules")[1], MACHINES)


def test_no_rule_is_lost() -> None:
    RULES.assert_none_is_lost(22)


@pytest.mark.parametrize("rule", RULES.rows)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    RULES.assert_followed_or_left_out(rule)


def test_every_action_says_which_rule_it_follows() -> None:
    RULES.assert_every_action_cites_one()


# ---- transitions

TABLE = list(csv.DictReader((Path(__file__).parent / "data" / "kubernetes-transitions.csv").open(encoding="utf-8")))
BASE = "pods=2 nodes=2"
# Fixed, not read from the table: a row that is taken out of it is then missed.
SCOPES_SHOWN = (
    BASE,
    "pods=2 nodes=2 edition=seed",
    "pods=3 nodes=2 misfits=0",
    "edition=seed pods=3 nodes=2 misfits=0",
)


@cache
def shown(parameters: str) -> frozenset[tuple[str, str, str]]:
    """Steps of the queue and the condition of any group, in the explored spec."""
    machine = load("kubernetes", parameters)
    cells = [(v, f"{v}[podgroup{i}]") for v in ("queue", "condition") for i in (1, 2)]
    graphs = merged_graphs(machine, [[read_query(machine, cell)] for _, cell in cells])
    return frozenset(
        (variable, str(graph.nodes[e.source].values[0]), str(graph.nodes[e.target].values[0]))
        for (variable, _), graph in zip(cells, graphs, strict=True)
        for e in graph.edges
        if e.source != e.target
    )


def test_every_step_is_in_the_published_table_and_every_row_is_shown() -> None:
    rows = {(row["variable"], row["from"], row["to"]): row["shown by"] for row in TABLE}
    modelled = {step for step, where in rows.items() if not where.startswith("not modelled: ")}
    assert {where for step, where in rows.items() if where and step in modelled} <= set(SCOPES_SHOWN)
    assert set().union(*map(shown, SCOPES_SHOWN)) == modelled
    assert len(rows) == 22, "a step that is published and not modelled keeps its row"
    for step, where in rows.items():
        if step in modelled:
            assert step in shown(where or BASE)


# ---- findings


def test_one_pod_at_a_time_deadlocks_two_gangs_and_the_cycle_does_not() -> None:
    two = {"pods": 2, "nodes": 2, "misfits": 0, "failures": 0}
    alone = explore(kubernetes(**two, cycle=Cycle.POD_BY_POD))  # type: ignore[arg-type]
    trace = alone["deadlock_free"].trace
    assert trace is not None
    assert sorted(int(v) for k, v in trace.last.items() if k.startswith("bound[")) == [0, 0, 1, 1]
    assert explore(kubernetes(**two)).outcome is Outcome.HOLDS  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "file"),
    [("kubernetes", "decisions_count_pods_that_are_gone.md"), ("kueue", "three_workloads_in_a_ring.md")],
)
def test_a_finding_is_shown_by_what_it_says(spec: str, file: str) -> None:
    text = (FOLDER / spec / "findings" / file).read_text(encoding="utf-8")
    call = re.search(rf"gangproof check {spec} ([^`]+)`", text)
    assert call is not None
    machine = load(spec, call[1])
    told = [p for p in explore(machine).properties if p.outcome is Outcome.VIOLATED]
    assert told
    for p in told:
        assert p.name in text
        assert p.trace is not None
        assert Semantics(machine).replay(p.trace) is None
    assert "Confirmed: no." in text


# ---- bad parameters


@pytest.mark.parametrize(
    ("spec", "assignments", "message"),
    [
        ("kubernetes", ["groups=9"], "groups is an integer from 1 to 8, found 9"),
        ("kubernetes", ["min_count=4"], "min_count is an integer from 1 to 3, found 4"),
        ("kubernetes", ["nodes=1"], "min_count is at most nodes x capacity, which is 1; found 2"),
        ("kubernetes", ["needs=2"], "needs of group 1 is an integer from 1 to 1, found 2"),
        (
            "kubernetes",
            ["memory=3", "needs=3", "nodes=1", "capacity=2"],
            "the pods that nodes have memory for, which is 1",
        ),
        ("kubernetes", ["memory=3", "needs=1,2,3"], "needs has a number for each group, of which there are 2"),
        ("composite", ["pods=1"], "pods of child 1 is an integer from 2 to 16, found 1"),
        ("composite", ["middles=1,1,1"], "the number of levels in middles is an integer from 0 to 2, found 3"),
        ("composite", ["middles=3"], "middles is an integer from 1 to 2, found 3"),
        ("composite", ["children=4", "middles=2,3"], "middles divides the next level of middles, which is 3; found 2"),
        ("composite", ["children=4", "middles=1,2"], "min_groups is an integer from 1 to 1, found 2"),
        ("composite", ["middles=1,2", "middle_min=1,1,1"], "middle_min has a number for each level of middles"),
        ("composite", ["blocks=3"], "slots has the same number of racks for each of 3 blocks, found 4"),
        (
            "composite",
            ["children=8", "slots=" + ",".join(["2"] * 13)],
            "children x racks is at most 96, found 8 x 13 = 104",
        ),
        (
            "composite",
            ["slots=" + ",".join(["2"] * 33)],
            "the number of racks in slots is an integer from 1 to 32, found 33",
        ),
        ("composite", ["slots=-1,2,2,2"], "slots of rack 1 is an integer from 0 to 16, found -1"),
        ("composite", ["failures=-1"], "failures is an integer from 0 to 8, found -1"),
        ("coscheduling", ["together=3"], "together is an integer from 1 to 2, found 3"),
        ("coscheduling", ["gangs=3", "together=2"], "together divides gangs, which is 3; found 2"),
        ("coscheduling", ["size=2,2,2"], "size has a number for each gang, of which there are 2; found 3 numbers"),
        ("coscheduling", ["slots=-1"], "slots is an integer from 1 to 64, found -1"),
        ("kueue", ["size=1,2"], "size has a number for each workload, of which there are 4; found 2 numbers"),
        ("kueue", ["nominal=1,1"], "size of workload 1 is an integer from 1 to 2, found 4"),
        ("kueue", ["weight=-1,1"], "weight of queue 1 is an integer from 0 to 16, found -1"),
    ],
)
def test_a_bad_parameter_is_told(spec: str, assignments: list[str], message: str) -> None:
    with pytest.raises(SpecLoadError, match=re.escape(message)):
        load_spec(spec, assignments)
