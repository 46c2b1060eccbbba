"""Scenarios of YuniKorn's core and shim as data: events as steps, and what is expected after them.

A step is ``{"op": ..., ...}``. What upstream's tests set up and call: ``queue``, ``set`` (a queue anew), ``node``,
``drain_node``, ``predicate_fail`` (a node takes no real pod), ``app``, ``ask``, ``existing`` (a pod that runs already),
``ralloc``, ``phalloc``, ``alloc`` (the three parts of a cycle), ``cycle`` (all of it), ``confirm`` (the shim releases),
``remove_ask``, ``preempt``, ``remove_node``, ``remove_app``, ``ph_timer`` and ``completing_timer`` (they fire now),
``clock`` (to a time in milliseconds). ``expect`` compares the state; other steps may say what comes of them
(``want``, ``accepted``, ``released``, ``confirmed``, ``sizes``). What speaks of an application, a node or a key that
the core does not know is ignored there: the step says so by ``"ignored": true``, or what it releases (nothing).
Sequence numbers of upstream's creation times are ``created``, in milliseconds. Steps of the shim are in
``scenario_shim.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reference.cluster import GangStyle, Node, Resources, SortPolicy
from reference.errors import InputError
from reference.manifests.document import Field, value_field
from reference.manifests.queue_parts import only_keys
from reference.schedulers.yunikorn.current import (
    AddApplication,
    Allocation,
    AllocationRelease,
    AllocationResponse,
    Limit,
    Partition,
    PartitionOptions,
    QueueConfig,
    Result,
    TerminationType,
)
from reference.schedulers.yunikorn.current import cycle as core_cycle
from reference.schedulers.yunikorn.current.invariants import broken_invariants
from reference.schedulers.yunikorn.scenario_expect import Found, expectations, plain, resources
from reference.schedulers.yunikorn.scenario_shim import ShimSteps

CURRENT: Final = "current"
USER: Final = "testuser"
GROUP: Final = "testgroup"
_MOST: Final = 2**62


def run(scenario: Mapping[str, object]) -> tuple[str, ...]:
    """Differences between what the scenario expects and what the reference does, one line each.

    Raises InputError, with the path of the field below the scenario, for one that cannot be read.
    """
    root = value_field(scenario)
    edition = root.optional("edition", Field.string, CURRENT)
    if edition != CURRENT:
        raise root.need("edition", CURRENT).error(f"'{CURRENT}': the seed design has no scenarios")
    repaired = root.optional("repaired", Field.boolean, False)
    player = _Player(repaired)
    differences: list[str] = []
    for step in root.need("steps", "a list of steps").elements():
        op = step.need("op", "what happens").string()
        for what, expected, found in player.play(op, step):
            if expected != found:
                name = f"{step.where} ({op})" + (f": {what}" if what else "")
                differences.append(f"{name}: expected {plain(expected)}, found {plain(found)}")
        differences += [f"{step.where} ({op}): the books do not add up: {line}" for line in player.broken()]
    return tuple(differences)


class _Player:
    """A partition that steps are played on. It is made with the first step that needs it."""

    def __init__(self, repaired: bool) -> None:
        self.repaired = repaired
        self.configs: dict[str, QueueConfig] = {}
        self.made: Partition | None = None
        self.root_from_nodes = False
        self.closed_to_reals: set[str] = set()
        self.app_of: dict[str, str] = {}
        self.shim_steps = ShimSteps(lambda: self.partition, self.restarted)
        self.ops: dict[str, Callable[[Field], Found]] = {
            "queue": self.queue,
            "set": self.set,
            "node": self.node,
            "drain_node": self.drain_node,
            "predicate_fail": self.predicate_fail,
            "app": self.app,
            "ask": self.ask,
            "existing": self.existing,
            "ralloc": lambda step: self.result(step, core_cycle.try_reserved(self.partition)),
            "phalloc": lambda step: self.result(step, core_cycle.try_placeholder(self.partition)),
            "alloc": lambda step: self.result(step, core_cycle.try_normal(self.partition)),
            "cycle": lambda step: self.result(step, self.partition.schedule()),
            "confirm": self.confirm,
            "remove_ask": self.remove_ask,
            "preempt": self.preempt,
            "remove_node": self.remove_node,
            "remove_app": self.remove_app,
            "ph_timer": self.ph_timer,
            "completing_timer": self.completing_timer,
            "clock": self.clock,
            "expect": self.expect,
            **self.shim_steps.ops,
        }

    def play(self, op: str, step: Field) -> Found:
        if op not in self.ops:
            raise step.need("op", "what happens").error(f"one of {', '.join(self.ops)}")
        return self.ops[op](step)

    def broken(self) -> list[str]:
        return [] if self.made is None else broken_invariants(self.made)

    @property
    def partition(self) -> Partition:
        if self.made is None:
            if not self.configs:
                raise InputError("no queue", "steps 'queue' first, the first of them for root", where="steps[0].op")
            options = PartitionOptions(root_maximum_from_nodes=self.root_from_nodes, repaired=self.repaired)
            self.made = Partition(self.configs.values(), options)
            self.made.predicates = lambda request, node: request.placeholder or node not in self.closed_to_reals
        return self.made

    # --- queues and nodes ---

    def queue(self, step: Field) -> Found:
        only_keys(step, "op", "name", "max", "guaranteed", "maxapps", "sort", "limits", "max_from_nodes")
        name = step.need("name", "the full name of a queue").name()
        if self.made is not None:
            raise step.error("queues before everything else", "a queue after other steps")
        above = name.rpartition(".")[0]
        if name in self.configs or (above not in self.configs if self.configs else name != "root"):
            raise step.need("name", "a name").error("root first, then queues whose parents are there, each once")
        self.root_from_nodes |= step.optional("max_from_nodes", Field.boolean, False)
        self.configs[name] = QueueConfig(
            name,
            step.optional("max", resources, None),
            step.optional("guaranteed", resources, Resources()),
            step.optional("sort", lambda f: f.choice(SortPolicy), SortPolicy.FIFO),
            max_applications=step.optional("maxapps", _count, 0),
            limits=tuple(_limit(each) for each in step.list_of("limits")),
        )
        return []

    def set(self, step: Field) -> Found:
        only_keys(step, "op", "name", "max", "maxapps", "sort", "limits")
        name = step.need("name", "the full name of a queue")
        if name.string() not in self.partition.queues:
            raise name.error(f"one of {', '.join(self.partition.queues)}")
        if step.get("max"):
            self.partition.set_config(name.string(), maximum=step.optional("max", resources, None))
        if step.get("maxapps"):
            self.partition.set_config(name.string(), max_applications=step.optional("maxapps", _count, 0))
        if step.get("sort"):
            sort = step.optional("sort", lambda f: f.choice(SortPolicy), SortPolicy.FIFO)
            self.partition.set_config(name.string(), sort_policy=sort)
        if step.get("limits"):
            self.partition.set_config(name.string(), limits=tuple(_limit(each) for each in step.list_of("limits")))
        return []

    def node(self, step: Field) -> Found:
        only_keys(step, "op", "id", "res", "accepted")
        name = step.need("id", "the name of a node").name()
        taken = self.partition.add_node(Node(name, resources(step.need("res", "amounts"))))
        return [("accepted", step.optional("accepted", Field.boolean, True), taken)]

    def drain_node(self, step: Field) -> Found:
        only_keys(step, "op", "id", "schedulable")
        schedulable = step.optional("schedulable", Field.boolean, False)
        return [("known", True, self.partition.drain_node(_name(step, "id"), schedulable))]

    def predicate_fail(self, step: Field) -> Found:
        only_keys(step, "op", "node")
        name = _name(step, "node")
        if name not in self.partition.on_node:
            raise step.need("node", "a node").error(f"one of {', '.join(self.partition.on_node)}")
        self.closed_to_reals.add(name)
        self.partition.epoch += 1
        return []

    # --- what the shim says ---

    def app(self, step: Field) -> Found:
        only_keys(
            step, "op", "id", "queue", "accepted", "placeholderAsk", "style", "timeout", "created", "user", "groups"
        )
        taken = self.partition.add_application(
            AddApplication(
                _name(step, "id"),
                _name(step, "queue"),
                step.optional("placeholderAsk", resources, Resources()),
                step.optional("style", lambda f: f.choice(GangStyle), GangStyle.SOFT),
                step.optional("timeout", _count, 0),
                step.optional("user", Field.string, USER),
                tuple(f.string() for f in step.list_of("groups")) if step.get("groups") else (GROUP,),
                step.optional("created", _count, None),
            )
        )
        return [("accepted", step.optional("accepted", Field.boolean, True), taken)]

    def ask(self, step: Field) -> Found:
        only_keys(step, "op", "app", "key", "tg", "ph", "res", "prio", "created", "required", "originator", "accepted")
        return self.update(step, "")

    def existing(self, step: Field) -> Found:
        only_keys(step, "op", "app", "key", "tg", "ph", "res", "prio", "created", "node", "originator", "accepted")
        return self.update(step, _name(step, "node"))

    def update(self, step: Field, node: str) -> Found:
        app, key = _name(step, "app"), _name(step, "key")
        self.app_of.setdefault(key, app)
        taken = self.partition.update_allocation(
            Allocation(
                key,
                app,
                resources(step.need("res", "amounts")),
                node,
                step.optional("tg", Field.string, ""),
                step.optional("ph", Field.boolean, False),
                step.optional("prio", lambda f: f.integer(-(2**31), 2**31 - 1), 0),
                step.optional("created", _count, None),
                step.optional("required", Field.name, ""),
                step.optional("originator", Field.boolean, False),
            )
        )
        return [("accepted", step.optional("accepted", Field.boolean, True), taken)]

    def confirm(self, step: Field) -> Found:
        only_keys(step, "op", "app", "key", "type", "released", "confirmed", "ignored")
        key = step.optional("key", Field.string, "")
        app = step.optional("app", Field.name, self.app_of.get(key, ""))
        type_ = step.need("type", "why it goes").choice(TerminationType)
        found = self.ignored(step, not self.has(app, key, with_asks=type_ is not TerminationType.TIMEOUT))
        removed = self.partition.release(AllocationRelease(app, key, type_))
        if "released" in step.mapping():
            found.append(("released", step.need("released", "how many").integer(0, _MOST), len(removed.released)))
        if "confirmed" in step.mapping():
            told = [request.key for request in removed.confirmed]
            found.append(("confirmed", step.optional("confirmed", Field.name, None), told[0] if told else None))
        return found

    def remove_ask(self, step: Field) -> Found:
        only_keys(step, "op", "app", "key", "ignored")
        app, key = _name(step, "app"), _name(step, "key")
        there = self.partition.applications.get(app)
        found = self.ignored(step, there is None or key not in there.requests)
        self.partition.remove_ask(app, key)
        return found

    def has(self, app: str, key: str, *, with_asks: bool) -> bool:
        """Whether the core knows the application, and of it the allocation of that key, if one is named."""
        there = self.partition.applications.get(app)
        if there is None:
            return False
        return not key or key in there.allocations or (with_asks and key in there.requests)

    @staticmethod
    def ignored(step: Field, found: bool) -> Found:
        """Whether the core ignores a step, against what the step says of it: that it does not, where it says nothing of
        what comes of it either."""
        if "ignored" not in step.mapping() and {"released", "confirmed"} & step.mapping().keys():
            return []
        return [("ignored, as unknown", step.optional("ignored", Field.boolean, False), found)]

    def preempt(self, step: Field) -> Found:
        only_keys(step, "op", "app", "key", "marked")
        key = _name(step, "key")
        marked = self.partition.preempt(step.optional("app", Field.name, self.app_of.get(key, "")), key)
        return [("marked", step.optional("marked", Field.boolean, True), marked)]

    def remove_node(self, step: Field) -> Found:
        only_keys(step, "op", "id", "released", "confirmed", "ignored")
        name = _name(step, "id")
        found = self.ignored(step, name not in self.partition.nodes.index)
        removed = self.partition.remove_node(name)
        return found + [
            (name, [f.name() for f in step.list_of(name)], [r.key for r in requests])
            for name, requests in (("released", removed.released), ("confirmed", removed.confirmed))
            if step.get(name) is not None
        ]

    def remove_app(self, step: Field) -> Found:
        only_keys(step, "op", "id", "ignored")
        name = _name(step, "id")
        found = self.ignored(step, name not in self.partition.applications)
        self.partition.remove_application(name)
        return found

    # --- cycles and time ---

    def result(self, step: Field, found: Result | None) -> Found:
        """What a cycle gave, against ``want`` (a key, or null for nothing) and ``node``."""
        only_keys(step, "op", "want", "node", "sizes")
        self.partition.settle()
        compared: Found = []
        if "want" in step.mapping():
            compared.append(
                ("want", step.optional("want", Field.name, None), found.request.key if found is not None else None)
            )
        if step.get("node") is not None:
            compared.append(("node", _name(step, "node"), found.node if found is not None else None))
        return [*compared, *self.sizes(step)]

    def ph_timer(self, step: Field) -> Found:
        only_keys(step, "op", "app", "sizes")
        self.partition.drain_outbox()
        fired = self.partition.fire_placeholder_timer(_name(step, "app"))
        return [("a placeholder timer runs", True, fired), *self.sizes(step)]

    def completing_timer(self, step: Field) -> Found:
        only_keys(step, "op", "app", "sizes")
        self.partition.drain_outbox()
        fired = self.partition.fire_state_timer(_name(step, "app"))
        return [("a timer of the state runs", True, fired), *self.sizes(step)]

    def clock(self, step: Field) -> Found:
        only_keys(step, "op", "to", "sizes")
        self.partition.drain_outbox()
        self.partition.advance(step.need("to", "milliseconds").integer(0, _MOST))
        return self.sizes(step)

    def sizes(self, step: Field) -> Found:
        """How many releases each message asks for that the core has sent in this step."""
        told = [len(m.released) for m in self.partition.drain_outbox() if isinstance(m, AllocationResponse)]
        if step.get("sizes") is None:
            return []
        expected = [f.integer(0, _MOST) for f in step.list_of("sizes")]
        return [("sizes", expected, [size for size in told if size])]

    def expect(self, step: Field) -> Found:
        return expectations(self.partition, step, USER, self.shim_steps.readers)

    def restarted(self, partition: Partition) -> None:
        self.made = partition


def _name(step: Field, key: str) -> str:
    return step.need(key, "a name").name()


def _count(field: Field) -> int:
    return field.integer(0, _MOST)


def _limit(field: Field) -> Limit:
    only_keys(field, "users", "groups", "max", "maxapps")
    return Limit(
        tuple(f.name() for f in field.list_of("users")),
        tuple(f.name() for f in field.list_of("groups")),
        field.optional("max", resources, Resources()),
        field.optional("maxapps", _count, 0),
    )
