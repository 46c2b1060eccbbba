"""The core of today's YuniKorn, the reference and its spec side by side.

`Follower` walks the spec along with a partition. What the core decides, the partition decides: its cycle's result must
be an enabled action of the spec (``cycle``). What shim, pods and timers do is a step of the spec, chosen by whoever
drives, and told to the partition (``happen``). Afterwards both must show the same of the core: states, asks,
placeholders and where they are, marks and links, counters, timers, and what nodes, queues and the user use.

The core handles a removal in one event, the spec in up to four steps; the follower takes them together. Which of the
placeholders that are alike the partition takes is its own business: they are told apart by name, as the spec's members
are. Where the books of the code itself go wrong the reference does not follow (``is_followed``). Left out: removal of
nodes, of which the spec takes the allocations in any order and the reference in one; restarts, messages of single asks,
several task groups, a second resource, and the autoscaler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from model.language import Machine
from model.trace import NamedState, Value
from reference.cluster import GangStyle, Node, Resources
from reference.schedulers.yunikorn.current import (
    AddApplication,
    Allocation,
    AllocationRelease,
    AllocationResponse,
    Application,
    ApplicationState,
    Limit,
    Partition,
    PartitionOptions,
    QueueConfig,
    Request,
    Result,
    ResultType,
    TerminationType,
)
from specs.walking import Call, SpecWalk
from specs.yunikorn.current import state as spec
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.parameters import Queues

UNIT = "vcore"
"""What a unit of the spec is of, for the reference."""

CYCLE = (
    "allocate_placeholder",
    "replace_on_same_node",
    "replace_on_other_node",
    "cancel_smaller_placeholder",
    "allocate_real",
)
"""Actions that the core decides on: ``cycle`` takes them."""
REMOVAL = ("node_step", "queue_step", "ask_step")
"""The rest of a removal, after its first step."""

_REASONS = {
    spec.Reason.REPLACED.name: TerminationType.PLACEHOLDER_REPLACED,
    spec.Reason.TIMEOUT.name: TerminationType.TIMEOUT,
    spec.Reason.PREEMPTED.name: TerminationType.PREEMPTED_BY_SCHEDULER,
    spec.Reason.STOPPED.name: TerminationType.STOPPED_BY_RM,
}
_MARKS = {reason: name for name, reason in _REASONS.items()}


def partition_for(machine: Machine) -> Partition:
    """The partition that the parameters of a machine describe, with the machine's own names."""
    p: Mapping[str, Any] = machine.parameters
    limits = (Limit(users=("user",), resources=Resources({UNIT: p["user_limit"]})),) if p["user_limit"] else ()
    leaf = Resources({UNIT: p["leaf_quota"]}) if p["leaf_quota"] else None
    configs = [
        QueueConfig("root"),
        QueueConfig("root.batch", Resources({UNIT: p["quota"]}), max_applications=p["max_apps"], limits=limits),
        *(QueueConfig(f"root.batch.{q}", leaf, limits=limits) for q in machine.sorts[spec.Queue].names),
    ]
    partition = Partition(configs, PartitionOptions(repaired=p["repaired"]))
    for node in machine.sorts[spec.Node].names:
        partition.add_node(Node(node, Resources({UNIT: p["capacity"]})))
    return partition


