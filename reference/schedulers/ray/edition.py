"""Which release of Ray is restated."""

from __future__ import annotations

from enum import Enum


class Edition(Enum):
    """A release. 2.48 has no label selectors, no priorities and no availabilities: it reads past them."""

    CURRENT = "2.60"
    SEED = "2.48"

    @property
    def has_labels(self) -> bool:
        """Label selectors bind, static labels of nodes are known, and how well they match leads the score."""
        return self is Edition.CURRENT

    @property
    def breaks_ties(self) -> bool:
        """Nodes of one score are told apart by availability and priority of their type."""
        return self is Edition.CURRENT

    @property
    def sets_exhausted_aside(self) -> bool:
        """Running nodes with room for no request are left out beforehand, and end up last in the list of nodes."""
        return self is Edition.CURRENT

    @property
    def tries_alike_once(self) -> bool:
        """Of nodes that do not run Ray yet and look alike, only the first is tried.

        Without this, nodes launched together for a minimum are one object under several places of the list, and each
        place is tried on what the tries before it have left: see ``candidates.py``.
        """
        return self is Edition.CURRENT

    @property
    def idle_in_order(self) -> bool:
        """Idle nodes are visited in the order of termination; before, in the order of the list."""
        return self is Edition.CURRENT
