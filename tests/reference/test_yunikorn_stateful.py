"""Random events on random clusters: the invariants hold, and the core's short cuts change nothing."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import event as note
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from reference.cluster import MEMORY, VCORE, Cluster, SortPolicy
from reference.schedulers.yunikorn import (
    CORE_DECIDES,
    ApplicationState,
    Core,
    Environment,
    Event,
    EventName,
    Gate,
    NodeOrder,
    NotEnabledError,
    Options,
    Outcome,
    Record,
    Timers,
)
from reference.strategies import clusters

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

S = ApplicationState
TRANSITIONS = {
    (None, S.NEW), (None, S.REJECTED), (S.NEW, S.ACCEPTED), (S.ACCEPTED, S.RUNNING), (S.RUNNING, S.WAITING),
    (S.WAITING, S.RUNNING), (S.WAITING, S.COMPLETED), (S.ACCEPTED, S.KILLED),
}  # fmt: skip
CLUSTERS = clusters(max_nodes=3, max_apps=3, policies=tuple(SortPolicy))
OPTIONS = st.builds(
    Options,
    sort_policy=st.sampled_from([None, *SortPolicy]),
    reject_fair=st.booleans(),
    gate=st.sampled_from(Gate),
    node_order=st.sampled_from(NodeOrder),
    strict=st.booleans(),
)
ENVIRONMENTS = st.builds(
    Environment,
    timers=st.sampled_from(Timers),
    extra_reals=st.integers(0, 1),
    early_reals=st.booleans(),
    cordons=st.integers(0, 1),
    resubmit=st.booleans(),
)


# events of which enabled_events lists every one, and the fields that tell them apart
FIELDS = {
    EventName.ASK_PLACEHOLDERS: ("application", "task_group"),
    EventName.ALLOCATE_PLACEHOLDER: ("application", "task_group", "node"),
    EventName.CONFIRM_ASK_RELEASE: ("application", "key"),
    EventName.FINISH_POD: ("application", "key"),
    EventName.PLACEHOLDER_TIMEOUT: ("application",),
    EventName.WAITING_TIMEOUT: ("application",),
}


def fingerprint(core: Core) -> str:
    """Everything that an event may change, as text."""
    queues = [(q.name, q.used, q.owed, q.begun, [a.name for a in q.reserving]) for q in core.queues.states.values()]
    nodes = [(name, dict(core.nodes.free(name)), name in core.nodes.cordoned) for name in core.nodes.index]
    return repr((queues, nodes, core.applications, dict(core.times_released)))


class CoreMachine(RuleBasedStateMachine):
    """Each step is one of the core's enabled events, or one that must be refused."""

    core: Core
    environment: Environment

    @initialize(cluster=CLUSTERS, options=OPTIONS, environment=ENVIRONMENTS)
    def start(self, cluster: Cluster, options: Options, environment: Environment) -> None:
        self.core = Core(cluster, options)
        self.environment = environment

    @precondition(lambda self: self.core.enabled_events(self.environment))
    @rule(choices=st.lists(st.integers(0, 2**16), min_size=3, max_size=12))
    def happen(self, choices: list[int]) -> None:
        """Some enabled events, one after another. Decisions of the cycle come often, cordons rarely."""
        for choice in choices:
            self.cursors_change_nothing()
            events = self.core.enabled_events(self.environment)
            decisions = [e for e in events if e.name in CORE_DECIDES]
            calm = [e for e in events if e.name not in (EventName.CORDON, EventName.UNCORDON)]
            from_these = (decisions or calm) if choice % 2 else calm if choice % 16 else events
            if from_these:
                self.do(from_these[choice // 16 % len(from_these)])
                self.invariants_hold()

    def do(self, chosen: Event) -> None:
        """One event: what it reports is what it did."""
        used = {q.name: dict(q.used) for q in self.core.queues.states.values()}
        record = self.core.apply(chosen)
        note(f"{chosen.name.value}: {record.outcome.value}")
        assert (chosen.name, chosen.application, chosen.node) == (
            record.event.name, record.event.application, record.event.node)  # fmt: skip
        if record.before is not record.after:
            assert (record.before, record.after) in TRANSITIONS
        if chosen.application:
            assert self.core.applications[chosen.application].state is record.after
        if chosen.name in (EventName.START_REPLACEMENT, EventName.PLACEHOLDER_TIMEOUT, EventName.WAITING_TIMEOUT):
            assert used == {q.name: q.used for q in self.core.queues.states.values()}  # asked for, not released
        assert len(str(record).splitlines()) == 1

    @rule(name=st.sampled_from(list(FIELDS)), app=st.integers(0, 2), node=st.integers(0, 2), key=st.integers(1, 9))
    def be_refused(self, name: EventName, app: int, node: int, key: int) -> None:
        """A call that is not among the enabled events raises, and changes nothing."""
        call = Event(name, f"a{app}", "g0", f"n{node}", key)
        enabled = self.core.enabled_events(Environment(Timers.FREE))
        same = [e for e in enabled if e.name is name and all(getattr(e, f) == getattr(call, f) for f in FIELDS[name])]
        if not same:
            before = fingerprint(self.core)
            with pytest.raises(NotEnabledError):
                self.core.apply(call)
            assert fingerprint(self.core) == before

    @invariant()
    def invariants_hold(self) -> None:
        if hasattr(self, "core"):
            assert self.core.check_invariants() == []

    @invariant()
    def short_cuts_change_nothing(self) -> None:
        """Sorted nodes, the memory of pods without room and the cursor agree with a search from nothing."""
        if not hasattr(self, "core"):
            return
        nodes = self.core.nodes
        for app in self.core.cluster.applications:
            for group in app.task_groups:
                pod = (group.pod_resource, group.constraints)
                fitting = [name for name in nodes.index if nodes.why_not(name, *pod) is None]
                slow = sorted(fitting, key=lambda name: (self.score(name), nodes.index[name]))
                assert list(nodes.choices(*pod)) == slow
                assert nodes.why_none(*pod) == Counter(nodes.why_not(name, *pod) for name in nodes.index)
                assert nodes.first(*pod) == (slow[0] if slow else None)
        self.cursors_change_nothing()

    def cursors_change_nothing(self) -> None:
        """The next decision is the one that a search from the head of every line finds."""
        quick = self.core.next_decision()
        cursors = {leaf: leaf.cursor for leaf in self.core.queues.leaves()}
        for leaf in cursors:
            leaf.cursor = 0
        assert self.core.next_decision() == quick
        for leaf, cursor in cursors.items():
            leaf.cursor = cursor
        if quick is not None:
            assert quick in self.core.enabled_events(Environment(Timers.OFF))

    def score(self, name: str) -> Fraction:
        node = self.core.cluster.nodes[self.core.nodes.index[name]]
        free = self.core.nodes.free(name)
        shares = [Fraction(node.capacity[t] - free[t], node.capacity[t]) for t in (VCORE, MEMORY)]
        return sum(shares, Fraction(0)) * (1 if self.core.options.node_order is NodeOrder.FAIR else -1)


def test_random_events() -> None:
    run_state_machine_as_test(CoreMachine, settings=settings(max_examples=60, stateful_step_count=20))


@settings(max_examples=25)
@given(CLUSTERS, OPTIONS, st.lists(st.integers(0, 2**16), max_size=40))
def test_the_same_choices_give_the_same_records(cluster: Cluster, options: Options, choices: list[int]) -> None:
    def run() -> list[Record]:
        core, records = Core(cluster, options), []
        for choice in choices:
            events = core.enabled_events()
            if events:
                records.append(core.apply(events[choice % len(events)]))
        return records

    assert run() == run()


def test_long_walks_reach_every_event_and_transition() -> None:
    """Every event, outcome and state change happens somewhere: no invariant holds for want of trying."""
    seen: set[object] = set()
    lively = Environment(extra_reals=1, early_reals=True, cordons=1, resubmit=True)

    @settings(max_examples=100)
    @given(clusters(max_groups=1), st.sampled_from(Gate), st.randoms(use_true_random=False))
    def walk(cluster: Cluster, gate: Gate, random: Random) -> None:
        core = Core(cluster, Options(gate=gate))
        for _ in range(50):
            events = core.enabled_events(lively)
            calm = [e for e in events if e.name not in (EventName.CORDON, EventName.UNCORDON)]
            if not calm:
                break
            chosen = random.choice(events if random.randrange(4) == 0 else calm)
            record = core.apply(chosen)
            seen.update({(chosen.name, record.outcome), (record.before, record.after)})
            assert core.check_invariants() == []

    walk()
    assert TRANSITIONS <= seen
    outcomes = {(name, Outcome.DONE) for name in EventName} - {
        (EventName.RECOVER, Outcome.DONE), (EventName.CONFIRM_RELEASE, Outcome.DONE),
        (EventName.CONFIRM_ASK_RELEASE, Outcome.DONE),
    }  # fmt: skip
    placed = (Outcome.SAME_NODE, Outcome.OTHER_NODE, Outcome.UNSCHEDULABLE, Outcome.REMOVED)
    outcomes |= {(EventName.CONFIRM_RELEASE, outcome) for outcome in placed}
    outcomes |= {(EventName.SUBMIT, Outcome.REJECTED), (EventName.CONFIRM_ASK_RELEASE, Outcome.REMOVED)}
    assert outcomes <= seen
