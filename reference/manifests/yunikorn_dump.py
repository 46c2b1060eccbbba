"""What a running YuniKorn says of itself: the REST answers on queues, nodes and applications, and the full state dump.

Shapes are those of core's pkg/webservice/dao, where absent means zero, empty or false; amounts are integers, memory in
bytes and vcore in thousandths. An application that has an allocation has started: its allocations run. One without is a
gang by its ``placeholderData``, else each of its requests is a gang of one. A dump does not say where pods may run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from reference.cluster.cluster import RunningPod
from reference.cluster.gang import Application, TaskGroup
from reference.cluster.node import Node
from reference.cluster.queue import Queue, QueueTree, SortPolicy
from reference.cluster.resources import PODS, Resources
from reference.manifests.applications import Waiting, Workload
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.quantity import INT64_MAX, is_gpu
from reference.manifests.queues import ROOT, QueueConfig

_MARKS: Final = ("queuename", "nodesInfo", "nodeID", "applicationID")
_DUMP: Final = ("queues", "nodes", "applications")
_ENDED: Final = ("Completed", "Failed", "Expired", "Rejected", "Failing")
_MAX_DEPTH: Final = 50


@dataclass(slots=True)
class Dump:
    """The parts of all answers, each where it stands, in file order."""

    queues: list[Field] = field(default_factory=list)
    nodes: list[Field] = field(default_factory=list)
    applications: list[tuple[int, Field]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.queues or self.nodes or self.applications)

    @property
    def source(self) -> Field:
        """Any of the parts, to point at."""
        return [*self.queues, *self.nodes, *(app for _, app in self.applications)][0]

    def take(self, root: Field, number: int) -> bool:
        """Sorts an answer in; False where it is none of YuniKorn's."""
        if isinstance(root.value, list):
            parts = root.elements()
            if not parts or not all(map(_is_answer, parts)):
                return False
            for each in parts:
                self.take(each, number)
            return True
        if not _is_answer(root):
            return False
        members = root.mapping()
        if "queuename" in members:
            self.queues.append(root)
        elif "nodesInfo" in members:
            self.nodes += root.list_of("nodesInfo")
        elif "nodeID" in members:
            self.nodes.append(root)
        elif "applicationID" in members:
            self.applications.append((number, root))
        else:
            for key in _DUMP:
                for each in _flat(root.get(key)):
                    self.take(each, number)
        return True


def _is_answer(root: Field) -> bool:
    value = root.value
    if not isinstance(value, dict) or "kind" in value:
        return False
    return any(mark in value for mark in _MARKS) or is_state_dump(value)


def is_state_dump(value: dict[str, object]) -> bool:
    """Whether this is a full state dump, which has a list of partitions as queues.yaml has."""
    return all(key in value for key in ("partitions", "applications", "nodes"))


def _flat(each: Field | None) -> Iterator[Field]:
    """The objects of a member that is one, a list of them, or a list of lists."""
    if each is None:
        return
    if isinstance(each.value, list):
        for inner in each.elements():
            yield from _flat(inner)
    elif isinstance(each.value, dict):
        yield each
    else:
        raise each.error("an object, or a list of objects")


def read_dump_queues(dump: Dump) -> QueueConfig:
    """The queue tree of the answers. Raises ManifestError where there is none, or more than one."""
    if not dump.queues:
        raise dump.source.error("the answer on queues beside it", "nodes or applications of YuniKorn without queues")
    if len(dump.queues) > 1:
        raise dump.queues[1].error("one partition", f"a second queue tree (first at {dump.queues[0].location})")
    root = _queue(dump.queues[0], "", 1)
    if root.name != ROOT:
        raise dump.queues[0].need("queuename", "a name").error(f"the queue {ROOT!r}, with all below it")
    return QueueConfig(QueueTree(root))


def _queue(each: Field, above: str, depth: int) -> Queue:
    if depth > _MAX_DEPTH:
        raise each.error(f"at most {_MAX_DEPTH} levels of queues", "a deeper one")
    name = each.need("queuename", "the queue's full name")
    text = name.name()
    if above and (not text.startswith(above + ".") or "." in text[len(above) + 1 :]):
        raise name.error(f"a name below {above!r}")
    children = tuple(_queue(child, text, depth + 1) for child in each.list_of("children"))
    policy = each.get("sortingPolicy")
    known = {policy.value: policy for policy in SortPolicy}
    most = each.optional("maxRunningApps", lambda f: f.integer(0, INT64_MAX), 0)
    return Queue(
        text,
        _amounts(each.get("maxResource")),
        _amounts(each.get("guaranteedResource")),
        known.get(policy.string(), SortPolicy.FIFO) if policy else SortPolicy.FIFO,
        most or None,
        children,
        is_parent=not each.optional("isLeaf", Field.boolean, False),
    )


