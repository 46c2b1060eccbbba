"""Slices for proofs about any size: each is a slice of its spec, at small sizes; and what leaves it is found."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from edition_pages import CITED
from tables import assert_same_counts, vacuous

from model.explore import explore
from model.explore.vacuity import vacuity
from model.language import Machine, PropertyKind
from model.language.mutation import mutated, without_guard
from model.prove import prove
from model.prove.solving import Deadline, OutOfTime
from model.verdict import Outcome, typed
from specs.kubernetes import kubernetes
from specs.loading import SpecLoadError, load_sliced, load_spec
from specs.mutant import Mutant
from specs.registry import SHIPPED, SLICED, mutants, slice_of
from specs.slice_check import SliceError, check_follows, check_names, check_slice, compare
from specs.volcano import Edition
from specs.yunikorn import Queues, yunikorn

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

ROW = re.compile(r"^\| (\(default\)|[a-z_]+=[^|]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)


def readme(spec: str) -> str:
    folder = Path(str(importlib.import_module(SHIPPED[spec] + ".slice").__file__)).parent
    return (folder / "README.md").read_text(encoding="utf-8")


ROWS = [pytest.param(spec, *row, id=f"{spec}-{row[0]}") for spec in SLICED for row in ROW.findall(readme(spec))]
# Together they have every variable and every action of which the slices speak.
NAMED = {
    "yunikorn": ("", "policy=fair", "size=5"),
    "kubernetes": ("", "edition=seed", "failures=2 pods=2 nodes=2"),
    "volcano": ("drains=1 bind_failures=1 quota_changes=1", "edition=current bind_failures=1"),
}


def machines(spec: str, scope: str) -> tuple[Machine, Machine]:
    _, full, small = load_sliced(spec, scope.split())
    return full, small


def first_is_fast() -> Iterator[Any]:
    """The rows of the READMEs; all but the first of each are for the slow tests."""
    for before, row in itertools.pairwise([None, *ROWS]):
        assert row is not None
        marks = () if before is None or before.values[0] != row.values[0] else (pytest.mark.slow,)
        yield pytest.param(*row.values, id=row.id, marks=marks)


@pytest.mark.parametrize(("spec", "scope", "states", "seen", "steps", "stutters"), list(first_is_fast()))
def test_every_step_is_one_of_the_slice(
    spec: str, scope: str, states: str, seen: str, steps: str, stutters: str
) -> None:
    full, small = machines(spec, "" if scope == "(default)" else scope)
    report = compare(slice_of(spec), full, small)
    assert report.first_bad is None, report.first_bad.text
    counts = (report.states, report.slice_states, report.steps, report.stutters)
    assert tuple(f"{count:,}" for count in counts) == (states, seen, steps, stutters)
    if spec == "volcano":
        found = explore(full).coverage
        assert (report.states, report.steps) == (found.distinct_states, found.transitions)


@pytest.mark.parametrize("spec", SLICED)
def test_the_readme_names_what_there_is(spec: str) -> None:
    slice_ = slice_of(spec)
    full, small = slice_.machines({"queues": Queues.TWO_LEAVES} if spec == "yunikorn" else {})
    rows = re.findall(r"^\| (`\w+`.*) \| (.*) \|$", readme(spec), re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert told == {p.name for p in small.properties if p.kind is not PropertyKind.SOMETIMES}
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row[1])} <= {p.name for p in full.properties}
    for claim, premises in slice_.follows.items():
        assert all(any(f"`{p}`" in row[0] and f"`{claim}`" in row[1] for row in rows) for p in premises)


@pytest.mark.parametrize("spec", SLICED)
def test_everything_is_seen_or_named_as_removed(spec: str) -> None:
    """And nothing else is named: no entry is of what is gone from the spec, or from the slice."""
    slice_, names = slice_of(spec), set[str]()
    for scope in NAMED[spec]:
        full, small = machines(spec, scope)
        check_names(slice_, full, small)
        names |= {v.name for v in full.variables} | {a.name for a in full.actions}
    assert {*slice_.removed, *slice_.actions} <= names
    assert {n for others in slice_.actions.values() for n in others} == {a.name for a in slice_.small().actions}
    assert all(len(why) > 10 for why in slice_.removed.values())


@pytest.mark.parametrize("spec", SLICED)
def test_a_slice_holds(spec: str) -> None:
    machine = load_spec(f"{spec}:slice")
    verdict = explore(machine)
    assert (verdict.outcome, vacuous(verdict)) == (Outcome.HOLDS, [])
    assert all(verdict.coverage.actions.values())
    documented = [*machine.actions, *machine.properties]
    assert [each.name for each in documented if not CITED.search(each.doc)] == []


@pytest.mark.parametrize(
    ("spec", "scope"),
    [
        ("yunikorn", "queues=two_leaves"),
        ("kubernetes", "groups=1 min_count=3 nodes=1 capacity=3 misfits=0"),
        ("volcano", "jobs=2 queues=1"),
    ],
)
def test_what_is_proved_of_a_slice_is_what_the_spec_claims(spec: str, scope: str) -> None:
    slice_ = slice_of(spec)
    full, small = machines(spec, scope)
    assert set(check_follows(slice_, full, small)) == slice_.follows.keys()
    for claim in slice_.follows:
        with pytest.raises(SliceError, match=f"^{claim} does not follow from : "):
            check_follows(replace(slice_, follows={claim: ()}), full, small)


@pytest.mark.parametrize(
    ("spec", "claim", "premise", "message"),
    [
        ("yunikorn", "no_partial_gang_runs", "node_capacity", "no_partial_gang_runs does not follow from node_cap"),
        ("yunikorn", "terminal_holds_nothing", "no_partial_gang_runs", "terminal_holds_nothing does not follow from "),
        ("volcano", "no_partial_gang_is_bound", "jobs_do_not_grow", "no_partial_gang_is_bound does not follow"),
        ("volcano", "usage_is_conserved", "usage_is_conserved", "usage_is_conserved does not follow from "),
        ("volcano", "cluster_capacity", "only_ready_jobs_are_committed", "cluster_capacity is about states, and only"),
        ("kubernetes", "node_capacity", "nothing", "node_capacity is said to follow from nothing, which the slice "),
    ],
)
def test_what_does_not_follow_is_refused(spec: str, claim: str, premise: str, message: str) -> None:
    slice_ = replace(slice_of(spec), follows={claim: (premise,)})
    with pytest.raises(SliceError, match=f"^{message}"):
        check_follows(slice_, *machines(spec, "pods=2 nodes=2 misfits=0" if spec == "kubernetes" else ""))


@pytest.mark.parametrize("step", range(4))
def test_comparing_ends_with_the_time(step: int) -> None:
    """Also when it is only then to stop that it was asked several times."""
    slice_, asked = slice_of("volcano"), itertools.count()
    small = {"capacity": 3, "jobs": 1, "queues": 1}
    with pytest.raises(OutOfTime, match=r"^interrupted$"):
        compare(slice_, *slice_.machines(small), deadline=Deadline(None, lambda: next(asked) >= 3**step - 1))
    with pytest.raises(OutOfTime, match=r"^time limit of 0 s ran out$"):
        check_follows(slice_, *slice_.machines(small), Deadline(0))


def test_comparing_proves_what_follows() -> None:
    slice_ = replace(slice_of("volcano"), follows={"cluster_capacity": ("jobs_do_not_grow",)})
    with pytest.raises(SliceError, match=r"^cluster_capacity does not follow from jobs_do_not_grow: "):
        check_slice(slice_, capacity=3, jobs=1, queues=1)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SLICED)
def test_the_properties_of_a_slice_are_inductive_and_each_can_be_broken(spec: str) -> None:
    assert_same_counts(load_spec(f"{spec}:slice"))
    proof = prove(load_spec(f"{spec}:slice"), most_k=1, length=0, strengthen=False)
    assert proof.outcome is Outcome.HOLDS
    found = vacuity(lambda: load_spec(f"{spec}:slice"), explore(load_spec(f"{spec}:slice")))
    assert found.unbroken == ()


def leaves(mutant: Mutant) -> str:
    """How the mutant leaves the slice; nothing if it does not."""
    slice_ = slice_of(mutant.base().name)
    _, small = slice_.machines(mutant.parameters)
    try:
        report = compare(slice_, mutant.make(), small)
    except SliceError as error:  # it brings an action of its own
        return str(error)
    return "" if report.first_bad is None else report.first_bad.text


def breaking(spec: str) -> list[Mutant]:
    """The mutants that break what the slice is proved to have, in scopes that it has."""
    found = []
    for mutant in mutants(spec):
        if mutant.violated not in slice_of(spec).follows:
            continue
        try:
            slice_of(spec).scale(slice_of(spec).parameters(mutant.parameters))
        except ValueError:
            continue
        found.append(mutant)
    return found


def test_a_fault_that_breaks_what_is_proved_leaves_the_slice() -> None:
    build = partial(yunikorn, size=2, quota=3)
    faulty = mutated(build, without_guard("allocate_placeholder", "< capacity[n]"))
    _, small = slice_of("yunikorn").machines({"size": 2, "quota": 3})
    bad = compare(slice_of("yunikorn"), faulty, small).first_bad
    assert bad is not None
    told = re.fullmatch(r"(node_used\[node[12]\]) is 3, outside 0\.\.2", bad.why)
    assert told is not None
    assert (bad.before[told[1]], bad.after[told[1]]) == (2, 3)
    assert bad.call.startswith("allocate_placeholder(app")
    assert bad.distance == 6
    said = " ".join(bad.text.split())
    assert said.startswith(f"step 7, {bad.call}, is no step of the slice: {bad.why} in the full spec: asks[")
    assert f" in the slice: asks[{bad.call[21:25]}]: 1 -> 0 " in said


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [pytest.param(m, id=f"{spec}-{m.name}") for spec in SLICED for m in breaking(spec)])
def test_every_such_mutant_leaves_the_slice(mutant: Mutant) -> None:
    assert leaves(mutant)


def test_a_finding_of_todays_code_is_no_step_of_the_slice() -> None:
    """Where the full spec does what the slice forbids it is told; the slice is not of these scopes."""
    bad = check_slice(slice_of("volcano"), edition=Edition.CURRENT, bind_failures=1).first_bad
    assert bad is not None
    assert (bad.call[:13], bad.distance) == ("commit_fails(", 5)
    assert re.fullmatch(r"discard\((\S+, \S+)\) makes bound\[\1\] = 0, in_queue\[.+\] = 0, used = 0", bad.why)
    slice_, late = slice_of("kubernetes"), {"pods": 2, "nodes": 2, "misfits": 0, "failures": 2}
    full, (_, small) = kubernetes(**late, late=True), slice_.machines(late)
    removed = {**slice_.removed, "waiting": "assumed pods that Permit holds back are like others"}
    slice_ = replace(slice_, removed=removed, actions={**slice_.actions, "permit_times_out": ("bind_fails",)})
    bad = compare(slice_, full, small).first_bad
    assert bad is not None
    assert (bad.call[:15], bad.distance) == ("decide_success(", 13)
    assert bad.why == f"{bad.call} needs (scheduled[g] + sum_(proposed[g, n] for n in Node)) >= 2"


def test_what_a_slice_forgets_to_name_is_told() -> None:
    slice_ = slice_of("volcano")
    full, small = slice_.machines({})

    def refused(**changed: Any) -> str:
        with pytest.raises(SliceError) as error:
            check_names(replace(slice_, **changed), full, small)
        return str(error.value).removeprefix("volcano_slice is no slice of volcano: ").removeprefix("volcano_slice: ")

    without = {name: why for name, why in slice_.removed.items() if name not in ("tried", "submit")}
    assert refused(removed=without) == (
        "variable tried is neither seen nor removed; action submit is neither mapped nor removed"
    )
    assert refused(removed={**slice_.removed, "bound": "why", "commit": "why"}) == (
        "variable bound is removed, and yet seen; action commit is removed, and yet mapped"
    )
    view = slice_.view(full)
    assert (
        refused(view=lambda _: {**view, "other": view["used"]}) == "the view of volcano and the slice differ in other"
    )
    assert refused(view=lambda _: {**view, "turn": view["bound"]}) == "the view of turn is an integer"
    with pytest.raises(SliceError, match=r"^volcano_slice has 3 Job, volcano has 2$"):
        check_names(slice_, full, slice_.small(jobs=3))


def test_an_action_that_is_to_change_nothing_changes_nothing() -> None:
    slice_ = slice_of("volcano")
    actions = {name: others for name, others in slice_.actions.items() if name != "pop_job"}
    bad = check_slice(replace(slice_, actions=actions, removed={**slice_.removed, "pop_job": "nothing"})).first_bad
    assert bad is not None
    assert bad.why == "pop_job is to change nothing there"


def test_a_slice_that_starts_otherwise_is_told() -> None:
    slice_ = slice_of("volcano")
    full, small = slice_.machines({})
    view = slice_.view(full)
    bad = compare(replace(slice_, view=lambda _: {**view, "drained": lambda: 1}), full, small).first_bad
    assert bad is not None
    assert (bad.call, bad.why) == ("", "drained is 1, outside 0..0")
    assert bad.text.startswith("the full spec starts where the slice does not: drained is 1, outside 0..0\n    turn = ")


def test_a_view_that_sees_too_little_is_told() -> None:
    """What a slice does not see changing it cannot follow."""
    slice_ = slice_of("volcano")
    full, small = slice_.machines({})
    view = slice_.view(full)
    bad = compare(replace(slice_, view=lambda _: {**view, "used": lambda: 0}), full, small).first_bad
    assert bad is not None
    assert bad.call.startswith("allocate(")
    assert re.fullmatch(r"allocate\(queue[12], job[12]\) makes used = 1", bad.why)


@pytest.mark.parametrize(
    ("spec", "scope", "message"),
    [
        ("yunikorn", "edition=current", "the slice of yunikorn is for edition=seed, found current"),
        ("yunikorn", "size=2,3", "a slice has one size for all; found (2, 3)"),
        ("yunikorn", "capacity=2,3", "a slice has one capacity for all; found (2, 3)"),
        (
            "kubernetes",
            "cycle=pod_by_pod misfits=0",
            "the slice of kubernetes is for cycle=pod_group, found pod_by_pod",
        ),
        ("kubernetes", "memory=2", "the slice of kubernetes is for nodes with one resource, memory=0, found 2"),
        ("kubernetes", "late=true pods=2 misfits=0", "the slice of kubernetes is for late=false, found true"),
        ("volcano", "layout=case1", "the slice of volcano is for layout=grid, found case1"),
        ("volcano", "slow_ends=1", "the slice of volcano is for slow_ends=0, found 1"),
    ],
)
def test_a_scope_that_a_slice_does_not_have_is_refused(spec: str, scope: str, message: str) -> None:
    with pytest.raises(SpecLoadError) as error:
        load_sliced(spec, scope.split())
    assert str(error.value) == f"{spec}: {message}"


def test_specs_without_a_slice() -> None:
    for spec in set(SHIPPED) - set(SLICED):
        with pytest.raises(
            SpecLoadError, match=f"^{spec} has no slice: there are slices of yunikorn, kubernetes, volcano$"
        ):
            load_spec(f"{spec}:slice")
    with pytest.raises(SpecLoadError, match="no spec is named 'nothing:slice'"):
        load_spec("nothing:slice")
    with pytest.raises(SpecLoadError, match="yunikorn:slice: size is an integer from 1"):
        load_spec("yunikorn:slice", ["size=0"])


@pytest.mark.parametrize("spec", SLICED)
def test_the_page_has_the_defaults(spec: str) -> None:
    for name, value in load_spec(f"{spec}:slice").parameters.items():
        assert f"{name}={typed(value)}" in readme(spec)
