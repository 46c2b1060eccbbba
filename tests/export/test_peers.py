"""Spin and TLC on what is exported: they find the explorer's states, and its violations after as many steps.

They run where GANGPROOF_PEERS says so: with ``required`` (``make test-peers``) they fail where one of them is missing,
with ``present`` (``make test-slow``) they are skipped there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from peers_agreement import MUTANTS, SIZES, Expected, disagreement_of_spin, disagreement_of_tlc, expected, expected_of
from test_tla import machine_of_all

from model import semantics
from model.explore import explore
from model.export.peers import Found, missing_for_spin, missing_for_tlc, run_spin, run_tlc
from model.export.promela import promela
from model.export.tla import Module, tla
from model.language import Expr, Machine, PropertyKind, require
from model.strategies import live_machines, machines
from specs.gang import gang
from specs.loading import load_spec
from specs.mutant import Mutant
from specs.registry import SHIPPED, mutants

pytestmark = [pytest.mark.peers, pytest.mark.no_cover]

CHANNELS = str(Path(__file__).resolve().parents[2] / "examples" / "async-interface" / "interface.py")
FAST = ("gang-runs_one_early",)
MOST_STATES = 4_000


def needs(missing: str | None) -> None:
    """Skip, or fail where peers are required, if something is ``missing``."""
    wanted = os.environ.get("GANGPROOF_PEERS")
    if wanted not in ("required", "present"):
        pytest.skip("`make test-peers` runs Spin and TLC")
    if missing is not None:
        if wanted == "required":
            pytest.fail(missing)
        pytest.skip(missing)


def by_spin(machine: Machine, wanted: Expected, folder: Path, claims: tuple[str, ...] | None = None) -> str | None:
    needs(missing_for_spin())
    return disagreement_of_spin(run_spin(promela(machine, claims), folder), wanted)


def by_tlc(machine: Machine, wanted: Expected, folder: Path) -> str | None:
    needs(missing_for_tlc())
    return disagreement_of_tlc(run_tlc(tla(machine), folder), wanted)


PEERS: dict[str, Callable[[Machine, Expected, Path], str | None]] = {"spin": by_spin, "tlc": by_tlc}


def test_every_shipped_spec_has_a_size() -> None:
    assert {call.split()[0] for call in SIZES} == SHIPPED.keys()


def some(names: Iterable[str]) -> list[Any]:
    """Those in FAST, and the others as slow tests."""
    return [pytest.param(n, marks=[] if n in FAST else [pytest.mark.slow]) for n in names]


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("call", SIZES)
def test_a_shipped_spec(call: str, peer: str, tmp_path: Path) -> None:
    name, *given_ = call.split()
    machine = load_spec(name, given_)
    verdict = explore(machine)
    assert verdict.coverage.distinct_states <= MOST_STATES
    assert PEERS[peer](machine, expected_of(verdict), tmp_path) is None


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("order", ["fifo", "any"])
def test_channels_and_timers(order: str, peer: str, tmp_path: Path) -> None:
    machine = load_spec(CHANNELS, [f"order={order}", "duplicates=true"])
    assert PEERS[peer](machine, expected_of(explore(machine)), tmp_path) is None


@pytest.mark.slow
def test_names_that_mean_something_to_the_verifier(tmp_path: Path) -> None:
    m = Machine("names")
    words = "depth errors done Index uchar NULL EOF now ASYNC WS ulong rand exit select end"
    scalars = [m.scalar(name, bool, init=False) for name in words.split()]

    @m.action
    def start() -> None:
        require(~scalars[0])
        for each in scalars:
            each.next = True

    @m.terminal
    def ends() -> Expr:
        return scalars[-1].now

    assert by_spin(m, expected(m), tmp_path) is None


# ---- faults


def told(mutant: Mutant) -> tuple[Machine, Expected]:
    machine = mutant.make()
    verdict = explore(machine, max_states=MOST_STATES)
    if not verdict.coverage.complete:
        pytest.skip(f"has more than {MOST_STATES:,} states")
    return machine, expected_of(verdict)


@pytest.mark.parametrize("name", some(MUTANTS))
def test_spin_finds_a_mutant(name: str, tmp_path: Path) -> None:
    """Of all that it breaks only what it is meant to, and what every machine claims, is looked at. Where Spin cannot
    say what it breaks, it finds all states."""
    machine, wanted = told(MUTANTS[name])
    claim = MUTANTS[name].violated
    wanted.violated = {n: steps for n, steps in wanted.violated.items() if n == claim or n not in wanted.kinds}
    assert claim in wanted.violated or claim not in wanted.kinds
    assert by_spin(machine, wanted, tmp_path, (claim,) if claim in wanted.kinds else ()) is None


@pytest.mark.slow
@pytest.mark.parametrize("spec", SHIPPED)
def test_tlc_finds_mutants(spec: str, tmp_path: Path) -> None:
    """The first of a spec's mutants that breaks a claim on states, and the first that breaks one on steps."""
    needs(missing_for_tlc())
    kinds = {PropertyKind.ALWAYS, PropertyKind.STEP}
    for mutant in mutants(spec):
        machine = mutant.make()
        verdict = explore(machine, max_states=MOST_STATES)
        if not verdict.coverage.complete:
            continue
        wanted = expected_of(verdict)
        kind = wanted.kinds.get(mutant.violated)
        if kind in kinds:
            kinds.remove(kind)
            folder = tmp_path / mutant.name
            folder.mkdir()
            assert by_tlc(machine, wanted, folder) is None, mutant.name


