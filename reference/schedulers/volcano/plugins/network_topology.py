"""network-topology-aware: the HyperNodes for a job, the fullest that holds it first; and for a job that would rather
stay together, the nodes that are near.

Scores are exact fractions where upstream has floats; of equal domains the first by name is taken, upstream any.
Left out: the binpacking of jobs that say nothing of topology, and subgroups of a job.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from reference.cluster import MEMORY, VCORE
from reference.schedulers.volcano.amounts import dimensions
from reference.schedulers.volcano.api import Job, Task, TopologyMode
from reference.schedulers.volcano.hypernodes import TOP
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.plugins.plugin import Plugin

FULL: Final = 100
"""The highest score."""


class NetworkTopologyAware(Plugin):
    """Gradients of HyperNodes for hard mode, nearness for soft."""

    def gradients(self, job: Job) -> list[list[str]]:
        """The HyperNodes to try for a job, tier by tier: breadth first under those that are allowed, without those
        that cannot hold its minResources even once what runs down is gone. Anywhere for a job that may go anywhere."""
        topology = job.spec.network_topology
        if topology is None or topology.mode is TopologyMode.SOFT or topology.highest_tier_allowed is None:
            return [[TOP]]
        found = self.session.hyper_nodes.gradients(TOP, topology.highest_tier_allowed, job.allocated_hyper_node)
        if job.allocated_hyper_node:
            return found
        kept = [[name for name in names if self._may_hold(name, job)] for names in found]
        return [names for names in kept if names]

    def _may_hold(self, name: str, job: Job) -> bool:
        asked: Mapping[str, int] = job.spec.min_resources or {}
        least = {name: asked[name] for name in dimensions(asked)}
        nodes = self.session.hyper_nodes.nodes(name)
        idle = {n: sum(node.idle.get(n, 0) for node in nodes) for n in least}
        future = {n: sum(node.future_idle(n) for node in nodes) for n in least}
        return all(least[n] <= idle[n] for n in least) or all(least[n] <= future[n] for n in least)

    def hyper_node_scores(self, job: Job, names: list[str]) -> Mapping[str, Fraction]:
        """Binpacking: how full of cores and memory each would be with all tasks of the job, 0 where they are too many;
        of the fullest, the part of the job that is there already counts on top."""
        request = {n: sum(task.resreq.amount(n) for task in job.tasks.values()) for n in (VCORE, MEMORY)}
        scores = {name: self._fullness(name, request) for name in names}
        best = max(scores.values())
        fullest = [name for name, score in scores.items() if score == best]
        if len(fullest) > 1:
            for name in fullest:
                scores[name] += self._part_of_job(name, job)
        return {name: score * FULL for name, score in scores.items()}

    def _fullness(self, name: str, request: Mapping[str, int]) -> Fraction:
        nodes = self.session.hyper_nodes.nodes(name)
        parts = []
        for resource, amount in request.items():
            if amount == 0:
                continue
            allocatable = sum(node.allocatable.get(resource, 0) for node in nodes)
            used = allocatable - sum(node.future_idle(resource) for node in nodes)
            if used + amount > allocatable:
                return Fraction(0)
            parts.append(Fraction(used + amount, allocatable))
        return sum(parts, Fraction(0)) / len(parts) if parts else Fraction(0)

    def _part_of_job(self, name: str, job: Job) -> Fraction:
        here = {node.name for node in self.session.hyper_nodes.nodes(name)}
        return Fraction(sum(task.node in here for task in job.tasks.values()), len(job.tasks))

    def node_scores(self, task: Task, nodes: list[NodeInfo], allocated: str) -> list[Fraction]:
        """For a job with a topology, by the tier of the smallest domain that holds the node and ``allocated``, where
        its other tasks are; of the nearest, the part of the job that is in the node's domain counts on top."""
        hyper_nodes = self.session.hyper_nodes
        if not allocated:
            return [Fraction(0)] * len(nodes)
        scores = [self._nearness(hyper_nodes.of_node(node.name), allocated) for node in nodes]
        best = max(scores)
        if scores.count(best) > 1:
            for i, node in enumerate(nodes):
                if scores[i] == best:
                    scores[i] += self._part_of_job(hyper_nodes.of_node(node.name), task.job)
        return [score * FULL for score in scores]

    def _nearness(self, mine: str, allocated: str) -> Fraction:
        hyper_nodes = self.session.hyper_nodes
        if not mine:
            return Fraction(0)
        if mine == allocated:
            return Fraction(1)
        tier, lowest, highest = hyper_nodes.tier(hyper_nodes.common(mine, allocated)), *_ends(hyper_nodes.tiers)
        if lowest == highest:
            return Fraction(1)
        return Fraction(highest - tier, highest - lowest) if lowest <= tier <= highest else Fraction(0)


def _ends(tiers: list[int]) -> tuple[int, int]:
    return tiers[0], tiers[-1]
