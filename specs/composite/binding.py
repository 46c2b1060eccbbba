"""The Kubernetes reference and the composite spec, side by side; ``specs/kubernetes/binding.py`` does so for one group.

A rack is a node with so many units of CPU, a block a label of it; the root has the block for its topology key, each
child the rack, and composites between them have none. Pods take a unit. A cycle of the scheduler tells what it tried in
which domain, and that is, in order, what the spec does. That a composite between them failed it does not tell: all that
is below is rolled back before anything else, in the spec too. The spec scores placements by the number of their pods
alone, so PlacementBinPacking weighs nothing.

What is left out: ``changes``, which in the spec leave the hierarchy as large as it was. Ties between blocks or racks go
by name in the scheduler and are free in the spec.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from model.language import Machine
from model.trace import Value
from reference.cluster import Node, Resources
from reference.schedulers import kubernetes as code
from reference.schedulers.kubernetes import Outcome, Phase, Place, Plugin, Pod, PodGroup, PodSpec, Record, Scheduler
from specs.composite.parameters import levels
from specs.composite.state import Block, Child, Rack
from specs.composite.state import Outcome as Tried
from specs.kubernetes.state import Queue
from specs.walking import Call, SpecWalk

UNIT = 1000
"""Milli-cores in a slot of the spec."""
ROOT = "root"
INTERNAL = frozenset(
    (
        *("reach_quorum", "try_block", "place_child", "fail_child", "revert_group", "revert_block", "accept_block"),
        *("decide_success", "decide_unschedulable"),
    )
)
"""Actions that the scheduler takes on its own, within an event."""

_PLACES = {
    Place.GATED: Queue.OUTSIDE,
    Place.ACTIVE: Queue.ACTIVE,
    Place.BACKOFF: Queue.BACKOFF,
    Place.UNSCHEDULABLE: Queue.UNSCHEDULABLE,
    Place.POPPED: Queue.POPPED,
}


@dataclass
class Subject:
    """The code under test for one machine, and the world around it."""

    machine: Machine
    scheduler: Scheduler = field(init=False)
    children: tuple[str, ...] = field(init=False)
    racks: tuple[str, ...] = field(init=False)
    blocks: tuple[str, ...] = field(init=False)
    done: bool = False
    failures: int = 0
    created: int = 0

    def __post_init__(self) -> None:
        p = self.parameters
        if p["changes"]:
            raise ValueError(f"the binding is for changes=0, found {p['changes']}")
        self.levels = levels(p["children"], p["min_groups"], p["middles"], p["middle_min"])
        names = [self.machine.sorts[sort].names for sort in (Child, Rack, Block)]
        self.children, self.racks, self.blocks = names
        self.pods = [p["pods"]] * len(self.children) if isinstance(p["pods"], int) else list(p["pods"])
        weights = {**code.DEFAULT_WEIGHTS, Plugin.PLACEMENT_BIN_PACKING: 0}
        self.scheduler = Scheduler(code.Options(weights=weights, backoff_initial=0, backoff_max=0))
        slots = list(p["slots"])
        for i, (rack, size) in enumerate(zip(self.racks, slots, strict=True)):
            block = self.blocks[i // (len(slots) // len(self.blocks))]
            self.scheduler.add_node(Node(rack, Resources(vcore=size * UNIT), {"rack": rack, "block": block}))
            if i >= len(slots) - p["busy"] and size:
                self.scheduler.create_pod(Pod(f"other-{rack}", PodSpec(Resources(vcore=size * UNIT))), rack)
        self.scheduler.create_pod_group(code.CompositePodGroup(ROOT, p["min_groups"], topology_key="block"))
        for composite in self.levels.places():
            above, least = self.levels.above(*composite), self.levels.least[composite[0]]
            parent = _named(above) if above else ROOT
            self.scheduler.create_pod_group(code.CompositePodGroup(_named(composite), least, parent=parent))
        for i, child in enumerate(self.children):
            lowest = len(self.levels.sizes) - 1
            parent = _named((lowest, self.levels.above_child(i, lowest))) if self.levels.sizes else ROOT
            self.scheduler.create_pod_group(PodGroup(child, p["min_count"], topology_key="rack", parent=parent))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Those of the machine."""
        return self.machine.parameters

    def copy(self) -> Subject:
        """One that can be led elsewhere."""
        return copy.deepcopy(self, {id(each): each for each in (self.machine, self.scheduler.options)})

    def events(self) -> list[Call]:
        """What may happen now, as the spec's action that it begins with."""
        scheduler = self.scheduler
        running = scheduler.running is not None
        found: list[Call] = []
        for child, most in zip(self.children, self.pods, strict=True):
            members = self._members(child)
            if len(members) < most and not self.done:
                found.append(("create_pod", (child,)))
            for rack in sorted({t.node for t in members.values() if t.phase is Phase.ASSUMED}):
                found.append(("bind", (child, rack)))
                if self.failures < self.parameters["failures"] and not running:
                    found.append(("bind_fails", (child, rack)))
        found += [("others_leave", (r,)) for r in self.racks if f"other-{r}" in scheduler.registry.pods]
        place = scheduler.queue.place(ROOT)
        if place is Place.BACKOFF:
            found.append(("backoff_expires", ()))
        if running:
            found.append(("decide", ()))
        elif place is Place.ACTIVE:
            found.append(("pop_root", ()))
        if not self.done and not running and self._runs():
            found.append(("finish", ()))
        return found

    def _runs(self) -> bool:
        phases = [Counter(t.phase for t in self._members(child).values()) for child in self.children]
        running = [each[Phase.BOUND] >= self.parameters["min_count"] for each in phases]
        for size, least in zip(reversed(self.levels.sizes), reversed(self.levels.least), strict=False):
            width = len(running) // size
            running = [sum(running[i * width : (i + 1) * width]) >= least for i in range(size)]
        return sum(running) >= self.levels.min_groups and not any(each[Phase.ASSUMED] for each in phases)

    def apply(self, event: Call) -> list[Call]:
        """Does one of ``events`` to the scheduler; the actions of the spec that it is."""
        name, arguments = event
        scheduler = self.scheduler
        match name:
            case "create_pod":
                self.created += 1
                pod = Pod(f"{arguments[0]}-{self.created}", PodSpec(Resources(vcore=UNIT)), arguments[0])
                record = scheduler.create_pod(pod)
                return [event, *(("reach_quorum", ()) for _ in record.activated)]
            case "bind" | "bind_fails":
                assumed = [
                    pod
                    for pod, t in self._members(arguments[0]).items()
                    if t.phase is Phase.ASSUMED and t.node == arguments[1]
                ]
                self.failures += name == "bind_fails"
                (scheduler.bind_succeeded if name == "bind" else scheduler.bind_failed)(min(assumed))
            case "others_leave":
                scheduler.delete_pod(f"other-{arguments[0]}")
            case "backoff_expires":
                scheduler.backoff_expires(ROOT)
            case "pop_root":
                scheduler.pop()
            case "finish":
                self.done = True
                members = [item for child in self.children for item in self._members(child).items()]
                for pod_name, _ in sorted(members, key=lambda item: (item[1].phase is not Phase.PENDING, item[0])):
                    scheduler.delete_pod(pod_name)
            case "decide":
                return _told(scheduler.decide())
        return [event]

    def _members(self, child: str) -> Mapping[str, code.TrackedPod]:
        return self.scheduler.registry.members.get(child, {})

    def observed(self) -> dict[str, Value]:
        """What the scheduler and its world show between two events, by the spec's cells."""
        scheduler, seen = self.scheduler, dict[str, Value]()
        running = scheduler.running
        queued = {leaf.name: len(leaf.pods) for leaf in running.tree.leaves()} if running else {}
        for child in self.children:
            placed = Counter((t.phase, t.node) for t in self._members(child).values())
            seen[f"seen[{child}]"] = len(self._members(child))
            seen[f"queued[{child}]"] = queued.get(child, 0)
            seen[f"judged[{child}]"] = False
            for rack in self.racks:
                seen[f"proposed[{child}, {rack}]"] = 0
                seen[f"assumed[{child}, {rack}]"] = placed[Phase.ASSUMED, rack]
                seen[f"bound[{child}, {rack}]"] = placed[Phase.BOUND, rack]
        for rack in self.racks:
            other = scheduler.cache.pods.get(f"other-{rack}")
            seen[f"busy[{rack}]"] = other.spec.request["vcore"] // UNIT if other else 0
            used = scheduler.snapshot.by_name[rack].requested.get("vcore", 0) // UNIT if running else 0
            seen[f"snapshot[{rack}]"] = used
        for block in self.blocks:
            seen[f"outcome[{block}]"] = Tried.UNTRIED.name
        seen["queue"] = _PLACES[scheduler.queue.place(ROOT)].name
        seen["event_seen"] = running.event_seen if running else False
        return {**seen, "failures": self.failures, "done": self.done}


