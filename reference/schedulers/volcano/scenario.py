"""Scenarios of Volcano's scheduler as data: a cluster, what happens, and what is expected. ::

    {"id": "...", "upstream": "...", "edition": "current",
     "configuration": {"actions": ["allocate"], "predicate_error_cache": true,
                       "tiers": [[{"name": "gang", "points": ["enableJobReady"]}, "predicates"]]},
     "nodes": {"n1": {"resources": {"cpu": 2}, "labels": {"zone": "a"}}},
     "queues": {"q1": {"weight": 1}}, "hyper_nodes": {"s0": {"tier": 1, "members": ["n1"]}},
     "quotas": {"ns1": {"quota": 3}},
     "jobs": {"pg1": {"queue": "q1", "min_available": 1,
                      "tasks": {"p1": {"resources": {"cpu": 1}, "node": "n1", "count": 1}}}},
     "steps": [{"op": "run_session"}, {"op": "expect", "binds": {"p1": "n1"}}]}

A task with a ``node`` runs there already; ``count`` makes several, named ``p1-0`` and so on. Other steps are the
scheduler's events by name (``task_ended``, ``remove_node``, ``delete_job``, ``set_quota``, ``add_node``, ``add_job``)
and ``fail_bind``; one that upstream refuses says so by ``"refused": true``. ``expect`` speaks of all sessions since the
last ``expect``: ``binds`` (all of them), ``binds_num``, ``evicted``, ``pipelined`` (by job its nodes), and of the state
now: ``phases``, ``phase_counts``, ``one_of`` (a job's tasks lie within one of these HyperNodes), and what jobs have:
``allocated`` (by job), ``queues``, ``namespaces`` (by queue).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Final

from reference.cluster import Constraints, Node, Resources, total
from reference.errors import InputError
from reference.manifests.amounts import kubernetes_resources
from reference.manifests.document import Field, value_field
from reference.manifests.queue_parts import only_keys
from reference.schedulers.volcano.api import (
    ALLOCATED_STATUS,
    ROOT,
    HyperNode,
    Job,
    JobSpec,
    NetworkTopology,
    PodGroupPhase,
    Queue,
    TaskSpec,
    TaskStatus,
    TopologyMode,
)
from reference.schedulers.volcano.hypernodes import TOP
from reference.schedulers.volcano.options import (
    ALL_POINTS,
    DEFAULT_TIERS,
    Configuration,
    Edition,
    PluginOption,
    Point,
    Tiers,
)
from reference.schedulers.volcano.plugins import PLUGINS
from reference.schedulers.volcano.scheduler import Record, Scheduler

_MOST: Final = 10**9
_OF_EVENT: Final[Mapping[str, tuple[str, ...]]] = {
    "run_session": (),
    "task_ended": ("task",),
    "remove_node": ("node",),
    "delete_job": ("job",),
    "add_node": ("name", "node"),
    "add_job": ("name", "job"),
    "set_quota": ("namespace", "quota", "weight"),
}
"""What the steps of each event may say."""

Found = tuple[str, object, object]
"""What is compared, what is expected, what is found."""


def run(scenario: Mapping[str, object]) -> tuple[str, ...]:
    """Differences between what the scenario expects and what the reference does, one line each.

    Raises InputError, with the path of the field below the scenario, for one that cannot be read.
    """
    player = _Player(value_field(scenario))
    differences = []
    for step in player.root.need("steps", "a list of steps").elements():
        op = step.need("op", "what happens").string()
        for what, expected, found in player.play(op, step):
            if expected != found:
                differences.append(f"{step.where} ({op}): {what}: expected {expected}, found {found}")
        broken = player.scheduler.check_invariants()
        differences += [f"{step.where} ({op}): the books do not add up: {line}" for line in broken]
    return tuple(differences)


class _Player:
    """A scheduler on which steps are played."""

    def __init__(self, root: Field) -> None:
        self.root = root
        only_keys(
            root,
            *("id", "upstream", "note", "edition", "configuration", "nodes", "queues", "hyper_nodes", "quotas"),
            *("jobs", "steps"),
        )
        self.scheduler = Scheduler(
            _configuration(root),
            [_node(name, field) for name, field in _members(root, "nodes")],
            (),
            [_hyper_node(name, field) for name, field in _members(root, "hyper_nodes")],
        )
        for name, field in _members(root, "queues"):
            self._accept(self.scheduler.add_queue(_queue(name, field)), field)
        for namespace, quotas in _members(root, "quotas"):
            for name, field in quotas.members():
                self.scheduler.set_quota(namespace, name, field.integer(-_MOST, _MOST))
        for name, field in _members(root, "jobs"):
            self._accept(self._add_job(name, field), field)
        self.bound: dict[str, str] = {}
        self.evicted: list[str] = []
        self.pipelined: dict[str, list[str]] = {}

    @staticmethod
    def _accept(record: Record, field: Field) -> None:
        if record.reason:
            raise field.error("something that the scheduler takes", record.reason)

    def _add_job(self, name: str, field: Field) -> Record:
        spec, running = _job(name, field)
        return self.scheduler.add_job(spec, running)

    def play(self, op: str, step: Field) -> Iterator[Found]:
        """One step, and what there is to compare after it."""
        if op == "expect":
            yield from self._expect(step)
            self.bound, self.evicted, self.pipelined = {}, [], {}
            return
        if op == "fail_bind":
            only_keys(step, "op", "task")
            name = _name(step, "task")
            if name not in self.scheduler.tasks:
                raise step.need("task", "a task").error("the name of a task")
            self.scheduler.failing_binds.add(name)
            return
        events: dict[str, Callable[[], Record]] = {
            "run_session": self._run_session,
            "task_ended": lambda: self.scheduler.task_ended(_name(step, "task")),
            "remove_node": lambda: self.scheduler.remove_node(_name(step, "node")),
            "delete_job": lambda: self.scheduler.delete_job(_name(step, "job")),
            "add_node": lambda: self.scheduler.add_node(_node(_name(step, "name"), step.need("node", "a node"))),
            "add_job": lambda: self._add_job(_name(step, "name"), step.need("job", "a job")),
            "set_quota": lambda: self.scheduler.set_quota(
                _name(step, "namespace"),
                _name(step, "quota"),
                step.optional("weight", lambda f: f.integer(-_MOST, _MOST), None),
            ),
        }
        if op not in events:
            raise step.need("op", "what happens").error(f"one of {', '.join([*sorted(events), 'expect', 'fail_bind'])}")
        only_keys(step, "op", "refused", *_OF_EVENT[op])
        record = events[op]()
        yield f"refused ({record.reason})", step.optional("refused", Field.boolean, False), bool(record.reason)

    def _run_session(self) -> Record:
        record = self.scheduler.run_session()
        self.bound.update(record.bound)
        self.evicted += record.evicted
        for task, node in record.pipelined:
            self.pipelined.setdefault(self.scheduler.tasks[task].job.name, []).append(node)
        return record

    def _expect(self, step: Field) -> Iterator[Found]:
        jobs = self.scheduler.jobs
        read: dict[str, Callable[[Field], Iterator[Found]]] = {
            "binds": lambda f: iter([("binds", f.string_map(), self.bound)]),
            "binds_num": lambda f: iter([("binds_num", f.integer(0, _MOST), len(self.bound))]),
            "evicted": lambda f: iter([("evicted", sorted(e.string() for e in f.elements()), sorted(self.evicted))]),
            "pipelined": lambda f: iter(
                [("pipelined", {k: [e.string() for e in v.elements()] for k, v in f.members()}, self.pipelined)]
            ),
            "phases": lambda f: ((f"phase of {j}", p.string(), self._job(p, j).phase.value) for j, p in f.members()),
            "phase_counts": lambda f: iter(
                [
                    (
                        "phase_counts",
                        {k: v.integer(0, _MOST) for k, v in f.members()},
                        dict(Counter(job.phase.value for job in jobs.values())),
                    )
                ]
            ),
            "allocated": lambda f: self._amounts(f, jobs, lambda j: {j}),
            "queues": lambda f: self._amounts(
                f, self.scheduler.queues, lambda q: {n for n, job in jobs.items() if job.queue == q}
            ),
            "namespaces": self._namespaces,
            "one_of": self._one_of,
        }
        if step.mapping().keys() <= {"op", "note"}:
            raise step.error(f"what is expected: {', '.join(sorted(read))}", "nothing")
        _refuse_nulls(step)
        for key, field in step.members():
            if key in read:
                yield from read[key](field)
            elif key not in ("op", "note"):
                raise step.need(key, "").error(f"one of {', '.join(sorted(read))}", repr(key), of_key=True)

    def _job(self, field: Field, name: str) -> Job:
        if name not in self.scheduler.jobs:
            raise field.error("the name of a job", repr(name), of_key=True)
        return self.scheduler.jobs[name]

    def _amounts(self, field: Field, known: Container[str], jobs_of: Callable[[str], set[str]]) -> Iterator[Found]:
        for name, amounts in field.members():
            if name not in known:
                raise amounts.error("a name that is there", repr(name), of_key=True)
            if not amounts.mapping():
                raise amounts.error("at least one amount, 0 where there is none")
            expected = kubernetes_resources(amounts)
            have = total(
                task.resreq
                for job in jobs_of(name)
                for task in self.scheduler.jobs[job].tasks.values()
                if task.status in ALLOCATED_STATUS
            )
            yield f"{field.where} {name}", dict(expected), {n: have.amount(n) for n in expected}

    def _namespaces(self, field: Field) -> Iterator[Found]:
        for queue, namespaces in field.members():
            here = [job for job in self.scheduler.jobs.values() if job.queue == queue]
            yield from self._amounts(
                namespaces,
                {job.namespace for job in here},
                lambda ns, here=here: {job.name for job in here if job.namespace == ns},  # type: ignore[misc]
            )

    def _one_of(self, field: Field) -> Iterator[Found]:
        for name, names in field.members():
            nodes = {task.node for task in self._job(names, name).tasks.values() if task.status is TaskStatus.RUNNING}
            domains = [e.string() for e in names.elements()]
            within = [d for d in domains if nodes <= {n.name for n in self.scheduler.hyper_nodes.nodes(d)}]
            yield f"{name} lies within one of {', '.join(domains)}", True, bool(nodes) and bool(within)


def _refuse_nulls(field: Field) -> None:
    """A null would be read as what is not there: an expectation of nothing."""
    if field.value is None:
        raise field.error("what is expected")
    if isinstance(field.value, dict):
        for key, value in field.value.items():
            _refuse_nulls(field.child(key, value))


def _members(root: Field, key: str) -> Iterator[tuple[str, Field]]:
    field = root.get(key)
    return field.members() if field else iter(())


def _name(step: Field, key: str) -> str:
    return step.need(key, "a name").name()


def _configuration(root: Field) -> Configuration:
    edition = root.optional("edition", lambda f: f.choice(Edition), Edition.CURRENT)
    field = root.get("configuration")
    if field is None:
        return Configuration(edition=edition)
    only_keys(field, "actions", "tiers", "predicate_error_cache", "index")
    actions = tuple(f.string() for f in field.list_of("actions")) or ("enqueue", "allocate", "backfill")
    tiers: Tiers = tuple(tuple(_plugin(p) for p in tier.elements()) for tier in field.list_of("tiers")) or DEFAULT_TIERS
    try:
        return Configuration(
            actions,
            tiers,
            edition,
            field.optional("predicate_error_cache", Field.boolean, True),
            field.optional("index", Field.boolean, True),
        )
    except InputError as error:
        raise field.need("actions", "actions").error(error.expected, error.found) from None


def _plugin(field: Field) -> PluginOption:
    named = field if isinstance(field.value, str) else field.need("name", "a plugin's name")
    name = named.string()
    if name not in PLUGINS:
        raise named.error(f"one of {', '.join(PLUGINS)}")
    if named is field:
        return PluginOption(name)
    only_keys(field, "name", "points")
    points = frozenset(f.choice(Point) for f in field.list_of("points"))
    return PluginOption(name, points or ALL_POINTS)


def _node(name: str, field: Field) -> Node:
    only_keys(field, "resources", "labels")
    return Node(name, kubernetes_resources(field.get("resources")), field.optional("labels", Field.string_map, {}))


def _hyper_node(name: str, field: Field) -> HyperNode:
    only_keys(field, "tier", "members")
    if name == TOP:
        raise field.error("another name", repr(name), of_key=True)
    members = tuple(f.name() for f in field.list_of("members"))
    return HyperNode(name, field.need("tier", "a number").integer(0, _MOST), members)


def _queue(name: str, field: Field) -> Queue:
    only_keys(
        field,
        *("weight", "capability", "deserved", "guarantee", "parent", "priority", "reclaimable", "open", "hierarchy"),
    )
    hierarchy = tuple(
        (f.need("name", "a name").name(), f.need("weight", "a number").integer(1, _MOST))
        for f in field.list_of("hierarchy")
    )
    return Queue(
        name,
        field.optional("weight", lambda f: f.integer(1, _MOST), 1),
        kubernetes_resources(field.get("capability")),
        kubernetes_resources(field.get("deserved")),
        kubernetes_resources(field.get("guarantee")),
        field.optional("parent", Field.name, ROOT),
        field.optional("priority", lambda f: f.integer(-_MOST, _MOST), 0),
        field.optional("reclaimable", Field.boolean, True),
        field.optional("open", Field.boolean, True),
        hierarchy,
    )


def _job(name: str, field: Field) -> tuple[JobSpec, dict[str, str]]:
    only_keys(
        field,
        *("queue", "namespace", "min_available", "min_task_member", "priority", "min_resources", "phase", "topology"),
        *("allocated_hyper_node", "tasks"),
    )
    tasks: list[TaskSpec] = []
    running: dict[str, str] = {}
    for task_name, task in _members(field, "tasks"):
        only_keys(
            task,
            *("resources", "role", "node_selector", "priority", "preemptable", "preempts", "critical", "node", "count"),
        )
        count = task.optional("count", lambda f: f.integer(1, 10_000), None)
        names = [task_name] if count is None else [f"{task_name}-{i}" for i in range(count)]
        tasks += [_task(each, task) for each in names]
        node = task.get("node")
        if node is not None:
            running |= dict.fromkeys(names, node.name())
    members = {role: f.integer(0, _MOST) for role, f in _members(field, "min_task_member")}
    least = field.get("min_resources")
    spec = JobSpec(
        name,
        field.need("queue", "a queue").name(),
        field.need("min_available", "a number").integer(0, _MOST),
        tuple(tasks),
        field.optional("namespace", Field.name, "default"),
        members,
        field.optional("priority", lambda f: f.integer(-_MOST, _MOST), 0),
        None if least is None else kubernetes_resources(least),
        field.optional("phase", lambda f: f.choice(PodGroupPhase), PodGroupPhase.INQUEUE),
        field.optional("topology", _topology, None),
        field.optional("allocated_hyper_node", Field.name, ""),
    )
    return spec, running


def _topology(field: Field) -> NetworkTopology:
    only_keys(field, "mode", "highest_tier_allowed")
    mode = field.need("mode", "hard or soft").choice(TopologyMode)
    return NetworkTopology(mode, field.optional("highest_tier_allowed", lambda f: f.integer(0, _MOST), None))


def _task(name: str, field: Field) -> TaskSpec:
    labels = field.get("node_selector")
    selector = tuple(sorted(labels.string_map().items())) if labels else ()
    return TaskSpec(
        name,
        kubernetes_resources(field.get("resources")) if field.get("resources") else Resources(),
        field.optional("role", Field.string, ""),
        Constraints(node_selector=selector),
        field.optional("priority", lambda f: f.integer(-_MOST, _MOST), 1),
        field.optional("preemptable", Field.boolean, True),
        field.optional("preempts", Field.boolean, True),
        field.optional("critical", Field.boolean, False),
    )
