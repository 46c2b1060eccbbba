"""The predicate_cache spec: what it claims in which scope, its rules, its finding, and how selectors match."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import specs.predicate_cache
from model import semantics
from model.explore import explore
from model.language import Machine
from model.verdict import Outcome, Verdict
from specs.loading import SpecLoadError, load_spec
from specs.predicate_cache import Annotation, Edition, predicate_cache
from specs.predicate_cache.selectors import Operator, Requirement, Selection

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

FOLDER = Path(specs.predicate_cache.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| (?P<parameters>\(default\)|[a-z_]+=\S+(?: [a-z_]+=\S+)*) \| (?P<states>[\d,]+) \| (?P<transitions>[\d,]+) "
    r"\| (?P<depth>\d+) \| (?P<answer>.+) \|$",
    re.MULTILINE,
)
ROWS = {row["parameters"]: row for row in ROW.finditer(README)}
RULES = dict(re.findall(r"^\| (T\d+) \| .+ \| (.+) \|$", README, re.MULTILINE))
NEVER = {"all_jobs_can_run", "every_job_is_scheduled", "no_suitable_node_is_refused"}


def violated(verdict: Verdict) -> dict[str, int]:
    return {p.name: len(p.trace or ()) for p in verdict.properties if p.outcome is Outcome.VIOLATED}


def answer(verdict: Verdict) -> str:
    words = ", ".join(f"{name} {steps}" for name, steps in violated(verdict).items())
    return f"violated: {words}" if words else verdict.outcome.value


def load(parameters: str) -> Machine:
    return load_spec("predicate_cache", [] if parameters == "(default)" else parameters.split())


def test_the_table_is_read() -> None:
    assert len(ROWS) == 17


@pytest.mark.parametrize("parameters", ROWS)
def test_the_table_tells_what_is_found(parameters: str) -> None:
    verdict = explore(load(parameters))
    c, row = verdict.coverage, ROWS[parameters]
    found = [f"{c.distinct_states:,}", f"{c.transitions:,}", str(c.depth), answer(verdict)]
    assert found == [row[name] for name in ("states", "transitions", "depth", "answer")]
    if "all_jobs_can_run" not in row["answer"]:  # where no job is ever bound, none ends
        assert verdict.never_fired == ()
        assert [p.name for p in verdict.properties if p.outcome is Outcome.VACUOUS] == []


@pytest.mark.parametrize("parameters", ["(default)", "annotation=none jobs=1", "workload=tfjob jobs=1"])
def test_the_golden_interpreter_agrees(parameters: str) -> None:
    machine = load(parameters)
    slow, fast = semantics.explore(machine), explore(machine)
    c = fast.coverage
    assert (len(slow.distance), slow.transitions, slow.depth) == (c.distinct_states, c.transitions, c.depth)
    assert slow.fired == dict(c.actions)


# ---- the finding


def test_today_mixed_pods_under_one_role_still_share_errors() -> None:
    current = explore(predicate_cache(annotation=Annotation.ONE_ROLE, edition=Edition.CURRENT, jobs=1))
    assert violated(current).keys() == NEVER
    told = current["no_suitable_node_is_refused"].trace
    assert told is not None
    text = (FOLDER / "findings" / "mixed_pods_under_one_role.md").read_text(encoding="utf-8")
    assert f"({len(told)} steps)" in text
    assert told.steps[-1].action == "check_node"


def test_editions_differ_for_pods_without_a_role_only() -> None:
    answers = {
        (a, e): explore(predicate_cache(annotation=a, edition=e)).outcome is Outcome.HOLDS
        for a in Annotation
        for e in Edition
    }
    assert answers == {
        (Annotation.REPLICA_TYPE, Edition.SEED): True,
        (Annotation.REPLICA_TYPE, Edition.CURRENT): True,
        (Annotation.NONE, Edition.SEED): False,
        (Annotation.NONE, Edition.CURRENT): True,
        (Annotation.ONE_ROLE, Edition.SEED): False,
        (Annotation.ONE_ROLE, Edition.CURRENT): False,
    }


# ---- rules and mutants


def cited() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    machine = predicate_cache()
    documented = [(a.name, a.doc) for a in machine.actions] + [(p.name, p.doc) for p in machine.properties]
    for name, doc in documented:
        for rule in re.findall(r"\bT\d+\b", doc):
            found[rule].add(name)
    return found


def test_no_rule_is_lost() -> None:
    assert list(RULES) == [f"T{i}" for i in range(1, 7)]
    assert cited().keys() <= RULES.keys()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    named = set(re.findall(r"`(\w+)`", RULES[rule]))
    assert named == cited()[rule]
    if not named:
        assert re.fullmatch(r"left out: .{20,}", RULES[rule])


def test_every_action_says_which_rule_it_follows() -> None:
    assert {a.name for a in predicate_cache().actions} <= set().union(*cited().values())


@pytest.mark.parametrize(
    ("operator", "values", "labels", "holds"),
    [
        (Operator.IN, ("a", "b"), {"k": "a"}, True),
        (Operator.IN, ("a",), {}, False),
        (Operator.NOT_IN, ("a",), {"k": "a"}, False),
        (Operator.NOT_IN, ("a",), {}, True),
        (Operator.EXISTS, (), {"k": ""}, True),
        (Operator.EXISTS, (), {}, False),
        (Operator.DOES_NOT_EXIST, (), {}, True),
        (Operator.DOES_NOT_EXIST, (), {"k": ""}, False),
        (Operator.GT, ("16",), {"k": "80"}, True),
        (Operator.GT, ("16",), {"k": "16"}, False),
        (Operator.GT, ("16",), {"k": "much"}, False),
        (Operator.LT, ("16",), {"k": "8"}, True),
        (Operator.LT, ("16",), {}, False),
    ],
)
def test_a_requirement(operator: Operator, values: tuple[str, ...], labels: dict[str, str], holds: bool) -> None:
    assert Requirement("k", operator, values).holds(labels) is holds


def test_selector_and_affinity_both_count_and_terms_are_alternatives() -> None:
    has_a, has_b = Requirement("a", Operator.EXISTS), Requirement("b", Operator.EXISTS)
    both = Selection((("a", "1"),), ((has_b,),))
    assert both.matches({"a": "1", "b": ""})
    assert not both.matches({"a": "1"})
    assert not both.matches({"b": ""})
    either = Selection(terms=((has_a,), (has_b,)))
    assert either.matches({"b": ""})
    assert not Selection(terms=((has_a, has_b),)).matches({"b": ""})
    assert not Selection(terms=((),)).matches({"b": ""})
    assert Selection().matches({})


@pytest.mark.parametrize("assignment", ["jobs=0", "jobs=5", "workers=0", "room=9"])
def test_sizes_that_make_no_sense(assignment: str) -> None:
    with pytest.raises(SpecLoadError, match="is an integer from"):
        load(assignment)
