"""PodGroupPostFilter: workload-aware preemption (KEP-5710), simulated on the snapshot of a cycle that failed.

All pods of lower priority are taken out; if the group then fits, they are put back one unit after the other, the most
important first, wherever as many pods of the group still find a node. Who cannot be put back is a victim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reference.schedulers.kubernetes.algorithm import Assignment, Code, Result
from reference.schedulers.kubernetes.api import DisruptionMode
from reference.schedulers.kubernetes.groups import Group, Phase, Registry, TrackedPod
from reference.schedulers.kubernetes.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Victim:
    """Pods that leave together: one pod, or all scheduled pods below a group with disruption mode All."""

    name: str
    pods: tuple[TrackedPod, ...]
    priority: int
    is_group: bool

    def importance(self) -> tuple[object, ...]:
        """Sorts the most important first: priority, groups before pods, larger groups, those that started earlier."""
        started = min(pod.started for pod in self.pods)
        return -self.priority, not self.is_group, -len(self.pods) if self.is_group else 0, started, self.name


@dataclass(frozen=True, slots=True)
class Preemption:
    """Who has to leave, and the nodes that the group is nominated for."""

    victims: tuple[TrackedPod, ...]
    nominations: tuple[Assignment, ...]


def units(registry: Registry, snapshot: Snapshot) -> list[Victim]:
    """All pods that run, by what leaves together. A unit of which a binding is under way is left alone: that pod could
    not be told to leave."""
    found: dict[str, list[TrackedPod]] = {}
    grouped: set[str] = set()
    for tracked in registry.pods.values():
        if tracked.phase is Phase.PENDING or tracked.node not in snapshot.by_name:
            continue
        above = _together(registry, tracked.pod.pod_group)
        name = above or tracked.pod.name
        if above:
            grouped.add(name)
        found.setdefault(name, []).append(tracked)
    return [
        Victim(name, tuple(sorted(pods, key=lambda p: p.pod.name)), _priority(registry, pods[0]), name in grouped)
        for name, pods in sorted(found.items())
        if all(pod.phase is Phase.BOUND and pod.pod.name not in registry.terminating for pod in pods)
    ]


def _together(registry: Registry, group: str) -> str:
    """The highest group above a pod that is disrupted as a whole, or empty."""
    highest = ""
    if group in registry.groups:
        found = registry.groups[group]
        if found.disruption_mode is DisruptionMode.ALL:
            highest = group
        parent = found.parent
        while parent in registry.composites:
            if registry.composites[parent].disruption_mode is DisruptionMode.ALL:
                highest = parent
            parent = registry.composites[parent].parent
    return highest


def _priority(registry: Registry, pod: TrackedPod) -> int:
    group = registry.groups.get(pod.pod.pod_group)
    return group.priority if group else pod.pod.spec.priority


def why_not_eligible(registry: Registry, tree: Group) -> str | None:
    """What keeps a group from preempting at all, or None.

    As in the code that was read, hierarchies and groups with a topology key do not preempt. While pods that were
    preempted are still leaving nobody is preempted: upstream looks at those on the nodes that the group is nominated
    for, which has let a group preempt twice (kubernetes#138710).
    """
    if tree.is_composite or tree.name not in registry.groups:
        return "only a PodGroup without a parent preempts"
    if tree.topology_key:
        return "preemption is not supported for groups with a topology constraint"
    if registry.never_preempts(tree.name):
        return "preemptionPolicy is Never"
    if registry.terminating:
        return "pods that were preempted are still leaving"
    return None


def post_filter(
    registry: Registry, snapshot: Snapshot, tree: Group, run: Callable[[], Result]
) -> tuple[Preemption | None, str]:
    """The preemption that makes the group feasible, or None and why; the snapshot is as before.

    ``run`` is the algorithm on the snapshot as it stands. Nothing binds, whatever comes out.
    """
    reason = why_not_eligible(registry, tree)
    if reason is not None:
        return None, reason
    priority = registry.priority(tree.name)
    if registry.lowest is None or registry.lowest >= priority:
        return None, "no pods of lower priority"
    candidates = sorted((unit for unit in units(registry, snapshot) if unit.priority < priority), key=Victim.importance)
    if not candidates:
        return None, "no pods of lower priority"
    mark = snapshot.mark()
    try:
        return _select(snapshot, candidates, run)
    finally:
        snapshot.rollback(mark)


def _select(
    snapshot: Snapshot, candidates: Sequence[Victim], run: Callable[[], Result]
) -> tuple[Preemption | None, str]:
    for unit in candidates:
        _evict(snapshot, unit.pods)
    result = run()
    if result.code is not Code.SUCCESS:
        return None, f"not even without pods of lower priority: {result.reason}"
    most = len(result.assignments)
    victims: list[Victim] = []
    for unit in candidates:
        mark = snapshot.mark()
        for pod in unit.pods:
            snapshot.assume(pod.pod, pod.node)
        attempt = run()
        most = max(most, len(attempt.assignments))
        if attempt.code is Code.SUCCESS and len(attempt.assignments) >= most:
            result = attempt
        else:
            snapshot.rollback(mark)
            victims.append(unit)
    if not victims:
        return None, "nobody has to leave"  # with more pods out of the way others were placed first
    result = run()
    return Preemption(tuple(pod for unit in victims for pod in unit.pods), result.assignments), ""


def _evict(snapshot: Snapshot, pods: Iterable[TrackedPod]) -> None:
    for pod in pods:
        snapshot.evict(pod.pod, pod.node)
