"""The judge's rules on pods that look at other pods: affinity, anti-affinity, topology spread.

A placement does not say in which order its pods came, and Kubernetes asks each pod only when it comes. So what is held
against a placement is what no order can bring about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reference.cluster import (
    ANYWHERE,
    Cluster,
    Constraints,
    Neighbours,
    Node,
    PodAffinityTerm,
    Requirement,
    SpreadConstraint,
)
from reference.validate_matching import matches, off_by_labels

Broken = tuple[bool, str, str]
"""Whether it is a spread, the place, and the message."""


@dataclass(frozen=True, slots=True)
class Pods:
    """``count`` pods that are alike on one node. ``where`` names those that are placed, "" are those that run."""

    where: str
    node: Node
    count: int
    neighbours: Neighbours
    constraints: Constraints = ANYWHERE

    def selected(self, selector: Sequence[Requirement]) -> bool:
        """Whether ``selector`` selects them."""
        labels = dict(self.neighbours.labels)
        return all(matches(requirement, labels) for requirement in selector)


def neighbours_broken(cluster: Cluster, placed: Sequence[Pods]) -> Iterator[Broken]:
    """What ``placed`` breaks beside the pods that run."""
    node_of = {node.name: node for node in cluster.nodes}
    running = [Pods("", node_of[p.node], 1, p.neighbours) for p in cluster.running if p.node in node_of]
    if all(pods.neighbours == Neighbours() for pods in (*placed, *running)):
        return
    everyone = [*placed, *running]
    for mine in everyone:
        yield from _too_near(mine, everyone)
    yield from _too_far(placed, everyone)
    yield from _uneven(cluster, placed, running)


def _too_near(mine: Pods, everyone: Sequence[Pods]) -> Iterator[Broken]:
    for term in mine.neighbours.anti_affinity:
        domain = mine.node.labels.get(term.topology_key)
        for other in everyone if domain is not None else ():
            if other.node.labels.get(term.topology_key) != domain or not other.selected(term.selector):
                continue
            if (mine.where or other.where) and (other is not mine or mine.count > 1):
                place = f"{term.topology_key}={domain}"
                who = other.where or "a pod that runs"
                yield False, mine.where or other.where, f"anti-affinity: {who} is in {place}, too"
                break


def _too_far(placed: Sequence[Pods], everyone: Sequence[Pods]) -> Iterator[Broken]:
    """Of those with the same terms one may have been the first; every other one needs a pod that was there."""
    lonely: dict[tuple[PodAffinityTerm, ...], list[Pods]] = {}
    for mine in placed:
        terms = mine.neighbours.affinity
        if missing := [term.topology_key for term in terms if term.topology_key not in mine.node.labels]:
            yield False, mine.where, f"affinity: node {mine.node.name} has no label {missing[0]}"
        elif terms and not all(_has_company(mine, term, everyone) for term in terms):
            lonely.setdefault(terms, []).append(mine)
    for terms, pods in lonely.items():
        itself = [mine for mine in pods if mine.count == 1 and all(mine.selected(term.selector) for term in terms)]
        there = any(
            not other.where
            and all(other.selected(term.selector) for term in terms)
            and any(term.topology_key in other.node.labels for term in terms)
            for other in everyone
        )
        first = itself[0] if itself and not there else None
        for mine in pods:
            if mine is not first:
                keys = ", ".join(term.topology_key for term in terms)
                yield False, mine.where, f"affinity: no other pod that is selected is in the same {keys}"


def _has_company(mine: Pods, term: PodAffinityTerm, everyone: Sequence[Pods]) -> bool:
    domain, terms = mine.node.labels[term.topology_key], mine.neighbours.affinity
    return any(
        other.node.labels.get(term.topology_key) == domain
        and all(other.selected(each.selector) for each in terms)
        and (other is not mine or mine.count > 1)
        for other in everyone
    )


def _uneven(cluster: Cluster, placed: Sequence[Pods], running: Sequence[Pods]) -> Iterator[Broken]:
    for mine in placed:
        keys = [constraint.topology_key for constraint in mine.neighbours.spread]
        if missing := [key for key in keys if key not in mine.node.labels]:
            yield True, mine.where, f"node {mine.node.name} has no label {missing[0]}"
            continue
        eligible = {
            node.name: node
            for node in cluster.nodes
            if all(key in node.labels for key in keys) and off_by_labels(node, mine.constraints) is None
        }
        for constraint in mine.neighbours.spread:
            yield from _skewed(mine, constraint, eligible, placed, running)


def _skewed(
    mine: Pods,
    constraint: SpreadConstraint,
    eligible: Mapping[str, Node],
    placed: Sequence[Pods],
    running: Sequence[Pods],
) -> Iterator[Broken]:
    """When the last pod with this constraint came to a domain, the pods that ran were there, and all like it."""
    key = constraint.topology_key
    counts = Counter(dict.fromkeys((node.labels[key] for node in eligible.values()), 0))
    then = 0
    domain = mine.node.labels[key]
    for other in (*placed, *running):
        if other.node.name not in eligible or not other.selected(constraint.selector):
            continue
        counts[other.node.labels[key]] += other.count
        alike = not other.where or (
            other.neighbours.spread == mine.neighbours.spread and other.constraints == mine.constraints
        )
        if alike and other.node.labels[key] == domain:
            then += other.count
    fewest = min(counts.values(), default=0) if len(counts) >= constraint.min_domains else 0
    if then - fewest > constraint.max_skew:
        told = f"{then} pods in {key}={domain}, {fewest} in another domain: more than {constraint.max_skew} apart"
        yield True, mine.where, told
