"""Proofs for any number of elements: what is proved holds at every size that can be explored, and faults are not
proved."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from families import at_size, families
from few_examples import a_few
from hypothesis import given, settings

from model.language import Expr, Machine, Sort, SpecError, all_, any_, count_, ite, require, sum_
from model.language.mutation import Edit, mutated, without_guard, without_update
from model.proof import Method, Proof
from model.prove.any_size import prove_any_size
from model.prove.any_size.family import family_of
from model.prove.any_size.terms import Unreadable
from model.semantics import Semantics, explore
from model.verdict import Outcome
from specs.gang import gang
from specs.gang.mutants import MUTANTS
from specs.kubernetes.slice import kubernetes_slice
from specs.volcano.slice import volcano_slice
from specs.yunikorn.slice import yunikorn_slice

pytestmark = pytest.mark.no_cover


def proved(
    build: Callable[..., Machine], *, properties: tuple[str, ...] = (), samples: int = 20_000, **given: Any
) -> Proof:
    """The proof around the defaults of ``build``, but for what is given."""
    defaults = {n: p.default for n, p in inspect.signature(build).parameters.items()}
    return prove_any_size(build, {**defaults, **given}, properties=properties, samples=samples, time_limit=120)


def test_gang_holds_for_any_size() -> None:
    proof = proved(gang)
    assert proof.outcome is Outcome.HOLDS
    assert proof.left_out == ("every_app_finishes", "deadlock_free")
    assert {c.method for c in proof.claimed} == {Method.ANY_SIZE}
    partial = proof["no_partial_gang_runs"]
    assert 1 <= len(partial.lemmas) <= 4
    assert all(lemma.text.startswith("for all a in App: ") for lemma in partial.lemmas)
    assert any("sum(reals[a, n] for n in Node)" in lemma.text for lemma in partial.lemmas)
    found = proof.any_size
    assert found is not None
    assert found.sorts == {"App": ("apps",), "Node": ("nodes",)}
    assert found.counters == 6
    assert found.changes > 0


FAULTS = [
    *((m.build, m.violated, m.edits, m.parameters) for m in MUTANTS if m.violated != "every_app_finishes"),
    (kubernetes_slice, "values_in_range", (without_guard("place_pod", "node_used[n] < 2"),), {}),
    (kubernetes_slice, "node_usage_is_conserved", (without_update("bind_fails", "node_used"),), {}),
    (kubernetes_slice, "decision_is_atomic", (without_guard("decide_success", ">= 2"),), {}),
    (volcano_slice, "usage_is_conserved", (without_update("finish", "in_queue"),), {}),
    (volcano_slice, "statements_are_committed_or_discarded", (without_guard("pop_job", "all_"),), {}),
    (yunikorn_slice, "queue_usage_is_conserved", (without_update("allocate_placeholder", "parent_used"),), {}),
    (yunikorn_slice, "no_partial_gang_runs", (without_guard("replace", "asks[a] == 0"),), {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "claim", "edits", "given"), FAULTS, ids=[f"{b.__name__} {e[0].what}" for b, _, e, _ in FAULTS]
)
def test_a_fault_is_not_proved(
    build: Callable[..., Machine], claim: str, edits: tuple[Edit, ...], given: Mapping[str, Any]
) -> None:
    """With one state as a sample nothing but the induction can tell."""
    parameters = {n: p.default for n, p in inspect.signature(build).parameters.items()} | given

    def faulty(**values: Any) -> Machine:
        return mutated(lambda: build(**values), *edits)

    told = prove_any_size(faulty, parameters, properties=(claim,), samples=1, time_limit=120)[claim]
    assert told.verdict.outcome is Outcome.UNKNOWN
    assert told.blocked is not None
    assert told.blocked.state


class Job(Sort):
    """A job of the specs below."""


class Slot(Sort):
    """A slot of the specs below."""


def counting(jobs: int = 2, most: int = 3, by_python: bool = False) -> Machine:
    """Jobs take slots; ``by_python``: as many slots as there are jobs."""
    m = Machine("counting")
    m.sort(Job, jobs)
    held = m.variable("held", Job, range(3), init=0)
    limit = jobs if by_python else most

    @m.action
    def take(j: Job) -> None:
        require(sum_(held[i] for i in Job) < limit, held[j] < 2)
        held[j] += 1

    @m.always
    def enough() -> Expr:
        return sum_(held[j] for j in Job) <= limit

    return m


def unlimited(jobs: int = 2, most: int = 3) -> Machine:
    """counting, where jobs take what they want."""
    return mutated(lambda: counting(jobs, most), without_guard("take", f"< {most}"))


def test_a_fault_is_violated_where_a_run_was_looked_at() -> None:
    told = proved(unlimited)["enough"].verdict
    assert told.outcome is Outcome.VIOLATED
    assert told.trace is not None
    assert Semantics(unlimited()).replay(told.trace) is None


def test_a_fault_is_unknown_where_no_run_was_looked_at() -> None:
    """With one state as a sample nothing but the induction can tell."""
    told = proved(unlimited, samples=1)["enough"]
    assert told.verdict.outcome is Outcome.UNKNOWN
    assert told.blocked is not None
    assert told.blocked.call == "take(j)"
    assert told.blocked.state


def test_a_fault_that_shows_at_no_small_size_is_unknown() -> None:
    """Three jobs never take more than six; four would: nothing is concluded from small sizes."""
    told = proved(unlimited, most=7)["enough"]
    assert told.verdict.outcome is Outcome.UNKNOWN
    assert "take(j) may break it" in told.verdict.how
    assert proved(counting, most=7)["enough"].verdict.outcome is Outcome.HOLDS


def test_a_bound_that_is_one_too_small_is_not_proved() -> None:
    def off_by_one(jobs: int = 2) -> Machine:
        m = counting(jobs, most=7)
        held = m.variables[0]

        @m.always
        def fewer() -> Expr:
            return sum_(held[j] for j in Job) <= 6  # type: ignore[index]

        return m

    assert proved(off_by_one)["fewer"].verdict.outcome is Outcome.UNKNOWN


def test_how_many_elements_there_are_is_not_known() -> None:
    """Such a claim reads no variable, so no step breaks it; it still has to hold at the start."""

    def few(jobs: int = 2) -> Machine:
        m = counting(jobs)

        @m.always
        def three_at_most() -> Expr:
            return count_(True for _ in Job) <= 3

        @m.always
        def one_at_least() -> Expr:
            return count_(True for _ in Job) >= 1

        return m

    proof = proved(few)
    assert proof["three_at_most"].verdict.outcome is Outcome.UNKNOWN
    assert proof["one_at_least"].verdict.outcome is Outcome.HOLDS


def test_a_spec_that_is_another_one_at_each_size_is_refused() -> None:
    assert proved(counting)["enough"].verdict.outcome is Outcome.HOLDS
    proof = proved(counting, by_python=True)
    assert proof.outcome is Outcome.UNKNOWN
    assert "the spec is another one at jobs=1" in proof["enough"].verdict.how


def test_a_spec_with_fewer_actions_for_one_element_is_of_the_family() -> None:
    def swapping(jobs: int = 1) -> Machine:
        m = counting(jobs)
        held = m.variables[0]
        if jobs > 1:

            @m.action
            def give(j: Job, other: Job) -> None:
                require(j != other, held[j] > 0, held[other] < 2)  # type: ignore[index]
                held[j] -= 1  # type: ignore[index]
                held[other] += 1  # type: ignore[index]

        return m

    family = family_of(swapping, {"jobs": 1})
    assert family.fewer == ("jobs=1",)
    assert [a.name for a in family.machine.actions] == ["take", "give"]
    assert proved(swapping)["enough"].verdict.outcome is Outcome.HOLDS


def test_a_spec_that_is_another_one_at_one_size_is_refused() -> None:
    def small(jobs: int = 2) -> Machine:
        return counting(jobs, by_python=True) if jobs == 5 else counting(jobs)

    with pytest.raises(Unreadable, match="another one at jobs=5"):
        family_of(small, {"jobs": 2})


def ordered(jobs: int = 2) -> Machine:
    """Jobs in order."""
    m = Machine("ordered")
    m.sort(Job, jobs, ordered=True)
    done = m.variable("done", Job, bool, init=False)

    @m.action
    def finish(j: Job) -> None:
        require(all_((done[i] | (j <= i)) for i in Job))
        done[j] = True

    @m.always
    def in_order() -> Expr:
        return all_(done[i] | ~done[j] | (j <= i) for i in Job for j in Job)

    return m


def different(jobs: int = 2) -> Machine:
    """Jobs that start differently."""
    m = Machine("different")
    m.sort(Job, jobs)
    done = m.variable("done", Job, bool, init=[True] + [False] * (jobs - 1))

    @m.action
    def finish(j: Job) -> None:
        done[j] = True

    @m.always
    def some_are_done() -> Expr:
        return any_(done[j] for j in Job)

    return m


@pytest.mark.parametrize(
    ("build", "why"), [(ordered, "orders elements"), (different, "elements start with different done")]
)
def test_what_cannot_be_read_is_unknown_with_the_line(build: Callable[..., Machine], why: str) -> None:
    proof = proved(build)
    assert proof.outcome is Outcome.UNKNOWN
    for claimed in proof.claimed:
        assert why in claimed.verdict.how
        assert "test_any_size.py:" in claimed.verdict.how


def test_properties_about_runs_are_refused() -> None:
    with pytest.raises(SpecError, match="about runs"):
        proved(gang, properties=("every_app_finishes",))
    with pytest.raises(KeyError, match="has no property"):
        proved(gang, properties=("nothing",))


def test_out_of_time_is_unknown() -> None:
    proof = prove_any_size(gang, {"apps": 2, "nodes": 2}, time_limit=0.01)
    assert proof.outcome is Outcome.UNKNOWN
    assert all("time limit" in c.verdict.how for c in proof.claimed)


def rows(jobs: int = 2, slots: int = 2) -> Machine:
    """A job takes a slot, clears its row, or swaps what it has for something else: sums of sums, and counts."""
    m = Machine("rows")
    m.sort(Job, jobs)
    m.sort(Slot, slots)
    held = m.variable("held", (Job, Slot), range(2), init=0)
    busy = m.variable("busy", Slot, bool, init=False)

    @m.action
    def take(j: Job, s: Slot) -> None:
        require(~busy[s])
        busy[s] = True
        held[j, s] = 1

    @m.action
    def clear(j: Job) -> None:
        for s in Slot:
            busy[s] = ite(held[j, s] == 1, False, busy[s])
            held[j, s] = 0

    @m.always
    def as_many_busy_as_held() -> Expr:
        return count_(busy[s] for s in Slot) == sum_(held[j, s] for j in Job for s in Slot)

    @m.always
    def one_holds() -> Expr:
        return all_(ite(busy[s], 1, 0) == sum_(held[j, s] for j in Job) for s in Slot)

    return m


def test_counts_and_rows() -> None:
    """A row that is cleared frees as many slots as it held: known of each slot, but not yet of their sum."""
    proof = proved(rows)
    assert proof["one_holds"].verdict.outcome is Outcome.HOLDS
    assert proof["values_in_range"].verdict.outcome is Outcome.HOLDS
    assert proof["as_many_busy_as_held"].verdict.outcome in (Outcome.HOLDS, Outcome.UNKNOWN)


SLICES = [
    (yunikorn_slice, "queue_usage_is_conserved"),
    (kubernetes_slice, "node_usage_is_conserved"),
    (volcano_slice, "usage_is_conserved"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "conservation"), SLICES, ids=[build.__name__ for build, _ in SLICES])
def test_slices_hold_for_any_size(build: Callable[..., Machine], conservation: str) -> None:
    proof = proved(build)
    assert proof.outcome is Outcome.HOLDS
    assert proof[conservation].method is Method.ANY_SIZE


@pytest.mark.slow
def test_some_step_is_always_possible_in_gang() -> None:
    told = proved(gang, properties=("deadlock_free",))["deadlock_free"]
    assert told.verdict.outcome is Outcome.HOLDS


# ---- random machines


def holds_where_explored(machine: Machine, sizes: range, samples: int) -> int:
    """What is proved for any size holds at ``sizes``; how many claims were proved."""
    build = at_size(machine)
    proof = prove_any_size(build, {"size": 2}, samples=samples, time_limit=60)
    held = [c.verdict.name for c in proof.claimed if c.verdict.outcome is Outcome.HOLDS]
    for size in sizes:
        try:
            known = explore(build(size), max_states=4_000)
        except OverflowError:
            continue
        assert not set(held) & known.violated.keys()
        violated = [c.verdict for c in proof.claimed if c.verdict.outcome is Outcome.VIOLATED]
        assert all(v.trace is not None for v in violated)
    return len(held)


RANDOM = a_few(2)


@RANDOM
@given(families(100))
def test_what_is_proved_for_any_size_is_true(machine: Machine) -> None:
    holds_where_explored(machine, range(1, 4), 2)


@pytest.mark.slow
@settings(RANDOM, max_examples=100, derandomize=False)
@given(families(200))
def test_what_is_proved_of_many_machines_is_true(machine: Machine) -> None:
    """Few samples: then the induction has to see what is violated."""
    holds_where_explored(machine, range(1, 5), 2)
    holds_where_explored(machine, range(1, 5), 500)


def test_what_a_summand_says_to_exist_has_an_end() -> None:
    def build(jobs: int) -> Machine:
        m = Machine("beaten")
        m.sort(Job, jobs)
        x = m.variable("x", Job, range(2), init=0)

        @m.action
        def up(j: Job) -> None:
            x[j] = 1

        @m.always
        def few_are_beaten() -> Expr:
            return count_(any_((k != j) & (x[k] > x[j]) for k in Job) for j in Job) <= 4

        return m

    proof = prove_any_size(build, {"jobs": 2}, samples=100, time_limit=20)
    assert proof["few_are_beaten"].verdict.outcome is Outcome.UNKNOWN
    assert proof.seconds < 20
