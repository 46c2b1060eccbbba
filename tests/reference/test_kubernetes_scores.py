"""The arithmetic of filters and scores: numbers of upstream's own tests, and some computed by hand."""

from __future__ import annotations

import pytest

from reference.cluster import Constraints, Node, Operator, Requirement, Resources, Taint, TaintEffect, Toleration
from reference.errors import InputError
from reference.schedulers import POLICIES, schedule
from reference.schedulers.kubernetes import (
    Code,
    Options,
    Plugin,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    PreferredSchedulingTerm,
    ScoringStrategy,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
    WhenUnsatisfiable,
    placement_feasible,
)
from reference.schedulers.kubernetes.affinity import affinity_scores
from reference.schedulers.kubernetes.findnode import Filters, find_node, total_scores
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.scores import balanced_score, node_fit_score, normalised
from reference.schedulers.kubernetes.snapshot import Cache, Snapshot
from reference.schedulers.kubernetes.spread import spread_scores

LEAST, MOST = ScoringStrategy.LEAST_ALLOCATED, ScoringStrategy.MOST_ALLOCATED
APP = (Requirement("app", Operator.IN, ("a",)),)
LABELLED = {"app": "a"}


def info(cpu: int, memory: int, used_cpu: int = 0, used_memory: int = 0) -> NodeInfo:
    occupied = Resources(vcore=used_cpu, memory=used_memory)
    return NodeInfo(Node("n", Resources(vcore=cpu, memory=memory), occupied=occupied))


def asks(cpu: int, memory: int) -> PodSpec:
    return PodSpec(Resources(vcore=cpu, memory=memory))


def snapshot(*nodes: Node, pods: tuple[tuple[Pod, str], ...] = ()) -> Snapshot:
    cache, taken = Cache(), Snapshot()
    for node in nodes:
        cache.put_node(node)
    for pod, where in pods:
        cache.add(pod, where)
    taken.update(cache)
    return taken


@pytest.mark.parametrize(
    ("strategy", "pod", "node", "score"),
    [
        # pkg/scheduler/framework/plugins/noderesources/least_allocated_test.go
        (LEAST, asks(0, 0), info(4000, 10000), 100),
        (LEAST, asks(3000, 5000), info(4000, 10000), 37),
        (LEAST, asks(3000, 5000), info(6000, 10000), 50),
        (LEAST, asks(0, 0), info(10000, 20000, 6000, 5000), 57),
        (LEAST, asks(3000, 5000), info(4000, 10000, 3000, 0), 25),
        # most_allocated_test.go
        (MOST, asks(3000, 5000), info(4000, 10000), 62),
        (MOST, asks(3000, 5000), info(6000, 10000), 50),
        (MOST, asks(0, 0), info(10000, 20000, 6000, 5000), 42),
        # a type that the node does not have does not count; a request that is not named is not nothing
        (LEAST, asks(1000, 0), info(4000, 0), 75),
        (LEAST, PodSpec(Resources()), info(1000, 400 * 2**20), 70),
        (MOST, asks(1, 1), info(0, 0), 0),
    ],
)
def test_fit_scores(strategy: ScoringStrategy, pod: PodSpec, node: NodeInfo, score: int) -> None:
    assert node_fit_score(strategy, pod, node) == score


@pytest.mark.parametrize(
    ("pod", "node", "score"),
    [
        (asks(0, 0), info(4000, 10000), 0),  # not scored
        (asks(3000, 5000), info(4000, 10000), 68),  # 87 with, 100 without: 50 + (50 - 13) // 2
        (asks(3000, 5000), info(6000, 10000), 75),
        (asks(0, 5000), info(10000, 10000, 5000, 0), 87),  # it evens out: 100 with, 75 without
        (asks(1000, 0), info(4000, 0), 75),
        (asks(9000, 1000), info(1000, 1000), 75),  # no share counts for more than the whole
    ],
)
def test_balanced_scores(pod: PodSpec, node: NodeInfo, score: int) -> None:
    assert balanced_score(pod, node) == score


@pytest.mark.parametrize(
    ("raw", "most", "reverse", "score"),
    [(0, 0, True, 100), (0, 0, False, 0), (1, 3, False, 33), (1, 3, True, 67), (3, 3, True, 0)],
)
def test_scores_are_normalised_as_in_go(raw: int, most: int, reverse: bool, score: int) -> None:
    assert normalised(raw, most, reverse) == score


