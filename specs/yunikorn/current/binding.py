"""The core of today's YuniKorn, the reference and its spec side by side.

`Follower` walks the spec along with a partition. What the core decides, the partition decides: its cycle's result must
be an enabled action of the spec (``cycle``). What shim, pods and timers do is a step of the spec, chosen by whoever
drives, and told to the partition (``happen``). Afterwards both must show the same of the core: states, asks,
placeholders and where they are, marks and links, counters, timers, and what nodes, queues and the user use.

The core handles a removal in one event, the spec in up to four steps; the follower takes them together. Which of the
placeholders that are alike the partition takes is its own business: they are told apart by name, as the spec's members
are. Where the books of the code itself go wrong the reference does not follow (``is_followed``). Left out: restarts,
several task groups, a second resource, and the autoscaler; and what only ``replayer.py`` has, where the spec goes
first: removals of nodes, which the spec takes apart, and messages of single asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
from specs.walking import Call, Divergence, SpecWalk
from specs.yunikorn.current import state as spec
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.parameters import Queues

GROUP = "members"
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
_ENDS = (ApplicationState.COMPLETED, ApplicationState.FAILED, ApplicationState.REJECTED, ApplicationState.EXPIRED)
_MARKS = {reason: name for name, reason in _REASONS.items()}


@dataclass(frozen=True)
class Sizes:
    """What the parameters of a machine say of applications and pods, with the machine's own names."""

    members: tuple[str, ...]
    queues: tuple[str, ...]
    leaf: Mapping[str, str]
    placeholder: int
    real: int
    style: GangStyle
    async_asks: bool
    repaired: bool

    @classmethod
    def of(cls, machine: Machine) -> Sizes:
        """Those of ``machine``."""
        p: Mapping[str, Any] = machine.parameters
        queues = machine.sorts[spec.Queue].names
        turns = len(queues) if Queues(p["queues"]) is Queues.TWO_LEAVES else 1
        return cls(
            machine.sorts[spec.Member].names,
            queues,
            {a: queues[i % turns] for i, a in enumerate(machine.sorts[spec.App].names)},
            p["placeholder"],
            p["real"],
            GangStyle.HARD if Style(p["style"]) is Style.HARD else GangStyle.SOFT,
            p["async_asks"],
            p["repaired"],
        )


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


