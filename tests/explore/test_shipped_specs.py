"""Every shipped spec: the compiled explorer against the golden interpreter.

A sample of states in the default scopes, all states and all verdicts in small ones: the interpreter takes minutes for
what the explorer does in a second.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from agreement import assert_agrees

from model.explore import Exploration
from model.language import PropertyKind
from model.semantics import Fault, Semantics
from specs.loading import load_spec
from specs.registry import SHIPPED

pytestmark = pytest.mark.no_cover

SMALL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "yunikorn": ("edition=seed size=2 nodes=1 quota=2 queues=two_leaves gate=none", "edition=current"),
        "kubernetes": ("groups=2 pods=1 min_count=1 nodes=1",),
        "ray": ("jobs=1 retries=0 vanish=false crash=false",),
    }
)
"""Where the default parameters have too many states for the interpreter, or are not all."""
CASES = [(spec, scope) for spec in SHIPPED for scope in SMALL.get(spec, ("",))]
SAMPLE = 40
ALWAYS, STEP = PropertyKind.ALWAYS, PropertyKind.STEP


LARGE = ("kueue", "autoscaled_gang", "volcano_reclaim", "composite")


@pytest.mark.parametrize(
    ("spec", "scope"), [pytest.param(*c, marks=pytest.mark.slow) if c[0] in LARGE else c for c in CASES]
)
def test_a_sample_of_states(spec: str, scope: str) -> None:
    """All steps of each state lead to states that were found, at most one level on; what holds always holds there."""
    machine = load_spec(spec, scope.split())
    exploration, semantics = Exploration(machine), Semantics(machine)
    distances = exploration.distances.tolist()
    found = dict(zip(map(tuple, exploration.states.tolist()), distances, strict=True))
    chosen = random.Random(spec).sample(sorted(found), min(SAMPLE, len(found)))
    claims = [p for p in machine.properties if p.kind in (ALWAYS, STEP) and exploration.verdict[p.name].trace is None]
    steps = 0
    for state in [*semantics.initial_states(), *chosen]:
        assert all(semantics.evaluate(p.condition, state, {}) for p in claims if p.kind is ALWAYS)
        enabled = [i for i in semantics.instances if semantics.is_enabled(i, state)]
        assert enabled or semantics.is_terminal(state) or exploration.verdict["deadlock_free"].trace is not None
        for instance in enabled:
            after = semantics.fire(instance, state)
            assert not isinstance(after, Fault)
            assert found[after] <= found[state] + 1
            assert all(semantics.evaluate(p.condition, state, {}, after) for p in claims if p.kind is STEP)
            steps += 1
    assert steps > SAMPLE // 2


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "scope"), CASES)
def test_every_state_and_verdict(spec: str, scope: str) -> None:
    assert_agrees(load_spec(spec, scope.split()))
