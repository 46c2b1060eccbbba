"""The volcano specs: what they claim in which scope, the design's cases, shares in fractions, findings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import specs.volcano
from model import semantics
from model.explore import explore
from model.language import Expr, Machine, all_, implies
from model.semantics import Semantics
from model.trace import named_state
from model.verdict import Outcome, Verdict
from specs.loading import SpecLoadError, load_spec
from specs.mutant import Mutant
from specs.registry import mutants
from specs.volcano import Edition, Layout, Queue, volcano
from specs.volcano.shares import deserved
from specs.volcano.state import State

FOLDER = Path(specs.volcano.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| (?P<parameters>\(default\)|[a-z_]+=\S+(?: [a-z_]+=\S+)*) \| (?P<states>[\d,]+) \| (?P<transitions>[\d,]+) "
    r"\| (?P<depth>\d+) \| (?P<answer>.+) \|$",
    re.MULTILINE,
)
ALLOCATE, RECLAIM = README.split("| parameters of reclaim |")
ROWS = {
    (spec, row["parameters"]): row
    for spec, text in (("volcano", ALLOCATE), ("volcano_reclaim", RECLAIM))
    for row in ROW.finditer(text)
}
CASES = re.findall(r"^\| (\w+) \| (seed|shipped) \| q(\d) \| (.+) \|$", README, re.MULTILINE)
MUTANTS = {f"{spec}-{m.name}": m for spec in ("volcano", "volcano_reclaim") for m in mutants(spec)}


def violated(verdict: Verdict) -> dict[str, int]:
    return {p.name: len(p.trace or ()) for p in verdict.properties if p.outcome is Outcome.VIOLATED}


def answer(verdict: Verdict) -> str:
    words = ", ".join(f"{name} {steps}" for name, steps in violated(verdict).items())
    return f"violated: {words}" if words else verdict.outcome.value


def load(spec: str, parameters: str) -> Machine:
    return load_spec(spec, [] if parameters == "(default)" else parameters.split())


def test_the_tables_are_read() -> None:
    assert len([spec for spec, _ in ROWS if spec == "volcano"]) == 25
    assert len([spec for spec, _ in ROWS if spec == "volcano_reclaim"]) == 9


@pytest.mark.parametrize(("spec", "parameters"), ROWS)
def test_the_table_tells_what_is_found(spec: str, parameters: str) -> None:
    verdict = explore(load(spec, parameters))
    c, row = verdict.coverage, ROWS[spec, parameters]
    found = [f"{c.distinct_states:,}", f"{c.transitions:,}", str(c.depth), answer(verdict)]
    assert found == [row[name] for name in ("states", "transitions", "depth", "answer")]
    assert verdict.never_fired == ()
    assert [p.name for p in verdict.properties if p.outcome is Outcome.VACUOUS] == []


@pytest.mark.parametrize(
    ("spec", "parameters"),
    [
        ("volcano", "size=2"),
        ("volcano", "queues=1 memory=2,1 memory_capacity=4"),
        ("volcano", "scale_ups=1 queues=1"),
        ("volcano", "layout=motivation"),
        ("volcano_reclaim", "nodes=2"),
    ],
)
def test_the_golden_interpreter_agrees(spec: str, parameters: str) -> None:
    machine = load(spec, parameters)
    slow, fast = semantics.explore(machine), explore(machine)
    c = fast.coverage
    assert (len(slow.distance), slow.transitions, slow.depth) == (c.distinct_states, c.transitions, c.depth)
    assert slow.fired == dict(c.actions)


# ---- the design's cases


def finals(machine: Machine) -> set[tuple[int, ...]]:
    """What namespaces hold where nothing more can happen: by queue, then by namespace."""
    s = Semantics(machine)
    found = set()
    for state in semantics.explore(machine).distance:
        if not any(s.is_enabled(i, state) for i in s.instances):
            named = named_state(machine, state)
            found.add(tuple(int(v) for cell, v in sorted(named.items()) if cell.startswith("in_namespace")))
    return found


@pytest.mark.parametrize(
    ("layout", "assigned"),
    [
        (Layout.CASE1, (4, 4, 0, 0, 0, 0, 6, 2)),
        (Layout.CASE2, (3, 1, 0, 0, 0, 0, 10, 2)),
        (Layout.CASE3, (4, 0, 3, 9)),
        (Layout.CASE3_BLANK, (0, 0, 4, 12)),
    ],
)
def test_every_run_of_a_case_ends_with_the_designs_numbers(layout: Layout, assigned: tuple[int, ...]) -> None:
    assert finals(volcano(layout=layout)) == {assigned}


def test_case_3_with_one_share_for_all_queues() -> None:
    assert finals(volcano(layout=Layout.CASE3, edition=Edition.SHIPPED)) == {(4, 0, 0, 12), (4, 0, 1, 11)}


def test_the_readme_has_the_same_numbers() -> None:
    for layout, edition, queue, said in CASES:
        ends = finals(volcano(layout=Layout(layout), edition=Edition(edition)))
        namespaces = len(next(iter(ends))) // 2
        first = namespaces * (int(queue) - 1)
        named = [n for n in range(1, namespaces + 1) if f"ns{n} " in said]
        told = {", ".join(f"ns{n} {end[first + n - 1]}" for n in named) for end in ends}
        assert told == set(said.split(" or "))
    assert len(CASES) == 10


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


def pops(machine: Machine) -> set[tuple[str, ...]]:
    """The orders in which namespaces, with the number of their job, can have their turns."""
    s = Semantics(machine)

    def runs(state: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
        enabled = [i for i in s.instances if s.is_enabled(i, state)]
        if not enabled:
            yield ()
        for i in enabled:
            after = s.fire(i, state)
            assert isinstance(after, tuple)
            turn = ()
            if i.action.name == "pop_job":
                _, namespace, job = (value for _, value in s.arguments(i))
                turn = (f"{namespace}.{job}",)
            for rest in runs(after):
                yield turn + rest

    return {run for initial in s.initial_states() for run in runs(initial)}


def test_after_the_first_job_the_other_namespace_comes() -> None:
    first_two = {run[:2] for run in pops(volcano(layout=Layout.EXAMPLE))}
    assert {(a.split(".")[0], b.split(".")[0]) for a, b in first_two} == {
        ("namespace1", "namespace2"),
        ("namespace2", "namespace1"),
    }
    today = {run[:2] for run in pops(volcano(layout=Layout.EXAMPLE, edition=Edition.CURRENT))}
    assert ("namespace1.job1", "namespace1.job2") in today


def test_one_pod_beside_many_gets_its_place() -> None:
    assert finals(volcano(layout=Layout.MOTIVATION)) == {(1, 2)}
    assert finals(volcano(layout=Layout.MOTIVATION, edition=Edition.CURRENT)) == {(1, 2), (0, 3)}


# ---- findings, mutants, parameters


@pytest.mark.parametrize(
    ("file", "parameters", "name"),
    [
        ("gang_beyond_deserved_starves", "capacity=3 namespaces=1 size=2", "every_submitted_job_ends"),
        ("failed_bind_leaves_part_of_a_gang", "bind_failures=1 queues=1 namespaces=1", "no_partial_gang_is_bound"),
    ],
)
def test_todays_code_violates_it_without_a_fault(file: str, parameters: str, name: str) -> None:
    text = (FOLDER / "findings" / f"{file}.md").read_text(encoding="utf-8")
    assert f"gangproof check volcano edition=current {parameters}\n" in text
    trace = explore(load("volcano", f"edition=current {parameters}"))[name].trace
    assert trace is not None
    assert re.findall(r"^ +\d+  (\w+)\(", text, re.MULTILINE) == [step.action for step in trace.steps]
    assert violated(explore(load("volcano", f"edition=seed {parameters}"))) == {}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_breaks_nothing_else(name: str) -> None:
    mutant: Mutant = MUTANTS[name]
    assert violated(explore(mutant.make())).keys() - {mutant.violated} == set(mutant.consequences)
    assert mutant.lines <= 10


def test_the_readme_lists_the_reports() -> None:
    rows = re.findall(r"^\| (volcano#\d+) \| `(\w+)` \| `(\w+)` \| (\d+) \|$", README, re.MULTILINE)
    told = {report: (name, property_, int(length)) for report, name, property_, length in rows}
    found = {}
    for mutant in MUTANTS.values():
        if mutant.report:
            trace = explore(mutant.make())[mutant.violated].trace
            found[mutant.report] = (mutant.name, mutant.violated, len(trace or ()))
    assert told == found


@pytest.mark.parametrize(
    ("spec", "assignments", "message"),
    [
        ("volcano", ["queues=3"], "queues is an integer from 1 to 2"),
        ("volcano", ["minimum=4"], "minimum is an integer from 1 to 3"),
        ("volcano", ["namespace_weight=1,2,3"], "one per namespace"),
        ("volcano", ["memory=1"], "go together"),
        ("volcano", ["memory=1", "memory_capacity=4"], "queues share units only"),
        ("volcano", ["layout=case1", "drains=1"], "drains is an integer from 0 to 0"),
        ("volcano_reclaim", ["nodes=9"], "nodes is an integer from 1 to 8"),
    ],
)
def test_sizes_that_make_no_sense(spec: str, assignments: list[str], message: str) -> None:
    with pytest.raises(SpecLoadError, match=message):
        load_spec(spec, assignments)