class Subject:
    """The code under test: a partition, and what has happened to it that it does not keep.

    ``applications`` are those that have come, also when they have left; ``marks`` the reasons for which the shim was
    asked to release placeholders; ``reals`` how many real pods have asked.
    """

    def __init__(self, machine: Machine) -> None:
        self.scope = Sizes.of(machine)
        self.partition = partition_for(machine)
        self.applications: dict[str, Application] = {}
        self.marks: dict[tuple[str, str], str] = {}
        self.reals = 0

    def is_followed(self, call: Call) -> bool:
        """Whether the books of the code stay right in this step.

        A placeholder that goes, for another reason than its replacement, takes the real pod with it that is parked
        behind it; and an application completes while one is parked. Both are findings, and not the reference's.
        """
        if self.scope.repaired or not call[0].startswith("confirm"):
            return True
        app = self.applications.get(call[1][0])
        parked = bool(app.parked()) if app is not None else False
        return not parked or (
            call[0] in ("confirm_on_same_node", "confirm_on_other_node")
            and app is not None
            and app.state is not ApplicationState.COMPLETING
        )

    # --- what an action of the spec is for the partition ---

    def tell(self, call: Call, before: NamedState) -> bool:
        """A step of shim, pods or timers happens to the partition; ``before`` is where the spec was. False: it is none
        that the core sees."""
        name, (a, *rest) = call[0], call[1] or ("",)
        core = self.partition
        match name:
            case "accept_application" | "reject_application":
                core.add_application(self._application(a))
                if a in core.applications:
                    self.applications[a] = core.applications[a]
            case "ask_for_placeholders" if not self.scope.async_asks:
                for member in self.scope.members:
                    if before[f"task[{a}, {member}]"] == spec.Task.PENDING.name:
                        self._ask_for_placeholder(a, member)
            case "take_ask":
                self._ask_for_placeholder(a, rest[0])
            case "ask_for_real_pod":
                self.reals += 1
                size = Resources({UNIT: self.scope.real})
                core.update_allocation(Allocation(f"{a}/real{self.reals}", a, size, "", GROUP))
            case "finish_pod":
                reals = (r for r in self.applications[a].allocations.values() if not r.placeholder)
                pod = next((r for r in reals if r.node == rest[0]), None)
                if pod is None:
                    raise Divergence(f"in the core no real pod of {a} is on {rest[0]}")
                core.release(AllocationRelease(a, pod.key, TerminationType.STOPPED_BY_RM))
            case "placeholder_timeout":
                _must(core.fire_placeholder_timer(a), f"no placeholder timer of {a} runs")
            case "completing_timeout":
                _must(core.fire_state_timer(a), f"no timer of {a} runs")
            case "preempt_placeholder":
                _must(core.preempt(a, f"{a}/{rest[0]}"), f"{rest[0]} of {a} is no victim")
            case "remove_application":
                core.remove_application(a)
            case "update_configuration":
                self._raise_limits()
            case _ if (name.startswith("confirm_") and name != "confirm_again") or name == "ignore_confirmation":
                why = _REASONS[str(before[f"confirm[{a}, {rest[0]}]"])]
                core.release(AllocationRelease(a, f"{a}/{rest[0]}", why))
            case _:
                return False
        return True

    def _ask_for_placeholder(self, a: str, member: str) -> None:
        size = Resources({UNIT: self.scope.placeholder})
        self.partition.update_allocation(Allocation(f"{a}/{member}", a, size, "", GROUP, True))

    def _raise_limits(self) -> None:
        """Every limit is one unit more."""
        for name, queue in self.partition.queues.items():
            limits = tuple(replace(x, resources=x.resources + Resources({UNIT: 1})) for x in queue.config.limits)
            self.partition.set_config(name, limits=limits)

    def _application(self, name: str) -> AddApplication:
        ask = Resources({UNIT: len(self.scope.members) * self.scope.placeholder})
        return AddApplication(name, f"root.batch.{self.scope.leaf[name]}", ask, self.scope.style, 60_000, "user")

    def listen(self) -> list[tuple[str, str]]:
        """Takes what the core has told; the placeholders that it gives up because they are too small."""
        cancelled: list[tuple[str, str]] = []
        for message in self.partition.drain_outbox():
            for release in message.released if isinstance(message, AllocationResponse) else ():
                a, _, member = release.key.partition("/")
                if member in self.scope.members and release.type in _MARKS:
                    self.marks[a, member] = _MARKS[release.type]
                    if release.message.startswith("cancel placeholder"):
                        cancelled.append((a, member))
        return cancelled

    # --- comparing ---

    def observed(self, shown: NamedState) -> dict[str, Value]:
        """What the partition shows of the core, by the spec's cells; the spec shows ``shown``."""
        seen: dict[str, Value] = {}
        core = self.partition
        for a, app in self.applications.items():
            # a removed application is in no state any more; an expired one is what had ended, days later
            if not shown[f"removed[{a}]"]:
                expired = shown[f"core[{a}]"] == spec.Core.EXPIRED.name and app.state in _ENDS
                seen[f"core[{a}]"] = spec.Core.EXPIRED.name if expired else app.state.value.upper()
                seen[f"completing_timer[{a}]"] = (
                    app.state is ApplicationState.COMPLETING and app.state_timer is not None
                )
            seen[f"placeholder_timer[{a}]"] = (spec.Timer.OFF if app.placeholder_timer is None else spec.Timer.ON).name
            seen[f"real_asks[{a}]"] = sum(not r.placeholder for r in app.waiting)
            data = app.data_of(GROUP)
            seen |= {f"count[{a}]": data.count, f"replaced[{a}]": data.replaced, f"timed_out[{a}]": data.timed_out}
            for node in core.nodes.index:
                reals = [r for r in app.allocations.values() if not r.placeholder]
                seen[f"reals[{a}, {node}]"] = sum(r.node == node for r in reals)
            for member in self.scope.members:
                asked = shown[f"placeholder[{a}, {member}]"] != spec.Placeholder.NONE.name
                seen |= self._member(a, app, member, asked)
        for node in core.nodes.index:
            seen[f"node_used[{node}]"] = core.used_on(node).amount(UNIT)
        for queue in self.scope.queues:
            seen[f"leaf_used[{queue}]"] = core.queues[f"root.batch.{queue}"].allocated.amount(UNIT)
        seen["parent_used"] = core.queues["root.batch"].allocated.amount(UNIT)
        user = core.users.users.get("user")
        seen["user_used"] = user.usage["root"].amount(UNIT) if user is not None and user.usage else 0
        seen["running_apps"] = core.queues["root.batch"].running
        return seen

    def _member(self, a: str, app: Application, member: str, asked: bool) -> dict[str, Value]:
        key = f"{a}/{member}"
        here: Request | None = app.allocations.get(key)
        pending = any(r.key == key for r in app.waiting)
        there = here is not None or pending
        status = spec.Placeholder.ALLOCATED if here else spec.Placeholder.PENDING if pending else spec.Placeholder.GONE
        seen: dict[str, Value] = {
            f"placeholder[{a}, {member}]": (status if there or asked else spec.Placeholder.NONE).name
        }
        marked = here is not None and (here.released or here.preempted)
        seen[f"mark[{a}, {member}]"] = self.marks[a, member] if marked else spec.Reason.NONE.name
        for node in self.partition.nodes.index:
            seen[f"placed[{a}, {member}, {node}]"] = here is not None and here.node == node
            link = here.link if here is not None else None
            seen[f"linked[{a}, {member}, {node}]"] = link is not None and link.node == node
        return seen


class Follower(SpecWalk):
    """The spec, walking along with a partition. Divergence at the first difference."""

    code = "core"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.subject = Subject(machine)

    @property
    def partition(self) -> Partition:
        """The partition that it walks along with."""
        return self.subject.partition

    def options(self) -> Iterator[Call]:
        """Enabled steps of the spec that are not the core's to decide, and that the reference follows."""
        for call in self.walked.instances:
            if call[0] not in (*CYCLE, *REMOVAL) and self.is_enabled(call) and self.subject.is_followed(call):
                yield call

    def happen(self, call: Call) -> None:
        """A step of shim, pods or timers happens to both."""
        before = self.shown()
        self.fire(call)
        while (
            rest := next((c for c in self.walked.instances if c[0] in REMOVAL and self.is_enabled(c)), None)
        ) is not None:
            self.fire(rest)
        self.subject.tell(call, before)
        self.subject.listen()
        self.compare(_text(call), self.subject.observed(self.shown()))

    def cycle(self) -> bool:
        """The core schedules once; False where it finds nothing to do."""
        result = self.partition.schedule()
        cancelled = self.subject.listen()
        for app, member in cancelled:
            self.fire(("cancel_smaller_placeholder", (app, member)))
        if result is not None:
            self.fire(call_of(result))
        self.compare(f"cycle: {result}", self.subject.observed(self.shown()))
        return result is not None or bool(cancelled)


def _must(done: bool, message: str) -> None:
    if not done:
        raise Divergence(f"in the core {message}")


def call_of(result: Result) -> Call:
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
