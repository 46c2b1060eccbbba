"""Which release of Ray is restated."""

from __future__ import annotations

from enum import Enum

from reference.schedulers.ray.request import InstanceStatus


class Edition(Enum):
    """A release. 2.48 has no label selectors, no priorities, no availabilities and no time out of nodes that wait for
    Ray and are not needed: it reads past them."""

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

    @property
    def times_pending_out(self) -> bool:
        """Nodes that do not run Ray yet, and that nothing needs, are idle too, with a time out of their own."""
        return self is Edition.CURRENT

    @property
    def counts_launch_errors(self) -> bool:
        """An error fails as many launches as it counts; before, all of its type and request."""
        return self is Edition.CURRENT

    @property
    def looks_for_missing_nodes(self) -> bool:
        """A Ray node that the GCS no longer knows has stopped (ray#63424)."""
        return self is Edition.CURRENT

    @property
    def passes_over_lost_nodes(self) -> bool:
        """An instance that runs a Ray node unknown to the GCS is left out of a decision; before, it ended the loop."""
        return self is Edition.CURRENT

    @property
    def marks_allocation_timeouts(self) -> bool:
        """Where Ray does not start, the instance becomes ALLOCATION_TIMEOUT, and its type less available."""
        return self is Edition.CURRENT

    @property
    def terminates_first(self) -> bool:
        """A loop terminates before it launches (ray#63766)."""
        return self is Edition.CURRENT

    @property
    def spares_restarted(self) -> bool:
        """Where Ray was restarted on a cloud instance, the old record ends without the cloud instance."""
        return self is Edition.CURRENT

    @property
    def grows_from_one(self) -> bool:
        """The upscaling speed counts from one running node where there is none."""
        return self is Edition.CURRENT

    @property
    def cancels(self) -> frozenset[InstanceStatus]:
        """States of which an instance that is not wanted any more simply ends."""
        return frozenset({InstanceStatus.QUEUED}) if self is Edition.CURRENT else frozenset()

    @property
    def terminates_at_once(self) -> frozenset[InstanceStatus]:
        """States of which an instance that is not wanted any more is terminated, as there is no Ray to drain."""
        allocated = frozenset({InstanceStatus.ALLOCATED})
        return allocated | {InstanceStatus.RAY_INSTALLING} if self is Edition.CURRENT else allocated