def _named(composite: tuple[int, int]) -> str:
    level, place = composite
    return f"composite{level + 1}-{place + 1}"


def _told(record: Record) -> list[Call]:
    """A cycle, as actions of the spec."""
    calls: list[Call] = []
    best = ""
    for tried in record.tried:
        if tried.group == ROOT and tried.is_choice:
            best = tried.domain
        elif tried.group == ROOT and tried.code is None:
            calls.append(("try_block", (tried.domain,)))
        elif tried.group == ROOT:
            calls.append(("accept_block" if tried.code is code.Code.SUCCESS else "revert_block", (tried.domain,)))
        elif tried.is_choice:
            placed = ("place_child", (tried.group, tried.domain)) if tried.domain else ("fail_child", (tried.group,))
            calls.append(placed)
    if record.outcome is Outcome.SCHEDULED:
        return [*calls, ("decide_success", (best,))]
    return [*calls, ("decide_unschedulable", ())]


class Follower(SpecWalk):
    """The spec, walking along with a subject."""

    def follow(self, subject: Subject, event: Call, calls: list[Call]) -> list[Call]:
        """Takes the steps ``calls`` that ``event`` was. Divergence if one is not enabled, or the two show other states
        afterwards."""
        taken: list[Call] = []
        for call in calls:
            due = self._rollbacks()
            self.take(event, [*due, call])
            taken += [*due, call]
        self.compare(event, subject.observed())
        return taken

    def _rollbacks(self) -> list[Call]:
        """A composite that has just failed, in its block: the highest, with all that is below it."""
        due = [call for call in self.walked.instances if call[0] == "revert_group" and self.is_enabled(call)]
        return due[:1]
