"""What can happen to the core, and the record of what did: the words that a log, a test or a spec's binding reads."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from reference.schedulers.yunikorn.state import ApplicationState


class EventName(enum.Enum):
    """Every event; ``Core`` has one method for each, of the same name. The order is that of ``enabled_events``."""

    SUBMIT = "submit"
    ASK_PLACEHOLDERS = "ask_placeholders"
    ASK_REAL = "ask_real"
    ALLOCATE_PLACEHOLDER = "allocate_placeholder"
    START_REPLACEMENT = "start_replacement"
    ALLOCATE_REAL = "allocate_real"
    CONFIRM_ASK_RELEASE = "confirm_ask_release"
    CONFIRM_RELEASE = "confirm_release"
    FINISH_POD = "finish_pod"
    PLACEHOLDER_TIMEOUT = "placeholder_timeout"
    WAITING_TIMEOUT = "waiting_timeout"
    CORDON = "cordon"
    UNCORDON = "uncordon"
    RECOVER = "recover"


CORE_DECIDES = frozenset({EventName.ALLOCATE_PLACEHOLDER, EventName.START_REPLACEMENT, EventName.ALLOCATE_REAL})
"""Events of the scheduling cycle; the others come from shim, nodes or timers."""


class Outcome(enum.Enum):
    """How an event went."""

    DONE = "done"
    REJECTED = "rejected"
    SAME_NODE = "same node"
    OTHER_NODE = "other node"
    UNSCHEDULABLE = "unschedulable"
    REMOVED = "removed"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that can happen. Fields that an event does not need stay empty.

    ``key`` identifies an ask or an allocation: the real ask for START_REPLACEMENT and ALLOCATE_REAL, the placeholder
    for CONFIRM_RELEASE, the allocation for FINISH_POD. ``node`` is where the allocation concerned is, or goes.
    """

    name: EventName
    application: str = ""
    task_group: str = ""
    node: str = ""
    key: int = 0

    def __str__(self) -> str:
        what = f"{self.application}/{self.task_group}" if self.task_group else self.application
        number = f"#{self.key}" if self.key else ""
        place = f"@{self.node}" if self.node else ""
        return f"{self.name.value} {what}{number}{place}".rstrip()


@dataclass(frozen=True, slots=True)
class Record:
    """An event that happened.

    ``before`` and ``after`` are the application's states (None where no application is concerned, and ``before`` at a
    submission). ``to_node`` is where a real pod went, ``placeholder`` the key of the placeholder it replaces.
    ``releases`` are the allocations that the shim is asked to release, ``ask_releases`` the asks, in one response.
    """

    event: Event
    outcome: Outcome = Outcome.DONE
    before: ApplicationState | None = None
    after: ApplicationState | None = None
    to_node: str = ""
    placeholder: int = 0
    releases: tuple[int, ...] = ()
    ask_releases: tuple[int, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        parts = [str(self.event)]
        if self.outcome is not Outcome.DONE:
            parts.append(self.outcome.value)
        if self.to_node:
            parts.append(f"to {self.to_node}")
        if self.before is not self.after and self.after is not None:
            parts.append(self.after.value if self.before is None else f"{self.before.value} -> {self.after.value}")
        if self.reason:
            parts.append(self.reason)
        return ": ".join((parts[0], ", ".join(parts[1:]))) if len(parts) > 1 else parts[0]