def asking_for(module: Module, goal: str) -> Module:
    """``module`` with the trace to a goal asked for, as its configuration says how to."""
    text = re.sub(rf"^  \\\* (never_{goal})$", r"  \1", module.configuration, flags=re.M)
    assert text != module.configuration
    return Module(module.name, module.text, text, module.left_out)


@pytest.mark.parametrize("peer", PEERS)
def test_a_trace_to_a_goal(peer: str, tmp_path: Path) -> None:
    machine = gang()
    trace = explore(machine)["every_app_finishes"].trace
    assert trace is not None
    found: Found
    if peer == "tlc":
        needs(missing_for_tlc())
        found = run_tlc(asking_for(tla(machine), "every_app_finishes"), tmp_path)
        assert (found.violated, found.steps) == ("never_every_app_finishes", len(trace))
    else:
        needs(missing_for_spin())
        found = run_spin(promela(machine, ("every_app_finishes",)), tmp_path)
        # A state is told one step later.
        assert (found.violated, found.steps) == ("every_app_finishes", len(trace) + 1)


@pytest.mark.parametrize("peer", PEERS)
def test_every_construct(peer: str, tmp_path: Path) -> None:
    needs(missing_for_spin() if peer == "spin" else missing_for_tlc())
    machine = machine_of_all()
    assert PEERS[peer](machine, expected(machine, idle_steps=peer == "spin"), tmp_path) is None


# ---- random machines


def some_machines(strategy: SearchStrategy[Machine], examples: int, check: Callable[[Machine], None]) -> None:
    """``check`` of a handful of ``strategy``, the same ones in every run, unless a profile looks for what is new."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run(machine: Machine) -> None:
        check(machine)

    run()


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
def test_random_machines(peer: str, tmp_path: Path) -> None:
    def agrees(machine: Machine) -> None:
        # TLA+ cannot see a step that changes nothing.
        assert PEERS[peer](machine, expected(machine, idle_steps=peer == "spin"), tmp_path) is None

    some_machines(machines(300), 10, agrees)


@pytest.mark.slow
def test_random_liveness(tmp_path: Path) -> None:
    """TLC says whether any of what is claimed to happen at last does not."""
    needs(missing_for_tlc())

    def agrees(machine: Machine) -> None:
        if expected(machine, idle_steps=False).violated:
            return
        module = tla(machine)
        asked = {p.name for p in machine.properties if p.kind.is_liveness} - dict(module.left_out).keys()
        wrong = semantics.explore(machine).violated.keys() & asked
        found = run_tlc(module, tmp_path)
        assert (found.violated == "temporal") is bool(wrong), f"TLC found {found.violated}, violated are {wrong}"

    some_machines(live_machines(100), 15, agrees)
