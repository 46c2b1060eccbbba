"""The heuristics against a plain loop over dictionaries that knows no short cut."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from simulation_log import World, parse
from simulation_runs import Case, cases, crowded
from tiny_clusters import cluster as tiny
from tiny_clusters import gang, leaf, tree

from reference.cluster import Cluster, Constraints, Node, Resources, TaskGroup
from reference.simulation import Job, Workload, make, simulate

Where = list[tuple[str, str, str]]


class Naive:
    """Gangs that wait, and what nodes and queues have left, computed anew from the pods of the world each time."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.nodes = {node.name: node for node in case.cluster.nodes}
        self.types = sorted({name for node in case.cluster.nodes for name in node.capacity} - {"pods"})
        self.largest = {n: max(node.capacity.amount(n) for node in self.nodes.values()) for n in self.types}

    def starts(self, before: World, waiting: list[Job]) -> Where:
        """The pods that a cycle binds, in order, as (application, task group, node)."""
        free = {name: before.left(name) for name in before.nodes}
        used = {q.name: dict(self.case.cluster.queue_usage(q.name)) for q in self.case.cluster.queues}
        running: dict[str, set[str]] = {
            queue.name: set(self.case.cluster.running_applications(queue.name)) for queue in self.case.cluster.queues
        }
        for pod in before.pods.values():
            for queue in self.case.cluster.queues.path(before.jobs[pod.application].queue):
                add(used[queue.name], pod.resources)
                running[queue.name].add(pod.application)
        found: Where = []
        for job in sorted(waiting, key=self.rank):
            places = self.places(job, free, used, running)
            if places is None and self.case.strict:
                break
            for group, node in places or []:
                found.append((job.name, group.name, node))
        return found

    def rank(self, job: Job) -> tuple[Fraction, int, int]:
        asked = job.application.placeholder_ask
        whole = {n: sum(node.capacity.amount(n) for node in self.nodes.values()) for n in [*self.types, "pods"]}
        share = max((Fraction(asked.amount(n), amount) for n, amount in whole.items() if amount), default=Fraction(0))
        key = {"fifo": Fraction(0), "size": -share}.get(self.case.order)
        if key is None:
            key = -Fraction(job.application.weight) / share
        return key, job.arrival, self.case.workload.jobs.index(job)

    def places(
        self, job: Job, free: dict[str, dict[str, int]], used: dict[str, dict[str, int]], running: dict[str, set[str]]
    ) -> list[tuple[TaskGroup, str]] | None:
        asked = job.application.placeholder_ask
        path = self.case.cluster.queues.path(job.application.queue)
        for queue in path:
            after = dict(used[queue.name])
            add(after, asked)
            if any(asked.amount(n) > 0 and after[n] > most for n, most in queue.maximum.items()):
                return None
            if queue.max_applications is not None and len(running[queue.name]) >= queue.max_applications:
                return None
        trial = {name: dict(left) for name, left in free.items()}
        found = []
        for group in job.application.task_groups:
            for _ in range(group.min_member):
                node = self.choose(group, trial)
                if node is None:
                    return None
                add(trial[node], self.nodes[node].counted(group.pod_resource), -1)
                found.append((group, node))
        free.update(trial)
        for queue in path:
            add(used[queue.name], asked)
            running[queue.name].add(job.name)
        return found

    def choose(self, group: TaskGroup, free: dict[str, dict[str, int]]) -> str | None:
        best: tuple[int, str] | None = None
        for name, left in free.items():
            node = self.nodes[name]
            wanted = node.counted(group.pod_resource)
            if not node.admits(group.constraints) or any(a > left.get(n, 0) for n, a in wanted.items() if a > 0):
                continue
            score = self.score(node, left, group)
            if best is None or score > best[0]:
                best = score, name
        return best[1] if best else None

    def score(self, node: Node, left: dict[str, int], group: TaskGroup) -> int:
        asked = group.min_resource
        if self.case.policy == "best-fit":
            after = {n: left.get(n, 0) - asked.amount(n) for n in self.types}
            return -sum(amount * 10**6 // max(node.capacity.amount(n), 1) for n, amount in after.items())
        if self.case.policy == "dot-product":
            return sum(
                (asked.amount(n) * 10**6 // max(self.largest[n], 1))
                * (left.get(n, 0) * 10**6 // max(self.largest[n], 1))
                for n in self.types
            )
        return 0


def add(sums: dict[str, int], amounts: object, sign: int = 1) -> None:
    for name, amount in dict(amounts).items():  # type: ignore[call-overload]  # Resources or a dict
        sums[name] = sums.get(name, 0) + sign * amount


HEURISTICS = ("first-fit", "best-fit", "dot-product")


@settings(max_examples=60)
@given(crowded(HEURISTICS) | cases(HEURISTICS, quiet=True))
def test_every_cycle_binds_what_the_plain_loop_binds(case: Case) -> None:
    run = case.run()
    _, entries = parse(case.text(run))
    naive = Naive(case)
    world = World()
    jobs = {job.name: job for job in case.workload.jobs}
    for time in sorted({entry["time"] for entry in entries}):
        now = [entry for entry in entries if entry["time"] == time]
        bound = [(e["application"], e["task_group"], e["node"]) for e in now if e["event"] == "allocate"]
        for entry in now:  # rejections are told in the cycle too, but decided at submission
            if entry["event"] not in ("allocate", "start"):
                world.take(entry)
        held = {pod.application for pod in world.pods.values()}
        waiting = [jobs[name] for name, job in world.jobs.items() if job.end is None and name not in held]
        assert bound == naive.starts(world, waiting)
        for entry in now:
            if entry["event"] in ("allocate", "start"):
                world.take(entry)


TWO = tree(leaf("root.a"))


@pytest.mark.parametrize(
    ("policy", "nodes"),
    [("first-fit", ["n0", "n0", "n0"]), ("best-fit", ["n1", "n1", "n0"]), ("dot-product", ["n2", "n2", "n2"])],
)
def test_each_rule_has_its_own_node(policy: str, nodes: list[str]) -> None:
    """Three pods of one unit on nodes of 3, 2 and 6 units."""
    one = tiny({"n0": 3, "n1": 2, "n2": 6}, TWO)
    run = simulate(one, Workload((Job(gang("a", "root.a", 3), 0, (10,)),)), make(policy, one))
    assert [entry.fields["node"] for entry in run.log if entry.event == "allocate"] == nodes


def test_orders() -> None:
    """Of a small gang first and a large heavy one later, size and density take the later one."""
    one = tiny({"n0": 4}, TWO)
    small, large = gang("small", "root.a", 2, submitted=0), gang("large", "root.a", 4, submitted=1)
    block = gang("block", "root.a", 4)
    for order, first in (("fifo", "small"), ("size", "large"), ("density", "small")):
        jobs = (Job(block, 0, (10,)), Job(small, 1, (10,)), Job(large, 2, (10,)))
        run = simulate(one, Workload(jobs), make("first-fit", one, order))
        starts = [entry.fields["application"] for entry in run.log if entry.event == "start"]
        assert starts[1] == first, order


def test_amounts_as_large_as_they_come() -> None:
    """Bytes of a petabyte and 2^63 - 1 of something: scores do not overflow."""
    large = 2**63 - 1
    nodes = (Node("n0", Resources(memory=2**50, odd=large)), Node("n1", Resources(memory=2**50 + 2**40, odd=large)))
    one = Cluster(nodes, TWO, ())
    group = TaskGroup("g", 2, Resources(memory=2**49 + 2**48, odd=large), Constraints())
    app = gang("a", "root.a", 1)
    job = Job(type(app)("a", "root.a", (group,)), 0, (10,))
    for policy, first in (("first-fit", "n0"), ("best-fit", "n0"), ("dot-product", "n1")):
        run = simulate(one, Workload((job,)), make(policy, one))
        assert run.metrics.finished == 1
        assert next(entry.fields["node"] for entry in run.log if entry.event == "allocate") == first
