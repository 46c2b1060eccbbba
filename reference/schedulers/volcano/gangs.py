"""A cluster's gangs and topology in Volcano's words: jobs with roles, HyperNodes by tier.

Labels become HyperNodes: one for each domain, of a tier that is the lower the finer the domains are. HyperNodes form
one tree, so a set of labels whose domains cut across those of another has no tier, and a job that needs one is told so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from reference.cluster import Application, Cluster, Node, TopologyConstraint
from reference.schedulers.domains import Keys, together
from reference.schedulers.names import pod_name
from reference.schedulers.volcano.api import HyperNode, JobSpec, NetworkTopology, TaskSpec, TopologyMode

Domains = tuple[frozenset[str], ...]
"""The names of the nodes in each domain, none of them empty."""


@dataclass(frozen=True, slots=True)
class Network:
    """``tiers``: of the sets of labels that have one. ``hyper_nodes``: all of them, lower tiers first."""

    tiers: dict[Keys, int]
    hyper_nodes: tuple[HyperNode, ...]


NO_NETWORK: Final = Network({}, ())


def network_of(cluster: Cluster) -> Network:
    """The HyperNodes of the levels that the gangs' constraints and the cluster's topologies name.

    What gangs require comes first, in their order, then the levels of topologies, then wishes; one that does not fit
    the tree of those before it has no tier.
    """
    kept: dict[Keys, Domains] = {}
    for keys in _named(cluster):
        found = _domains(keys, cluster.nodes)
        if found and keys not in kept and all(_is_finer(found, o) or _is_finer(o, found) for o in kept.values()):
            kept[keys] = found
    ordered = sorted(kept, key=lambda keys: sum(_is_finer(kept[other], kept[keys]) for other in kept))
    tiers: dict[Keys, int] = {}
    hyper_nodes: list[HyperNode] = []
    below: list[tuple[str, frozenset[str]]] = []
    for keys in ordered:
        same = next((other for other in tiers if set(kept[other]) == set(kept[keys])), None)
        if same is not None:
            tiers[keys] = tiers[same]
            continue
        tiers[keys] = tier = max(tiers.values(), default=0) + 1
        here: list[tuple[str, frozenset[str]]] = []
        for number, nodes in enumerate(kept[keys]):
            inner = [(name, held) for name, held in below if held <= nodes]
            loose = nodes - {node for _, held in inner for node in held}
            name = f"tier {tier}, {number}"
            hyper_nodes.append(HyperNode(name, tier, (*(each for each, _ in inner), *sorted(loose))))
            here.append((name, nodes))
        held_here = {node for _, nodes in here for node in nodes}
        below = here + [(name, nodes) for name, nodes in below if not nodes <= held_here]
    return Network(tiers, tuple(hyper_nodes))


def why_inexpressible(app: Application, network: Network) -> str | None:
    """What of the gang Volcano's jobs cannot say, or None."""
    if len(app.task_groups) > 1 and any(together(group.topology) for group in app.task_groups):
        return "a domain for a task group of its own, which a job's networkTopology does not have"
    keys = together(_of_all(app))
    if keys and keys not in network.tiers:
        return f"domains of {', '.join(keys)} are no tier of one tree of HyperNodes"
    return None


def job_of(app: Application, queue: str, network: Network) -> JobSpec:
    """The job: minAvailable and minResources for what has to start, a role for each task group."""
    namespace, slash, _ = app.name.partition("/")
    return JobSpec(
        app.name,
        queue,
        max(app.members, app.min_members or 0),
        tuple(_tasks(app)),
        app.namespace or (namespace if slash else "default"),
        {group.name: group.min_member for group in app.task_groups},
        priority=app.priority,
        min_resources=app.placeholder_ask,
        network_topology=_topology(app, network),
    )


def _topology(app: Application, network: Network) -> NetworkTopology | None:
    """Hard where something is required; a job has one mode, and in that one, too, lower tiers are tried first. A wish
    for one task group is one for the job."""
    keys = together(_of_all(app))
    if keys:
        return NetworkTopology(TopologyMode.HARD, network.tiers[keys])
    wishes = [each for near in (app.topology, *(g.topology for g in app.task_groups)) for each in near]
    return NetworkTopology(TopologyMode.SOFT) if wishes and network.hyper_nodes else None


def _of_all(app: Application) -> tuple[TopologyConstraint, ...]:
    """What is required of all pods together: of a gang of one task group, what that one says, too."""
    return (*app.topology, *(app.task_groups[0].topology if len(app.task_groups) == 1 else ()))


def _tasks(app: Application) -> Iterator[TaskSpec]:
    """Pods up to the minimum of each role come first, then those beyond: in which order a controller creates them is
    said nowhere, and what is tried first can take the room of a role."""
    least = [(group, i) for group in app.task_groups for i in range(group.min_member)]
    more = [(group, i) for group in app.task_groups for i in range(group.min_member, group.most)]
    for group, i in (*least, *more):
        yield TaskSpec(pod_name(app.name, group.name, i), group.min_resource, group.name, group.constraints)


def _named(cluster: Cluster) -> Iterator[Keys]:
    apps = sorted(cluster.applications, key=lambda app: (app.submitted, app.name))
    for app in apps:
        yield together(_of_all(app))
    for topology in cluster.topologies:
        for level in topology.levels:
            yield topology.down_to(level)
    for app in apps:
        for near in (app.topology, *(group.topology for group in app.task_groups)):
            yield from (each.keys for each in near)


def _domains(keys: Keys, nodes: Sequence[Node]) -> Domains:
    found: dict[tuple[str, ...], list[str]] = {}
    for node in nodes:
        if keys and all(key in node.labels for key in keys):
            found.setdefault(tuple(node.labels[key] for key in keys), []).append(node.name)
    return tuple(frozenset(found[values]) for values in sorted(found))


def _is_finer(some: Iterable[frozenset[str]], others: Domains) -> bool:
    """Whether each of ``some`` is in one of ``others``, or outside all of them."""
    return all(any(nodes <= other for other in others) or not any(nodes & other for other in others) for nodes in some)
