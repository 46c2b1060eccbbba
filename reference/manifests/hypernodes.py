"""Volcano's HyperNodes (topology.volcano.sh/v1alpha1), made labels of the nodes: one level for each tier.

A HyperNode of tier 1 has nodes as members, one of a higher tier has HyperNodes. "All pods in one HyperNode of at most
tier n" is then "all on nodes with one value of tier n's label": its value is the highest HyperNode of at most that tier
that the node is in. So a node that is below no HyperNode of tier n, but of a lower one, has a label of tier n too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from reference.cluster.node import Node
from reference.cluster.topology import Topology, TopologyConstraint
from reference.manifests.constraints import read_requirement
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread

GROUP: Final = "topology.volcano.sh"
LABEL: Final = "topology.volcano.sh/tier-"
"""The label that a node gets for a tier; the tier's number follows."""
_MAX_PATTERN: Final = 200


@dataclass(frozen=True, slots=True)
class HyperNodes:
    """The tiers, lowest first, their names, and the labels that each node gets."""

    tiers: tuple[int, ...] = ()
    names: Mapping[str, int] | None = None
    labels: Mapping[str, Mapping[str, str]] | None = None

    def labelled(self, node: Node) -> Node:
        """``node`` with the labels of its HyperNodes."""
        more = (self.labels or {}).get(node.name)
        return replace(node, labels={**node.labels, **more}) if more else node

    def topology(self) -> tuple[Topology, ...]:
        """The levels, widest first; none where there is no HyperNode."""
        levels = tuple(f"{LABEL}{tier}" for tier in reversed(self.tiers))
        return (Topology("hypernodes", levels),) if levels else ()

    def constraint(self, field: Field | None, notices: Notices) -> tuple[TopologyConstraint, ...]:
        """What a ``networkTopology`` asks for."""
        if field is None:
            return ()
        unread(field, notices, "networkTopology", "mode", "highestTierAllowed", "highestTierName")
        mode, tier, name = field.get("mode"), field.get("highestTierAllowed"), field.get("highestTierName")
        if mode is not None and mode.string() not in ("hard", "soft"):
            raise mode.error("hard or soft")
        required = mode is None or mode.string() == "hard"
        if tier is None and name is None:
            return self._without_tier(mode or field, required, notices)
        if tier is not None and name is not None:
            raise name.error("highestTierAllowed or highestTierName", "both")
        highest = 0 if tier is None else tier.integer(1, 2**31 - 1, "a tier, 1 or more")
        if name is not None:
            known = self.names or {}
            if name.string() not in known:
                expected = f"the tierName of a HyperNode ({', '.join(sorted(known)) or 'there is none'})"
                raise name.error(expected)
            highest = known[name.string()]
        below = [each for each in self.tiers if each <= highest]
        if not below:
            place = tier or name or field
            if not self.tiers:
                notices.add(place, "no HyperNode is given: networkTopology is dropped", "no HyperNodes")
                return ()
            raise place.error(f"a tier that HyperNodes have ({', '.join(map(str, self.tiers))})")
        return (TopologyConstraint((f"{LABEL}{below[-1]}",), required),)

    def _without_tier(self, place: Field, required: bool, notices: Notices) -> tuple[TopologyConstraint, ...]:
        """Volcano takes a job as hard only if it names a tier, so that one that does not may go anywhere; a soft one
        is best near its other pods, in the lowest tier."""
        if required:
            notices.add(
                place, "networkTopology is hard without highestTierAllowed: Volcano restricts nothing", "no tier"
            )
            return ()
        return (TopologyConstraint((f"{LABEL}{self.tiers[0]}",), False),) if self.tiers else ()


def read_hypernodes(objects: Iterable[Object], nodes: Mapping[str, Node], notices: Notices) -> HyperNodes:
    """The tree of HyperNodes over ``nodes``. Raises ManifestError where it is not one."""
    named = by_name(objects, namespaced=False)
    tiers = {
        name: each.spec.need("tier", "the tier").integer(1, 2**31 - 1, "a tier, 1 or more")
        for name, each in named.items()
    }
    parent: dict[tuple[bool, str], str] = {}
    tier_names: dict[str, int] = {}
    for name, each in sorted(named.items()):
        unread(each.spec, notices, "a HyperNode", "tier", "tierName", "members")
        label = each.spec.get("tierName")
        if label is not None and tier_names.setdefault(label.name(), tiers[name]) != tiers[name]:
            raise label.error(f"one tier for {label.value!r}", f"tier {tiers[name]} beside {tier_names[label.name()]}")
        for member in each.spec.list_of("members"):
            kind = member.need("type", "Node or HyperNode").string()
            if kind not in ("Node", "HyperNode"):
                raise member.need("type", "a kind").error("Node or HyperNode")
            for inner in _selected(member, nodes if kind == "Node" else named, kind, notices):
                key = (kind == "Node", inner)
                if kind == "HyperNode" and tiers[inner] >= tiers[name]:
                    found = f"the HyperNode {inner!r} of tier {tiers[inner]} in {name!r} of tier {tiers[name]}"
                    raise member.error("members of a lower tier", found)
                if parent.setdefault(key, name) != name:
                    raise member.error(
                        "each member in one HyperNode", f"the {kind} {inner!r} in {parent[key]!r} and in {name!r}"
                    )
    levels = tuple(sorted(set(tiers.values())))
    labels: dict[str, dict[str, str]] = {}
    for node in nodes:
        above = parent.get((True, node))
        own: dict[str, str] = {}
        while above is not None:
            own.update({f"{LABEL}{tier}": above for tier in levels if tier >= tiers[above]})
            above = parent.get((False, above))
        if own:
            labels[node] = own
    return HyperNodes(levels, tier_names, labels)


def _selected(member: Field, among: Mapping[str, Node | Object], kind: str, notices: Notices) -> list[str]:
    """The names that a member's selector picks."""
    selector = member.need("selector", "a selector")
    exact, pattern, label = (selector.get(key) for key in ("exactMatch", "regexMatch", "labelMatch"))
    if exact is not None:
        name = exact.need("name", "a name")
        if name.name() not in among:
            notices.add(name, f"a member of a HyperNode, the {kind} {name.value!r}, is not given: passed over", kind)
            return []
        return [name.name()]
    if pattern is not None:
        text = pattern.need("pattern", "a regular expression")
        return [name for name in sorted(among) if _matches(text, name)]
    if label is not None and kind == "Node":
        wanted = label.get("matchLabels")
        pairs = wanted.string_map().items() if wanted else ()
        expressions = [read_requirement(each) for each in label.list_of("matchExpressions")]
        return [
            name
            for name, node in sorted(among.items())
            if isinstance(node, Node)
            and all(node.labels.get(key) == value for key, value in pairs)
            and all(each.matches(node.labels) for each in expressions)
        ]
    raise selector.error("one of exactMatch, regexMatch" + (", labelMatch" if kind == "Node" else ""))


def _matches(text: Field, name: str) -> bool:
    pattern = text.string()
    if len(pattern) > _MAX_PATTERN:
        raise text.error(f"a pattern of at most {_MAX_PATTERN} characters", f"{len(pattern)} characters")
    try:
        return re.search(pattern, name) is not None
    except (re.error, OverflowError, RecursionError):
        raise text.error("a regular expression") from None
