"""The YuniKorn reference on the virtual clock: its event machine, the shim around it, and both of its timers.

The shim is a correct and quick one: it asks for all placeholders when a gang is submitted, and for the real pods when
the gang is whole. It confirms a release after ``release_ms``. The placeholder timer of a gang runs from its first
placeholder for the time that the application says; the timer of a waiting application for ``waiting_ms``.

What the design document leaves out, ``ChangingCore`` adds: nodes that come and go, applications that are deleted.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reference.cluster import Application, Cluster, Node
from reference.schedulers.yunikorn import ApplicationState, Event, EventName, Options, Outcome, Record
from reference.schedulers.yunikorn.changing import ChangingCore
from reference.schedulers.yunikorn.reasons import why_timed_out
from reference.simulation.clock import MS_PER_SECOND
from reference.simulation.scheduler import Bound, Change, Closed, Ending, Released, Said

_Timer = tuple[int, int, EventName, str, int]
"""Time, number (so that timers of one time go in the order in which they were set), event, application, key."""


class YuniKornScheduler:
    """``options`` as for ``reference.schedulers.yunikorn.Options``, ``strict`` False by default."""

    name = "yunikorn"

    def __init__(self, cluster: Cluster, *, release_ms: int = 0, waiting_ms: int = 30_000, **options: object) -> None:
        self.core = ChangingCore(cluster, Options.parse(**{"strict": False, **options}))
        self._release_ms, self._waiting_ms = release_ms, waiting_ms
        self._changes: list[Change] = []
        self._timers: list[_Timer] = []
        self._numbers = itertools.count()
        self._deadlines: dict[str, int] = {}
        self._now = 0

    def add_node(self, node: Node, now: int) -> None:
        """The node takes pods."""
        self.core.add_node(node)

    def remove_node(self, node: str, now: int) -> None:
        """Placeholders on it are gone at once, whether or not they were to be released; so are real pods."""
        self._now = now
        for record, replaced in self.core.remove_node(node):
            self._note(record, replaced, "its node is gone")

    def submit(self, application: Application, now: int) -> None:
        """The shim submits the application, whose time of submission is now, and asks for all of its placeholders."""
        self._now = now
        self.core.know(replace(application, submitted=now))
        self._note(self.core.submit(application.name))
        if not self.core.applications[application.name].state.is_terminal:
            for group in application.task_groups:
                self._note(self.core.ask_placeholders(application.name, group.name))

    def withdraw(self, application: str, now: int) -> None:
        """The application is deleted with all of its pods."""
        self.core.remove_application(application)
        self._changes = [c for c in self._changes if isinstance(c, Said) or c.application != application]
        self._timers = [timer for timer in self._timers if timer[3] != application]
        heapq.heapify(self._timers)

    def pod_ended(self, application: str, pod: int, now: int) -> None:
        """A real pod has succeeded."""
        self._now = now
        self._note(self.core.finish_pod(application, pod))

    def next_timer(self) -> int | None:
        """The next timeout or confirmation."""
        return self._timers[0][0] if self._timers else None

    def cycle(self, now: int) -> Sequence[Change]:
        """Decisions until there is none, then a timer that is due, and so on.

        What one timer frees may save another gang from its own: scheduling takes no time.
        """
        self._now = now
        self._decide()
        while self._timers and self._timers[0][0] <= now:
            _, _, event, application, key = heapq.heappop(self._timers)
            self._fire(event, application, key)
            self._decide()
        changes, self._changes = self._changes, []
        return changes

    def _decide(self) -> None:
        while (decision := self.core.next_decision()) is not None:
            self._note(self.core.apply(decision))

    def _fire(self, event: EventName, name: str, key: int) -> None:
        app = self.core.applications[name]
        if event is EventName.CONFIRM_RELEASE:
            if key in app.placeholders:
                self._confirm(name, key)
        elif event is EventName.PLACEHOLDER_TIMEOUT:
            if app.may_time_out and self._deadlines[name] <= self._now:
                app.reason = why_timed_out(self.core, app)
                self._note(self.core.placeholder_timeout(name))
        elif event is EventName.WAITING_TIMEOUT:
            if app.state is ApplicationState.WAITING and not app.being_cleaned:
                self._note(self.core.waiting_timeout(name))

    def _set(self, delay: int, event: EventName, name: str, key: int = 0) -> None:
        heapq.heappush(self._timers, (self._now + delay, next(self._numbers), event, name, key))

    def _confirm(self, name: str, key: int) -> None:
        placeholder = self.core.applications[name].placeholders[key]
        replaced = placeholder.parked.key if placeholder.parked else 0
        self._note(self.core.confirm_release(name, key), replaced, "replaced" if replaced else "given back")

    def _note(self, record: Record, real: int = 0, why: str = "") -> None:
        """What ``record`` changes for pods and gangs, and what the shim does about it; ``real`` was parked."""
        event = record.event
        name = event.application
        self._changes.append(Said(event.name.value, fields_of(record)))
        if record.outcome is Outcome.REJECTED:
            self._changes.append(Closed(name, Ending.REJECTED, record.reason))
        app = self.core.applications[name]
        match event.name:
            case EventName.ALLOCATE_PLACEHOLDER:
                self._changes.append(Bound(name, event.task_group, event.key, event.node, placeholder=True))
                if len(app.placeholders) == 1:  # the first, or the first since all were lost with their nodes
                    timeout = app.application.placeholder_timeout_seconds * MS_PER_SECOND
                    self._deadlines[name] = self._now + timeout
                    self._set(timeout, EventName.PLACEHOLDER_TIMEOUT, name)
                if app.whole:
                    self._ask_reals(app.application)
            case EventName.ALLOCATE_REAL:
                self._changes.append(Bound(name, event.task_group, event.key, event.node))
            case EventName.CONFIRM_RELEASE if record.outcome is not Outcome.IGNORED:
                self._changes.append(Released(name, event.key, why))
                if record.to_node:
                    self._changes.append(Bound(name, event.task_group, real, record.to_node))
            case EventName.FINISH_POD if why:
                self._changes.append(Released(name, event.key, why))
        for key in record.ask_releases:
            self._note(self.core.confirm_ask_release(name, key))
        for key in record.releases:
            if self._release_ms:
                self._set(self._release_ms, EventName.CONFIRM_RELEASE, name, key)
            else:
                self._confirm(name, key)
        if record.after is not record.before and record.after is ApplicationState.WAITING:
            self._set(self._waiting_ms, EventName.WAITING_TIMEOUT, name)
        if record.after is not record.before and record.after is ApplicationState.KILLED:
            self._changes.append(Closed(name, Ending.KILLED, app.reason))

    def _ask_reals(self, application: Application) -> None:
        for group in application.task_groups:
            for _ in range(group.min_member):
                self._note(self.core.ask_real(application.name, group.name))


def fields_of(record: Record) -> dict[str, object]:
    """The fields of ``record`` that are not at their defaults, for a log; ``record_of`` reads them back."""
    event = record.event
    fields: dict[str, object] = {
        "application": event.application,
        "task_group": event.task_group,
        "node": event.node,
        "key": event.key,
        "outcome": record.outcome.value if record.outcome is not Outcome.DONE else "",
        "before": record.before.value if record.before else "",
        "after": record.after.value if record.after else "",
        "to_node": record.to_node,
        "placeholder": record.placeholder,
        "releases": list(record.releases),
        "ask_releases": list(record.ask_releases),
        "reason": record.reason,
    }
    return {name: value for name, value in fields.items() if value}


def record_of(line: Mapping[str, Any]) -> Record:
    """The record of a log line that ``fields_of`` made; KeyError or ValueError where it is none."""
    event = Event(
        EventName(line["event"]),
        line.get("application", ""),
        line.get("task_group", ""),
        line.get("node", ""),
        line.get("key", 0),
    )
    before, after = line.get("before"), line.get("after")
    return Record(
        event,
        Outcome(line.get("outcome", Outcome.DONE.value)),
        ApplicationState(before) if before else None,
        ApplicationState(after) if after else None,
        line.get("to_node", ""),
        line.get("placeholder", 0),
        tuple(line.get("releases", ())),
        tuple(line.get("ask_releases", ())),
        line.get("reason", ""),
    )
