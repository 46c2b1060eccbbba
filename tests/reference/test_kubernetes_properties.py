"""Random events on random clusters: what is decided stands before the judge, is atomic, and is the plain rule's."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes_worlds import World, judged, node, spec

from reference.cluster import Cluster, Node, Resources
from reference.schedulers import schedule
from reference.schedulers.kubernetes import (
    Edition,
    Options,
    Outcome,
    Pod,
    PodGroup,
    PodSpec,
    Scheduler,
    ScoringStrategy,
)
from reference.schedulers.kubernetes.findnode import find_node
from reference.schedulers.kubernetes.index import Index
from reference.schedulers.kubernetes.invariants import broken_by, broken_invariants
from reference.schedulers.kubernetes.snapshot import Cache, Snapshot
from reference.strategies import clusters
from reference.validate import validate

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

OPTIONS = st.builds(
    Options,
    edition=st.sampled_from(Edition),
    scoring_strategy=st.sampled_from(ScoringStrategy),
    seed=st.none() | st.integers(0, 3),
)
SEEDS = st.integers(0, 2**32)


@settings(max_examples=60, deadline=None)
@given(SEEDS, OPTIONS)
def test_every_decision_stands_before_the_judge(seed: int, options: Options) -> None:
    world = World(Random(seed), options)
    latched: set[str] = set()
    for _ in range(40):
        running = world.scheduler.running
        record = world.step()
        if record is None:
            continue
        assert broken_invariants(world.scheduler) == []
        if running is None:  # else pods may have left since the snapshot
            assert broken_by(world.scheduler, record) == []
        latched &= set(world.scheduler.registry.groups)
        assert all(world.scheduler.conditions[group].status for group in latched)
        latched |= {group for group, condition in world.scheduler.conditions.items() if condition.status}


@settings(max_examples=40, deadline=None)
@given(SEEDS, OPTIONS)
def test_no_node_is_overfull_or_wrong(seed: int, options: Options) -> None:
    """The nodes of this test stay as they are, for a node that comes back smaller keeps its pods."""
    world = World(Random(seed), options)
    for _ in range(40):
        fixed = dict(world.scheduler.cache.infos)
        world.step()
        if set(world.scheduler.cache.infos) != set(fixed):
            return
        assert judged(world.scheduler) == []


@settings(max_examples=60, deadline=None)
@given(SEEDS, OPTIONS)
def test_what_a_cycle_tries_leaves_nothing_behind(seed: int, options: Options) -> None:
    world = World(Random(seed), options)
    scheduler = world.scheduler
    for _ in range(30):
        popped = scheduler.pop() if scheduler.running is None else None
        if popped is not None and popped.outcome is Outcome.POPPED:
            before = scheduler.snapshot.state()
            scheduler.decide()
            assert scheduler.snapshot.state() == before
            assert scheduler.snapshot.mark() == 0
            # what the snapshot is brought up to is what a new one would be
            scheduler.snapshot.update(scheduler.cache)
            scheduler.cache.nodes_changed = True
            scheduler.cache.changed_groups = set(scheduler.cache.scheduled)
            fresh = Snapshot(options.seed)
            fresh.update(scheduler.cache)
            assert scheduler.snapshot.state() == fresh.state()
        world.step()


@settings(max_examples=60, deadline=None)
@given(SEEDS, OPTIONS)
def test_the_index_answers_as_the_plain_rule(seed: int, options: Options) -> None:
    draw = Random(seed)
    cache, snapshot = Cache(), Snapshot(options.seed)
    for i in range(draw.randint(1, 6)):
        cache.put_node(node(draw, f"n{i}"))
    snapshot.update(cache)
    index = Index(snapshot, options)
    kinds = [spec(draw, minds=False) for _ in range(3)]
    tried: list[tuple[int, Pod]] = []
    for i in range(30):
        if tried and draw.random() < 0.2:
            mark, _ = tried.pop()
            snapshot.rollback(mark)
        if draw.random() < 0.05:
            snapshot.rollback(0)
            tried.clear()
            cache.put_node(node(draw, f"n{draw.randint(0, 6)}"))
            snapshot.update(cache)
        pod = Pod(f"p{i}", draw.choice(kinds))
        found = index.find(pod)
        assert found is find_node(snapshot, pod, "", snapshot.infos, options)
        if found is not None:
            tried.append((snapshot.mark(), pod))
            snapshot.assume(pod, found.node.name)


@settings(max_examples=25, deadline=None)
@given(SEEDS, OPTIONS)
def test_the_index_changes_nothing(seed: int, options: Options) -> None:
    with_index, without = World(Random(seed), options), World(Random(seed), replace(options, indexed=False))
    for _ in range(30):
        assert with_index.step() == without.step()


@settings(max_examples=30, deadline=None)
@given(clusters(max_nodes=4, max_apps=4), OPTIONS, SEEDS)
def test_the_batch_stands_before_the_judge_and_no_order_matters(cluster: Cluster, options: Options, seed: int) -> None:
    given_ = {"edition": options.edition, "scoring_strategy": options.scoring_strategy, "seed": options.seed}
    result = schedule(cluster, "kubernetes", **given_)
    assert validate(cluster, result.placement) == []
    draw = Random(seed)
    mixed = replace(
        cluster,
        nodes=tuple(draw.sample(cluster.nodes, len(cluster.nodes))),
        applications=tuple(draw.sample(cluster.applications, len(cluster.applications))),
        running=tuple(draw.sample(cluster.running, len(cluster.running))),
    )
    assert schedule(mixed, "kubernetes", **given_).placement == result.placement


def test_equal_pods_are_placed_if_they_can_be() -> None:
    """K12, exhaustively: up to three nodes of up to four units, five pods of one to three units."""
    for strategy, size in itertools.product(ScoringStrategy, (1, 2, 3)):
        for free in itertools.chain.from_iterable(
            itertools.combinations_with_replacement(range(5), nodes) for nodes in (1, 2, 3)
        ):
            room = sum(units // size for units in free)
            for pods in range(1, 6):
                scheduler = Scheduler(Options(scoring_strategy=strategy))
                for i, units in enumerate(free):
                    scheduler.add_node(Node(f"n{i}", Resources(vcore=units)))
                scheduler.create_pod_group(PodGroup("g", pods))
                for i in range(pods):
                    scheduler.create_pod(Pod(f"p{i}", PodSpec(Resources(vcore=size)), "g"))
                record = scheduler.cycle()
                assert record is not None
                assert (record.outcome is Outcome.SCHEDULED) == (room >= pods), (strategy, size, free, pods)


def test_unequal_pods_may_not_be() -> None:
    """Nothing is promised there (X1): LeastAllocated puts the small pod where the large one has to go."""
    scheduler = Scheduler()
    scheduler.add_node(Node("n1", Resources(vcore=1)))
    scheduler.add_node(Node("n2", Resources(vcore=2)))
    scheduler.create_pod_group(PodGroup("g", 2))
    for name, size in (("p1", 1), ("p2", 2)):
        scheduler.create_pod(Pod(name, PodSpec(Resources(vcore=size)), "g"))
    record = scheduler.cycle()
    assert record is not None
    assert record.outcome is Outcome.UNSCHEDULABLE
