"""What holds of every decision, and that the index finds the node that trying all of them finds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from ray_answers import answer, comparable, read

from reference.schedulers.ray import (
    EXACT,
    Edition,
    NodeStatus,
    SchedulingNode,
    SchedulingReply,
    SchedulingRequest,
    Source,
    Strategy,
    TerminationCause,
    scheduler,
)
from reference.schedulers.ray.candidates import Candidates
from reference.schedulers.ray.request import IMPLICIT_PREFIX, InstanceStatus
from reference.schedulers.ray.strategies import problems

Json = dict[str, Any]


def fits(node: SchedulingNode, request: SchedulingRequest) -> bool:
    """Whether what is scheduled on a node fits what it had at the start, in exact amounts."""
    by_name = {instance.name: instance for instance in request.instances}
    config = request.node_types.get(node.node_type)
    total = available = config.resources if config else {}
    if node.instance_status is InstanceStatus.RAY_RUNNING:
        total, available = by_name[node.instance].total, by_name[node.instance].available
    for source, room in ((Source.PENDING_DEMAND, available), (Source.CLUSTER_RESOURCE_CONSTRAINT, total)):
        taken: Counter[str] = Counter()
        for each, count in node.scheduled[source]:
            for name, amount in each.bundle:
                taken[name] += count * int(amount)
        for name, amount in taken.items():
            default = request.arithmetic.unit if name.startswith(IMPLICIT_PREFIX) else 0
            if amount > room.get(name, default):
                return False
    return True


def judge(request: SchedulingRequest, reply: SchedulingReply) -> None:
    """Everything that a decision has to keep, whatever the policy."""
    assert all(fits(node, request) for node in reply.nodes)
    counts = Counter(node.node_type for node in reply.nodes)
    for name, launched in reply.to_launch.items():
        assert counts[name] <= request.node_types[name].max_workers or launched <= request.node_types[name].min_workers
    minima = sum(config.min_workers for config in request.node_types.values())
    if request.max_num_nodes is not None and sum(reply.to_launch.values()) > minima:
        assert len(reply.nodes) <= request.max_num_nodes
    for node in reply.nodes:
        spread = Counter(each.anti_affinity for each, count in node.scheduled[0] for _ in range(count))
        assert all(count == 1 for label, count in spread.items() if label)
        for source in Source:
            for each, _ in node.scheduled[source]:
                assert not each.label_selectors or each.label_match(node.labels)
        if node.cause is not None:
            assert not node.is_head
        if node.cause is TerminationCause.IDLE:
            assert not any(node.scheduled)
            assert node.idle_ms > 0
    placed: Counter[str] = Counter()
    for node in reply.nodes:
        for each, count in node.scheduled[Source.PENDING_DEMAND]:
            label = each.affinity or each.anti_affinity
            placed[label] += count
    refused = {gang.name for gang in reply.infeasible_gangs}
    for gang in request.gangs:
        if gang.strategy is Strategy.STRICT_SPREAD:
            assert placed[f"_PG_{gang.name}"] == (0 if gang.name in refused else len(gang.requests))
    plain = [gang for gang in request.gangs if gang.strategy in (Strategy.PACK, Strategy.SPREAD)]
    asked = sum(count for _, count in request.requests)
    asked += sum(len(gang.requests) for gang in plain if gang.name not in refused)
    assert placed[""] + sum(count for _, count in reply.infeasible_requests) == asked
    there = [node.instance for node in reply.nodes if node.instance]
    assert len(there) == len(set(there))


def reversed_maps(value: Any, at_top: bool = True) -> Any:
    """The same JSON with every map written backwards, the list of node types excepted: its order is a rank."""
    match value:
        case dict():
            items = list(value.items())
            keep = at_top and "node_types" in value
            made = {k: reversed_maps(v, at_top=False) for k, v in (items if keep else reversed(items))}
            if keep:
                made["node_types"] = {k: reversed_maps(v, at_top=False) for k, v in value["node_types"].items()}
            return made
        case list():
            return [reversed_maps(each, at_top=False) for each in value]
        case _:
            return value


class Plain(Candidates):
    """The rule as Ray states it: every node is tried for every choice."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.nodes: list[tuple[int, SchedulingNode]] = []

    def add(self, node: SchedulingNode) -> None:
        self._number += 1
        self.nodes.append((self._number, node))

    def take_best(self) -> tuple[int, SchedulingNode] | None:
        seen, twins, best = set(), {}, None
        for number, node in self.nodes:
            if self._alike_once and node.instance_status is not InstanceStatus.RAY_RUNNING:
                if node.looks[self._source] in seen:
                    continue
                seen.add(node.looks[self._source])
            fill = self._try_once(twins.get(node.twin, node))
            if fill is None:
                continue
            filled = fill.onto(node, self._source)
            if node.twin and not self._alike_once:
                twins[node.twin] = filled
            rank = (*fill.score, *self._ties(node.node_type))
            if best is None or rank > best[0]:
                best = rank, number, node, fill, filled
        if best is None:
            return None
        _, number, node, fill, filled = best
        self.nodes.remove((number, node))
        self._demand.take(fill.took)
        return number, twins.get(node.twin, filled) if node.twin else filled


@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_every_decision(edition: Edition) -> None:
    # Drawing costs most of it, so a part of the profile's examples: 40 of 100.
    @settings(max_examples=settings.default.max_examples * 2 // 5)
    @given(problems())
    def holds(problem: Json) -> None:
        decided = answer(problem, edition)
        assert answer(reversed_maps(problem), edition) == decided
        request = read(problem, EXACT)
        reply = scheduler.schedule(request, edition)
        assert comparable(answer(problem, edition, EXACT)) == comparable(decided)
        if edition is Edition.CURRENT:  # labels do not bind in 2.48, and twins take more than they have
            judge(request, reply)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(scheduler, "Candidates", Plain)
            assert answer(problem, edition) == decided

    holds()


def test_a_decision_that_breaks_a_rule_is_caught() -> None:
    problem = {"node_types": {"A": {"resources": {"CPU": 2}, "max": 1}}, "requests": [{"resources": {"CPU": 2}}]}
    request = read(problem, EXACT)
    reply = scheduler.schedule(request)
    judge(request, reply)
    (node,) = reply.nodes
    assert node.status is NodeStatus.TO_LAUNCH
    twice = (node.scheduled[0] * 2, ())
    with pytest.raises(AssertionError):
        judge(
            request, SchedulingReply((SchedulingNode.from_config(request.node_types["A"]), node), (), (), True, EXACT)
        )
    node.__dict__["scheduled"] = twice
    with pytest.raises(AssertionError):
        judge(request, reply)
