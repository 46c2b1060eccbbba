"""Random events, possible and impossible ones: the books add up after each, and the cycle's short cuts change nothing.

Two partitions take the same events. One forgets before each cycle what it has tried in vain; both do the same.
"""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.cluster import Application as Gang
from reference.cluster import (
    Assignment,
    Cluster,
    GangStyle,
    Node,
    Placement,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    SortPolicy,
    TaskGroup,
)
from reference.schedulers.yunikorn.current import (
    AddApplication,
    Allocation,
    AllocationRelease,
    Application,
    ApplicationState,
    Limit,
    Partition,
    PartitionOptions,
    QueueConfig,
    Request,
    Result,
    TerminationType,
)
from reference.schedulers.yunikorn.current.invariants import broken_invariants
from reference.schedulers.yunikorn.current.states import TRANSITIONS
from reference.schedulers.yunikorn.options import NodeOrder
from reference.validate import validate

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

LEGAL = {(a, c) for (a, _), c in TRANSITIONS.items()}


class Driver:
    """Queues, limits, nodes and gangs of the seed's choice, and events of its choice for two partitions."""

    def __init__(self, seed: int) -> None:
        self.random = r = Random(seed)
        maximum = r.choice([None, Resources(vcore=6), Resources(vcore=9, memory=12)])
        most = r.choice([0, 0, 1, 2])
        limits = (
            Limit(users=("u0",), resources=Resources(vcore=r.randint(4, 8))),
            Limit(groups=("*",), applications=r.choice([1, 2])),
        )
        configs = [
            QueueConfig("root"),
            QueueConfig("root.p", maximum, max_applications=most, limits=r.choice([(), limits])),
            QueueConfig("root.p.a", guaranteed=Resources(vcore=2)),
            QueueConfig("root.p.b", Resources(vcore=5), max_applications=r.choice([0, 1])),
            QueueConfig("root.f", sort_policy=SortPolicy.FAIR),
        ]
        options = PartitionOptions(r.choice(list(NodeOrder)), repaired=r.random() < 0.5)
        self.fast, self.slow = Partition(configs, options), Partition(configs, options)
        # with predicates nothing is remembered about nodes, so some runs have none
        if r.random() < 0.5:
            for partition in (self.fast, self.slow):
                partition.predicates = lambda request, node: request.placeholder or node != "n0"
        self.forced = False
        self.keys = itertools.count()
        self.happened: Counter[str] = Counter()
        leaves = ["root.p.a", "root.p.b", "root.f" if r.random() < 0.3 else "root.p.a"]
        self.gangs = [(f"a{i}", r.choice(leaves), r.randint(1, 2), r.randint(1, 3)) for i in range(r.randint(1, 3))]
        for i in range(r.randint(1, 3)):
            self.add_node(i)

    # --- events ---

    def happen(self) -> None:
        """One event: mostly one of a cluster at work, now and then one that should not be."""
        r = self.random
        name, leaf, size, members = r.choice(self.gangs)
        app = self.fast.applications.get(name)
        if r.random() < 0.08:
            self.impossible(name)
        elif app is None:
            style, user = r.choice(list(GangStyle)), f"u{name[1:]}"
            ask = Resources(vcore=size * members, memory=members)
            if leaf == "root.f":
                ask = Resources()
            self.both("add_application", AddApplication(name, leaf, ask, style, 5000, user, ("g",)))
        else:
            events = [self.schedule, self.ask, self.confirm, self.finish, self.environment]
            r.choices(events, [8, 4, 6, 3, 3])[0](app, size, members)

    def schedule(self, app: Application, size: int, members: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.slow.epoch += 1
            self.slow.nodes._no_room.clear()
            self.both("schedule")

    def ask(self, app: Application, size: int, members: int) -> None:
        """The whole gang's placeholders first; then real pods, as large as those, smaller or larger."""
        r = self.random
        if not app.placeholder_data and r.random() < 0.8:
            for _ in range(members):
                self.add(app, Resources(vcore=size, memory=1), "g0", True)
            return
        real = r.choice([size, size, max(size - 1, 1), size + 1])
        group, placeholder = r.choice(["g0", "g0", "g0", "g1", ""]), r.random() < 0.1
        required = r.choice(list(self.fast.nodes.index) or [""]) if r.random() < 0.1 else ""
        self.add(app, Resources(vcore=real, memory=1), group or "g1" * placeholder, placeholder, required)

    def add(self, app: Application, size: Resources, group: str, placeholder: bool, required: str = "") -> None:
        priority = self.random.choice([0, 0, 0, 1])
        key = f"{app.id}-{next(self.keys)}"
        message = Allocation(key, app.id, size, "", group, placeholder, priority, required_node=required)
        self.both("update_allocation", message)

    def confirm(self, app: Application, size: int, members: int) -> None:
        """The shim confirms what the core wants back; sometimes the pod was gone for another reason."""
        wanted = [r for r in app.allocations.values() if r.released or r.preempted]
        if wanted:
            request = self.random.choice(wanted)
            stopped = self.random.random() < 0.15
            self.release(app.id, request.key, TerminationType.STOPPED_BY_RM if stopped else reason(request))

    def finish(self, app: Application, size: int, members: int) -> None:
        """A real pod ends; or a placeholder is deleted by hand."""
        pods = [r for r in app.allocations.values() if not r.placeholder or self.random.random() < 0.1]
        if pods:
            self.release(app.id, self.random.choice(pods).key, TerminationType.STOPPED_BY_RM)

    def environment(self, app: Application, size: int, members: int) -> None:
        """Timers, nodes, preemption, time, the end of an application."""
        r = self.random
        match r.randint(0, 9):
            case 0 | 1:
                self.both("fire_placeholder_timer", app.id)
            case 2 | 3 if app.state_timer is not None or r.random() < 0.2:
                self.both("fire_state_timer", app.id)
            case 2 | 3:
                self.both("advance", self.fast.now + r.choice([1, 1500, 2500, 30_000]))
            case 4 | 5:
                self.both("preempt", app.id, r.choice([*app.allocations, "none"]))
            case 6:
                self.add_node(r.randint(0, 3))
            case 7:
                self.both("remove_node", f"n{r.randint(0, 3)}")
            case 8:
                self.both("drain_node", f"n{r.randint(0, 3)}", r.random() < 0.5)
            case _:
                if r.random() < 0.3:
                    self.both("remove_application", app.id)

    def impossible(self, name: str) -> None:
        """What a shim that does its work does not say."""
        r = self.random
        app = self.fast.applications.get(name)
        known = [*app.requests, *app.allocations] if app is not None else []
        key = r.choice([*known, f"{name}-none", ""])
        match r.randint(0, 6):
            case 0:
                self.release(name, key, r.choice(list(TerminationType)))
            case 1:
                self.both("remove_node", "n9")
            case 2:
                self.both("remove_application", name)
                self.holds()
                self.both("remove_application", name)
            case 3:  # of a pod that is known, or on a node that is not
                self.forced = True
                node, size = f"n{r.randint(0, 4)}", Resources(vcore=r.randint(1, 4))
                self.both("update_allocation", Allocation(key or f"{name}-new", name, size, node, "g0", True))
            case 4:
                self.forced = True
                self.both("update_allocation", Allocation(key or f"{name}-new", name, Resources(vcore=2), "", "g0"))
            case 5:
                self.both("update_allocation", Allocation(f"{name}-bad", name, Resources(vcore=-1), "", "g0", True))
            case _:
                self.both("remove_ask", name, key)

    def release(self, name: str, key: str, why: TerminationType) -> None:
        """What the shim says once, and then once more."""
        self.both("release", AllocationRelease(name, key, why))
        if self.random.random() < 0.2:
            self.holds()
            self.both("release", AllocationRelease(name, key, why))

    def add_node(self, i: int) -> None:
        size = self.random.randint(2, 6)
        self.both("add_node", Node(f"n{i}", Resources(vcore=size, memory=self.random.randint(2, 9))))

    # --- what holds ---

    def both(self, call: str, *arguments: object) -> None:
        """The same event for both: the same answer, the same messages, and states that may follow each other."""
        apps = list(self.fast.applications.values())
        found = [getattr(partition, call)(*arguments) for partition in (self.fast, self.slow)]
        assert told(found[0]) == told(found[1])
        assert self.fast.drain_outbox() == self.slow.drain_outbox()
        for app in apps:
            assert all(step in LEGAL for step in itertools.pairwise([ApplicationState.NEW, *app.log]))
        what = found[0].type.value if isinstance(found[0], Result) else str(bool(found[0]))
        self.happened[f"{call} {what}"] += 1

    def holds(self) -> None:
        assert broken_invariants(self.fast) == []
        if not self.forced:
            assert validate(*as_placement(self.fast)) == []


def reason(request: Request) -> TerminationType:
    """Why the core wants it back."""
    if request.preempted:
        return TerminationType.PREEMPTED_BY_SCHEDULER
    return TerminationType.PLACEHOLDER_REPLACED if request.link is not None else TerminationType.TIMEOUT


def told(value: object) -> str:
    """What an event gave, by keys: the requests of two partitions are different objects."""
    if isinstance(value, Result):
        return f"{value.type} {value.request.key} {value.node}"
    if isinstance(value, tuple):
        return ", ".join(each.key for each in value)
    if hasattr(value, "released"):
        return f"{told(value.released)} / {told(value.confirmed)}"  # type: ignore[attr-defined]  # Removed
    return repr(value)


def as_placement(partition: Partition) -> tuple[Cluster, Placement]:
    """All that is allocated as gangs that are placed, so that the judge can look at nodes and queues.

    A real pod on another node than its placeholder counts on the node, and in no queue. Applications that complete are
    not counted as running, so maxapplications is not the judge's business here.
    """
    gangs: list[Gang] = []
    cells: Counter[tuple[str, str, str]] = Counter()
    parked: list[RunningPod] = []
    for app in partition.applications.values():
        sizes = list(dict.fromkeys(request.resources for request in app.allocations.values()))
        for request in app.allocations.values():
            cells[app.id, f"g{sizes.index(request.resources)}", request.node] += 1
        count = Counter(request.resources for request in app.allocations.values())
        groups = tuple(TaskGroup(f"g{i}", count[size], size) for i, size in enumerate(sizes))
        if groups:
            gangs.append(Gang(app.id, app.queue.name, groups))
        parked += [
            RunningPod(real.key, real.node, "elsewhere", real.resources)
            for real in app.parked()
            if real.link is not None and real.link.node != real.node
        ]

    def tree(name: str) -> Queue:
        state = partition.queues[name]
        maximum = state.config.maximum
        if state.parent is None or maximum is None:
            maximum = Resources()  # the root's shrinks with its nodes, while in flight real pods have room twice
        return Queue(name, maximum, children=tuple(tree(child.name) for child in state.children))

    nodes = tuple(partition.nodes.nodes[i] for i in partition.nodes.index.values())
    cluster = Cluster(nodes, QueueTree(tree("root")), tuple(gangs), tuple(parked))
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(cells.items()))
    return cluster, Placement(assignments, tuple(sorted(gang.name for gang in gangs)))


def run(seed: int, events: int) -> Counter[str]:
    """So many events of a seed; what happened how often."""
    driver = Driver(seed)
    for _ in range(events):
        driver.happen()
        driver.holds()
    return driver.happened


@given(seed=st.integers(0, 2**32), events=st.integers(1, 120))
@settings(max_examples=50, deadline=None)
def test_random_events(seed: int, events: int) -> None:
    run(seed, events)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32), events=st.integers(1, 300))
@settings(max_examples=3000, deadline=None)
def test_many_random_events(seed: int, events: int) -> None:
    run(seed, events)


def test_the_events_are_those_that_matter() -> None:
    happened = sum((run(seed, 100) for seed in range(12)), Counter())
    for what in ("schedule Allocated", "schedule Replaced", "release True", "remove_node True", "preempt True",
                 "fire_placeholder_timer True", "fire_state_timer True", "update_allocation False"):  # fmt: skip
        assert happened[what], (what, happened)
