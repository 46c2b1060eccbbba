"""`conform` against the plain oracle, on random machines and on logs of their runs, whole, spoilt and with holes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from conform_oracle import Oracle
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.conform import Ending, Limits, Log, Pattern, Record, conform
from model.conform.log import groups
from model.explore import explore
from model.language import Machine, PropertyKind
from model.semantics import Fault, Semantics
from model.strategies import machines
from model.trace import Value, named_state
from specs.gang.machine import gang
from specs.gang.mutants import MUTANTS

_SEEDS = st.integers(0, 2**32 - 1)


def logged(machine: Machine, chance: random.Random, steps: int) -> Log:
    """The log of a random run: some actions are not observed, some arguments and states are told, some times tie."""
    s = Semantics(machine)
    names = [a.name for a in machine.actions]
    unobserved = {n for n in names if chance.random() < 0.3}
    state = chance.choice(s.initial_states())
    records: list[Record] = []
    for _ in range(steps):
        enabled = [(i, new) for i in s.instances if s.is_enabled(i, state) for new in [s.fire(i, state)]]
        sound = [(i, new) for i, new in enabled if not isinstance(new, Fault)]
        if not sound:
            break
        instance, after = chance.choice(sound)
        assert not isinstance(after, Fault)
        state = after
        if chance.random() < 0.05:
            records.append(Record("", gap=True))
        if instance.action.name in unobserved and chance.random() < 0.8:
            continue
        told = {name: (value,) for name, value in s.arguments(instance) if chance.random() < 0.7}
        shown = {c: v for c, v in named_state(machine, state).items() if chance.random() < 0.3}
        alone = None if chance.random() < 0.6 else str(len(records) // 3)
        records.append(Record("", (Pattern(instance.action.name, told),), shown, alone))
    return Log(tuple(replace(r, where=f"line {n}") for n, r in enumerate(records)), tuple(map(Pattern, unobserved)))


def spoilt(log: Log, chance: random.Random) -> Log:
    """The same with a record dropped, doubled or moved."""
    records = list(log.records)
    if records:
        at = chance.randrange(len(records))
        match chance.randrange(3):
            case 0:
                del records[at]
            case 1:
                records.insert(at, records[at])
            case _:
                records.insert(chance.randrange(len(records)), records.pop(at))
    return replace(log, records=tuple(records))


def agree(machine: Machine, log: Log) -> Ending:
    """The verdict, after the oracle said the same of all that both tell."""
    found = conform(machine, log)
    matched, states = Oracle(machine).follow(log)
    order = groups(log.records)
    if found.ending is Ending.DIVERGES:
        assert found.divergence is not None
        refused = [n for n, group in enumerate(order) if found.divergence.record in map(str, group)]
        assert matched in refused
        return found.ending
    assert matched == len(order)
    assert found.candidates == len(states)
    assert found.run is not None
    assert Semantics(machine).replay(found.run) is None
    for p in machine.properties:
        if p.kind in (PropertyKind.ALWAYS, PropertyKind.STEP):
            clean, _ = Oracle(machine, p).follow(log)
            broken = [b.where for b in found.broken if b.property == p.name]
            assert broken == ([] if clean == len(order) else [order[clean][0].where]), p.name
    return found.ending


@given(machines(most_states=60), _SEEDS)
@settings(max_examples=40)
def test_a_run_conforms_and_a_spoilt_one_as_the_oracle_says(machine: Machine, seed: int) -> None:
    """The log of a run is a run, whatever it leaves out; of one that was spoilt both say the same."""
    chance = random.Random(seed)
    log = logged(machine, chance, 6)
    assert agree(machine, log) in (Ending.CONFORMS, Ending.VACUOUS)
    agree(machine, spoilt(log, chance))


def changes(machine: Machine, chance: random.Random, steps: int) -> Log:
    """The log of a random run by what changes in some variables: each cell a record, in any order within a step."""
    s = Semantics(machine)
    observed = tuple(v.label for v in machine.variables if chance.random() < 0.6)
    state = chance.choice(s.initial_states())
    told: list[dict[str, Value]] = []
    for _ in range(steps):
        enabled = [s.fire(i, state) for i in s.instances if s.is_enabled(i, state)]
        sound = [new for new in enabled if not isinstance(new, Fault)]
        if not sound:
            break
        before, state = named_state(machine, state), chance.choice(sound)
        after = named_state(machine, state)
        new = [{c: v} for c, v in after.items() if v != before[c] and c.split("[")[0] in observed]
        told += chance.sample(new, len(new))
    return Log(tuple(Record(f"line {n}", state=some) for n, some in enumerate(told)), observed=observed)


@given(machines(most_states=60), _SEEDS)
@settings(max_examples=40)
def test_changes_are_followed_as_the_oracle_does(machine: Machine, seed: int) -> None:
    """Of steps only what changes is told; several records may be of one step."""
    chance = random.Random(seed)
    log = changes(machine, chance, 6)
    assume(log.observed)
    for some in (log, spoilt(log, chance)):
        found = conform(machine, some)
        matched, states = Oracle(machine).follow_changes(some)
        assert (found.ending is Ending.DIVERGES) is not bool(states)
        assert some is not log or states
        if states:
            assert found.candidates == len(states)
        else:
            assert found.matched == matched


@given(_SEEDS)
@settings(max_examples=15)
def test_names_are_given_in_every_way_that_tells_a_difference(seed: int) -> None:
    """With names of its own for the elements, a log is a run if it is one for some way to give them."""
    chance = random.Random(seed)
    machine = gang()
    log = logged(machine, chance, 8)
    if chance.random() < 0.5:
        log = spoilt(log, chance)
    own = {"app1": "job-b", "app2": "job-a", "node1": "host-2", "node2": "host-1"}

    def renamed(text: str) -> str:
        for name, other in own.items():
            text = text.replace(name, other)
        return text

    records = tuple(
        replace(
            r,
            patterns=tuple(
                Pattern(p.action, {k: tuple(map(renamed, v)) for k, v in p.arguments.items()}) for p in r.patterns
            ),
            state={renamed(c): v for c, v in r.state.items()},
        )
        for r in log.records
    )
    found, plain = conform(machine, replace(log, records=records)), conform(machine, log)
    assert (found.ending, found.matched) == (plain.ending, plain.matched)
    # which states they are depends on the names that were never told; how far the log goes does not
    assert found.names.keys() <= set(own.values())


@pytest.mark.parametrize(("most", "ending"), [(100, Ending.UNKNOWN), (200, Ending.VACUOUS)])
def test_a_budget_that_runs_out_is_unknown(most: int, ending: Ending) -> None:
    """After a gap any of the 144 reachable states is a candidate."""
    found = conform(gang(), Log((Record("line 1", gap=True),)), Limits(candidates=most))
    assert found.ending is ending
    assert (found.budget is None) is (ending is Ending.VACUOUS)


def test_what_every_explanation_breaks_is_broken() -> None:
    """A gang that runs with one member of two, in a spec that lets it, is told with the record that showed it."""
    machine = next(m for m in MUTANTS if m.name == "runs_one_early").make()
    trace = explore(machine)["no_partial_gang_runs"].trace
    assert trace is not None
    records = tuple(
        Record(f"line {n}", (Pattern(s.action, {k: (v,) for k, v in s.arguments}),))
        for n, s in enumerate(trace.steps, 1)
    )
    found = conform(machine, Log(records))
    assert found.ending is Ending.CONFORMS
    assert [(b.property, b.where) for b in found.broken] == [("no_partial_gang_runs", f"line {len(records)}")]
