"""What a user may choose about the YuniKorn reference."""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields
from typing import Self

from reference.cluster import SortPolicy
from reference.errors import InputError


class Gate(enum.Enum):
    """When an application may start to reserve, as far as quota goes (design document: "Scheduling in queues")."""

    NONE = "none"
    """At once; placeholders go one by one until the quota stops them."""
    FITS = "fits"
    """When its whole ask fits what nobody uses: the design document's rule."""
    RESERVES = "reserves"
    """When its whole ask fits beside what is used and what half-reserved gangs still have to take."""


class NodeOrder(enum.Enum):
    """Which node a pod tries first (queues.yaml: ``nodesortpolicy.type``)."""

    FAIR = "fair"
    """The least used node: YuniKorn's default."""
    BINPACKING = "binpacking"
    """The most used node."""


@dataclass(frozen=True, slots=True)
class Options:
    """Choices that hold for a whole run.

    ``sort_policy`` replaces the sort policy of every leaf; None keeps each leaf's own. ``reject_fair`` is the design's
    rule that a FAIR leaf rejects gangs. ``strict`` makes an application that cannot place even its first placeholder
    hold up those behind it; without it the next one is tried, but a gang that has begun still comes before all others
    of its leaf.
    """

    sort_policy: SortPolicy | None = None
    reject_fair: bool = True
    gate: Gate = Gate.FITS
    node_order: NodeOrder = NodeOrder.FAIR
    strict: bool = True

    @classmethod
    def parse(cls, **given: object) -> Self:
        """Options from keywords; enumerations may be given by value (``gate="none"``).

        Raises InputError that names the option, what was found and what is expected.
        """
        known = {field.name for field in fields(cls)}
        kinds: dict[str, type[enum.Enum]] = {"sort_policy": SortPolicy, "gate": Gate, "node_order": NodeOrder}
        parsed: dict[str, object] = {}
        for name, value in given.items():
            if name not in known:
                raise InputError(f"option {name!r}", f"one of {', '.join(sorted(known))}", where="options")
            kind = kinds.get(name)
            if kind is None:
                if not isinstance(value, bool):
                    raise InputError(repr(value), "true or false", where=f"option {name}")
                parsed[name] = value
            elif isinstance(value, kind) or (name == "sort_policy" and value is None):
                parsed[name] = value
            else:
                try:
                    parsed[name] = kind(value)
                except ValueError:
                    expected = ", ".join(str(choice.value) for choice in kind)
                    raise InputError(repr(value), f"one of {expected}", where=f"option {name}") from None
        return cls(**parsed)  # type: ignore[arg-type]  # each value was checked against its field above
