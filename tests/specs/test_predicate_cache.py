"""The predicate_cache spec: what it claims in which scope, its rules, its finding, and how selectors match."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules import Rules
from tables import assert_same_counts, found, load, rows, told, vacuous, violated

import specs.predicate_cache
from model.explore import explore
from model.verdict import Outcome
from specs.loading import SpecLoadError
from specs.predicate_cache import Annotation, Edition, predicate_cache
from specs.predicate_cache.selectors import Operator, Requirement, Selection

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

FOLDER = Path(specs.predicate_cache.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = rows(README)
NEVER = {"all_jobs_can_run", "every_job_is_scheduled", "no_suitable_node_is_refused"}


def test_the_table_is_read() -> None:
    assert len(ROWS) == 19


@pytest.mark.parametrize("parameters", ROWS)
def test_the_table_tells_what_is_found(parameters: str) -> None:
    verdict = explore(load("predicate_cache", parameters))
    assert found(verdict) == told(ROWS[parameters])
    if "all_jobs_can_run" not in ROWS[parameters]["answer"]:  # where no job is ever bound, none ends
        assert verdict.never_fired == ()
        assert vacuous(verdict) == []


@pytest.mark.parametrize("parameters", ["(default)", "annotation=none jobs=1", "workload=tfjob jobs=1"])
def test_the_golden_interpreter_agrees(parameters: str) -> None:
    machine = load("predicate_cache", parameters)
    assert_same_counts(machine)


# ---- the finding


def test_today_mixed_pods_under_one_role_still_share_errors() -> None:
    current = explore(predicate_cache(annotation=Annotation.ONE_ROLE, edition=Edition.CURRENT, jobs=1))
    assert violated(current).keys() == NEVER
    told = current["no_suitable_node_is_refused"].trace
    assert told is not None
    text = (FOLDER / "findings" / "mixed_pods_under_one_role.md").read_text(encoding="utf-8")
    assert f"({len(told)} steps)" in text
    assert told.steps[-1].action == "check_node"
    assert "annotation=one_role edition=current jobs=1 repaired=true\n" in text
    mended = predicate_cache(annotation=Annotation.ONE_ROLE, edition=Edition.CURRENT, jobs=1, repaired=True)
    assert violated(explore(mended)) == {}


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


# ---- rules

RULES = Rules("T", README, [predicate_cache()])


def test_no_rule_is_lost() -> None:
    RULES.assert_none_is_lost(6)


@pytest.mark.parametrize("rule", RULES.rows)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    RULES.assert_followed_or_left_out(rule)


def test_every_action_says_which_rule_it_follows() -> None:
    RULES.assert_every_action_cites_one()


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
        load("predicate_cache", assignment)


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        ("workload=tfjob constraint=both", "constraint is for workload=training: expected selector .*, found both"),
        ("workload=daemonset first=master", "first is for workload=training: expected any .*, found master"),
    ],
)
def test_what_another_workload_would_not_heed(assignments: str, message: str) -> None:
    with pytest.raises(SpecLoadError, match=message):
        load("predicate_cache", assignments)
