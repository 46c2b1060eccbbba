"""A part of a gang that is cut into equal slices, each perhaps in a domain of its own.

Volcano's partitions and sub-groups and Kueue's slices of a pod set say so. The pods are alike, so every slice is a task
group of its own, and a composite says how many of them are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.cluster.gang import CompositeGroup
from reference.cluster.topology import TopologyConstraint
from reference.manifests.document import Field
from reference.manifests.gangs import Part
from reference.manifests.notices import Notices

MOST_SLICES = 10_000


@dataclass(frozen=True, slots=True)
class Slices:
    """Slices of ``size`` pods, of which ``least`` have to be whole, each near itself."""

    size: int
    least: int
    near: tuple[TopologyConstraint, ...] = ()


def slice_part(part: Part, slices: Slices, notices: Notices, place: Field) -> tuple[list[Part], CompositeGroup]:
    """The slices as parts, and the composite of them, which keeps the name of the part and its own topology."""
    count = part.size // slices.size
    if count > MOST_SLICES:
        raise place.error(f"at most {MOST_SLICES} slices", f"{count} slices")
    if part.least < slices.least * slices.size:
        text = f"of {part.name!r}, {slices.least * slices.size} pods have to run, as whole slices"
        notices.add(place, text, "slices above minimum")
    least = max(slices.least, -(-part.least // slices.size))
    width = len(str(count - 1))
    inner = [
        replace(part, name=f"{part.name}-{i:0{width}}", least=slices.size, size=slices.size, topology=slices.near)
        for i in range(count)
    ]
    return inner, CompositeGroup(part.name, tuple(each.name for each in inner), least, part.topology)
