"""Everything that can happen to a core next: for random drivers, and to tell quiet from stuck.

The environment (shim, pods, timers, nodes) is as lively as ``Environment`` says. A correct shim is assumed: it asks for
every placeholder before any real pod (Y12), and confirms what it was asked to release: asks before allocations (Y25),
otherwise in any order.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.schedulers.yunikorn import cycle
from reference.schedulers.yunikorn.events import Event, EventName
from reference.schedulers.yunikorn.state import ApplicationState, TrackedApplication

if TYPE_CHECKING:
    from reference.schedulers.yunikorn.core import Core


class Timers(enum.Enum):
    """When timers may fire."""

    OFF = "off"
    SLOW = "slow"
    """Only while no release waits for the shim's confirmation."""
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Environment:
    """What may happen around the core.

    ``extra_reals``: real pods per task group beyond minMember. ``early_reals``: the shim does not wait for the whole
    gang before it asks for real pods. ``cordons``: how many nodes may be cordoned at once, beside those that were so
    from the start. ``resubmit``: completed IDs come again.
    """

    timers: Timers = Timers.FREE
    extra_reals: int = 0
    early_reals: bool = False
    cordons: int = 0
    resubmit: bool = False


def enabled_events(core: Core, environment: Environment) -> list[Event]:
    """All events that can happen now, sorted by name (in the order of ``EventName``), application, group, node, key."""
    events = [*_untimed(core, environment)]
    in_flight = any(event.name in (EventName.CONFIRM_RELEASE, EventName.CONFIRM_ASK_RELEASE) for event in events)
    if environment.timers is Timers.FREE or (environment.timers is Timers.SLOW and not in_flight):
        events += _timed(core)
    rank = {name: i for i, name in enumerate(EventName)}
    place = core.nodes.index
    return sorted(
        events, key=lambda e: (rank[e.name], e.application, e.task_group, place[e.node] if e.node else -1, e.key)
    )


def _untimed(core: Core, environment: Environment) -> Iterator[Event]:
    for application in core.cluster.applications:
        app = core.applications.get(application.name)
        if app is None or (environment.resubmit and app.state is ApplicationState.COMPLETED):
            yield Event(EventName.SUBMIT, application.name)
        if app is not None and not app.state.is_terminal:
            yield from _from_shim(app, environment)
    yield from cycle.all_decisions(core)
    closed = [node for node in core.nodes.index if node in core.nodes.cordoned and not core.nodes.closed_at_start(node)]
    for node in core.nodes.index:
        if node in closed:
            yield Event(EventName.UNCORDON, node=node)
        elif len(closed) < environment.cordons and node not in core.nodes.cordoned:
            yield Event(EventName.CORDON, node=node)


def _from_shim(app: TrackedApplication, environment: Environment) -> Iterator[Event]:
    asks_placeholders = app.state in (ApplicationState.NEW, ApplicationState.ACCEPTED) and not app.being_killed
    asked_all = True
    for group in app.application.task_groups:
        if asks_placeholders and app.groups[group.name].asked < group.min_member:
            asked_all = False
            yield Event(EventName.ASK_PLACEHOLDERS, app.name, group.name)
    ready = app.state in (ApplicationState.RUNNING, ApplicationState.WAITING)
    accepted = app.state is ApplicationState.ACCEPTED and not app.being_killed and asked_all
    if ready or (accepted and (app.whole or environment.early_reals)):
        for group in app.application.task_groups:
            if app.groups[group.name].reals_asked < group.min_member + environment.extra_reals:
                yield Event(EventName.ASK_REAL, app.name, group.name)
    if app.being_killed:
        for ask in (*app.placeholder_asks.values(), *app.real_asks.values()):
            yield Event(EventName.CONFIRM_ASK_RELEASE, app.name, ask.task_group, key=ask.key)
    for pod in app.placeholders.values():
        if pod.marked and not (app.being_killed and app.placeholder_asks):
            yield Event(EventName.CONFIRM_RELEASE, app.name, pod.task_group, pod.node, pod.key)
    for pod in app.reals.values():
        yield Event(EventName.FINISH_POD, app.name, pod.task_group, pod.node, pod.key)


def _timed(core: Core) -> Iterator[Event]:
    for app in core.applications.values():
        if app.may_time_out:
            yield Event(EventName.PLACEHOLDER_TIMEOUT, app.name)
        if app.state is ApplicationState.WAITING and not app.being_cleaned:
            yield Event(EventName.WAITING_TIMEOUT, app.name)