def test_taints_and_preferences_weigh_as_by_default() -> None:
    soft = Taint("spot", "", TaintEffect.PREFER_NO_SCHEDULE)
    size = Resources(vcore=4000, memory=4000)
    taken = snapshot(
        Node("a", size, taints=(soft,)), Node("b", size, {"zone": "z"}), Node("c", size, {"zone": "z"}, (soft,))
    )
    wish = PreferredSchedulingTerm(10, (Requirement("zone", Operator.IN, ("z",)),))
    pod = Pod("p", PodSpec(Resources(vcore=1000, memory=1000), preferred_node_affinity=(wish,)))
    # 75 least allocated and 75 balanced; 300 for no taint, 200 for the zone
    assert total_scores(taken, pod, taken.infos, taken.infos, Options()) == [150, 650, 350]
    tolerant = Pod("q", PodSpec(pod.spec.request, Constraints(tolerations=(Toleration("spot", True),))))
    assert total_scores(taken, tolerant, taken.infos, taken.infos, Options()) == [450, 450, 450]
    found = find_node(taken, tolerant, "", taken.infos, Options())
    assert found is not None
    assert found.node.name == "a"


def test_affinity_scores_are_relative() -> None:
    size = Resources(vcore=9000)
    term = PodAffinityTerm("zone", APP)
    taken = snapshot(
        *(Node(f"n{i}", size, {"zone": f"z{i}"}) for i in range(3)),
        pods=((Pod("x", PodSpec(Resources(), labels=LABELLED)), "n0"), (Pod("y", PodSpec(Resources())), "n1")),
    )
    wants = PodSpec(Resources(), pod_affinity=PodAffinity((), (WeightedPodAffinityTerm(5, term),)))
    avoids = PodSpec(Resources(), pod_anti_affinity=PodAffinity((), (WeightedPodAffinityTerm(5, term),)))
    assert affinity_scores(wants, taken.infos, taken.infos) == [100, 0, 0]
    assert affinity_scores(avoids, taken.infos, taken.infos) == [0, 100, 100]
    assert affinity_scores(PodSpec(Resources()), taken.infos, taken.infos) == [0, 0, 0]


def test_anti_affinity_of_a_pod_that_runs_keeps_others_away() -> None:
    size = Resources(vcore=9000)
    loner = PodSpec(Resources(), pod_anti_affinity=PodAffinity((PodAffinityTerm("zone", APP),)))
    nodes = [Node("n0", size, {"zone": "z"}), Node("n1", size, {"zone": "z"}), Node("n2", size)]
    taken = snapshot(*nodes, pods=((Pod("x", loner), "n0"),))
    found = [
        [
            Filters(taken, Pod("p", PodSpec(Resources(), labels=labels)), taken.infos).why_not(i) is None
            for i in taken.infos
        ]
        for labels in (LABELLED, {})
    ]
    assert found == [[False, False, True], [True, True, True]]


def test_spread_scores_prefer_emptier_domains() -> None:
    size = Resources(vcore=9000)
    nodes = [Node(f"n{i}", size, {"zone": f"z{i % 2}"}) for i in range(3)] + [Node("n3", size)]
    pods = tuple(
        (Pod(f"x{i}", PodSpec(Resources(), labels=LABELLED)), where) for i, where in enumerate(("n0", "n2", "n1"))
    )
    taken = snapshot(*nodes, pods=pods)
    constraint = TopologySpreadConstraint(1, "zone", WhenUnsatisfiable.SCHEDULE_ANYWAY, APP)
    spec = PodSpec(Resources(), topology_spread_constraints=(constraint,))
    # two pods in z0 and one in z1, times ln 4, rounded: 3 and 1; the node without the label scores nothing
    assert spread_scores(spec, taken.infos, taken.infos) == [33, 100, 33, 0]


@pytest.mark.parametrize(
    ("least", "remaining", "scheduled", "code"),
    [(3, 2, 0, Code.UNSCHEDULABLE), (3, 2, 1, Code.WAIT), (3, 5, 3, Code.SUCCESS), (1, 0, 0, Code.UNSCHEDULABLE)],
)
def test_placement_feasible(least: int, remaining: int, scheduled: int, code: Code) -> None:
    assert placement_feasible(least, remaining, scheduled) is code


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"edition": "next"}, "option edition: found 'next', expected one of seed, current"),
        ({"weights": {"NodeAffinity": -1}}, "option weights.NodeAffinity: found -1, expected a weight of 0 to 100"),
        ({"weights": {"Luck": 1}}, "option weights: found 'Luck', expected one of TaintToleration"),
        ({"weights": 3}, "option weights: found 3, expected weights by plugin"),
        ({"seed": True}, "option seed: found True, expected an integer of at least 0"),
        ({"indexed": 1}, "option indexed: found 1, expected true or false"),
        ({"speed": 1}, "options: found option 'speed', expected one of"),
    ],
)
def test_bad_options_are_refused(option: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Options.parse(**option)


def test_options_by_name() -> None:
    options = Options.parse(edition="seed", scoring_strategy="MostAllocated", weights={"NodeAffinity": 0}, seed=3)
    assert options.weights[Plugin.NODE_AFFINITY] == 0
    assert options.weights[Plugin.TAINT_TOLERATION] == 3
    assert Options.parse(seed=None) == Options()


def test_it_is_a_policy() -> None:
    assert "kubernetes" in POLICIES
    with pytest.raises(InputError, match="one of yunikorn, kubernetes"):
        schedule(None, "slurm")  # type: ignore[arg-type]
