"""The volcano specs: what they claim in which scope, the design's cases, shares in fractions, findings."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from samples import one_in
from tables import assert_same_counts, found, load, rows, told, vacuous, violated

import specs.volcano
from model.explore import explore
from model.language import Expr, Machine, Table, all_, implies
from model.verdict import Outcome
from specs.loading import SpecLoadError, load_spec
from specs.volcano import Edition, Layout, Namespace, Queue, Session, volcano
from specs.volcano.parameters import STATIC
from specs.volcano.shares import deserved
from specs.volcano.state import State

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

FOLDER = Path(specs.volcano.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ALLOCATE, RECLAIM = README.split("| parameters of reclaim |")
ROWS = {
    (spec, parameters): row
    for spec, text in (("volcano", ALLOCATE), ("volcano_reclaim", RECLAIM))
    for parameters, row in rows(text).items()
}
CASES = re.findall(
    r"^\| (\w+) \| (seed|shipped) \| q(\d), weight (\d) \| (.+) \| (\d+) \| (.+) \|$", README, re.MULTILINE
)


def test_the_tables_are_read() -> None:
    assert len([spec for spec, _ in ROWS if spec == "volcano"]) == 35
    assert len([spec for spec, _ in ROWS if spec == "volcano_reclaim"]) == 17
    assert len(CASES) == 10


@pytest.mark.parametrize(("spec", "parameters"), one_in(6, ROWS))
def test_the_table_tells_what_is_found(spec: str, parameters: str) -> None:
    verdict = explore(load(spec, parameters))
    assert found(verdict) == told(ROWS[spec, parameters])
    assert verdict.never_fired == ()
    assert vacuous(verdict) == []


@pytest.mark.parametrize(
    ("spec", "parameters"),
    [
        ("volcano", "size=2 namespaces=1 capacity=2"),
        ("volcano", "queues=1 memory=2,1 memory_capacity=4"),
        ("volcano", "scale_ups=1 queues=1 namespaces=1"),
        ("volcano", "edition=current slow_ends=1 queues=1 namespaces=1 jobs=2 size=2 capacity=3"),
        ("volcano", "layout=example"),
        ("volcano_reclaim", "size=1 nodes=1"),
        ("volcano_reclaim", "gang=false width=2,1 room=2 nodes=1 size=1"),
    ],
)
def test_the_golden_interpreter_agrees(spec: str, parameters: str) -> None:
    machine = load(spec, parameters)
    assert_same_counts(machine)


# ---- the design's cases


def is_end(s: State, end: Table[Any]) -> Expr:
    """Whether the session is over and each namespace has what the table says."""
    shared = all_(s.in_namespace[q, n] == end[q, n] for q in Queue for n in Namespace)
    return (s.session == Session.OVER) & shared


def declare_reached(machine: Machine, name: str, s: State, end: Table[Any]) -> None:
    def reached() -> Expr:
        """This end is reached."""
        return is_end(s, end)

    reached.__name__ = name
    machine.sometimes(reached)


def ends_are(layout: Layout, edition: Edition, *assigned: tuple[int, ...]) -> bool:
    """Whether what namespaces hold at the end (by queue, then by namespace) is always one of ``assigned``, and each
    of these somewhere."""
    machine = volcano(layout=layout, edition=edition)
    s = machine.attached(State)
    queues, namespaces = len(s.scope.sizes), len(s.scope.sizes[0])
    ends: list[Table[Any]] = []
    for number, end in enumerate(assigned):
        rows = [end[q * namespaces : (q + 1) * namespaces] for q in range(queues)]
        ends.append(machine.constant(f"end{number}", (Queue, Namespace), rows))
        declare_reached(machine, f"reached{number}", s, ends[number])

    @machine.always
    def no_other_end() -> Expr:
        """Every end is one of these."""
        whole = s.session != Session.OVER
        for end in ends:
            whole = whole | is_end(s, end)
        return whole

    verdict = explore(machine)
    names = ["no_other_end", *(f"reached{number}" for number in range(len(assigned)))]
    return all(verdict[name].outcome is Outcome.HOLDS for name in names)


def test_every_run_of_a_case_ends_with_the_designs_numbers() -> None:
    assert ends_are(Layout.CASE1, Edition.SEED, (4, 4, 0, 0, 0, 0, 6, 2))
    assert ends_are(Layout.CASE2, Edition.SEED, (3, 1, 0, 0, 0, 0, 10, 2))
    assert ends_are(Layout.CASE3, Edition.SEED, (4, 0, 3, 9))
    assert ends_are(Layout.CASE3_BLANK, Edition.SEED, (0, 0, 4, 12))
    assert not ends_are(Layout.CASE3_BLANK, Edition.SEED, (0, 0, 3, 9))


def test_case_3_with_one_share_for_all_queues() -> None:
    assert ends_are(Layout.CASE3, Edition.SHIPPED, (4, 0, 0, 12), (4, 0, 1, 11))
    assert not ends_are(Layout.CASE3, Edition.SHIPPED, (4, 0, 0, 12))


@pytest.mark.parametrize(("layout", "edition"), sorted({case[:2] for case in CASES}))
def test_the_readme_has_the_same_numbers(layout: str, edition: str) -> None:
    rows = [case for case in CASES if case[:2] == (layout, edition)]
    said = {int(queue): assigned.split(" or ") for _, _, queue, *_, assigned in rows}
    namespaces = len(STATIC[Layout(layout)].namespace_weights)
    ends = []
    for q1, q2 in itertools.product(said[1], said[2]):
        numbers = [dict(re.findall(r"ns(\d) (\d+)", text)) for text in (q1, q2)]
        ends.append(tuple(int(told.get(str(n + 1), 0)) for told in numbers for n in range(namespaces)))
    assert ends_are(Layout(layout), Edition(edition), *ends)
    weights = tuple(int(weight) for _, _, _, weight, *_ in rows)
    asked = [sum(map(int, re.findall(r"\) (\d+)", text))) for *_, text, _, _ in rows]
    assert deserved(16, weights, asked) == [int(number) for *_, number, _ in rows]
    static = STATIC[Layout(layout)]
    assert weights == static.queue_weights
    assert asked == [sum(sum(n) for n in q) for q in static.jobs]
    for n, weight in re.findall(r"ns(\d) \(w (\d)\)", "".join(text for *_, text, _, _ in rows)):
        assert static.namespace_weights[int(n) - 1] == int(weight)


def test_queues_are_assigned_what_proportion_deserves() -> None:
    assert deserved(16, (1, 1), (15, 12)) == [8, 8]
    assert deserved(16, (1, 3), (15, 12)) == [4, 12]
    assert deserved(16, (1, 3), (4, 25)) == [4, 12]
    assert deserved(16, (1, 3), (0, 25)) == [0, 16]
    assert deserved(16, (1, 1, 2), (1, 16, 16)) == [1, 5, 10]
    assert deserved(3, (1, 1), (2, 2)) == [Fraction(3, 2), Fraction(3, 2)]


@pytest.mark.parametrize("weights", [(1, 1), (1, 3), (5, 2)])
def test_the_closed_form_is_proportions_loop(weights: tuple[int, int]) -> None:
    machine = volcano(queue_weight=weights, namespaces=2, jobs=1, size=2, capacity=3)
    s, everyone = machine.attached(State), sum(weights)

    @machine.always
    def closed_form() -> Expr:
        """For every pair of requests that there is."""
        whole = s.session == s.session
        for mine, other in itertools.product((0, 2, 4), repeat=2):
            right = int(deserved(3, weights, (mine, other))[0] * everyone)
            whole = whole & all_(
                implies(
                    (s.queue_weight[q] == weights[0]) & (q != p) & (s.request(q) == mine) & (s.request(p) == other),
                    s.deserved(q) == right,
                )
                for q in Queue
                for p in Queue
            )
        return whole

    assert explore(machine)["closed_form"].outcome is Outcome.HOLDS


# ---- the example: the order is made anew after each job


@pytest.mark.parametrize(("edition", "holds"), [(Edition.SEED, True), (Edition.CURRENT, False)])
def test_after_the_first_job_the_other_namespace_comes(edition: Edition, holds: bool) -> None:
    machine = volcano(layout=Layout.EXAMPLE, edition=edition)
    s = machine.attached(State)

    @machine.always
    def taking_turns() -> Expr:
        """No namespace has a task of its second job before the other has its first job."""
        return all_(
            implies(s.in_namespace[q, n] > 2, s.in_namespace[q, k] >= 2)
            for q in Queue
            for n in Namespace
            for k in Namespace
        )

    assert (explore(machine)["taking_turns"].outcome is Outcome.HOLDS) is holds


def test_one_pod_beside_many_gets_its_place() -> None:
    assert ends_are(Layout.MOTIVATION, Edition.SEED, (1, 2))
    assert ends_are(Layout.MOTIVATION, Edition.CURRENT, (1, 2), (0, 3))


# ---- findings, mutants, parameters


FINDINGS = sorted(FOLDER.glob("**/findings/*.md"))


def test_there_are_findings() -> None:
    assert len(FINDINGS) == 8


@pytest.mark.parametrize("file", FINDINGS, ids=lambda file: file.stem)
def test_todays_code_violates_it_without_a_fault(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    spec, parameters = re.findall(r"^    gangproof check (\w+) (.+)$", text, re.MULTILINE)[0]
    names = re.findall(r"`(\w+)`", text.split("violates ")[1].split(":\n")[0])
    verdict = explore(load(spec, parameters))
    assert violated(verdict).keys() == set(names)
    told = re.findall(r"^ +\d+  (\w+)\(", text, re.MULTILINE)
    assert told in [[step.action for step in trace.steps] for name in names if (trace := verdict[name].trace)]
    assert f"    gangproof check {spec} {parameters} repaired=true\n" in text
    assert violated(explore(load(spec, f"{parameters} repaired=true"))) == {}
    assert f"({file.relative_to(FOLDER)})" in README


@pytest.mark.parametrize(
    "parameters", ["capacity=3 namespaces=1 size=2", "bind_failures=1", "scale_ups=1", "slow_ends=1"]
)
def test_the_design_does_not_violate_it(parameters: str) -> None:
    assert violated(explore(load("volcano", parameters))) == {}


@pytest.mark.parametrize(
    ("spec", "assignments", "message"),
    [
        ("volcano", ["queues=3"], "queues is an integer from 1 to 2"),
        ("volcano", ["minimum=4"], "minimum is an integer from 1 to 3"),
        ("volcano", ["namespace_weight=1,2,3"], "one per namespace"),
        ("volcano", ["memory=1"], "go together"),
        ("volcano", ["memory=1", "memory_capacity=4"], "queues share units only"),
        ("volcano", ["layout=case1", "drains=1"], "drains is for layout=grid, as layout=case1 is one session; found 1"),
        ("volcano", ["layout=case1", "capacity=9"], "capacity is fixed by layout=case1: expected 16, found 9"),
        ("volcano", ["layout=case2", "queues=1"], "queues is fixed by layout=case2: expected 2, found 1"),
        ("volcano", ["layout=example", "size=5"], "size is fixed by layout=example: expected none, .*, found 5"),
        ("volcano", ["layout=motivation", "namespace_weight=2,1"], r"expected \(1, 1\), found \(2, 1\)"),
        ("volcano", ["edition=current", "namespace_weight=2,1"], "namespace_weight is 1 with edition=current"),
        ("volcano", ["edition=current", "quota_changes=1"], "quota_changes is 0 with edition=current"),
        ("volcano", ["queues=1", "memory=1", "memory_capacity=4", "slow_ends=1"], "slow_ends is for memory_capacity=0"),
        ("volcano_reclaim", ["nodes=9"], "nodes is an integer from 1 to 8"),
        ("volcano_reclaim", ["width=1,2"], "width of queue 2 is an integer from 1 to 1, found 2"),
        (
            "volcano_reclaim",
            ["width=1,1,1"],
            "width has a number for each queue, of which there are 2; found 3 numbers",
        ),
    ],
)
def test_sizes_that_make_no_sense(spec: str, assignments: list[str], message: str) -> None:
    with pytest.raises(SpecLoadError, match=message):
        load_spec(spec, assignments)