def _amounts(each: Field | None) -> Resources:
    expected = "a whole number, 0 or more"
    found = {name: amount.integer(0, INT64_MAX, expected) for name, amount in each.members()} if each else {}
    return Resources({name: amount * 1000 if is_gpu(name) else amount for name, amount in found.items()})


def read_dump_node(each: Field) -> Node:
    """One node; what others than YuniKorn's applications occupy is counted by YuniKorn itself."""
    attributes = each.get("attributes")
    return Node(
        each.need("nodeID", "the node's name").name(),
        _amounts(each.need("capacity", "the node's capacity")),
        attributes.string_map() if attributes else {},
        schedulable=each.optional("schedulable", Field.boolean, False),
        occupied=_amounts(each.get("occupied")),
    )


def read_dump_applications(
    dump: Dump, queues: QueueTree, nodes: dict[str, Node], notices: Notices, result: Workload
) -> None:
    """Gangs that wait and pods that run, into ``result``. Raises ManifestError."""
    leaves = {queue.name for queue in queues.leaves()}
    seen: dict[str, Field] = {}
    for number, each in dump.applications:
        identifier = each.need("applicationID", "the application's name")
        name = identifier.name()
        if name in seen:
            found = f"the application {name!r} a second time (first at {seen[name].location})"
            raise identifier.error("each application once", found)
        seen[name] = identifier
        state = each.get("applicationState")
        if state is not None and state.value in _ENDED:
            notices.add(each, "an application that has ended is passed over", "ended application")
            continue
        queue = each.need("queueName", "the application's queue")
        if queue.name() not in leaves:
            raise queue.error("a leaf of the queues given", f"the queue {queue.value!r}")
        allocations = each.list_of("allocations")
        for allocation in allocations:
            result.running.append(_running(allocation, name, queue.name(), nodes))
        gangs = [] if allocations else list(_gangs(each, name, queue.name()))
        if gangs:
            text = "YuniKorn's answers do not say on which nodes pods may run: any node is taken"
            notices.add(each, text, "no constraints in a dump")
        elif not allocations:
            notices.add(each, "an application that asks for nothing is passed over", "idle application")
        elif each.list_of("requests"):
            text = f"application {name!r} has started: what it still asks for is not placed"
            notices.add(each, text, "started application")
        created = each.optional("submissionTime", lambda f: f.integer(0, INT64_MAX), None)
        stamp = None if created is None else created // 1000
        result.waiting += [Waiting(stamp, number, gang) for gang in gangs]


def _running(each: Field, application: str, queue: str, nodes: dict[str, Node]) -> RunningPod:
    node = each.need("nodeId", "the node of an allocation")
    if node.name() not in nodes:
        raise node.error("the name of one of the nodes given", f"the unknown node {node.value!r}")
    group = each.get("taskGroupName")
    return RunningPod(
        each.need("allocationKey", "the allocation's key").name(),
        node.name(),
        queue,
        Resources({PODS: 1, **_amounts(each.get("resource"))}),
        application,
        group.string() if group else "",
    )


def _gangs(each: Field, name: str, queue: str) -> Iterator[Application]:
    groups: list[TaskGroup] = []
    for part in each.list_of("placeholderData"):
        group = part.need("taskGroupName", "the name of a task group")
        count = part.need("count", "how many placeholders").integer(1, 2**31 - 1, "a whole number, 1 or more")
        if any(group.name() == other.name for other in groups):
            raise group.error("each task group once", f"the task group {group.value!r} a second time")
        groups.append(TaskGroup(group.name(), count, _request(part.get("minResource"))))
    if groups:
        yield Application(name, queue, tuple(groups))
        return
    for request in each.list_of("requests"):
        key = request.need("allocationKey", "the request's key").name()
        yield Application(f"{name}/{key}", queue, (TaskGroup("pod", 1, _request(request.get("resource"))),))


def _request(each: Field | None) -> Resources:
    return Resources({name: amount for name, amount in _amounts(each).items() if name != PODS})