class Follower(SpecWalk):
    """The spec, walking along with a partition. Divergence at the first difference."""

    code = "core"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.partition = partition_for(machine)
        self.applications: dict[str, Application] = {}
        self._marks: dict[tuple[str, str], str] = {}
        self._reals = 0

    def options(self) -> Iterator[Call]:
        """Enabled steps of the spec that are not the core's to decide, and that the reference follows."""
        for call in self.walked.instances:
            if call[0] not in (*CYCLE, *REMOVAL) and self.is_enabled(call) and self.is_followed(call):
                yield call

    def is_followed(self, call: Call) -> bool:
        """Whether the books of the code stay right in this step.

        A placeholder that goes, for another reason than its replacement, takes the real pod with it that is parked
        behind it; and an application completes while one is parked. Both are findings, and not the reference's.
        """
        if self.machine.parameters["repaired"] or not call[0].startswith("confirm"):
            return True
        app = self.applications.get(call[1][0])
        parked = bool(app.parked()) if app is not None else False
        return not parked or (
            call[0] in ("confirm_on_same_node", "confirm_on_other_node")
            and app is not None
            and app.state is not ApplicationState.COMPLETING
        )

    def happen(self, call: Call) -> None:
        """A step of shim, pods or timers happens to both."""
        before = self.shown()
        self.fire(call)
        while (
            rest := next((c for c in self.walked.instances if c[0] in REMOVAL and self.is_enabled(c)), None)
        ) is not None:
            self.fire(rest)
        self._tell(call, before)
        self._listen()
        self.compare(_text(call), self.observed())

    def cycle(self) -> bool:
        """The core schedules once; False where it finds nothing to do."""
        placed = {id(r): r for app in self.applications.values() for r in app.allocations.values()}
        result = self.partition.schedule()
        cancelled = self._listen()
        for app, member in cancelled:
            self.fire(("cancel_smaller_placeholder", (app, member)))
        if result is not None:
            self.fire(_call_of(result))
        self.compare(f"cycle: {result}, {len(placed)} allocations before", self.observed())
        return result is not None or bool(cancelled)

    # --- what an action of the spec is for the partition ---

    def _tell(self, call: Call, before: NamedState) -> None:
        name, (a, *rest) = call
        core = self.partition
        match name:
            case "accept_application" | "reject_application":
                core.add_application(self._application(a))
                if a in core.applications:
                    self.applications[a] = core.applications[a]
            case "ask_for_placeholders":
                size = Resources({UNIT: self.machine.parameters["placeholder"]})
                for member in self._members():
                    if before[f"task[{a}, {member}]"] == spec.Task.PENDING.name:
                        core.update_allocation(Allocation(f"{a}/{member}", a, size, "", "members", True))
            case "ask_for_real_pod":
                self._reals += 1
                size = Resources({UNIT: self.machine.parameters["real"]})
                core.update_allocation(Allocation(f"{a}/real{self._reals}", a, size, "", "members"))
            case "finish_pod":
                reals = (r for r in self.applications[a].allocations.values() if not r.placeholder)
                pod = next(r for r in reals if r.node == rest[0])
                core.release(AllocationRelease(a, pod.key, TerminationType.STOPPED_BY_RM))
            case "placeholder_timeout":
                core.fire_placeholder_timer(a)
            case "completing_timeout":
                core.fire_state_timer(a)
            case "preempt_placeholder":
                core.preempt(a, f"{a}/{rest[0]}")
            case "remove_application":
                core.remove_application(a)
            case _ if (name.startswith("confirm_") and name != "confirm_again") or name == "ignore_confirmation":
                why = _REASONS[str(before[f"confirm[{a}, {rest[0]}]"])]
                core.release(AllocationRelease(a, f"{a}/{rest[0]}", why))

    def _application(self, name: str) -> AddApplication:
        p: Mapping[str, Any] = self.machine.parameters
        apps, queues = self.machine.sorts[spec.App].names, self.machine.sorts[spec.Queue].names
        leaf = queues[apps.index(name) % len(queues)] if Queues(p["queues"]) is Queues.TWO_LEAVES else queues[0]
        style = GangStyle.HARD if Style(p["style"]) is Style.HARD else GangStyle.SOFT
        ask = Resources({UNIT: p["size"] * p["placeholder"]})
        return AddApplication(name, f"root.batch.{leaf}", ask, style, 60_000, "user")

    def _listen(self) -> list[tuple[str, str]]:
        """Takes what the core has told; the placeholders that it gives up because they are too small."""
        cancelled: list[tuple[str, str]] = []
        for message in self.partition.drain_outbox():
            for release in message.released if isinstance(message, AllocationResponse) else ():
                a, _, member = release.key.partition("/")
                if member in self._members() and release.type in _MARKS:
                    self._marks[a, member] = _MARKS[release.type]
                    if release.message.startswith("cancel placeholder"):
                        cancelled.append((a, member))
        return cancelled

    def _members(self) -> tuple[str, ...]:
        return self.machine.sorts[spec.Member].names

    # --- comparing ---

    def observed(self) -> dict[str, Value]:
        """What the partition shows of the core, by the spec's cells."""
        seen: dict[str, Value] = {}
        core = self.partition
        for a, app in self.applications.items():
            removed = bool(self.shown()[f"removed[{a}]"])
            # a removed application is in no state any more; an expired one is what it was, days later
            if not removed and self.shown()[f"core[{a}]"] != spec.Core.EXPIRED.name:
                seen[f"core[{a}]"] = app.state.value.upper()
                seen[f"completing_timer[{a}]"] = (
                    app.state is ApplicationState.COMPLETING and app.state_timer is not None
                )
            seen[f"placeholder_timer[{a}]"] = (spec.Timer.OFF if app.placeholder_timer is None else spec.Timer.ON).name
            seen[f"real_asks[{a}]"] = sum(not r.placeholder for r in app.waiting)
            data = app.data_of("members")
            seen |= {f"count[{a}]": data.count, f"replaced[{a}]": data.replaced, f"timed_out[{a}]": data.timed_out}
            for node in core.nodes.index:
                reals = [r for r in app.allocations.values() if not r.placeholder]
                seen[f"reals[{a}, {node}]"] = sum(r.node == node for r in reals)
            for member in self._members():
                seen |= self._member(a, app, member)
        for node in core.nodes.index:
            seen[f"node_used[{node}]"] = core.used_on(node).amount(UNIT)
        for queue in self.machine.sorts[spec.Queue].names:
            seen[f"leaf_used[{queue}]"] = core.queues[f"root.batch.{queue}"].allocated.amount(UNIT)
        seen["parent_used"] = core.queues["root.batch"].allocated.amount(UNIT)
        user = core.users.users.get("user")
        seen["user_used"] = user.usage["root"].amount(UNIT) if user is not None and user.usage else 0
        seen["running_apps"] = core.queues["root.batch"].running
        return seen

    def _member(self, a: str, app: Application, member: str) -> dict[str, Value]:
        key = f"{a}/{member}"
        here: Request | None = app.allocations.get(key)
        pending = any(r.key == key for r in app.waiting)
        there = here is not None or pending
        asked = self.shown()[f"placeholder[{a}, {member}]"] != spec.Placeholder.NONE.name
        status = spec.Placeholder.ALLOCATED if here else spec.Placeholder.PENDING if pending else spec.Placeholder.GONE
        seen: dict[str, Value] = {
            f"placeholder[{a}, {member}]": (status if there or asked else spec.Placeholder.NONE).name
        }
        marked = here is not None and (here.released or here.preempted)
        seen[f"mark[{a}, {member}]"] = self._marks[a, member] if marked else spec.Reason.NONE.name
        for node in self.partition.nodes.index:
            seen[f"placed[{a}, {member}, {node}]"] = here is not None and here.node == node
            link = here.link if here is not None else None
            seen[f"linked[{a}, {member}, {node}]"] = link is not None and link.node == node
        return seen


def _call_of(result: Result) -> Call:
    """The action that a cycle's result is."""
    request = result.request
    a, _, member = request.key.partition("/")
    if result.type is ResultType.REPLACED and request.link is not None:
        _, _, member = request.link.key.partition("/")
        if request.link.node == result.node:
            return ("replace_on_same_node", (a, member, result.node))
        return ("replace_on_other_node", (a, member, request.link.node, result.node))
    if request.placeholder:
        return ("allocate_placeholder", (a, member, result.node))
    return ("allocate_real", (a, result.node))


def _text(call: Call) -> str:
    return f"{call[0]}({', '.join(call[1])})"
