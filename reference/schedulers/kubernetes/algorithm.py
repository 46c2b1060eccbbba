"""The PodGroup scheduling algorithm: where the pending pods of a root go, tried on the snapshot.

A PodGroup is judged pod by pod, PlacementFeasible being asked after each. With a topology key there is one candidate
placement for each value of that label; each is tried and taken back, and the best is taken. A CompositePodGroup does
the same with its children in the place of pods: in a fixed order, each within the candidate that is tried, and nothing
that was found for one is given up for the next.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

from reference.cluster import MEMORY, VCORE
from reference.schedulers.kubernetes.api import Pod
from reference.schedulers.kubernetes.findnode import find_node, why_unschedulable
from reference.schedulers.kubernetes.groups import Group
from reference.schedulers.kubernetes.index import Index
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.options import Edition, Options, ScoringStrategy
from reference.schedulers.kubernetes.scores import MAX_SCORE, fit_score
from reference.schedulers.kubernetes.snapshot import Snapshot


class Code(enum.Enum):
    """A status of the scheduling framework."""

    SUCCESS = "Success"
    WAIT = "Wait"
    UNSCHEDULABLE = "Unschedulable"
    ERROR = "Error"


Assignment = tuple[Pod, str]
"""A pod and the node that was found for it."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found for a group: pods in the order in which they were placed, and the PodGroups that are feasible.

    ``steps`` are the decisions on single pods, in order: the node, or empty where none was found; told for the
    placement that was taken, or for the last one that was tried.
    """

    code: Code
    assignments: tuple[Assignment, ...] = ()
    feasible: frozenset[str] = frozenset()
    reason: str = ""
    steps: tuple[tuple[Pod, str], ...] = ()


@dataclass(slots=True)
class Candidate:
    """A placement that was tried: its name, its nodes, what was found in it."""

    name: str
    nodes: Sequence[NodeInfo]
    result: Result
    score: int = field(default=0)


def placement_feasible(least: int, remaining: int, scheduled: int) -> Code:
    """GangScheduling's PlacementFeasible, of the pods of a PodGroup or of the children of a CompositePodGroup."""
    if remaining + scheduled < least:
        return Code.UNSCHEDULABLE
    return Code.WAIT if scheduled < least else Code.SUCCESS


