"""The YuniKorn reference, driven by random events, never leaves the yunikorn spec, and never breaks its own
invariants."""

from __future__ import annotations

from collections import Counter

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

from model.semantics import Semantics
from reference.schedulers.yunikorn import Core, Environment, Event, EventName, Record, Timers
from specs.loading import build_spec
from specs.yunikorn import Gate, Policy, Queues
from specs.yunikorn import Timers as SpecTimers
from specs.yunikorn.binding import Divergence, Follower, calls, observed, subject_for

SCOPES = st.one_of(
    st.fixed_dictionaries(
        {
            "apps": st.integers(1, 3),
            "size": st.integers(1, 3),
            "nodes": st.integers(1, 2),
            "capacity": st.integers(1, 3),
            "quota": st.integers(1, 6),
            "policy": st.sampled_from(Policy),
            "reject_fair": st.booleans(),
            "gate": st.sampled_from(Gate),
            "queues": st.sampled_from(Queues),
            "timers": st.sampled_from(SpecTimers),
        }
    ),
    # half of the draws are the scopes in which gangs meet
    st.fixed_dictionaries(
        {
            "size": st.just(3),
            "policy": st.sampled_from(Policy),
            "reject_fair": st.just(False),
            "gate": st.sampled_from(Gate),
            "queues": st.sampled_from(Queues),
            "timers": st.sampled_from(SpecTimers),
        }
    ),
)

TIMEOUTS = (EventName.PLACEHOLDER_TIMEOUT, EventName.WAITING_TIMEOUT)
ENDINGS = (EventName.WAITING_TIMEOUT, EventName.FINISH_POD, EventName.ASK_REAL)
SEEN: Counter[str] = Counter()


class Side(RuleBasedStateMachine):
    """A core and the spec that follows it."""

    core: Core
    follower: Follower
    environment: Environment

    @initialize(parameters=SCOPES)
    def start(self, parameters: dict[str, object]) -> None:
        machine = build_spec("yunikorn", parameters)
        subject = subject_for(machine)
        self.core = Core(subject.cluster, subject.options)
        self.follower = Follower(machine)
        self.environment = Environment(Timers(machine.parameters["timers"]), cordons=1)

    def possible(self) -> list[Event]:
        if not hasattr(self, "core"):
            return []
        return [e for e in self.core.enabled_events(self.environment) if self.follower.may_happen(self.core, e)]

    @precondition(lambda self: self.possible())
    @rule(choice=st.integers(0, 2**16))
    def happen(self, choice: int) -> None:
        events = self.possible()
        self.do(events[choice % len(events)], choice)

    @precondition(lambda self: any(e.name not in TIMEOUTS for e in self.possible()))
    @rule(choice=st.integers(0, 2**16))
    def go_on(self, choice: int) -> None:
        """Anything but a timeout: among all events, these would end most runs early."""
        events = [e for e in self.possible() if e.name not in TIMEOUTS]
        self.do(events[choice % len(events)], choice)

    @precondition(lambda self: any(e.name in ENDINGS for e in self.possible()))
    @rule(choice=st.integers(0, 2**16))
    def wind_down(self, choice: int) -> None:
        """Pods end, waiting times run out, an ask comes late: seldom drawn one after the other otherwise."""
        events = [e for e in self.possible() if e.name in ENDINGS]
        for ending in ENDINGS:
            preferred = [e for e in events if e.name is ending]
            if preferred:
                self.do(preferred[choice % len(preferred)], choice)
                return

    def do(self, event: Event, choice: int) -> None:
        record = self.core.apply(event)
        taken = self.follower.follow(self.core, record)
        for name, _ in taken:
            SEEN[name] += 1
            note(name)
        if event.name is EventName.ASK_REAL and not taken:
            # the spec asks and replaces in one action
            replacements = [
                e for e in self.core.enabled_events(self.environment)
                if e.name is EventName.START_REPLACEMENT and e.application == event.application
            ]  # fmt: skip
            if replacements:
                self.do(replacements[choice % len(replacements)], choice)

    @invariant()
    def the_core_keeps_its_invariants(self) -> None:
        if hasattr(self, "core"):
            assert self.core.check_invariants() == []


def test_every_event_is_an_enabled_step_of_the_spec() -> None:
    SEEN.clear()
    run_state_machine_as_test(Side, settings=settings(max_examples=100, stateful_step_count=50))
    print("steps of the spec that were taken:", dict(sorted(SEEN.items())))
    every = {a.name for a in build_spec("yunikorn", {"queues": Queues.TWO_LEAVES}).actions}
    assert every <= set(SEEN), f"never taken: {sorted(every - set(SEEN))}"


def test_a_core_that_breaks_a_rule_is_caught() -> None:
    """The same drive finds a core whose gate lets everybody in, where the spec's gate does not."""
    machine = build_spec("yunikorn", {"queues": Queues.TWO_LEAVES, "gate": Gate.RESERVES})
    subject = subject_for(machine)
    loose = subject_for(build_spec("yunikorn", {"queues": Queues.TWO_LEAVES, "gate": Gate.NONE}))
    core, follower = Core(subject.cluster, loose.options), Follower(machine)
    first, second = (a.name for a in subject.cluster.applications)

    def both(record: Record) -> None:
        follower.follow(core, record)

    for app in (first, second):
        both(core.submit(app))
        both(core.ask_placeholders(app, "members"))
    both(core.allocate_placeholder(first, "members", "node1"))
    with pytest.raises(Divergence, match="does not enable allocate_placeholder"):
        both(core.allocate_placeholder(second, "members", "node2"))


def test_what_the_core_shows_is_what_the_spec_shows_at_the_start() -> None:
    machine = build_spec("yunikorn", {})
    core = Core(subject_for(machine).cluster, subject_for(machine).options)
    cells = {Semantics(machine).machine.show_cell(c) for c in machine.cells()}
    hidden = {c for c in cells if c.startswith("late[")}
    assert set(observed(core)) == cells - hidden


def test_a_submission_alone_is_no_step() -> None:
    machine = build_spec("yunikorn", {})
    subject = subject_for(machine)
    core = Core(subject.cluster, subject.options)
    assert calls(core.submit("app1")) == []
    assert calls(core.ask_placeholders("app1", "members")) == [("submit", ("app1",))]
