"""The autoscaled gang: what it claims, in which scopes, beside a model written by hand, and with every fault put in."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from autoscaled_gang_by_hand import World
from tables import assert_same_counts

import specs.autoscaled_gang
from model.explore import explore
from model.language import Machine, PropertyKind
from model.semantics import Semantics
from model.verdict import Outcome, Verdict
from specs.autoscaled_gang import Policy, autoscaled_gang
from specs.autoscaled_gang.life_cycle import GONE, IN_THE_CLOUD, TRANSITIONS, successors
from specs.autoscaled_gang.mutants import MUTANTS
from specs.gang import gang
from specs.mutant import Mutant
from specs.ray.life_cycle import Status
from specs.ray.parameters import Edition

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

README = (Path(specs.autoscaled_gang.__file__).parent / "README.md").read_text(encoding="utf-8")

# What may follow each state in Ray 2.48.
with (Path(__file__).parent / "data" / "ray-transitions.csv").open(encoding="utf-8") as file:
    RAY_2_48 = {(e["from"], e["to"]) for e in csv.DictReader(file) if Edition.SEED.value in e["editions"].split()}

ORDER = {"no_later_application_overtakes", "one_gang_is_reserved_at_a_time"}
STUCK = {"waiting_applications_are_not_stuck", "every_gang_can_finish"}


def violated(verdict: Verdict) -> set[str]:
    return {p.name for p in verdict.properties if p.outcome is Outcome.VIOLATED}


def lengths(verdict: Verdict) -> dict[str, int]:
    return {p.name: len(p.trace) for p in verdict.properties if p.outcome is Outcome.VIOLATED and p.trace is not None}


@pytest.fixture(scope="module")
def default() -> Verdict:
    return explore(autoscaled_gang())


def test_the_default_holds_and_says_something(default: Verdict) -> None:
    assert default.outcome is Outcome.HOLDS  # not VACUOUS: every action fires, every premise and goal is reached
    assert [p.name for p in default.properties if p.outcome is not Outcome.HOLDS] == []
    assert default.never_fired == ()


def test_the_default_has_this_size(default: Verdict) -> None:
    c = default.coverage
    assert (c.distinct_states, c.transitions, c.depth) == (3_991, 9_951, 42)


WORLDS: list[dict[str, Any]] = [
    {},
    {"apps": 1},
    {"vanish": True},
    {"fair": True},
    {"fair": True, "vanish": True, "spare_rows": 0},
    {"kuberay": True, "retries": 0},
    {"size": 2, "capacity": 1, "max_concurrent_launches": 2, "retries": 2},
    {"apps": 3, "spare_rows": 0},
]


def machine_of(world: Mapping[str, Any]) -> Machine:
    parameters = dict(world)
    if parameters.pop("fair", False):
        parameters["policy"] = Policy.FAIR
    return autoscaled_gang(**parameters)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_explorer_agrees_with_the_model_by_hand(world: dict[str, Any]) -> None:
    states, transitions, depth, fired = World(**world).explore()
    c = explore(machine_of(world)).coverage
    assert (c.distinct_states, c.transitions, c.depth) == (states, transitions, depth)
    assert {name: n for name, n in c.actions.items() if n} == fired


@pytest.mark.parametrize(
    "parameters",
    [
        {"apps": 1, "spare_rows": 0},
        {"vanish": True, "size": 1, "capacity": 1, "instances": 1, "spare_rows": 0},
        {"policy": Policy.FAIR, "size": 2, "capacity": 2, "instances": 1, "spare_rows": 0, "retries": 0},
        pytest.param({"spare_rows": 0}, marks=pytest.mark.slow),
        pytest.param({"spare_rows": 0, "policy": Policy.FAIR, "vanish": True}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_explorer_agrees_with_the_meaning(parameters: dict[str, Any]) -> None:
    machine = autoscaled_gang(**parameters)
    slow, fast = assert_same_counts(machine)
    assert slow.violated == lengths(fast)
    unsaid = {p.name for p in fast.properties if p.outcome is Outcome.VACUOUS}
    never = {p.name for p in machine.properties if p.kind is PropertyKind.SOMETIMES} - slow.reached.keys()
    assert unsaid == (slow.unreached_premises | never) - slow.violated.keys()


# ---- what holds where


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_concurrent_launches": 2},
        {"retries": 0},
        {"retries": 3},
        {"kuberay": True},
        {"apps": 1},
        {"apps": 1, "vanish": True},
        {"apps": 3, "size": 2},
        {"size": 1, "capacity": 1},
        {"size": 2, "capacity": 3, "instances": 1},
        {"size": 2, "capacity": 1, "vanish": True},
    ],
    ids=str,
)
def test_it_holds_in_other_scopes(parameters: dict[str, Any]) -> None:
    verdict = explore(autoscaled_gang(**parameters))
    assert verdict.outcome is Outcome.HOLDS, [p for p in verdict.properties if p.outcome is not Outcome.HOLDS]


def test_fair_sorting_lets_gangs_overtake_and_block_each_other() -> None:
    verdict = explore(autoscaled_gang(policy=Policy.FAIR))
    assert violated(verdict) == ORDER | STUCK | {"deadlock_free"}
    assert len(verdict["no_later_application_overtakes"].trace or ()) == 8
    stuck = verdict["waiting_applications_are_not_stuck"].trace
    assert stuck is not None
    assert len(stuck) == 16
    held = {
        app: sum(v for cell, v in stuck.last.items() if cell.startswith(f"placeholders[{app},") and isinstance(v, int))
        for app in ("app1", "app2")
    }
    assert held == {"app1": 2, "app2": 2}


def test_fifo_is_not_enough_where_instances_vanish() -> None:
    machine = autoscaled_gang(vanish=True)
    verdict = explore(machine)
    assert violated(verdict) == ORDER | {"waiting_applications_are_not_stuck"}
    trace = verdict["no_later_application_overtakes"].trace
    assert trace is not None
    assert len(trace) == 23
    assert [s.action for s in trace.steps].count("instance_vanishes") == 1
    # the later application takes what was launched for the earlier one's loss
    last = trace.steps[-1]
    assert (last.action, dict(last.arguments)["a"]) == ("allocate", "app2")
    assert Semantics(machine).replay(trace) is None


@pytest.mark.parametrize(
    "parameters", [{"size": 2, "instances": 1, "capacity": 1}, {"apps": 1, "instances": 1}], ids=str
)
def test_a_gang_larger_than_the_maximum_is_stuck(parameters: dict[str, Any]) -> None:
    verdict = explore(autoscaled_gang(**parameters))
    assert STUCK <= violated(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("capacity", [1, 2, 3])
@pytest.mark.parametrize("instances", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("apps", [1, 2, 3])
def test_fifo_holds_exactly_where_one_gang_fits(apps: int, size: int, instances: int, capacity: int) -> None:
    verdict = explore(autoscaled_gang(apps, size, instances, capacity, spare_rows=0))
    fits = size <= instances * capacity
    assert verdict.outcome is (Outcome.HOLDS if fits else Outcome.VIOLATED)
    assert not ORDER & violated(verdict)


@pytest.mark.slow
def test_three_applications_on_three_instances() -> None:
    verdict = explore(autoscaled_gang(apps=3, instances=3))
    assert verdict.outcome is Outcome.HOLDS
    c = verdict.coverage
    assert (c.distinct_states, c.transitions, c.depth) == (199_535, 739_283, 58)


# ---- the life cycle


def test_the_life_cycle_is_a_part_of_rays() -> None:
    for state, allowed in TRANSITIONS.items():
        if state in GONE:  # a new row takes the place: Ray's rows only start as QUEUED here
            assert allowed == (Status.QUEUED,)
        else:
            assert {(state.name, s.name) for s in allowed} <= RAY_2_48
    for state in IN_THE_CLOUD:
        assert (state.name, "TERMINATED") in RAY_2_48


@pytest.mark.parametrize("vanish", [False, True])
def test_every_allowed_transition_is_taken(vanish: bool) -> None:
    """The per-state properties say that no other is; this says that the table has none too many."""
    world = World(vanish=vanish, spare_rows=0)
    taken, seen, left = set(), {world.initial()}, [world.initial()]
    while left:
        state = left.pop()
        for _, new in world.steps(state):
            taken |= {(a.state, b.state) for a, b in zip(state[1], new[1], strict=True) if a.state != b.state}
            if new not in seen:
                seen.add(new)
                left.append(new)
    options = {"kuberay": False, "retries": 1, "vanish": vanish, "again": True}
    assert taken == {(s.name, t.name) for s in TRANSITIONS for t in successors(s, **options)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameters", "missing"),
    [
        ({"kuberay": True}, {"install_ray"}),
        ({"retries": 0}, {"launch_failed"}),
        ({"apps": 1}, {"drain_refused"}),
        ({"vanish": True}, set()),
        ({}, {"instance_vanishes"}),
    ],
    ids=str,
)
def test_what_a_parameter_switches_off_is_not_declared(parameters: dict[str, Any], missing: set[str]) -> None:
    everything = {a.name for a in autoscaled_gang(vanish=True).actions}
    with_vanish = {"vanish": True, **parameters} if parameters else {}
    assert everything - {a.name for a in autoscaled_gang(**with_vanish).actions} == missing


# ---- faults


# The museum's test tries each of these too, beside those of the other specs.
@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_every_fault_is_found(mutant: Mutant) -> None:
    machine = mutant.make()
    found = explore(machine)[mutant.violated]
    if found.kind == "sometimes":
        assert found.outcome is Outcome.VACUOUS
    else:
        assert found.outcome is Outcome.VIOLATED
        assert found.trace is not None
        assert Semantics(machine).replay(found.trace) is None


@pytest.mark.slow
@pytest.mark.parametrize("parameters", {str(dict(m.parameters)): m.parameters for m in MUTANTS}.values(), ids=str)
def test_without_the_fault_its_scope_holds(parameters: Mapping[str, Any]) -> None:
    assert explore(autoscaled_gang(**parameters)).outcome is Outcome.HOLDS


def test_every_property_has_a_fault() -> None:
    assert {p.name for p in autoscaled_gang().properties} == {m.violated for m in MUTANTS}


# ---- mistakes


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": 0}, "size is an integer from 1 to 100, found 0"),
        ({"size": 10**9}, "size is an integer from 1 to 100, found 1000000000"),
        ({"instances": 0}, "instances is an integer from 1 to 100, found 0"),
        ({"capacity": -1}, "capacity is an integer from 1 to 1000, found -1"),
        ({"retries": -1}, "retries is an integer from 0 to 9, found -1"),
        ({"max_concurrent_launches": 0}, "max_concurrent_launches is an integer from 1 to 100, found 0"),
        ({"spare_rows": -1}, "spare_rows is an integer from 0 to 100, found -1"),
        ({"apps": 0}, "apps is an integer from 1 to 100, found 0"),
        ({"apps": 101}, "apps is an integer from 1 to 100, found 101"),
        (
            {"apps": 20, "instances": 9},
            r"apps x \(instances \+ spare_rows\) is at most 100, found 20 x 10 = 200",
        ),
        ({"policy": "fifo"}, "policy is one of fifo, fair, found 'fifo'"),
    ],
    ids=str,
)
def test_a_senseless_parameter_is_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        autoscaled_gang(**parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"apps": 1001}, "apps is an integer from 1 to 100, found 1001"),
        ({"size": 10**6}, "size is an integer from 1 to 100, found 1000000"),
        ({"nodes": 0}, "nodes is an integer from 1 to 100, found 0"),
        ({"quota": 1001}, "quota is an integer from 1 to 1000, found 1001"),
        ({"apps": 50, "nodes": 50}, "apps x nodes is at most 100, found 50 x 50 = 2500"),
    ],
    ids=str,
)
def test_a_senseless_parameter_of_the_benchmark_is_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gang(**parameters)


def test_the_largest_sizes_can_be_explored() -> None:
    assert explore(gang(apps=10, size=100, nodes=10), max_states=10).coverage.distinct_states
    largest = autoscaled_gang(apps=10, size=100, instances=9, retries=9)
    assert explore(largest, max_states=10).coverage.distinct_states


# ---- rules


def test_readme_and_docstrings_cite_the_same_rules() -> None:
    """Each action and each property names the rules of its row, and the table of rules has those and no others."""
    machines = [autoscaled_gang(vanish=True), autoscaled_gang(kuberay=True)]
    docs = {e.name: e.doc for m in machines for e in (*m.actions, *m.properties)}
    cited = {name: set(re.findall(r"\b[YR]\d+\b", doc)) for name, doc in docs.items()}
    assert all(cited.values())
    rows = {
        name: set(re.findall(r"\b[YR]\d+\b", rest))
        for name, rest in re.findall(r"^\| `(\w+)`(?: \([^)]*\))? \| (.*) \|$", README, re.MULTILINE)
    }
    assert rows == {name: rules for name, rules in cited.items() if not name.endswith("_is_left_as_allowed")}
    listed = re.findall(r"^\| ([YR]\d+) \|", README, re.MULTILINE)
    assert listed == sorted(set().union(*cited.values()), key=lambda rule: (rule[0] == "R", int(rule[1:])))
