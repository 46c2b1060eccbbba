"""Runs one scenario: what Kubernetes' own tests say about PodGroups, as data. ::

    {"id": "K1", "upstream": "which test says so", "edition": "current",
     "cluster": {"nodes": [{"name": "n1", "allocatable": {"cpu": 4}}], "options": {"seed": 1}},
     "steps": [{"op": "create_pod_group", "name": "pg1", "minCount": 3, "priority": 100},
               {"op": "create_pods", "names": ["p1", "p2", "p3"], "podGroup": "pg1", "requests": {"cpu": 1},
                "priority": 100},
               {"op": "run"},
               {"op": "expect", "scheduled": ["p1", "p2", "p3"], "conditions": {"pg1": "Scheduled"}}]}

Operations: ``create_pod_group``, ``create_composite_pod_group``, ``update_pod_group``, ``delete_pod_group`` (name),
``create_pods`` (all alike), ``delete_pods`` (names), ``add_node``, ``update_node`` (node), ``remove_node`` (name),
``cycle`` (one), ``bind`` (names, fails), ``advance`` (seconds) and ``run``: cycles, each of which has its bindings
succeed and its victims leave, and the clock goes on by up to ``seconds`` (60) while groups are held back.

``expect`` compares what it names. ``scheduled``: exactly these pods have a node; ``nodes``: those of some pods;
``count``: how many of some groups have one; ``domains``: the one value of a label on the nodes of a group's pods;
``queue``: where roots are; ``conditions``; ``evicted``: who was asked to leave so far; ``nominated``: pods and nodes;
``outcome``: of the last event; ``refused``: whether it was. After every event, and in ``run`` after every cycle, the
books have to add up (``invariants.py``), whatever is expected.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference.errors import InputError
from reference.manifests.document import Field, value_field
from reference.manifests.queue_parts import only_keys
from reference.schedulers.kubernetes.events import Outcome, Record
from reference.schedulers.kubernetes.groups import Phase
from reference.schedulers.kubernetes.invariants import broken_by, broken_invariants
from reference.schedulers.kubernetes.options import Edition, Options
from reference.schedulers.kubernetes.read import MOST, POD_KEYS, read_composite, read_group, read_node, read_pod
from reference.schedulers.kubernetes.scheduler import Scheduler

RUN_SECONDS = 60
"""How long ``run`` waits for backoffs: less than it takes until those that wait for an event are tried without."""


def run(scenario: Mapping[str, object]) -> tuple[str, ...]:
    """The differences between what the scenario expects and what is found, one line each; none where it passes. Raises
    InputError for a scenario that cannot be read."""
    root = value_field(dict(scenario))
    only_keys(root, "id", "upstream", "note", "edition", "cluster", "steps")
    player = _Player(root)
    differences: list[str] = []
    for step in root.need("steps", "a list of steps").elements():
        differences += player.do(step)
    return (*differences, *player.refusals)


def _names(step: Field) -> list[str]:
    return _texts(step.need("names", "a list of names"))


def _texts(field: Field) -> list[str]:
    return [name.name() for name in field.elements("a list of names")]


def _name(step: Field) -> str:
    return step.need("name", "a name").name()


class _Player:
    """A scheduler, the last record, and who was evicted so far."""

    def __init__(self, root: Field) -> None:
        cluster = root.need("cluster", "the nodes")
        only_keys(cluster, "nodes", "options")
        chosen = cluster.get("options")
        given = chosen.mapping() if chosen else {}
        edition = root.optional("edition", lambda field: field.choice(Edition), Edition.CURRENT)
        try:
            options = Options.parse(edition=edition, **given)
        except InputError as error:
            raise cluster.child("options", None).error(error.expected, f"{error.where}: {error.found}") from None
        self.scheduler = Scheduler(options)
        self.evicted: list[str] = []
        self.last: Record | None = None
        self.refusals: list[str] = []
        """Differences, where the next step does not expect what was refused or its outcome."""
        self.broken: list[str] = []
        """What decisions of this step break."""
        self.named: set[str] = set()
        """Groups and pods that there are or were: of no others anything may be expected."""
        for node in cluster.need("nodes", "a list of nodes").elements():
            self.scheduler.add_node(read_node(node))

    def do(self, step: Field) -> list[str]:
        """One step; the differences that it shows."""
        operation = step.need("op", "what happens in this step").name()
        told, self.refusals = self.refusals, []
        if operation == "expect":
            return [*([] if {"refused", "outcome"} & step.mapping().keys() else told), *self._compare(step)]
        self.happen(operation, step)
        broken, self.broken = [*self.broken, *broken_invariants(self.scheduler)], []
        return [*told, *(f"{step.where} ({operation}): the books do not add up: {line}" for line in broken)]

    def happen(self, operation: str, step: Field) -> None:
        """An event, or several alike."""
        scheduler = self.scheduler
        match operation:
            case "create_pod_group":
                self.named.add(_name(step))
                self._hear(step, scheduler.create_pod_group(read_group(step)))
            case "update_pod_group":
                self._hear(step, scheduler.update_pod_group(read_group(step)))
            case "create_composite_pod_group":
                self.named.add(_name(step))
                self._hear(step, scheduler.create_pod_group(read_composite(step)))
            case "delete_pod_group" | "remove_node":
                only_keys(step, "op", "name")
                forget = scheduler.delete_pod_group if operation == "delete_pod_group" else scheduler.remove_node
                self._hear(step, forget(_name(step)))
            case "add_node" | "update_node":
                only_keys(step, "op", "node")
                node = read_node(step.need("node", "a node"))
                self._hear(step, scheduler.add_node(node) if operation == "add_node" else scheduler.update_node(node))
            case "create_pods":
                only_keys(step, "op", "names", "node", *POD_KEYS)
                members = {key: value for key, value in step.mapping().items() if key in POD_KEYS}
                on = step.optional("node", Field.name, "")
                self.named |= {*_names(step), step.optional("podGroup", Field.string, "")}
                for name in _names(step):
                    pod = read_pod(name, Field(step.document, step.path, members))
                    self._hear(step, scheduler.create_pod(pod, on))
            case "delete_pods":
                only_keys(step, "op", "names")
                for name in _names(step):
                    self._hear(step, scheduler.delete_pod(name))
            case "cycle":
                only_keys(step, "op")
                self._cycle()
            case "bind":
                only_keys(step, "op", "names", "fails")
                fails = step.optional("fails", Field.boolean, False)
                for name in _names(step):
                    self._hear(step, scheduler.bind_failed(name) if fails else scheduler.bind_succeeded(name))
            case "advance":
                only_keys(step, "op", "seconds")
                self._hear(step, scheduler.advance(step.need("seconds", "a number of seconds").integer(0, MOST)))
            case "run":
                only_keys(step, "op", "seconds")
                self._run(step.optional("seconds", lambda field: field.integer(0, MOST), RUN_SECONDS))
            case _:
                raise step.need("op", "").error("an operation that scenarios of kubernetes have")

    def _hear(self, step: Field, record: Record) -> None:
        self.last = record
        if record.outcome is Outcome.REFUSED:
            self.refusals.append(f"{step.where}: refused: {record.reason or record.name}")

    def _cycle(self) -> bool:
        """One cycle; whether there was one."""
        record = self.scheduler.cycle()
        if record is not None:
            self.last = record
            self.evicted += record.evicted
            self.broken += broken_by(self.scheduler, record)
        return record is not None

    def _run(self, seconds: int) -> None:
        scheduler = self.scheduler
        end = scheduler.queue.now + seconds
        while True:
            while self._cycle():
                for pod, tracked in list(scheduler.registry.pods.items()):
                    if tracked.phase is Phase.ASSUMED:
                        scheduler.bind_succeeded(pod)
                for pod in sorted(scheduler.registry.terminating):
                    scheduler.delete_pod(pod)
                self.broken += broken_invariants(scheduler)
            next_ = scheduler.queue.next_flush()
            if next_ is None or next_ > end or next_ == scheduler.queue.now:  # of no seconds: never waited for
                return
            scheduler.advance(next_ - scheduler.queue.now)

    # ---- expectations

    def _compare(self, step: Field) -> list[str]:
        known = ("scheduled", "nodes", "count", "domains", "queue", "conditions", "evicted", "nominated")
        only_keys(step, "op", "outcome", "refused", *known)
        if len(step.mapping()) == 1:
            raise step.error(f"what is expected: outcome, refused, {', '.join(known)}", "nothing")
        differences = []
        for key, expected in step.mapping().items():
            if key == "op":
                continue
            wanted = sorted(_texts(step.need(key, "names"))) if key in ("scheduled", "evicted") else expected
            found = self._found(key, step)
            if found != wanted:
                differences.append(f"{step.where}.{key}: found {_plain(found)}, expected {_plain(wanted)}")
        return differences

    def _found(self, key: str, step: Field) -> object:
        """What there is of ``key``, in the form in which the step expects it."""
        scheduler, registry = self.scheduler, self.scheduler.registry
        field = step.need(key, "what is expected")
        if key == "refused":
            field.boolean()
        if key == "count":
            for name, number in field.mapping().items():
                field.child(name, number).integer(0, MOST)
        if key in ("nodes", "count", "queue", "conditions", "domains"):
            for name, each in field.mapping().items():
                if name not in self.named:
                    raise field.child(name, each).error(
                        "a pod or a group that a step before has created", repr(name), of_key=True
                    )
        match key:
            case "scheduled":
                return sorted(scheduler.cache.node_of)
            case "evicted":
                return sorted(self.evicted)
            case "nominated":
                return dict(sorted(registry.nominated.items()))
            case "outcome":
                return self.last.outcome.value if self.last else None
            case "refused":
                return self.last is not None and self.last.outcome is Outcome.REFUSED
            case "nodes":
                return {pod: scheduler.cache.node_of.get(pod) for pod in field.mapping()}
            case "count":
                return {group: len(scheduler.cache.scheduled.get(group, {})) for group in field.mapping()}
            case "queue":
                return {root: scheduler.queue.place(root).value for root in field.mapping()}
            case "conditions":
                found = ((group, scheduler.conditions.get(group)) for group in field.mapping())
                return {group: condition.reason.value if condition else None for group, condition in found}
        return {group: self._domains(group, wanted) for group, wanted in field.members()}

    def _domains(self, group: str, wanted: Field) -> dict[str, str]:
        """The values of the labels that are asked for, all of them where there are several."""
        scheduler = self.scheduler
        nodes = set(scheduler.cache.scheduled.get(group, {}).values()) & set(scheduler.cache.infos)
        labels = [scheduler.cache.infos[node].node.labels for node in nodes]
        return {key: ", ".join(sorted({each.get(key, "none") for each in labels})) for key in wanted.mapping()}


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
