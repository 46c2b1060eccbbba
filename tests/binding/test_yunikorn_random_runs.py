"""The YuniKorn reference, driven by random events, never leaves the yunikorn spec, and never breaks its own
invariants."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import event as note
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from yunikorn_walk import machine_for, new_core, parameters

from reference.schedulers.yunikorn import Core, Environment, Event, EventName
from specs.yunikorn.binding import Follower, environment_for
from specs.yunikorn.seed import Gate, Policy, Queues, Timers

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

GANGS_MEET = [
    parameters(queues=queues, gate=gate, policy=policy, timers=timers, reject_fair=False)
    for (queues, gate), policy, timers in zip(
        itertools.product(Queues, Gate), itertools.cycle(Policy), itertools.cycle([Timers.SLOW, Timers.FREE])
    )
]
"""Each queue shape with each gate, at the default sizes; policies and timers in turn."""

OTHERS = [
    parameters(apps=1, size=2, nodes=1, capacity=2, quota=3),
    parameters(apps=1, size=3, nodes=2, capacity=(1, 2), quota=3, timers=Timers.OFF),
    parameters(apps=3, size=(2, 5, 1), nodes=1, capacity=3, quota=4, queues=Queues.TWO_LEAVES, gate=Gate.NONE),
    parameters(apps=3, size=2, nodes=2, capacity=2, quota=4, policy=Policy.STATEAWARE, gate=Gate.NONE),
    parameters(apps=3, size=2, nodes=3, capacity=1, quota=4, leaf_quota=2, queues=Queues.TWO_LEAVES),
    parameters(policy=Policy.FAIR),
]

SCOPES = st.fixed_dictionaries(
    {
        "apps": st.integers(1, 3),
        "size": st.integers(1, 4),
        "nodes": st.integers(1, 3),
        "capacity": st.integers(1, 3),
        "quota": st.integers(1, 7),
        "policy": st.sampled_from(Policy),
        "reject_fair": st.sampled_from([False, False, True]),
        "gate": st.sampled_from(Gate),
        "queues": st.sampled_from(Queues),
        "timers": st.sampled_from(Timers),
    }
).map(lambda values: parameters(**values))

TIMEOUTS = (EventName.PLACEHOLDER_TIMEOUT, EventName.WAITING_TIMEOUT)
ENDINGS = (EventName.FINISH_POD, EventName.WAITING_TIMEOUT, EventName.ASK_REAL)
SEEN: Counter[str] = Counter()


class Side(RuleBasedStateMachine):
    """A core and the spec that follows it."""

    scopes = st.sampled_from([*GANGS_MEET, *OTHERS])
    core: Core
    follower: Follower
    environment: Environment
    thrift: int
    events: tuple[Event, ...] = ()

    @initialize(data=st.data(), thrift=st.integers(1, 3))
    def start(self, data: st.DataObject, thrift: int) -> None:
        """``thrift``: so many real pods an application asks for before it has to wait; else none leaves placeholders
        unused for the clean-up."""
        machine = machine_for(data.draw(self.scopes))
        self.core, self.follower, self.environment = new_core(machine), Follower(machine), environment_for(machine)
        self.thrift = thrift
        self.look()

    def look(self) -> None:
        """What may happen now."""
        self.events = tuple(
            event
            for event in self.core.enabled_events(self.environment)
            if self.follower.may_happen(self.core, event) and not self.spares(event)
        )

    def spares(self, event: Event) -> bool:
        if event.name is not EventName.ASK_REAL:
            return False
        app = self.core.applications[event.application]
        return not app.being_cleaned and app.groups[event.task_group].reals_asked >= self.thrift

    @precondition(lambda self: self.events)
    @rule(choice=st.integers(0, 2**16))
    def happen(self, choice: int) -> None:
        self.do(self.events, choice)

    @precondition(lambda self: any(e.name not in TIMEOUTS for e in self.events))
    @rule(choice=st.integers(0, 2**16))
    def go_on(self, choice: int) -> None:
        """Anything but a timeout: among all events, these would end most runs early."""
        self.do([e for e in self.events if e.name not in TIMEOUTS], choice)

    @precondition(lambda self: any(e.name in ENDINGS for e in self.events))
    @rule(choice=st.integers(0, 2**16))
    def wind_down(self, choice: int) -> None:
        """Pods end, waiting times run out, an ask comes late: seldom drawn one after the other otherwise."""
        for ending in ENDINGS:
            preferred = [e for e in self.events if e.name is ending]
            if preferred:
                self.do(preferred, choice)
                return

    @precondition(lambda self: self.closings())
    @rule(choice=st.integers(0, 2**16))
    def close_a_node(self, choice: int) -> None:
        """A node on which a real pod is to replace its placeholder takes no pods any more."""
        self.do(self.closings(), choice)

    def closings(self) -> list[Event]:
        cordons = [e for e in self.events if e.name is EventName.CORDON]
        if not cordons:
            return []
        pods = [p for app in self.core.applications.values() for p in app.placeholders.values()]
        parked = {pod.node for pod in pods if pod.parked is not None}
        return [e for e in cordons if e.node in parked]

    def do(self, events: Sequence[Event], choice: int) -> None:
        record = self.core.apply(events[choice % len(events)])
        for name, _ in self.follower.follow(self.core, record):
            SEEN[name] += 1
            note(name)
        self.look()

    @invariant()
    def the_core_keeps_its_invariants(self) -> None:
        if self.events:
            assert self.core.check_invariants() == []


class AnyScope(Side):
    """The same in scopes of all kinds."""

    scopes = SCOPES


def every_action() -> set[str]:
    return {a.name for a in machine_for(parameters(queues=Queues.TWO_LEAVES)).actions}


def test_every_event_is_an_enabled_step_of_the_spec() -> None:
    SEEN.clear()
    run_state_machine_as_test(Side, settings=settings(max_examples=50, stateful_step_count=40))
    print("steps of the spec that were taken:", dict(sorted(SEEN.items())))
    assert every_action() <= set(SEEN), f"never taken: {sorted(every_action() - set(SEEN))}"


@pytest.mark.slow
def test_every_event_is_an_enabled_step_of_the_spec_in_any_scope() -> None:
    SEEN.clear()
    run_state_machine_as_test(AnyScope, settings=settings(max_examples=300, stateful_step_count=60))
    print("steps of the spec that were taken:", dict(sorted(SEEN.items())))
    assert every_action() <= set(SEEN), f"never taken: {sorted(every_action() - set(SEEN))}"
