"""What the scheduler is told, and what it tells of each event."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from reference.schedulers.kubernetes.algorithm import Assignment
from reference.schedulers.kubernetes.api import Pod


class EventName(enum.Enum):
    """One for each method of the scheduler."""

    ADD_NODE = "add_node"
    UPDATE_NODE = "update_node"
    REMOVE_NODE = "remove_node"
    CREATE_POD_GROUP = "create_pod_group"
    UPDATE_POD_GROUP = "update_pod_group"
    DELETE_POD_GROUP = "delete_pod_group"
    CREATE_POD = "create_pod"
    DELETE_POD = "delete_pod"
    POP = "pop"
    CYCLE = "cycle"
    BIND_SUCCEEDED = "bind_succeeded"
    BIND_FAILED = "bind_failed"
    ADVANCE = "advance"


class Outcome(enum.Enum):
    """What came of an event."""

    DONE = "done"
    REFUSED = "refused"
    """It cannot happen; nothing has changed."""
    POPPED = "popped"
    SCHEDULED = "Scheduled"
    UNSCHEDULABLE = "Unschedulable"
    PREEMPTING = "Preempting"
    """Unschedulable, and victims were asked to leave: pods are nominated."""
    SCHEDULER_ERROR = "SchedulerError"
    HIERARCHY_CHANGED = "HierarchyChanged"
    """The cycle stopped, and the root is queued again."""


@dataclass(frozen=True, slots=True)
class Record:
    """One event.

    ``name`` is the node, group or pod that it is about, of a cycle the root. ``assumed``: pods that go on to binding.
    ``evicted``: pods that were asked to leave. ``nominated``: pods and the nodes that are kept for them. ``activated``:
    roots that came to activeQ. ``steps``: the pods of a cycle in the order in which they were judged, each with the
    node that was found for it, or empty.
    """

    event: EventName
    name: str
    outcome: Outcome = Outcome.DONE
    assumed: tuple[Assignment, ...] = ()
    evicted: tuple[str, ...] = ()
    nominated: tuple[Assignment, ...] = ()
    activated: tuple[str, ...] = ()
    steps: tuple[tuple[Pod, str], ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        told = [f"{self.event.value} {self.name}".strip(), self.outcome.value]
        told += [f"{what} {', '.join(names)}" for what, names in self._listed() if names]
        return ": ".join([*told, self.reason] if self.reason else told)

    def _listed(self) -> list[tuple[str, list[str]]]:
        return [
            ("binds", [f"{pod.name} on {node}" for pod, node in self.assumed]),
            ("evicts", list(self.evicted)),
            ("nominates", [f"{pod.name} for {node}" for pod, node in self.nominated]),
        ]