class Algorithm:
    """One root's cycle on one snapshot."""

    def __init__(self, snapshot: Snapshot, index: Index, options: Options, root: str) -> None:
        self.snapshot = snapshot
        self.index = index
        self.options = options
        self.root = root

    def run(self, tree: Group) -> Result:
        """The decision for the whole root; the snapshot is as before.

        A root of which nothing new is placed is unschedulable, whatever it had before.
        """
        mark = self.snapshot.mark()
        result = self.place(tree, None)
        self.snapshot.rollback(mark)
        if result.code is Code.SUCCESS and not result.assignments:
            reason = result.reason or "no pod was newly placed"
            return Result(Code.UNSCHEDULABLE, reason=reason, steps=result.steps)
        return result

    # ---- placements

    def place(self, group: Group, parent: Sequence[NodeInfo] | None) -> Result:
        """Tries every candidate within ``parent`` (None: all nodes) and leaves the best assumed in the snapshot."""
        if not group.topology_key:
            return self._simulate(group, parent)
        domains, problem = self._domains(group, self.snapshot.infos if parent is None else parent)
        if problem:
            return Result(Code.ERROR, reason=problem)
        candidates: list[Candidate] = []
        failed = Result(Code.UNSCHEDULABLE, reason=f"no node has a label {group.topology_key}")
        for name, nodes in domains:
            mark = self.snapshot.mark()
            result = self._simulate(group, nodes)
            self.snapshot.rollback(mark)
            if result.code is Code.ERROR:
                return result
            if result.code is Code.SUCCESS:
                candidates.append(Candidate(name, nodes, result))
            else:
                failed = result
        if not candidates:
            reason = f"0/{len(domains)} placements are available, the last one: {failed.reason}"
            return Result(Code.UNSCHEDULABLE, reason=reason, steps=failed.steps)
        self._score(group, candidates)
        most = max(candidate.score for candidate in candidates)
        best = min((c for c in candidates if c.score == most), key=lambda c: self.snapshot.order_of(c.name))
        for pod, node in best.result.assignments:
            self.snapshot.assume(pod, node)
        return best.result

    def _domains(self, group: Group, nodes: Sequence[NodeInfo]) -> tuple[list[tuple[str, list[NodeInfo]]], str]:
        """TopologyPlacement: nodes by the value of the label; where pods are scheduled, only those of their domain.
        And what is wrong with those pods, if anything."""
        key = group.topology_key
        fixed: set[str] = set()
        for leaf in group.leaves():
            for pod, node in sorted(self.snapshot.scheduled_of(leaf.name).items()):
                info = self.snapshot.by_name.get(node)
                if info is None or key not in info.node.labels:
                    return [], f"no topology domain is found for pod {pod}"
                fixed.add(info.node.labels[key])
        if len(fixed) > 1:
            return [], f"pods are scheduled in more than one domain: {', '.join(sorted(fixed))}"
        found: dict[str, list[NodeInfo]] = {}
        for info in nodes:
            value = info.node.labels.get(key)
            if value is not None and (not fixed or value in fixed):
                found.setdefault(value, []).append(info)
        return sorted(found.items()), ""

    def _score(self, group: Group, candidates: Sequence[Candidate]) -> None:
        """PodGroupPodsCount, relative to the most pods of any candidate, and PlacementBinPacking: how full the nodes of
        the placement would be, all taken together. Both of weight 1."""
        scheduled = sum(len(self.snapshot.scheduled_of(leaf.name)) for leaf in group.leaves())
        counts = [scheduled + len(candidate.result.assignments) for candidate in candidates]
        most = max(counts)
        for candidate, count in zip(candidates, counts, strict=True):
            packed = bin_packing_score(candidate.nodes, [pod for pod, _ in candidate.result.assignments])
            candidate.score = (MAX_SCORE * count // most if most else 0) + packed

    # ---- one placement

    def _simulate(self, group: Group, nodes: Sequence[NodeInfo] | None) -> Result:
        """The group on ``nodes``; what was found stays assumed, nothing where it is not feasible."""
        mark = self.snapshot.mark()
        result = self._children(group, nodes) if group.is_composite else self._pods(group, nodes)
        if result.code is not Code.SUCCESS:
            self.snapshot.rollback(mark)
        return result

    def _pods(self, group: Group, nodes: Sequence[NodeInfo] | None) -> Result:
        """The default algorithm: the pods of a PodGroup one by one, those beyond minCount too."""
        remaining, scheduled = len(group.pods), len(self.snapshot.scheduled_of(group.name))
        placed: list[Assignment] = []
        steps: list[tuple[Pod, str]] = []
        missing = ""
        if self.options.edition is Edition.CURRENT:
            if placement_feasible(group.least, remaining, scheduled) is Code.UNSCHEDULABLE:
                return Result(Code.UNSCHEDULABLE, reason=_too_few(group.least, remaining, scheduled))
        status = Code.WAIT
        for pod in group.pods:
            info = self.find(pod, nodes)
            remaining -= 1
            steps.append((pod, info.node.name if info else ""))
            if info is not None:
                self.snapshot.assume(pod, info.node.name)
                placed.append((pod, info.node.name))
                scheduled += 1
            elif not missing:
                all_nodes = self.snapshot.infos if nodes is None else nodes
                missing = f"pod {pod.name}: {why_unschedulable(self.snapshot, pod, all_nodes)}"
            status = placement_feasible(group.least, remaining, scheduled)
            if status is Code.UNSCHEDULABLE:
                reason = f"{_too_few(group.least, remaining, scheduled)}; {missing}"
                return Result(Code.UNSCHEDULABLE, reason=reason, steps=tuple(steps))
        if not group.pods:  # nothing is pending, so nothing was asked: what is scheduled decides
            status = placement_feasible(group.least, 0, scheduled)
        if status is not Code.SUCCESS:
            return Result(Code.UNSCHEDULABLE, reason=_too_few(group.least, 0, scheduled), steps=tuple(steps))
        return Result(Code.SUCCESS, tuple(placed), frozenset((group.name,)), missing, tuple(steps))

    def _children(self, group: Group, nodes: Sequence[NodeInfo] | None) -> Result:
        """The children of a CompositePodGroup, each within ``nodes``; one that fails is rolled back, and the group with
        it once too few are left."""
        remaining, feasible = len(group.children), 0
        assignments: list[Assignment] = []
        names: set[str] = set()
        steps: list[tuple[Pod, str]] = []
        missing = ""
        for child in group.children:
            result = self.place(child, nodes)
            if result.code is Code.ERROR:
                return result
            remaining -= 1
            steps += result.steps
            if result.code is Code.SUCCESS:
                feasible += 1
                assignments += result.assignments
                names |= result.feasible
            elif not missing:
                missing = f"group {child.name}: {result.reason}"
            if placement_feasible(group.least, remaining, feasible) is Code.UNSCHEDULABLE:
                reason = f"minGroupCount {group.least} cannot be met; {missing}"
                return Result(Code.UNSCHEDULABLE, reason=reason, steps=tuple(steps))
        if placement_feasible(group.least, 0, feasible) is not Code.SUCCESS:
            return Result(Code.UNSCHEDULABLE, reason=f"minGroupCount {group.least} cannot be met: no children")
        return Result(Code.SUCCESS, tuple(assignments), frozenset(names), missing, tuple(steps))

    def find(self, pod: Pod, nodes: Sequence[NodeInfo] | None) -> NodeInfo | None:
        """The node for one pod: by the index where it answers, else by the plain rule."""
        if nodes is None and self.options.indexed and self.index.answers(pod):
            return self.index.find(pod)
        everywhere = self.snapshot.infos if nodes is None else nodes
        return find_node(self.snapshot, pod, self.root, everywhere, self.options)


def bin_packing_score(nodes: Sequence[NodeInfo], pods: Sequence[Pod]) -> int:
    """PlacementBinPacking: MostAllocated of the sums over the nodes of a placement, ``pods`` added."""
    cpu = sum(info.cpu for info in nodes) + sum(pod.spec.non_zero[0] for pod in pods)
    memory = sum(info.memory for info in nodes) + sum(pod.spec.non_zero[1] for pod in pods)
    cpus = sum(info.allocatable.get(VCORE, 0) for info in nodes)
    memories = sum(info.allocatable.get(MEMORY, 0) for info in nodes)
    return fit_score(ScoringStrategy.MOST_ALLOCATED, ((cpu, cpus), (memory, memories)))


def _too_few(least: int, remaining: int, scheduled: int) -> str:
    return f"minCount ({least}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"
