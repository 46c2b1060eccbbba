"""The Kubernetes reference and its spec, side by side: which actions an event is, and what both show of a state.

``Subject`` is a scheduler in the cluster that a machine's parameters describe, and the world around it: owners who
create pods, bindings that succeed or fail, pods that leave. Pods are alike and take one unit of CPU, and of memory what
their group needs where nodes have a second resource; groups leave as a whole when they are preempted (disruption mode
All). Each event is done to the scheduler and told as actions of the spec; a ``Follower`` takes them, and compares. Only
this module of the spec knows ``reference``.

A cycle of the scheduler is two events, ``pop`` and ``decide``; the second is one action of the spec for each pod, and
those of PodGroupPostFilter. Of a preemption that is tried in vain the scheduler tells nothing, so any nodes are taken
for it: pods are alike, and nothing of it is kept. PreEnqueue is no event of its own: whoever may enter does so at once.

What is left out: ``late`` and ``pod_by_pod``; in the seed's edition pods of another priority, which it judges by it; a
pod with another schedulerName that is alone in its group, and so with nothing to be compared with; three ranked groups,
where the reference takes out all that are less important at once, and the spec one.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from model.language import Machine
from model.semantics import Fault
from model.trace import Value
from reference.cluster import Node, Resources
from reference.schedulers import kubernetes as code
from reference.schedulers.kubernetes import Outcome, Phase, Place, Pod, PodGroup, PodSpec, Record, Scheduler
from specs.kubernetes.parameters import Cycle, Edition
from specs.kubernetes.state import Condition, Misfit, Queue
from specs.kubernetes.state import Node as SpecNode
from specs.kubernetes.state import PodGroup as SpecGroup
from specs.walking import Call, Divergence, SpecWalk

UNIT = 1000
"""Milli-cores in a unit of the spec."""

_PLACES = {
    Place.GATED: Queue.OUTSIDE,
    Place.ACTIVE: Queue.ACTIVE,
    Place.BACKOFF: Queue.BACKOFF,
    Place.UNSCHEDULABLE: Queue.UNSCHEDULABLE,
    Place.POPPED: Queue.POPPED,
}
_CONDITIONS = {
    code.Reason.SCHEDULED: Condition.SCHEDULED,
    code.Reason.UNSCHEDULABLE: Condition.UNSCHEDULABLE,
    code.Reason.SCHEDULER_ERROR: Condition.SCHEDULER_ERROR,
}
INTERNAL = frozenset(
    ("pre_enqueue", "place_pod", "fail_pod", "decide_success", "decide_unschedulable", "post_filter", "preempt")
)
"""Actions that the scheduler takes on its own, within an event."""


@dataclass
class Subject:
    """The code under test for one machine. ``odd``: the pod of a group that does not fit it; ``done``: groups that have
    run to their end; ``failures`` and ``misfits``: how many there were."""

    machine: Machine
    scheduler: Scheduler = field(init=False)
    groups: tuple[str, ...] = field(init=False)
    nodes: tuple[str, ...] = field(init=False)
    odd: dict[str, tuple[str, Misfit]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    failures: int = 0
    misfits: int = 0
    pods: int = 0

    def __post_init__(self) -> None:
        p = self.parameters
        if p["late"] or Cycle(p["cycle"]) is not Cycle.POD_GROUP:
            raise ValueError("the binding is for late=false and cycle=pod_group")
        self.groups = self.machine.sorts[SpecGroup].names
        self.nodes = self.machine.sorts[SpecNode].names
        self.edition = Edition(p["edition"])
        options = code.Options(edition=code.Edition(self.edition.value), backoff_initial=0, backoff_max=0)
        self.scheduler = Scheduler(options)
        for name in self.nodes:
            self.scheduler.add_node(Node(name, self._resources(p["capacity"], p["memory"])))

    def _resources(self, units: int, memory: int) -> Resources:
        """So much CPU, and memory where the spec has nodes with that."""
        return (
            Resources(vcore=units * UNIT, memory=memory) if self.parameters["memory"] else Resources(vcore=units * UNIT)
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Those of the machine."""
        return self.machine.parameters

    def copy(self) -> Subject:
        """One that can be led elsewhere."""
        return copy.deepcopy(self, {id(each): each for each in (self.machine, self.scheduler.options)})

    def key(self) -> tuple[Hashable, ...]:
        """What decides what comes next beside the state that the spec shows: the order of the queue, and for which of
        the pods, in the order in which they are judged, a node is kept."""
        entries, registry = self.scheduler.queue.entries.values(), self.scheduler.registry
        order = tuple(e.name for e in sorted(entries, key=lambda e: e.order()) if e.place is not Place.POPPED)
        pending = [(name, t) for g in self.groups for name, t in self._members(g).items() if t.phase is Phase.PENDING]
        kept = [registry.nominated.get(name) for name, _ in sorted(pending, key=lambda each: each[1].first_seen)]
        return order, tuple(kept)

    # ---- what may happen

    def events(self) -> list[Call]:
        """What may happen now, as the spec's action that it begins with; of pods that are alike, one."""
        p, scheduler = self.parameters, self.scheduler
        found: list[Call] = []
        for g in self.groups:
            seen = len(self._members(g))
            if g not in scheduler.registry.groups:
                found.append(("create_pod_group", (g,)))
            if seen < p["pods"] and g not in self.done:
                found.append(("create_pod", (g,)))
                if self.misfits < p["misfits"]:
                    found += [("create_misfit", (g, kind.name)) for kind in self._kinds(g)]
            if g in self.odd:
                found.append(("replace_misfit", (g,)))
            if scheduler.queue.place(g) is Place.BACKOFF:
                found.append(("backoff_expires", (g,)))
            found += self._bindings(g)
        return [*found, *self._endings(), *self._cycle_events()]

    def _kinds(self, g: str) -> list[Misfit]:
        """A pod of another priority than its group is odd by itself, one with another schedulerName next to others."""
        kinds = [Misfit.PRIORITY] if self.edition is Edition.CURRENT else []
        return [*kinds, Misfit.SCHEDULER_NAME] if self._others(g, Phase.PENDING) else kinds

    def _others(self, g: str, *phases: Phase) -> bool:
        """Whether there is a pod of ``g`` that fits it, in one of ``phases``."""
        odd = self.odd.get(g, ("", Misfit.NONE))[0]
        return any(pod != odd and t.phase in phases for pod, t in self._members(g).items())

    def is_alone(self, g: str) -> bool:
        """Whether the pod that does not fit its group is its only one that is pending."""
        return g in self.odd and not self._others(g, Phase.PENDING)

    def _bindings(self, g: str) -> list[Call]:
        here = {t.node for t in self._members(g).values() if t.phase is Phase.ASSUMED}
        fails = self.failures < self.parameters["failures"] and not self._cycles(g)
        return [(name, (g, n)) for n in sorted(here) for name in ("bind", "bind_fails") if name == "bind" or fails]

    def _endings(self) -> list[Call]:
        found: list[Call] = []
        for g in self.groups:
            phases = Counter(t.phase for t in self._members(g).values())
            if phases[Phase.ASSUMED] or self._cycles(g):
                continue
            if not self._disrupted(g):
                if phases[Phase.BOUND] >= self.parameters["min_count"]:
                    found.append(("finish", (g,)))
            elif self.is_alone(g):
                continue  # a pod that is left alone is not odd
            else:
                found.append(("victims_leave", (g,)))
        return found

    def _cycle_events(self) -> list[Call]:
        if self.scheduler.running is not None:
            return [("decide", ())]
        entries = self.scheduler.queue.entries.values()
        active = sorted((e for e in entries if e.place is Place.ACTIVE), key=lambda e: e.order())
        return [("reject_invalid" if e.name in self.odd else "pop", (e.name,)) for e in active[:1]]

    # ---- doing it

    def apply(self, event: Call) -> list[Call]:
        """Does one of ``events`` to the scheduler; the actions of the spec that it is."""
        name, arguments = event
        g = arguments[0] if arguments else ""
        scheduler = self.scheduler
        match name:
            case "create_pod_group":
                return self._told(event, scheduler.create_pod_group(self._group(g)))
            case "create_pod":
                return self._told(event, self._create(g))
            case "create_misfit":
                self.misfits += 1
                kind = Misfit[arguments[1]]
                record = self._create(g, kind)
                self.odd[g] = (record.name, kind)
                return self._told(event, record)
            case "replace_misfit":
                self._replace(g)
            case "backoff_expires":
                scheduler.backoff_expires(g)
            case "bind":
                scheduler.bind_succeeded(self._assumed(g, arguments[1]))
            case "bind_fails":
                self.failures += 1
                scheduler.bind_failed(self._assumed(g, arguments[1]))
            case "victims_leave":
                for pod in [pod for pod, t in self._members(g).items() if t.phase is Phase.BOUND]:
                    scheduler.delete_pod(pod)
            case "finish":
                self.done.add(g)
                for pod in sorted(self._members(g), key=lambda pod: self._members(g)[pod].phase is not Phase.PENDING):
                    scheduler.delete_pod(pod)
                if g in self.odd:  # it is gone with the others
                    del self.odd[g]
                    return [event, ("replace_misfit", (g,))]
            case "decide":
                return self._decide()
            case _:
                record_ = scheduler.pop()
                if record_ is None or record_.name != g:
                    raise Divergence(f"{g} is the first of activeQ, and {record_} was popped")
        return [event]

    def _told(self, event: Call, record: Record) -> list[Call]:
        return [event, *(("pre_enqueue", (root,)) for root in record.activated)]

    def _group(self, g: str) -> PodGroup:
        mode = code.DisruptionMode.ALL
        return PodGroup(g, self.parameters["min_count"], self._priority(g), disruption_mode=mode)

    def _priority(self, g: str) -> int:
        return self.groups.index(g) + 1 if self.parameters["ranked"] else 1

    def _create(self, g: str, kind: Misfit = Misfit.NONE) -> Record:
        self.pods += 1
        odd = {"scheduler_name": "other"} if kind is Misfit.SCHEDULER_NAME else {}
        priority = self._priority(g) + (kind is Misfit.PRIORITY)
        needs = self.parameters["needs"]
        memory = needs if isinstance(needs, int) else needs[self.groups.index(g)]
        spec = PodSpec(self._resources(1, memory), priority=priority, **odd)  # type: ignore[arg-type]
        return self.scheduler.create_pod(Pod(f"{g}-{self.pods}", spec, g))

    def _replace(self, g: str) -> None:
        """The order is such that the group neither passes PreEnqueue with a pod too many nor leaves the queue."""
        pod, _ = self.odd.pop(g)
        if self.scheduler.queue.place(g) is Place.GATED:
            self.scheduler.delete_pod(pod)
            self._create(g)
        else:
            self._create(g)
            self.scheduler.delete_pod(pod)

    def _decide(self) -> list[Call]:
        running = self.scheduler.running
        assert running is not None
        g = running.entry.name
        record = self.scheduler.decide()
        steps = [_judged(g, node) for _, node in record.steps]
        match record.outcome:
            case Outcome.SCHEDULED:
                return [*steps, ("decide_success", (g,))]
            case Outcome.PREEMPTING:
                (victim,) = {pod.rpartition("-")[0] for pod in record.evicted}
                again = [_judged(g, node) for _, node in record.nominated]
                again += [("fail_pod", (g,))] * (len(running.tree.pods) - len(record.nominated))
                return [*steps, ("post_filter", (g, victim)), *again, ("preempt", (g,))]
            case Outcome.UNSCHEDULABLE:
                return [*steps, ("decide_unschedulable", (g,))]
        raise Divergence(str(record))

    # ---- what there is

    def _members(self, g: str) -> Mapping[str, code.TrackedPod]:
        return self.scheduler.registry.members.get(g, {})

    def _assumed(self, g: str, node: str) -> str:
        return min(pod for pod, t in self._members(g).items() if t.phase is Phase.ASSUMED and t.node == node)

    def _cycles(self, g: str) -> bool:
        return self.scheduler.running is not None and self.scheduler.running.entry.name == g

    def _disrupted(self, g: str) -> bool:
        return any(pod in self.scheduler.registry.terminating for pod in self._members(g))

    def observed(self) -> dict[str, Value]:
        """What the scheduler and its world show between two events, by the spec's cells: all of them but ``judged``."""
        scheduler, seen = self.scheduler, dict[str, Value]()
        for g in self.groups:
            members = self._members(g)
            condition = scheduler.conditions.get(g)
            seen[f"object[{g}]"] = g in scheduler.registry.groups
            seen[f"seen[{g}]"] = len(members)
            seen[f"misfit[{g}]"] = (self.odd[g][1] if g in self.odd else Misfit.NONE).name
            seen[f"queue[{g}]"] = _PLACES[scheduler.queue.place(g)].name
            seen[f"condition[{g}]"] = (_CONDITIONS[condition.reason] if condition else Condition.NONE).name
            seen[f"done[{g}]"] = g in self.done
            seen[f"scheduled[{g}]"] = len(scheduler.cache.scheduled.get(g, {}))
            seen[f"disrupted[{g}]"] = self._disrupted(g)
            seen[f"candidate[{g}]"] = False
            nominated = Counter(node for pod, node in scheduler.registry.nominated.items() if pod in members)
            placed = Counter((t.phase, t.node) for t in members.values())
            for n in self.nodes:
                seen[f"assumed[{g}, {n}]"] = placed[Phase.ASSUMED, n]
                seen[f"bound[{g}, {n}]"] = placed[Phase.BOUND, n]
                seen[f"proposed[{g}, {n}]"] = 0
                seen[f"nominated[{g}, {n}]"] = nominated[n]
        seen["failures"], seen["misfits"] = self.failures, self.misfits
        return {**seen, **self._observed_cycle()}

    def _observed_cycle(self) -> dict[str, Value]:
        scheduler, running = self.scheduler, self.scheduler.running
        snapshot = scheduler.snapshot
        used = {n: snapshot.by_name[n].requested for n in self.nodes if running}
        memory = {
            f"memory_snapshot[{n}]": used.get(n, {}).get("memory", 0) for n in self.nodes if self.parameters["memory"]
        }
        pods = len(running.tree.pods) if running else 0
        return {
            **{f"snapshot[{n}]": used.get(n, {}).get("vcore", 0) // UNIT for n in self.nodes},
            **memory,
            "counted": len(snapshot.scheduled_of(running.entry.name)) if running else 0,
            "queued": pods,
            "todo": pods,
            "leaving": bool(running) and snapshot.leaving,
            "event_seen": bool(running) and running.event_seen if running else False,
        }


def _judged(g: str, node: str) -> Call:
    return ("place_pod", (g, node)) if node else ("fail_pod", (g,))


class Follower(SpecWalk):
    """The spec, walking along with a subject."""

    def follow(self, subject: Subject, event: Call, calls: list[Call]) -> list[Call]:
        """Takes the steps ``calls`` that ``event`` was; those that were taken. Divergence if one is not enabled, or the
        two show other states afterwards."""
        taken: list[Call] = []
        for call in calls:
            if call[0] == "decide_unschedulable":
                taken += self._in_vain(call[1][0])
            self.take(event, [call])
            taken.append(call)
        self.compare(event, subject.observed())
        return taken

    def _in_vain(self, g: str) -> list[Call]:
        """The preemption that the spec tries before it gives up, if it has to."""
        taken: list[Call] = []
        while not self.is_enabled(("decide_unschedulable", (g,))):
            first = ("post_filter", "place_pod", "fail_pod")
            choices = sorted(c for c in self.enabled() if c[0] in first and c[1][0] == g)
            if not choices or (choices[0][0] == "post_filter" and any(c[0] == "post_filter" for c in taken)):
                break
            after = self.walked.after(self.state, choices[0])
            assert after is not None
            assert not isinstance(after, Fault)
            self.state = after
            taken.append(choices[0])
        return taken
