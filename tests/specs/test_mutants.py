"""Every property of every shipped spec is broken by a mutant that is meant to, in a scope where the spec itself
holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest

from model.explore import explore
from model.language import Expr, Machine, Sort, SpecError, all_, implies, require
from model.language.mutation import (
    Edit,
    disabled,
    mutated,
    rewritten,
    with_action,
    with_guard,
    with_update,
    without_guard,
    without_update,
)
from model.semantics import Semantics
from model.verdict import Outcome, Verdict
from specs import trials
from specs.gang import gang
from specs.gang.machine import AppState
from specs.mutant import Mutant
from specs.registry import SHIPPED, mutants, spec_function
from specs.trials import Fate, run_trials, scopes, tried

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

MUTANTS = {f"{spec}-{m.name}": m for spec in SHIPPED for m in mutants(spec)}

# Those of one scope in three are tried by the fast tests, about a third of all: whole scopes, in each of which the spec
# without a fault is explored once. The slow tests try the rest; `make mutants` tries them all.
BY_SCOPE = scopes([(spec, m.name) for spec in SHIPPED for m in mutants(spec)])
TRIED = [
    pytest.param(f"{spec}-{name}", marks=[pytest.mark.slow] if i % 3 else [])
    for i, (spec, names) in enumerate(BY_SCOPE)
    for name in names
]


@cache
def base(spec: str, parameters: tuple[tuple[str, object], ...]) -> Verdict:
    return explore(spec_function(spec)(**dict(parameters)))


@pytest.mark.parametrize("name", TRIED)
def test_a_mutant_breaks_what_it_is_meant_to(name: str) -> None:
    mutant, spec = MUTANTS[name], name.split("-")[0]
    trial = tried(spec, mutant, base(spec, tuple(mutant.parameters.items())))
    assert (trial.fate, trial.because) == (Fate.CAUGHT, "")
    if trial.told.outcome is Outcome.VACUOUS:
        assert trial.told.trace is None
    else:
        assert trial.told.outcome is Outcome.VIOLATED
        assert trial.told.trace is not None
        assert Semantics(mutant.make()).replay(trial.told.trace) is None


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_is_small(name: str) -> None:
    assert 1 <= MUTANTS[name].lines <= 10


def _quota(**also: object) -> Mutant:
    """A mutant of gang that breaks its quota and, with one node that holds all, nothing else."""
    given: dict[str, Any] = {
        "violated": "quota_never_exceeded",
        "report": "a report",
        "edits": (without_guard("allocate", "< 3"),),
        **also,
    }
    return Mutant("no_quota", "a reason to be", build=gang, parameters={"nodes": 1, "capacity": 4}, **given)


@pytest.mark.parametrize(
    ("mutant", "fate", "because"),
    [
        (_quota(), Fate.CAUGHT, ""),
        (_quota(consequences=("node_capacity",)), Fate.SURVIVES, "it lists node_capacity, which it does not break"),
        (_quota(violated="node_capacity"), Fate.SURVIVES, "node_capacity holds with the fault"),
        (_quota(edits=(disabled("replace"),)), Fate.SURVIVES, "quota_never_exceeded holds with the fault"),
        (
            Mutant("x", "a reason to be", "every_app_finishes", gang, (disabled("replace"),), report="a report"),
            Fate.SURVIVES,
            "it breaks deadlock_free too, which it does not list",
        ),
        (
            Mutant("x", "a reason to be", "every_app_finishes", gang, (disabled("replace"),)),
            Fate.CAUGHT,
            "",
        ),
        (
            Mutant("x", "a reason to be", "every_app_finishes", gang, (disabled("replace"),), {"quota": 1}),
            Fate.SURVIVES,
            "without the fault too every_app_finishes is vacuous",
        ),
    ],
)
def test_what_becomes_of_a_mutant(mutant: Mutant, fate: Fate, because: str) -> None:
    trial = tried("gang", mutant, explore(mutant.base()))
    assert (trial.fate, trial.because) == (fate, because)


def test_trials_in_processes_are_those_in_this_one() -> None:
    chosen = [("gang", m.name) for m in mutants("gang")]
    # traces with sets and channels, which travel as well
    chosen += [("yunikorn", name) for name in ("second_release", "rejected_for_ever")]
    here, there = (sorted(run_trials(chosen, workers=n), key=lambda t: t.name) for n in (1, 2))
    assert [(t.name, t.fate, t.steps, t.states, t.also) for t in here] == [
        (t.name, t.fate, t.steps, t.states, t.also) for t in there
    ]
    assert scopes(chosen) == [
        ("gang", ("no_quota",)),
        ("gang", ("no_node_capacity", "runs_one_early", "placeholder_lost", "never_replaced")),
        ("yunikorn", ("rejected_for_ever",)),
        ("yunikorn", ("second_release",)),
    ]


def counting(top: int, limit: int = 15_000) -> Machine:
    """A long way up, and what is only known at its end."""
    m = Machine("counting")
    x = m.scalar("x", range(top + 1), init=0)

    @m.action
    def up() -> None:
        require(x < top)
        x.next += 1

    @m.always
    def below_two() -> Expr:
        return x < 2

    @m.always
    def below_limit() -> Expr:
        return x < limit

    @m.terminal
    def at_the_top() -> Expr:
        return x == top

    return m


@pytest.mark.parametrize("report", ["", "a report"])
def test_nothing_is_caught_that_a_budget_left_undecided(report: str) -> None:
    def made(violated: str, *consequences: str) -> Mutant:
        return Mutant("x", "a reason to be", violated, counting, (), {"top": 2}, consequences, report, {"top": 20_000})

    cut = explore(counting(20_000), max_states=10)
    assert cut["below_two"].outcome is Outcome.VIOLATED
    assert cut["below_limit"].outcome is Outcome.UNKNOWN
    base = explore(counting(1))
    judge = trials._judged
    assert judge(made("below_limit"), base, cut)[0] is (Fate.SURVIVES if report else Fate.UNKNOWN)
    assert judge(made("below_two"), base, cut)[0] is (Fate.UNKNOWN if report else Fate.CAUGHT)
    assert judge(made("below_two", "below_limit"), base, cut)[0] is (Fate.UNKNOWN if report else Fate.CAUGHT)
    assert judge(made("below_two"), cut, cut)[0] is Fate.SURVIVES
    # below_two is violated without the fault: nothing of a report may be
    assert judge(made("below_limit"), cut, explore(counting(1)))[0] is (Fate.SURVIVES if report else Fate.UNKNOWN)


def test_nothing_is_violated_without_the_fault_that_a_report_tells() -> None:
    """A gang that never finishes is a fault of its own, which says nothing of the quota."""

    def unfinished(*edits: Edit) -> Verdict:
        return explore(mutated(lambda: gang(nodes=1, capacity=4), disabled("finish"), *edits))

    base, faulty = unfinished(), unfinished(*_quota().edits)
    assert base["quota_never_exceeded"].outcome is Outcome.HOLDS
    assert trials._judged(_quota(report=""), base, faulty) == (Fate.CAUGHT, "")
    fate, because = trials._judged(_quota(), base, faulty)
    assert fate is Fate.SURVIVES
    assert re.fullmatch(r"without the fault too .*deadlock_free.* is violated", because)


MANY = ("yunikorn", "ray")
"""Specs with so many scopes that building them all takes long."""


@pytest.mark.parametrize(
    "spec", [pytest.param(spec, marks=pytest.mark.slow) if spec in MANY else spec for spec in SHIPPED]
)
def test_every_property_has_a_mutant(spec: str) -> None:
    scopes_of = {repr(dict(m.parameters)): m for m in mutants(spec)}
    machines = [spec_function(spec)(), *(m.base() for m in scopes_of.values())]
    properties = {p.name for machine in machines for p in machine.properties}
    assert properties == {m.violated for m in mutants(spec)}


@pytest.mark.parametrize("spec", SHIPPED)
def test_mutants_have_names_and_sources(spec: str) -> None:
    names = [m.name for m in mutants(spec)]
    assert len(set(names)) == len(names)
    assert all(len(m.source) > 10 and m.what for m in mutants(spec))


def test_the_quota_of_the_benchmark_is_broken_in_eleven_steps() -> None:
    mutant = next(m for m in mutants("gang") if m.name == "no_quota")
    assert mutant.parameters == {"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7}
    trace = explore(mutant.make())["quota_never_exceeded"].trace
    assert trace is not None
    assert len(trace) == 11


# ---- the edits


def size_of(machine: Machine) -> int:
    return explore(machine).coverage.distinct_states


def test_no_edit_changes_nothing() -> None:
    assert size_of(mutated(gang)) == size_of(gang()) == 144


class Thing(Sort):
    """A thing."""


class Lamp:
    """The variables of a switch."""

    def __init__(self, m: Machine) -> None:
        self.on = m.variable("on", Thing, bool, init=False)


def switch() -> Machine:
    """One action, and properties that speak of its guard."""
    m = Machine("switch")
    m.sort(Thing, 2)
    lamp = Lamp(m)
    m.attach(lamp)
    on = lamp.on

    @m.action
    def turn_on(t: Thing) -> None:
        require(~on[t])
        on[t] = True

    @m.always
    def off_can_be_turned_on() -> Expr:
        return all_(implies(~on[t], m.enabled(turn_on, t)) for t in Thing)

    @m.always
    def something_can_happen_until_all_are_on() -> Expr:
        return all_(on[t] for t in Thing) | m.any_enabled()

    @m.terminal
    def all_on() -> Expr:
        return all_(on[t] for t in Thing)

    return m


def replay(m: Machine) -> Callable[[Thing], None]:
    """What a lamp that goes off again does."""
    lamp = m.attached(Lamp)

    def turn_on(t: Thing) -> None:
        """Off again."""
        # any lamp
        lamp.on[t] = ~lamp.on[t]

    return turn_on


def turning_off(m: Machine) -> Callable[[Thing], None]:
    """One more action of a switch."""
    lamp = m.attached(Lamp)

    def turn_off(t: Thing) -> None:
        require(lamp.on[t])
        lamp.on[t] = False

    return turn_off


def test_an_action_written_anew_and_one_more() -> None:
    anew, more = rewritten("turn_on", replay, "goes off again"), with_action("turn_on", turning_off, "can go off")
    machine = mutated(switch, anew, more)
    assert [a.name for a in machine.actions] == ["turn_on", "turn_off"]
    # what speaks of the action speaks of the new one, which is enabled everywhere
    assert explore(machine)["off_can_be_turned_on"].outcome is Outcome.HOLDS
    assert explore(machine).coverage.transitions == 4 * 2 + 4
    assert [a.name for a in switch().actions] == ["turn_on"]
    assert (anew.lines, more.lines) == (2, 3)
    assert Mutant("x", "a reason to be", "p", switch, (anew, more, disabled("turn_on"))).lines == 6


def test_an_action_is_written_anew_once() -> None:
    anew = rewritten("turn_on", replay, "goes off again")
    with pytest.raises(SpecError, match="turn_on is written anew by two edits"):
        mutated(switch, anew, rewritten("turn_on", replay, "again"))


def test_what_another_thread_builds_is_no_mutant() -> None:
    def build() -> Machine:
        with ThreadPoolExecutor(1) as pool:
            machines.append(pool.submit(switch).result())
        return switch()

    machines: list[Machine] = []
    assert len(mutated(build, with_action("turn_on", turning_off, "can go off")).actions) == 2
    assert len(machines[0].actions) == 1


def test_two_of_one_class_are_attached() -> None:
    machine = switch()
    machine.attach(machine.attached(Lamp))
    other = switch().attached(Lamp)
    with pytest.raises(SpecError, match="switch has two Lamp attached"):
        machine.attach(other)


def test_nothing_of_that_class_is_attached() -> None:
    with pytest.raises(SpecError, match="switch has no Machine attached"):
        switch().attached(Machine)


def test_an_edit_is_seen_by_what_speaks_of_the_action() -> None:
    assert explore(switch()).outcome is Outcome.HOLDS
    broken = explore(mutated(switch, disabled("turn_on")))
    assert broken["off_can_be_turned_on"].outcome is Outcome.VIOLATED
    assert broken["something_can_happen_until_all_are_on"].outcome is Outcome.VIOLATED
    assert explore(switch()).outcome is Outcome.HOLDS  # nothing of the mutant is left


def test_a_replaced_guard_and_a_replaced_value() -> None:
    wider = with_guard("finish", "AppState.RUNNING", lambda g: g | True)
    assert explore(mutated(gang, wider)).coverage.actions["finish"] > explore(gang()).coverage.actions["finish"]
    straight = with_update("submit", "state", lambda _: AppState.KILLED)
    assert size_of(mutated(gang, straight)) == 4


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (without_guard("allocate", "nonsense"), "0 guards of allocate contain 'nonsense', expected one"),
        (without_guard("allocate", "<"), "2 guards of allocate contain '<', expected one"),
        (without_update("submit", "reals"), "submit writes reals 0 times, expected once. It writes: state"),
        (with_update("submit", "state", lambda _: 3), "submit: state cannot hold 3, which is an integer"),
        (with_guard("submit", "NEW", lambda _: 3), "takes a boolean"),
        (disabled("sumbit"), "gang has no action sumbit, so this changes nothing: sumbit never fires"),
    ],
)
def test_an_edit_that_misses_is_an_error(edit: object, message: str) -> None:
    with pytest.raises(SpecError, match=message.replace(".", r"\.").replace("(", r"\(")):
        mutated(gang, edit)  # type: ignore[arg-type]
    assert size_of(gang()) == 144


def test_mutants_do_not_nest() -> None:
    with pytest.raises(SpecError, match="inside another"):
        mutated(lambda: mutated(gang, disabled("submit")), disabled("finish"))


def test_a_mutant_tells_its_fault_in_words() -> None:
    mutant = Mutant("x", "a reason to be", "p", gang, (disabled("submit"), without_update("replace", "reals")))
    assert mutant.what == "submit never fires; replace does not write reals"


def test_a_mutant_may_be_a_variant_of_the_spec() -> None:
    mutant = Mutant("x", "a reason to be", "p", gang, parameters={"apps": 2, "quota": 2}, changed={"quota": 3})
    assert (size_of(mutant.base()), size_of(mutant.make())) == (size_of(gang(quota=2)), 144)
    assert (mutant.what, mutant.lines) == ("quota=3", 1)
