"""From pods to applications: which gangs wait, which pods run, and what is occupied by pods of nobody's queue.

YuniKorn's rules: pods with one application id are one application; its gang is the task-groups annotation; its queue
is the one its pods name. An application any of whose gang members has been bound is taken as started: its pods are
``RunningPod``s and it is not placed again. An application without task groups has no gang: each of its waiting pods
is placed on its own, as a gang of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from reference.cluster.cluster import RunningPod
from reference.cluster.gang import Application, TaskGroup
from reference.cluster.queue import QueueTree
from reference.cluster.resources import PODS, Resources
from reference.errors import sample
from reference.manifests.constraints import read_constraints
from reference.manifests.document import Field
from reference.manifests.neighbours import neighbours_of
from reference.manifests.notices import Notices, PlaceOf
from reference.manifests.pods import Pod
from reference.manifests.queues import DEFAULT_QUEUE, ROOT
from reference.manifests.taskgroups import read_policy, read_task_groups

MAX_WEIGHT: Final = 10**9


@dataclass(frozen=True, slots=True)
class Waiting:
    """An application that is complete but for its place in the order; ``number`` is its place in reading order."""

    created: int | None
    number: int
    application: Application


@dataclass(slots=True)
class Workload:
    """What becomes of the pods: gangs that wait, pods that run, and what else is used, by node name."""

    waiting: list[Waiting] = field(default_factory=list)
    running: list[RunningPod] = field(default_factory=list)
    occupied: dict[str, Resources] = field(default_factory=dict)

    def applications(self, notices: Notices) -> list[Application]:
        """Those that wait, numbered in order of submission: by time of creation, then in reading order."""
        undated = [w for w in self.waiting if w.created is None]
        if undated and len(undated) < len(self.waiting):
            notices.add_general(
                f"{len(undated)} of {len(self.waiting)} applications have no creationTimestamp: they count as "
                "submitted after the others, in file order"
            )
        order = sorted(self.waiting, key=lambda w: (w.created is None, w.created or 0, w.number))
        return [replace(w.application, submitted=rank) for rank, w in enumerate(order)]


def assemble(
    pods: Iterable[Pod], nodes: Mapping[str, object], queues: QueueTree, notices: Notices, result: Workload
) -> None:
    """Sorts ``pods``, in file order, into applications and running pods of ``result``. Raises ManifestError."""
    _Assembly(nodes, queues, notices, result).run(list(pods))


def refuse_repeats(pods: Iterable[Pod]) -> None:
    """Raises ManifestError for a pod that comes twice."""
    seen: dict[str, Pod] = {}
    for pod in pods:
        first = seen.setdefault(pod.full_name, pod)
        if first is not pod and not pod.is_template and not first.is_template:
            place = pod.source.need("metadata", "metadata").get("name") or pod.source
            found = f"the pod {pod.full_name!r} a second time (first at {first.source.location})"
            raise place.error("each pod once", found)


def weight_of(stated: Iterable[Field | None]) -> int:
    """What a gang is worth, from the annotations that say so: one number in all of them, 1 where there is none."""
    weights = [weight for weight in stated if weight]
    for weight in weights:
        text = weight.string()
        if not re.fullmatch(r"[1-9][0-9]{0,9}", text) or int(text) > MAX_WEIGHT:
            raise weight.error(f"a whole number from 1 to {MAX_WEIGHT}")
        if text != weights[0].string():
            raise weight.error(
                f"one weight for the whole application (first {weights[0].value} at {weights[0].location})", text
            )
    return int(weights[0].string()) if weights else 1


class _Assembly:
    def __init__(self, nodes: Mapping[str, object], queues: QueueTree, notices: Notices, result: Workload) -> None:
        self._nodes = nodes
        self._queues = queues
        self._notices = notices
        self._result = result
        self._definitions: dict[tuple[str, str], tuple[TaskGroup, ...]] = {}

    def run(self, pods: list[Pod]) -> None:
        owned: dict[str, list[Pod]] = {}
        for pod in pods:
            if pod.application is not None:
                owned.setdefault(pod.application, []).append(pod)
            elif pod.is_bound:
                self._bind_unowned(pod)
            elif not pod.is_finished and not pod.is_template:
                why = "of another scheduler" if pod.is_foreign else "without an application id"
                self._notices.add(pod.source, f"a waiting pod {why} is passed over", f"waiting {why}")
        for name, members in owned.items():
            self._application(name, members)

    # Bound pods

    def _bind_unowned(self, pod: Pod) -> None:
        assert pod.node is not None
        if pod.queue is not None and not pod.is_foreign:
            self._bind(pod, self._leaf(pod.queue))
        elif pod.node.string() in self._nodes:
            node = pod.node.string()
            self._result.occupied[node] = self._result.occupied.get(node, Resources()) + pod.request()
        else:
            self._notices.add(pod.node, "a pod on a node that is not given is passed over", "unknown node")

    def _bind(self, pod: Pod, queue: str, application: str = "") -> None:
        assert pod.node is not None
        if pod.node.string() not in self._nodes:
            raise pod.node.error("the name of one of the nodes given", f"the unknown node {pod.node.string()!r}")
        group = pod.task_group.string() if application and pod.task_group else ""
        self._result.running.append(
            RunningPod(
                pod.full_name,
                pod.node.string(),
                queue,
                pod.request(),
                application,
                group,
                neighbours=neighbours_of(pod, self._notices),
            )
        )

    # Applications

    def _application(self, name: str, pods: list[Pod]) -> None:
        live = [pod for pod in pods if not pod.is_finished]
        if not live:
            self._notices.add(pods[0].source, "an application whose pods have all finished is passed over", "finished")
            return
        gang = self._gang(name, pods)
        if not gang and all(pod.is_template for pod in live):
            text = "a workload without task groups is passed over: give its pods"
            self._notices.add(live[0].source, text, "template")
            return
        queue = self._queue(pods)
        # of a gang that waits nothing is said to run: pods outside its groups, whose application is left open
        waits = bool(gang) and not self._has_started(name, gang, pods)
        for pod in live:
            if pod.is_bound:
                self._bind(pod, queue, "" if waits else name)
        waiting = [pod for pod in live if not pod.is_bound and not pod.is_template]
        if not gang:
            for pod in waiting:
                self._single(name, pod, queue)
        elif waits:
            self._whole(name, gang, pods, queue)
            self._remark_extras(gang, waiting)

    def _whole(self, name: str, gang: tuple[TaskGroup, ...], pods: list[Pod], queue: str) -> None:
        policy = next((p.policy for p in sorted(pods, key=lambda p: p.task_groups is None) if p.policy), None)
        style, timeout = read_policy(policy, self._notices)
        created = min((p.created for p in pods if p.created is not None), default=None)
        self._notices.place(PlaceOf.GANG, name, next((p for p in pods if p.task_groups is not None), pods[0]).source)
        application = Application(
            name,
            queue,
            gang,
            weight=weight_of(pod.weight for pod in pods),
            style=style,
            placeholder_timeout_seconds=timeout,
        )
        self._result.waiting.append(Waiting(created, pods[0].number, application))

    def _single(self, name: str, pod: Pod, queue: str) -> None:
        spec = pod.source.need("spec", "the pod's spec")
        request = Resources({k: v for k, v in pod.request().items() if k != PODS})
        group = TaskGroup(
            "pod", 1, request, read_constraints(spec, self._notices), neighbours=neighbours_of(pod, self._notices)
        )
        application = Application(f"{name}/{pod.name}", queue, (group,), weight=weight_of([pod.weight]))
        text = "a waiting pod of an application without task groups is taken as an application, a gang of one"
        self._notices.add(pod.source, text, "single")
        self._notices.place(PlaceOf.GANG, application.name, pod.source)
        self._result.waiting.append(Waiting(pod.created, pod.number, application))

    def _gang(self, name: str, pods: list[Pod]) -> tuple[TaskGroup, ...]:
        first: tuple[Field, Pod, tuple[TaskGroup, ...]] | None = None
        for pod in pods:
            if pod.task_groups is None:
                continue
            text = pod.task_groups.string()
            key = pod.namespace, text
            if key not in self._definitions:
                self._definitions[key] = read_task_groups(pod.task_groups, pod.namespace, self._notices)
            groups = self._definitions[key]
            if first is None:
                first = (pod.task_groups, pod, groups)
            elif groups != first[2]:
                other = f"pod {first[1].full_name!r} ({first[0].location})"
                raise pod.task_groups.error(
                    f"the same task groups in all pods of application {name!r}",
                    f"other task groups in pod {pod.full_name!r} than in {other}",
                )
        return first[2] if first else ()

    def _has_started(self, name: str, gang: tuple[TaskGroup, ...], pods: list[Pod]) -> bool:
        missing = {group.name: group.min_member for group in gang}
        placed = 0
        for pod in pods:
            group = pod.task_group.string() if pod.task_group else ""
            if group in missing and (pod.is_bound or pod.is_finished):
                missing[group] -= 1
                placed += 1
        rest = sum(count for count in missing.values() if count > 0)
        if placed and rest:
            text = f"application {name!r} has started with part of its gang: the missing {rest} pods are not placed"
            self._notices.add(pods[0].source, text)
        return placed > 0

    def _remark_extras(self, gang: tuple[TaskGroup, ...], waiting: list[Pod]) -> None:
        left = {group.name: group.min_member for group in gang}
        for pod in waiting:
            group = pod.task_group.string() if pod.task_group else ""
            if pod.task_group and group not in left:
                text = f"the task group {group!r} is not defined by the application: the pod is passed over"
                self._notices.add(pod.task_group, text, "undefined group")
            elif not pod.task_group:
                text = "a waiting pod outside its application's task groups is passed over"
                self._notices.add(pod.source, text, "outside groups")
            elif not pod.is_placeholder:
                left[group] -= 1
                if left[group] < 0:
                    text = "a waiting pod beyond its task group's minMember is passed over"
                    self._notices.add(pod.task_group, text, "beyond minMember")

    # Queues

    def _queue(self, pods: list[Pod]) -> str:
        named = [pod.queue for pod in pods if pod.queue]
        if not named:
            if not self._is_leaf(DEFAULT_QUEUE):
                expected = f"a queue label, since there is no leaf queue {DEFAULT_QUEUE}"
                raise pods[0].source.error(expected, f"no queue for application {pods[0].application!r}")
            text = f"no queue is named: {DEFAULT_QUEUE} is taken"
            self._notices.add(pods[0].source, text, "default queue")
            return DEFAULT_QUEUE
        for other in named:
            if other.string() != named[0].string():
                text = f"another queue than the application's first pod names: {named[0].string()!r} is taken"
                self._notices.add(other, text, "other queue")
        return self._leaf(named[0])

    def _is_leaf(self, name: str) -> bool:
        queue = self._queues.find(name)
        return queue is not None and queue.is_leaf

    def _leaf(self, label: Field) -> str:
        """The leaf that a queue label names; a single word is a queue below root."""
        text = label.string()
        name = text.lower() if "." in text or text.lower() == ROOT else f"{ROOT}.{text.lower()}"
        if self._is_leaf(name):
            return name
        queue = self._queues.find(name)
        parent = name.rpartition(".")[0]
        if name.partition(".")[0] != ROOT:
            found = f"the queue {text!r}, which does not begin at root"
        elif queue is not None:
            found = f"the queue {text!r}, which is a parent: only leaf queues run applications"
        elif self._queues.find(parent) is None:
            found = f"the queue {text!r} without its parent: there is no queue {parent!r}"
        else:
            found = f"the queue {text!r}, which does not exist"
        leaves = [leaf.name for leaf in self._queues.leaves()]
        raise label.error(f"a leaf queue ({sample(leaves) if leaves else 'there is none'})", found)
