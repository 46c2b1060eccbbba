"""Rules about a configuration before it ships: gangs that queues reject, or that can starve each other.

Each rule says nothing more than what the files show: a gang that is found cannot be admitted (or two of them not
together) as things are configured, whatever a scheduler does.
"""

from __future__ import annotations

import enum
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reference.cluster import Application, Cluster, Queue, SortPolicy, TaskGroup, TopologyConstraint
from reference.errors import InputWarning
from reference.manifests import Place, PlaceOf, load
from reference.schedulers.amounts import show
from reference.schedulers.domains import Keys, together
from reference.schedulers.ray.cluster_files import RayNodes, read_files

Places = Mapping[tuple[PlaceOf, str], Place]


class Rule(enum.Enum):
    """What is looked for; `SOURCES` says where each comes from."""

    FAIR = "gang-on-fair-queue"
    QUOTA = "ask-over-quota"
    STARVE = "leaves-starve-each-other"
    DIFFER = "pods-differ"
    DOMAIN = "domain-too-small"
    MINIMUM = "minimum-over-maximum"


SOURCES: Mapping[Rule, str] = {
    Rule.FAIR: "YuniKorn's gang scheduling design, FAIR: rejected at submission (Y6)",
    Rule.QUOTA: "YuniKorn's gang scheduling design, total size: rejected at submission (Y5), at every level (Y11)",
    Rule.STARVE: "YuniKorn's gang scheduling design, quota on a parent: may live lock (Y11)",
    Rule.DIFFER: "Volcano's task-spec and predicate cache: one key for pods of one role (T4, T5)",
    Rule.DOMAIN: "Kubernetes' PodGroup scheduling: a placement is one domain (K11), minCount in it",
    Rule.MINIMUM: "Ray's autoscaler: a worker group's minimum, and the maximum of all (R1)",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A ``rule`` that something breaks: ``where`` it stands, the first place first, and ``why`` in the user's words."""

    rule: Rule
    where: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found, and what reading dropped or assumed."""

    findings: tuple[Finding, ...]
    warnings: tuple[InputWarning, ...]


def lint(paths: Sequence[str]) -> Linted:
    """Every finding in these files: manifests, queues, native JSON, or a Ray cluster's own. Raises InputError."""
    if _is_cluster_yaml(paths):
        files = read_files(paths)
        assert files.cluster is not None
        return Linted(tuple(_minimum(files.cluster)), files.warnings)
    result = load([*paths], require_nodes=False)
    found = _Linter(result.cluster, result.places, paths[0]).findings()
    return Linted(tuple(found), result.warnings)


def _is_cluster_yaml(paths: Sequence[str]) -> bool:
    """Whether a file is one of Ray's cluster launcher, which is no manifest."""
    files = [p for path in map(Path, paths) for p in ([path] if path.is_file() else sorted(path.glob("*.y*ml")))]
    return any(b"available_node_types:" in p.read_bytes() for p in files if p.is_file() and os.access(p, os.R_OK))


def _minimum(nodes: RayNodes) -> Iterator[Finding]:
    workers = {name: each.min_workers for name, each in nodes.node_types.items() if each.min_workers}
    most = nodes.max_num_nodes - 1
    if sum(workers.values()) > most:
        told = " + ".join(f"{name} {count}" for name, count in workers.items())
        yield Finding(
            Rule.MINIMUM,
            (nodes.source.location,),
            f"min_workers come to {sum(workers.values())} ({told}), and max_workers of the cluster is {most}",
        )


class _Linter:
    """The rules, for one cluster."""

    def __init__(self, cluster: Cluster, places: Places, file: str) -> None:
        self._cluster = cluster
        self._places = places
        self._file = file

    def findings(self) -> Iterator[Finding]:
        """All of them, by gang in the order of submission, then by queue."""
        for app in sorted(self._cluster.applications, key=lambda a: (a.submitted, a.name)):
            yield from self._gang(app)
        for queue in self._cluster.queues:
            yield from self._starving(queue)
        for (of, name), place in self._places.items():
            if of is PlaceOf.PODS_THAT_DIFFER:
                yield Finding(
                    Rule.DIFFER,
                    (str(place),),
                    f"pods of {name!r} are not alike (selectors, affinity or requests) and are one role: a scheduler "
                    "that remembers refusals by role refuses all for the error of one; give each kind a task-spec, or "
                    "a role, of its own",
                )

    def _place(self, of: PlaceOf, name: str) -> str:
        found = self._places.get((of, name))
        return str(found) if found is not None else self._file

    def _gang(self, app: Application) -> Iterator[Finding]:
        here = self._place(PlaceOf.GANG, app.name)
        path = self._cluster.queues.path(app.queue)
        if app.members > 1 and path and path[-1].sort_policy is SortPolicy.FAIR:
            places = (here, self._place(PlaceOf.QUEUE, app.queue))
            why = f"gang {app.name!r} of {app.members} pods is in {app.queue}, which sorts by fair: gangs need fifo"
            yield Finding(Rule.FAIR, places, why)
        for queue in path:
            for resource, most in queue.maximum.items():
                if (asked := app.placeholder_ask.amount(resource)) > most:
                    places = (here, self._place(PlaceOf.QUEUE, queue.name))
                    told = f"{show(resource, asked)} of {resource} in all"
                    why = f"gang {app.name!r} asks for {told}, and {queue.name} has at most {show(resource, most)}"
                    yield Finding(Rule.QUOTA, places, why)
        for group in app.task_groups:
            yield from self._domain(app, group, [*group.topology, *app.topology], here)

    def _domain(
        self, app: Application, group: TaskGroup, near: Sequence[TopologyConstraint], here: str
    ) -> Iterator[Finding]:
        keys = together(near)
        if not keys or not self._cluster.nodes:
            return
        held = self._held(group, keys)
        best = max(held.values(), default=0)
        if group.min_member > best:
            most = f"the largest holds {best}" if held else "no node has these labels"
            why = (
                f"{group.min_member} pods of {app.name!r} (group {group.name!r}) have to be in one domain of "
                f"{', '.join(keys)}, and {most}, were it empty"
            )
            yield Finding(Rule.DOMAIN, (here,), why)

    def _held(self, group: TaskGroup, keys: Keys) -> dict[tuple[str, ...], int]:
        """For each domain how many pods of the group its nodes hold when nothing runs there."""
        held: dict[tuple[str, ...], int] = {}
        for node in self._cluster.nodes:
            domain = TopologyConstraint(keys).domain(node.labels)
            if domain is not None and node.admits(group.constraints):
                request = node.counted(group.pod_resource)
                fit = min((node.available.amount(r) // a for r, a in request.items() if a), default=group.min_member)
                held[domain] = held.get(domain, 0) + max(fit, 0)
        return held

    def _starving(self, parent: Queue) -> Iterator[Finding]:
        """Two gangs of different leaves below ``parent``, each of which fits, and which do not fit together: reserved
        in part, each can keep from the other what it lacks."""
        if parent.is_leaf or not parent.maximum:
            return
        usage = self._cluster.queue_usage(parent.name)
        left = {r: max(0, most - usage.amount(r)) for r, most in parent.maximum.items()}
        below = [a for a in self._cluster.applications if a.queue.startswith(parent.name + ".") and a.members > 1]
        gangs = [a for a in below if self._fits(a, left)]
        pairs = [
            (a, b, r)
            for a, b in itertools.combinations(gangs, 2)
            if a.queue != b.queue
            for r in parent.maximum
            if a.placeholder_ask.amount(r) + b.placeholder_ask.amount(r) > left[r]
        ]
        if pairs:
            a, b, r = max(pairs, key=lambda p: p[0].placeholder_ask.amount(p[2]) + p[1].placeholder_ask.amount(p[2]))
            places = [self._place(PlaceOf.QUEUE, parent.name)]
            places += [self._place(PlaceOf.GANG, each.name) for each in (a, b)]
            more = len({(x.name, y.name) for x, y, _ in pairs}) - 1
            why = (
                f"{parent.name} has {show(r, left[r])} of {r} left; gang {a.name!r} of {a.queue} asks for "
                f"{show(r, a.placeholder_ask.amount(r))} and gang {b.name!r} of {b.queue} for "
                f"{show(r, b.placeholder_ask.amount(r))}: each fits alone, and reserved in part each can keep from the "
                "other what it lacks"
            )
            yield Finding(Rule.STARVE, tuple(places), why + (f" (and {more} more pairs)" if more else ""))

    def _fits(self, app: Application, left: Mapping[str, int]) -> bool:
        path = self._cluster.queues.path(app.queue)
        if path and path[-1].sort_policy is SortPolicy.FAIR:  # rejected: it reserves nothing
            return False
        effective = self._cluster.queues.effective_maximum(app.queue)
        ask = app.placeholder_ask
        return ask.fits_in_limit(effective) and all(ask.amount(r) <= amount for r, amount in left.items())


__all__ = ["SOURCES", "Finding", "Linted", "Rule", "lint"]
