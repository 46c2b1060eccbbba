"""The scheduler as an event machine: one method for each thing that can happen, on a virtual clock.

Times are whole seconds; nothing reads the wall clock. A cycle decides for a whole root at once: what it decides on is
assumed, and each binding succeeds or fails in an event of its own. ``cycle`` is ``pop`` and ``decide`` in one; between
the two other events may come, which the cycle does not see (K4).

What cannot happen is refused, with the reason, and changes nothing: the API server would not have let it through, or
kube-scheduler logs an error and goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.cluster import Node
from reference.schedulers.kubernetes.algorithm import Algorithm, Assignment, Code, Result
from reference.schedulers.kubernetes.api import CompositePodGroup, Condition, Pod, PodGroup, Reason
from reference.schedulers.kubernetes.events import EventName, Outcome, Record
from reference.schedulers.kubernetes.groups import Group, Phase, Registry, TrackedPod
from reference.schedulers.kubernetes.index import Index
from reference.schedulers.kubernetes.options import Edition, Options
from reference.schedulers.kubernetes.postfilter import Preemption, post_filter
from reference.schedulers.kubernetes.queue import Place, Queued, SchedulingQueue
from reference.schedulers.kubernetes.snapshot import Cache, Nominated, Snapshot


@dataclass(slots=True)
class Cycle:
    """A cycle that runs: its root, its pods as they were popped; ``event_seen``: something happened since that may
    help it."""

    entry: Queued
    tree: Group
    event_seen: bool = False


class Scheduler:
    """kube-scheduler with the PodGroup scheduling cycle. ``conditions``: PodGroupInitiallyScheduled by PodGroup;
    those of CompositePodGroups stay empty in 1.37 (K22)."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self.registry = Registry()
        self.cache = Cache()
        self.queue = SchedulingQueue(self.options)
        self.snapshot = Snapshot(self.options.seed)
        self.index = Index(self.snapshot, self.options)
        self.conditions: dict[str, Condition] = {}
        self.running: Cycle | None = None

    # ---- nodes

    def add_node(self, node: Node) -> Record:
        """A node is there."""
        if node.name in self.cache.infos:
            return _refused(EventName.ADD_NODE, node.name, "there is a node of that name")
        self.cache.put_node(node)
        self._wake_all()
        return Record(EventName.ADD_NODE, node.name)

    def update_node(self, node: Node) -> Record:
        """A node has other labels, taints or capacity, or is cordoned; pods on it stay."""
        if node.name not in self.cache.infos:
            return _refused(EventName.UPDATE_NODE, node.name, "there is no such node")
        self.cache.put_node(node)
        self._wake_all()
        return Record(EventName.UPDATE_NODE, node.name)

    def remove_node(self, name: str) -> Record:
        """A node is gone. Its pods count as scheduled until they are deleted; nobody is nominated for it any more."""
        if name not in self.cache.infos:
            return _refused(EventName.REMOVE_NODE, name, "there is no such node")
        self.cache.remove_node(name)
        nominated = self.registry.nominated
        self.registry.nominated = {pod: node for pod, node in nominated.items() if node != name}
        return Record(EventName.REMOVE_NODE, name)

    # ---- objects

    def create_pod_group(self, group: PodGroup | CompositePodGroup) -> Record:
        """The object of a PodGroup or CompositePodGroup is seen (K2)."""
        registry = self.registry
        if group.name in registry.groups or group.name in registry.composites:
            return _refused(EventName.CREATE_POD_GROUP, group.name, "there is a group of that name")
        if group.name in registry.pods:
            return _refused(EventName.CREATE_POD_GROUP, group.name, "a pod has that name, and the queue goes by names")
        if group.least < 1:
            return _refused(EventName.CREATE_POD_GROUP, group.name, "minCount and minGroupCount are at least 1")
        if registry.would_contain_itself(group):
            return _refused(EventName.CREATE_POD_GROUP, group.name, "it would be below itself")
        registry.add_group(group)
        return Record(EventName.CREATE_POD_GROUP, group.name, activated=self._admit_above(group.name))

    def update_pod_group(self, group: PodGroup) -> Record:
        """``minCount`` is another; it is all that may change."""
        old = self.registry.groups.get(group.name)
        if old is None:
            return _refused(EventName.UPDATE_POD_GROUP, group.name, "there is no such PodGroup")
        if group.least < 1 or (old.min_count is None) != (group.min_count is None):
            return _refused(EventName.UPDATE_POD_GROUP, group.name, "the policy is fixed, and minCount at least 1")
        if (group.parent, group.priority, group.topology_key) != (old.parent, old.priority, old.topology_key):
            return _refused(EventName.UPDATE_POD_GROUP, group.name, "only minCount may change")
        self.registry.groups[group.name] = group
        root = self.registry.root_of(group.name)
        if root is not None and group.least < old.least:
            self._note(root)
        return Record(EventName.UPDATE_POD_GROUP, group.name, activated=self._admit_above(group.name))

    def delete_pod_group(self, name: str) -> Record:
        """The object is gone. Pods that have a node keep it; those that are pending wait for an object again."""
        registry = self.registry
        if name not in registry.groups and name not in registry.composites:
            return _refused(EventName.DELETE_POD_GROUP, name, "there is no such group")
        group = registry.remove_group(name)
        self.conditions.pop(name, None)
        self.queue.drop(name)
        for root in sorted(self.queue.entries):
            self._drop_if_done(root)
        return Record(EventName.DELETE_POD_GROUP, name, activated=self._admit_above(group.parent))

    def create_pod(self, pod: Pod, node: str = "") -> Record:
        """A pod is seen; one with a ``node`` runs there already (K2, K6)."""
        if pod.name in self.registry.pods:
            return _refused(EventName.CREATE_POD, pod.name, "there is a pod of that name")
        if not pod.pod_group and (pod.name in self.registry.groups or pod.name in self.registry.composites):
            return _refused(EventName.CREATE_POD, pod.name, "a group has that name, and the queue goes by names")
        tracked = TrackedPod(pod, (self.queue.now, self.queue.number()))
        self.registry.add_pod(tracked)
        if node:
            tracked.phase, tracked.node, tracked.started = Phase.BOUND, node, self.queue.now
            self.cache.add(pod, node)
            self._wake_those_that_mind()
        root = self.registry.key_of(pod)
        if root is None:
            return Record(EventName.CREATE_POD, pod.name)
        self._note(root)
        return Record(EventName.CREATE_POD, pod.name, activated=self._admit(root))

    def delete_pod(self, name: str) -> Record:
        """A pod has ended, or was deleted or evicted: room is free."""
        if name not in self.registry.pods:
            return _refused(EventName.DELETE_POD, name, "there is no such pod")
        root = self.registry.key_of(self.registry.pods[name].pod)
        held = name in self.registry.nominated
        tracked = self.registry.remove_pod(name)
        if tracked.phase is not Phase.PENDING:
            self.cache.remove(name)
            held = True
        if held:
            self._wake_all()
        if root is not None:
            self._drop_if_done(root)
        return Record(EventName.DELETE_POD, name)

    # ---- the scheduling cycle

    def cycle(self) -> Record | None:
        """One scheduling cycle for the first root of activeQ, from pop to decision; None where activeQ is empty."""
        if self.running is None:
            popped = self.pop()
            if popped is None or popped.outcome is not Outcome.POPPED:
                return popped
        return self.decide()

    def pop(self) -> Record | None:
        """The first root is popped with all of its pending pods, checked, and the snapshot taken (K3, K4, K13, K15).

        None where activeQ is empty. Pods that do not agree, or another hierarchy than was queued, end the cycle.
        """
        if self.running is not None:
            return _refused(EventName.POP, self.running.entry.name, "a cycle runs")
        entry = self.queue.pop()
        if entry is None:
            return None
        root, registry = entry.name, self.registry
        shape = registry.shape(root)
        if shape != entry.shape:
            self.queue.activate(entry, shape)
            return Record(EventName.CYCLE, root, Outcome.HIERARCHY_CHANGED, reason="groups were added or taken away")
        wrong = registry.why_invalid(root, self.options.edition)
        if wrong is not None:
            for leaf in registry.leaves_of(root):
                self._tell(leaf, Reason.SCHEDULER_ERROR)
            self.queue.back_off(entry)
            return Record(EventName.CYCLE, root, Outcome.SCHEDULER_ERROR, reason=wrong)
        self.snapshot.update(self.cache, bool(registry.terminating))
        self.running = Cycle(entry, registry.tree(root))
        return Record(EventName.POP, root, Outcome.POPPED)

    def decide(self) -> Record:
        """The algorithm on the snapshot of the cycle that runs, PodGroupPostFilter where it fails, and what follows for
        the whole root at once (K5, K7, K8, K19)."""
        if self.running is None:
            return _refused(EventName.CYCLE, "", "no cycle runs")
        cycle, self.running = self.running, None
        root = cycle.entry.name
        if self.queue.entries.get(root) is not cycle.entry:
            return Record(EventName.CYCLE, root, Outcome.HIERARCHY_CHANGED, reason="the group was deleted")
        self.snapshot.nominate(self._nominations())
        algorithm = Algorithm(self.snapshot, self.index, self.options, root)
        result = algorithm.run(cycle.tree)
        return replace(self._decided(cycle, algorithm, result), tried=tuple(algorithm.tried))

    def _decided(self, cycle: Cycle, algorithm: Algorithm, result: Result) -> Record:
        """What follows from the result."""
        root = cycle.entry.name
        if result.code is Code.ERROR:
            self._tell_tree(cycle.tree, Reason.SCHEDULER_ERROR)
            self.queue.back_off(cycle.entry)
            self._drop_if_done(root)
            return Record(EventName.CYCLE, root, Outcome.SCHEDULER_ERROR, steps=result.steps, reason=result.reason)
        if result.code is Code.SUCCESS:
            return self._succeed(cycle, result)
        preemption, why_none = post_filter(self.registry, self.snapshot, cycle.tree, lambda: algorithm.run(cycle.tree))
        self._tell_tree(cycle.tree, Reason.UNSCHEDULABLE)
        if preemption is not None:
            return self._preempt(cycle, result, preemption)
        if cycle.event_seen:
            self.queue.back_off(cycle.entry)
        else:
            self.queue.set_aside(cycle.entry)
        self._drop_if_done(root)
        reason = f"{result.reason}; preemption: {why_none}"
        return Record(EventName.CYCLE, root, Outcome.UNSCHEDULABLE, steps=result.steps, reason=reason)

    def _succeed(self, cycle: Cycle, result: Result) -> Record:
        """All that was found is assumed at once. Pods that are left go back: by the documentation to activeQ with the
        timestamp that they had, in the code they back off (one version read; it is not settled)."""
        root = cycle.entry.name
        assumed: list[Assignment] = []
        lost: list[str] = []
        for pod, node in result.assignments:
            tracked = self.registry.pods.get(pod.name)
            if tracked is None or tracked.pod is not pod:
                continue  # deleted while the cycle ran
            if node not in self.cache.infos:
                lost.append(pod.name)  # assuming it fails, and just that pod is rejected
                continue
            tracked.phase, tracked.node = Phase.ASSUMED, node
            self.cache.add(pod, node)
            assumed.append((pod, node))
        self._clear_nominations(cycle.tree)
        for leaf in cycle.tree.leaves():
            self._tell(leaf.name, Reason.SCHEDULED if leaf.name in result.feasible else Reason.UNSCHEDULABLE)
        if self.options.edition is Edition.SEED and not lost:
            self.queue.activate(cycle.entry, self.registry.shape(root))
        else:
            self.queue.back_off(cycle.entry)
        self._drop_if_done(root)
        reason = f"nodes are gone: {', '.join(lost)}" if lost else result.reason
        return Record(EventName.CYCLE, root, Outcome.SCHEDULED, tuple(assumed), steps=result.steps, reason=reason)

    def _preempt(self, cycle: Cycle, result: Result, preemption: Preemption) -> Record:
        """Victims are asked to leave and pods nominated; nothing binds, the root backs off (K8).

        Nominations last until the root is scheduled or its pods are deleted: were they dropped by a cycle that comes
        too early, others would take the room that is being made.
        """
        self.registry.terminating |= {victim.pod.name for victim in preemption.victims}
        self._clear_nominations(cycle.tree)
        for pod, node in preemption.nominations:
            if pod.name in self.registry.pods:
                self.registry.nominated[pod.name] = node
        self.queue.back_off(cycle.entry)
        self._drop_if_done(cycle.entry.name)
        return Record(
            EventName.CYCLE,
            cycle.entry.name,
            Outcome.PREEMPTING,
            evicted=tuple(victim.pod.name for victim in preemption.victims),
            nominated=preemption.nominations,
            steps=result.steps,
            reason=result.reason,
        )

    # ---- bindings

    def bind_succeeded(self, name: str) -> Record:
        """PreBind and Bind of an assumed pod are done: it runs."""
        tracked = self.registry.pods.get(name)
        if tracked is None or tracked.phase is not Phase.ASSUMED:
            return _refused(EventName.BIND_SUCCEEDED, name, "no binding of that pod is under way")
        tracked.phase, tracked.started = Phase.BOUND, self.queue.now
        self._wake_those_that_mind()
        return Record(EventName.BIND_SUCCEEDED, name)

    def bind_failed(self, name: str) -> Record:
        """PreBind or Bind of an assumed pod fails: just that pod is forgotten, and its root is queued again (K5)."""
        tracked = self.registry.pods.get(name)
        if tracked is None or tracked.phase is not Phase.ASSUMED:
            return _refused(EventName.BIND_FAILED, name, "no binding of that pod is under way")
        self.cache.remove(name)
        tracked.phase, tracked.node = Phase.PENDING, ""
        root = self.registry.key_of(tracked.pod)
        self._wake_all(but=root)
        if root is not None and self.queue.place(root) in (Place.GATED, Place.UNSCHEDULABLE):
            entry = self.queue.entry(root, self.registry.priority(root))
            entry.shape = self.registry.shape(root)
            self.queue.back_off(entry)
        return Record(EventName.BIND_FAILED, name)

    # ---- time

    def advance(self, seconds: int) -> Record:
        """The clock goes on; backoffs that are over end."""
        if seconds < 0:
            return _refused(EventName.ADVANCE, "", "the clock does not go back")
        self.queue.now += seconds
        return Record(EventName.ADVANCE, "", activated=tuple(self.queue.flush()))

    def backoff_expires(self, root: str) -> Record:
        """What ``advance`` does for one root whose backoff is over."""
        if not self.queue.flush_one(root):
            return _refused(EventName.ADVANCE, root, "its backoff is not over")
        return Record(EventName.ADVANCE, root, activated=(root,))

    # ---- parts

    def _admit_above(self, name: str) -> tuple[str, ...]:
        """PreEnqueue for the root above a group."""
        leaves = self.registry.leaves_of(name) if name in self.registry.composites else [name]
        roots = {root for leaf in leaves if (root := self.registry.root_of(leaf)) is not None}
        return tuple(admitted for root in sorted(roots) for admitted in self._admit(root))

    def _admit(self, root: str) -> tuple[str, ...]:
        """PreEnqueue: the root, if it may enter activeQ now. Asked again only of those that it keeps out: what was let
        in once stays in the queue, and PlacementFeasible finds out if pods have gone."""
        if self.queue.place(root) is not Place.GATED or not self.registry.is_ready(root, self.options.edition):
            return ()
        if not self.registry.pending(root):
            return ()
        entry = self.queue.entry(root, self.registry.priority(root))
        self.queue.activate(entry, self.registry.shape(root))
        return (root,)

    def _drop_if_done(self, root: str) -> None:
        """Takes a root out of the queue of which nothing is pending; a cycle that runs finds out at its end."""
        if self.queue.place(root) is not Place.POPPED and not self.registry.pending(root):
            self.queue.drop(root)

    def _note(self, root: str) -> None:
        """Something came that may help ``root``."""
        if self.running is not None and self.running.entry.name == root:
            self.running.event_seen = True
        self.queue.wake(root)

    def _wake_all(self, but: str | None = None) -> None:
        """Room may be free. Roots leave the unschedulable ones; a cycle that runs takes note."""
        if self.running is not None:
            self.running.event_seen = True
        for root in self.queue.unschedulable():
            if root != but:
                self.queue.wake(root)

    def _wake_those_that_mind(self) -> None:
        """A pod runs somewhere now: that may help pods with affinity or spread constraints."""
        for root in self.queue.unschedulable():
            if any(tracked.pod.spec.minds_others for tracked in self.registry.pending(root)):
                self.queue.wake(root)

    def _nominations(self) -> list[Nominated]:
        found = ((self.registry.pods[name].pod, node) for name, node in sorted(self.registry.nominated.items()))
        return [Nominated(pod, node, self.registry.key_of(pod) or "") for pod, node in found]

    def _clear_nominations(self, tree: Group) -> None:
        for leaf in tree.leaves():
            for pod in leaf.pods:
                self.registry.nominated.pop(pod.name, None)

    def _tell_tree(self, tree: Group, reason: Reason) -> None:
        for leaf in tree.leaves():
            self._tell(leaf.name, reason)

    def _tell(self, group: str, reason: Reason) -> None:
        """PodGroupInitiallyScheduled, which never changes once it is True (K21)."""
        known = self.conditions.get(group)
        if group in self.registry.groups and not (known and known.status):
            self.conditions[group] = Condition(reason)


def _refused(event: EventName, name: str, reason: str) -> Record:
    return Record(event, name, Outcome.REFUSED, reason=reason)
