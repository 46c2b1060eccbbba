"""Random runs of today's core, with the spec alongside: what the core decides is an enabled step, and both show the
same after each event."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import Machine
from reference.schedulers.yunikorn.current import releases, timers
from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books
from specs.loading import build_spec
from specs.walking import Divergence
from specs.yunikorn import Edition
from specs.yunikorn.current.binding import Follower
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.parameters import Queues, Timers

pytestmark = pytest.mark.no_cover

SCOPES: list[dict[str, Any]] = [
    {},
    {"style": Style.HARD, "size": 3, "nodes": 2, "capacity": 2},
    {"reals": 3, "timers": Timers.FREE},
    {"reals": 2, "deletions": 2, "preemptions": 2, "bind_failures": 1},
    {"placeholder": 2, "capacity": 4, "reals": 2, "preemptions": 1},
    {"real": 2, "capacity": 4, "reals": 2, "deletions": 1},
    {"apps": 2, "queues": Queues.TWO_LEAVES, "quota": 3, "leaf_quota": 2, "timers": Timers.FREE, "duplicates": 2},
    {"apps": 2, "max_apps": 1, "reals": 2},
    {"apps": 2, "user_limit": 3, "quota": 4, "size": 3, "nodes": 3, "capacity": 1, "app_removals": 1},
    {"apps": 3, "size": 2, "nodes": 2, "capacity": 3, "quota": 5, "reals": 3, "timers": Timers.FREE, "deletions": 1},
]


@functools.cache
def machine(scope: int, repaired: bool) -> Machine:
    return build_spec("yunikorn", {"edition": Edition.CURRENT, "repaired": repaired, **SCOPES[scope]})


def walk(scope: int, repaired: bool, seed: int, steps: int) -> Counter[str]:
    """One run; what happened how often. Nodes refuse real pods now and then, as predicates may."""
    random = Random(seed)
    follower = Follower(machine(scope, repaired))
    refused: set[str] = set()
    follower.partition.predicates = lambda request, node: request.placeholder or node not in refused
    happened: Counter[str] = Counter()
    for _ in range(steps):
        options = list(follower.options())
        if random.random() < 0.4 or not options:
            refused = {n for n in follower.partition.nodes.index if random.random() < 0.3}
            follower.partition.epoch += 1
            if follower.cycle():
                happened["cycle"] += 1
                continue
        if not options:
            break
        slow = [c for c in options if not c[0].endswith("timeout") and c[0] not in ("expire", "remove_application")]
        call = random.choice(slow if slow and random.random() < 0.95 else options)
        follower.happen(call)
        happened[call[0]] += 1
    return happened


def test_a_run_of_each_small_scope_is_followed() -> None:
    """Those with more applications take longer: they are among the slow ones."""
    runs = (walk(scope, scope % 2 == 0, seed=scope, steps=50) for scope, p in enumerate(SCOPES) if "apps" not in p)
    happened = sum(runs, Counter())
    assert happened["cycle"] >= 12, happened


@pytest.mark.slow
@given(
    scope=st.integers(0, len(SCOPES) - 1), repaired=st.booleans(), seed=st.integers(0, 2**32), steps=st.integers(1, 150)
)
@settings(max_examples=1000, deadline=None)
def test_what_the_core_does_is_a_step_of_the_spec(scope: int, repaired: bool, seed: int, steps: int) -> None:
    walk(scope, repaired, seed, steps)


def no_event_after_the_last_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "_after_last_placeholder", lambda books, app: None)


def pending_is_not_counted_at_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Books, "forget_ask", lambda self, app, key: None)


def placeholders_are_not_marked_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "_release_free", lambda books, app, why: None)


def queues_keep_what_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_back(self: Books, app: Application, request: Request) -> None:
        self.take_off(request)

    monkeypatch.setattr(Books, "give_back", give_back)


@pytest.mark.parametrize(
    ("fault", "scope"),
    [
        (no_event_after_the_last_placeholder, 2),
        (pending_is_not_counted_at_the_timeout, 2),
        (placeholders_are_not_marked_at_the_end, 2),
        (queues_keep_what_is_released, 0),
    ],
)
def test_a_fault_of_the_reference_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], scope: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(Divergence):
        sum((walk(scope, False, seed, 60) for seed in range(100)), Counter())
