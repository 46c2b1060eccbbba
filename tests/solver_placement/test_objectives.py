"""Objectives one after the other, and nodes to launch, against every placement that the judge accepts."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_whole_question import placements

from reference.cluster import Application, Cluster, Node, NodeType, Placement, Queue, QueueTree, Resources, TaskGroup
from reference.errors import InputError
from reference.validate import validate
from solver_placement import OBJECTIVES, Status, Watch, solve
from solver_placement.engine import Effort

pytestmark = pytest.mark.no_cover

QUEUES = QueueTree(Queue("root", children=(Queue("root.a"), Queue("root.b", weight=2))))


def gang(name: str, members: int, vcore: int, **more: object) -> Application:
    queue = f"root.{name[0]}"
    group = TaskGroup("g", members, Resources(vcore=vcore))
    return Application(name, queue, (group,), **more)  # type: ignore[arg-type]


def good_placements(cluster: Cluster) -> Iterator[Placement]:
    """Every placement with whole gangs that the judge accepts."""
    per_app = [[(), *placements(app, cluster.nodes)] for app in cluster.applications]
    for chosen in itertools.product(*per_app):
        admitted = tuple(sorted(a.name for a, cells in zip(cluster.applications, chosen, strict=True) if cells))
        waiting = dict.fromkeys(sorted({a.name for a in cluster.applications} - set(admitted)), "waits")
        placement = Placement(tuple(sorted(cell for cells in chosen for cell in cells)), admitted, waiting)
        if not validate(cluster, placement):
            yield placement


def values(cluster: Cluster, placement: Placement, names: tuple[str, ...], prices: dict[str, int]) -> tuple[int, ...]:
    """What ``names`` come to, each such that more is better."""
    apps = [a for a in cluster.applications if a.name in placement.admitted]
    nodes = {a.node for a in placement.assignments}
    total = sum(node.capacity["vcore"] for node in cluster.nodes)

    def share(queue: Queue) -> Fraction:
        used = sum(a.placeholder_ask["vcore"] for a in apps if a.queue == queue.name)
        return Fraction(used, total * queue.weight)

    found: list[int] = []
    for name in names:
        match name:
            case "admission":
                found.append(sum(a.weight for a in apps))
            case "priority":
                levels = sorted({a.priority for a in cluster.applications}, reverse=True)
                found += [sum(a.weight for a in apps if a.priority == level) for level in levels]
            case "fairness":
                waiting = {a.queue for a in cluster.applications}
                found.append(min(int(share(q) * 10_000) for q in cluster.queues if q.name in waiting))
            case "cost":
                found.append(-sum(prices.get(node, 0) for node in nodes))
            case "nodes":
                found.append(-len(nodes))
    return tuple(found)


_NAMES = st.sampled_from("ab")


@st.composite
def questions(draw: st.DrawFn) -> Cluster:
    few = st.integers(1, 3)
    nodes = tuple(Node(f"n{i}", Resources(vcore=draw(st.integers(2, 7)))) for i in range(draw(st.integers(1, 2))))
    apps = tuple(
        gang(
            f"{draw(st.sampled_from('ab'))}{i}",
            draw(st.integers(1, 2)),
            draw(few),
            weight=draw(few),
            priority=draw(few),
        )
        for i in range(draw(st.integers(1, 3)))
    )
    return Cluster(nodes, QUEUES, apps)


orders = st.permutations(("admission", "priority", "fairness", "nodes")).flatmap(
    lambda names: st.integers(1, 3).map(lambda n: tuple(names[:n]))
)


@settings(max_examples=40)
@given(cluster=questions(), names=orders, method=st.sampled_from(("auto", "nodes", "patterns")))
def test_each_phase_is_the_best_of_all_placements(cluster: Cluster, names: tuple[str, ...], method: str) -> None:
    answer = solve(cluster, objectives=names, method=method)
    assert validate(cluster, answer.placement) == []
    assert answer.status is Status.OPTIMAL
    best = max(values(cluster, placement, names, {}) for placement in good_placements(cluster))
    assert values(cluster, answer.placement, names, {}) == best
    signed = [p.value if p.sense == "maximise" else -p.value for p in answer.phases]
    # gangs that can never be admitted are in no phase of their own
    assert [v for v in signed if v] == [v for v in best if v]
    assert all(p.value == p.bound for p in answer.phases)


@st.composite
def offers(draw: st.DrawFn) -> Cluster:
    few = st.integers(1, 3)
    types = tuple(
        NodeType(f"t{i}", Resources(vcore=draw(st.integers(2, 6))), maximum=draw(st.integers(0, 2)), price=draw(few))
        for i in range(2)
    )
    nodes = (Node("n", Resources(vcore=draw(few)), node_type=draw(st.sampled_from(("", "t0")))),)
    apps = tuple(gang(f"a{i}", draw(st.integers(1, 2)), draw(few), weight=draw(few)) for i in range(2))
    return Cluster(nodes, QUEUES, apps, node_types=types)


@settings(max_examples=25)
@given(cluster=offers(), names=st.sampled_from(((), ("nodes",), ("admission", "nodes", "cost"))))
def test_launches_are_the_best_of_all(cluster: Cluster, names: tuple[str, ...]) -> None:
    answer = solve(cluster, launch=True, objectives=names)
    assert validate(answer.cluster, answer.placement) == []
    assert answer.status is Status.OPTIMAL
    there = sum(node.node_type == "t0" for node in cluster.nodes)
    extra: list[Node] = []
    prices: dict[str, int] = {}
    for kind in cluster.node_types:
        most = (kind.maximum or 0) - (there if kind.name == "t0" else 0)
        assert answer.launched.get(kind.name, 0) <= max(most, 0)
        for i in range(most):
            extra.append(kind.node(f"{kind.name}-{i}"))
            prices[extra[-1].name] = kind.price
    everything = Cluster((*cluster.nodes, *extra), QUEUES, cluster.applications, node_types=cluster.node_types)
    asked = names or ("admission", "cost", "nodes")
    best = max(values(everything, placement, asked, prices) for placement in good_placements(everything))
    price = {kind.name: kind.price for kind in cluster.node_types}
    named = {n.name: price[n.node_type] for n in answer.cluster.nodes if n not in cluster.nodes}
    assert values(answer.cluster, answer.placement, asked, named) == best


def test_the_minimum_of_a_type_is_there_and_free() -> None:
    kind = NodeType("t", Resources(vcore=2), minimum=2, maximum=3, price=7)
    cluster = Cluster((), QUEUES, (gang("a0", 2, 2),), node_types=(kind,))
    answer = solve(cluster, launch=True)
    assert answer.launched == {"t": 2}
    assert [(p.name, p.value, p.bound) for p in answer.phases] == [("admission", 1, 1), ("cost", 0, 0), ("nodes", 2, 2)]
    idle = solve(Cluster((), QUEUES, (), node_types=(kind,)), launch=True)
    assert idle.launched == {"t": 2}


def test_what_an_objective_may_be() -> None:
    cluster = Cluster((Node("n", Resources(vcore=2)),), QUEUES, (gang("a0", 1, 1),))
    with pytest.raises(InputError, match="the objective beauty"):
        solve(cluster, objectives=("beauty",))
    with pytest.raises(InputError, match="method search with other objectives than admission, nodes"):
        solve(cluster, objectives=("cost",), method="search")
    assert [p.name for p in solve(cluster, objectives=OBJECTIVES).phases] == [
        "admission", "priority 0", "fairness", "cost", "nodes",
    ]  # fmt: skip


def test_who_watches_may_ask_for_an_end() -> None:
    nodes = tuple(Node(f"n{i}", Resources(vcore=100 + i, memory=97 - i)) for i in range(40))
    apps = tuple(
        Application(
            f"a{i}", "root.a", (TaskGroup("g", 1 + i % 3, Resources(vcore=31 + i % 17, memory=23 + i % 19)),), i
        )
        for i in range(150)
    )
    told: list[tuple[int, int]] = []
    watch = Watch(lambda weight, bound: told.append((weight, bound)))
    threading.Timer(1.0, watch.stop).start()
    began = time.monotonic()
    cluster = Cluster(nodes, QUEUES, apps)
    answer = solve(cluster, method="search", time_limit=120, watch=watch)
    assert time.monotonic() - began < 60
    assert validate(cluster, answer.placement) == []
    assert answer.objective.weight <= answer.bound
    assert all(weight <= bound for weight, bound in told)
    watch.stop()
    assert Effort(time.monotonic() + 60, watch=watch).left() == 0.0
