"""The yunikorn spec: what it claims in which scope, what the findings look like, and sizes that make no sense."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from samples import one_in
from tables import assert_same_counts, found, load, rows, told, vacuous, violated

import specs.yunikorn.seed
from model.explore import explore
from model.language import Machine, PropertyKind
from model.semantics import Semantics, State
from model.trace import Trace, named_state
from model.verdict import Outcome
from specs.loading import SpecLoadError, load_spec
from specs.yunikorn.seed import Gate, Policy, Queues, Timers, yunikorn_seed
from specs.yunikorn.seed.parameters import scope

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

README = (Path(specs.yunikorn.seed.__file__).parent / "README.md").read_text(encoding="utf-8")
ROWS = rows(README)
STUCK = "no_starving_gangs"


def test_the_table_is_read() -> None:
    assert {"(default)", "policy=fair reject_fair=false", "queues=two_leaves gate=none"} < ROWS.keys()
    assert len(ROWS) == 20


@pytest.mark.parametrize("parameters", one_in(6, ROWS))
def test_the_table_tells_what_is_found(parameters: str) -> None:
    verdict = explore(load("yunikorn", parameters, "edition=seed"))
    assert found(verdict) == told(ROWS[parameters])
    if parameters != "capacity=1":  # where no gang fits the cluster, none runs
        assert verdict.never_fired == ()
        assert vacuous(verdict) == []


@pytest.mark.parametrize(
    "parameters",
    [
        "policy=fair",
        "apps=1",
        pytest.param("size=3,5", marks=pytest.mark.slow),
        pytest.param("size=2,1 queues=two_leaves gate=reserves timers=free nodes=1", marks=pytest.mark.slow),
        pytest.param("size=2 nodes=1 quota=2 queues=two_leaves gate=none", marks=pytest.mark.slow),  # violated
        pytest.param("(default)", marks=[pytest.mark.slow, pytest.mark.timeout(1200)]),
    ],
)
def test_the_golden_interpreter_agrees(parameters: str) -> None:
    machine = load("yunikorn", parameters, "edition=seed")
    slow, fast = assert_same_counts(machine)
    assert slow.violated == violated(fast)
    assert slow.unreached_premises == set()
    assert slow.reached.keys() == {p.name for p in fast.properties if p.kind == "sometimes"}


# ---- the findings


def last_state(machine: Machine, trace: Trace) -> State:
    s = Semantics(machine)
    assert s.replay(trace) is None
    state = next(x for x in s.initial_states() if named_state(machine, x) == trace.initial)
    for step in trace.steps:
        after = (s.fire(i, state) for i in s.instances if s.is_enabled(i, state) and i.action.name == step.action)
        state = next(x for x in after if isinstance(x, tuple) and named_state(machine, x) == step.state)
    return state


@pytest.mark.parametrize(
    "parameters",
    [
        "policy=fair reject_fair=false",
        "policy=fair reject_fair=false gate=none",
        "queues=two_leaves",
        "queues=two_leaves gate=none",
        "queues=two_leaves leaf_quota=3",
    ],
)
def test_two_gangs_hold_part_and_only_a_timeout_is_left(parameters: str) -> None:
    machine = load("yunikorn", parameters, "edition=seed")
    verdict = explore(machine)
    trace = verdict[STUCK].trace
    assert trace is not None
    assert [step.action for step in trace.steps].count("allocate_placeholder") == 4
    for app in ("app1", "app2"):
        assert sum(int(v) for k, v in trace.last.items() if k.startswith(f"placeholders[{app}")) == 2
        assert trace.last[f"asks[{app}]"] == 1
    s, state = Semantics(machine), last_state(machine, trace)
    enabled = {i.action.name for i in s.instances if s.is_enabled(i, state)}
    assert enabled == {"placeholder_timeout"}


def test_without_timers_that_state_is_a_deadlock() -> None:
    found = violated(explore(yunikorn_seed(policy=Policy.FAIR, reject_fair=False, timers=Timers.OFF)))
    assert found[STUCK] == found["deadlock_free"] == 6


def test_the_default_kills_completes_and_cleans_up() -> None:
    verdict = explore(yunikorn_seed())
    assert verdict.outcome is Outcome.HOLDS
    reached = {p.name: len(p.trace or ()) for p in verdict.properties if p.kind == "sometimes"}
    # submit, one placeholder, timeout, two asks and the placeholder released
    assert reached["an_application_is_killed"] == 6
    # each: submit, three placeholders, one replaced, confirmed and finished; two cleaned up; completed
    assert reached["every_accepted_application_completes"] == 22
    assert min(verdict.coverage.actions.values()) > 0


# ---- any small scope

SIZES = st.integers(1, 3)


@st.composite
def scopes(draw: st.DrawFn) -> dict[str, Any]:
    """Parameters of machines with a few thousand states at most."""
    apps = draw(st.integers(1, 2))
    nodes = draw(st.integers(1, 2))
    quota = draw(st.integers(1, 5))
    queues = draw(st.sampled_from(Queues))
    return {
        "apps": apps,
        "size": draw(SIZES | st.tuples(*[SIZES] * apps)),
        "nodes": nodes,
        "capacity": draw(SIZES | st.tuples(*[SIZES] * nodes)),
        "quota": quota,
        "policy": draw(st.sampled_from(Policy)),
        "reject_fair": draw(st.sampled_from([False, False, False, True])),
        "gate": draw(st.sampled_from(Gate)),
        "queues": queues,
        "leaf_quota": draw(st.integers(0, quota)) if queues is Queues.TWO_LEAVES else 0,
        "timers": draw(st.sampled_from(Timers)),
    }


@settings(max_examples=12)
@given(scopes())
def test_no_scope_is_vacuous_and_only_progress_can_be_violated(p: dict[str, Any]) -> None:
    checked = scope(*(p[n] for n in ("apps", "size", "nodes", "capacity", "quota", "leaf_quota", "queues")))
    room = sum(checked.capacities)
    every_gang_fits = all(size <= room for size in checked.accepted_sizes)
    verdict = explore(yunikorn_seed(**p))
    event(verdict.outcome.value)
    assert violated(verdict).keys() <= {
        STUCK,
        "every_application_can_end",
        "every_accepted_application_ends",
        "every_admitted_gang_is_decided",
        "every_real_ask_is_served",
        "deadlock_free",
    }
    if every_gang_fits:
        assert verdict.never_fired == ()
        assert all(x.outcome is not Outcome.VACUOUS for x in verdict.properties)
        in_order = p["policy"] is not Policy.FAIR and p["queues"] is Queues.ONE_LEAF
        refused = p["policy"] is Policy.FAIR and p["reject_fair"]
        counted = p["gate"] is Gate.RESERVES and room >= p["quota"]
        if in_order or refused or counted:
            assert verdict.outcome is Outcome.HOLDS
    elif not (p["policy"] is Policy.FAIR and p["reject_fair"]):
        assert STUCK in violated(verdict)


LARGER = dict(re.findall(r"^\| (apps=\d capacity=4 quota=7) \| ([\d,]+ \| [\d,]+ \| \d+) \|$", README, re.MULTILINE))


def larger(parameters: str, *, every_property: bool) -> None:
    machine = load("yunikorn", parameters, "edition=seed")
    if not every_property:
        costly = [p for p in machine.properties if p.kind is PropertyKind.POSSIBLE or p.kind.is_liveness]
        machine.properties = [p for p in machine.properties if p not in costly]
    verdict = explore(machine, max_states=100_000_000)
    c = verdict.coverage
    assert verdict.outcome is Outcome.HOLDS
    assert f"{c.distinct_states:,} | {c.transitions:,} | {c.depth}" == LARGER[parameters]


def test_a_larger_quota_for_two_gangs() -> None:
    larger("apps=2 capacity=4 quota=7", every_property=True)


@pytest.mark.slow
def test_a_larger_quota_for_three_gangs() -> None:
    larger("apps=3 capacity=4 quota=7", every_property=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_larger_quota_for_four_gangs() -> None:
    larger("apps=4 capacity=4 quota=7", every_property=False)


# ---- bad parameters


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["apps=0"], "yunikorn: apps is an integer from 1 to 16, found 0"),
        (["apps=17"], "yunikorn: apps is an integer from 1 to 16, found 17"),
        (["nodes=-1"], "yunikorn: nodes is an integer from 1 to 16, found -1"),
        (["size=0"], "yunikorn: size is an integer from 1 to 1000, found 0"),
        (["size=3,0"], "yunikorn: size is an integer from 1 to 1000, found 0"),
        (["size=3,2,1"], "yunikorn: size is one integer, or one per application (2), found 3"),
        (["capacity=2,2,2"], "yunikorn: capacity is one integer, or one per node (2), found 3"),
        (["quota=100000000000"], "yunikorn: quota is an integer from 1 to 1000, found 100000000000"),
        (["quota=x"], "yunikorn: quota: expected int, found 'x'"),
        (["size=big"], "yunikorn: size: expected int or int,int,..., found 'big'"),
        (["leaf_quota=3"], "leaf_quota is for queues=two_leaves; with one leaf, quota is the leaf's; found 3"),
        (["queues=two_leaves", "leaf_quota=5"], "leaf_quota is at most quota, which is 4; found 5"),
        (["gate=open"], "yunikorn: gate: expected none|fits|reserves, found 'open'"),
        (["reject_fair=maybe"], "yunikorn: reject_fair: expected true|false, found 'maybe'"),
        (["quotas=4"], "there is no parameter 'quotas'; there are edition, apps, size, nodes, capacity, queues, "),
    ],
)
def test_a_bad_parameter_is_told(assignments: list[str], message: str) -> None:
    with pytest.raises(SpecLoadError, match=re.escape(message)):
        load_spec("yunikorn", ["edition=seed", *assignments])


def test_the_machine_tells_its_parameters() -> None:
    machine = load_spec("yunikorn", ["edition=seed", "size=3,2", "policy=FIFO", "reject_fair=false"])
    assert machine.parameters == {
        "edition": "seed",
        "apps": 2,
        "size": [3, 2],
        "nodes": 2,
        "capacity": 2,
        "quota": 4,
        "policy": "fifo",
        "reject_fair": False,
        "gate": "fits",
        "queues": "one_leaf",
        "leaf_quota": 0,
        "timers": "slow",
    }
