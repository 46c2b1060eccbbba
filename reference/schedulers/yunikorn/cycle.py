"""The scheduling cycle: which application is next, whether it may start, and where its pod goes.

One decision at a time. Replacements come first, over all queues; then, queue by queue in fair order, real asks of
running applications (the gate never stops those, Y9), then placeholders in the order of the leaf's sort policy:

- fifo: by submission. One application reserves at a time (Y7); none starts before an earlier one is whole.
- stateaware: by submission. One application at a time is on its way from Accepted to Running; a New one, without asks
  yet, holds up nobody.
- fair: the smallest share of what it holds (placeholders too) first, any number at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from reference.cluster import SortPolicy
from reference.schedulers.yunikorn.events import Event, EventName
from reference.schedulers.yunikorn.options import Gate
from reference.schedulers.yunikorn.queues import QueueState, Shortage
from reference.schedulers.yunikorn.state import Allocation, ApplicationState, Ask, TrackedApplication

if TYPE_CHECKING:
    from reference.schedulers.yunikorn.core import Core


def next_decision(core: Core) -> Event | None:
    """What the cycle does now, or None when nothing can be placed."""
    for leaf in core.queues.leaves():
        for app in leaf.placing:
            for event in replacements(core, app):
                return event
    for leaf in core.queues.in_order():
        for app in leaf.placing:
            for event in real_allocations(core, app):
                return event
        found = _next_placeholder(core, leaf)
        if found is not None:
            return found
    return None


def all_decisions(core: Core) -> Iterator[Event]:
    """Every decision that policy, gate, quotas and nodes allow now; ``next_decision`` is one of them."""
    for leaf in core.queues.in_order():
        for app in leaf.reserving:
            if is_in_turn(core, app) and stopped_by_gate(core, app) is None and not _too_many(core, app):
                for ask in _first_of_each_group(app.placeholder_asks.values()):
                    if core.queues.fits(leaf.name, ask.resources):
                        for node in core.nodes.choices(ask.resources, ask.constraints):
                            yield Event(EventName.ALLOCATE_PLACEHOLDER, app.name, ask.task_group, node)
        for app in leaf.placing:
            yield from replacements(core, app)
            yield from real_allocations(core, app)


def is_in_turn(core: Core, app: TrackedApplication) -> bool:
    """Whether the sort policy of its leaf lets ``app`` allocate a placeholder now."""
    if not app.is_reserving or app.state is not ApplicationState.ACCEPTED or app.being_killed:
        return False
    return ahead_of(core, app) is None


def ahead_of(core: Core, app: TrackedApplication) -> TrackedApplication | None:
    """The application for which ``app`` has to wait by its leaf's sort policy, or None."""
    leaf = core.queues.leaf(app.leaf)
    if core.policy(leaf) is SortPolicy.FAIR:
        return None
    first = _at_work(core, leaf)
    if first is None and core.options.strict:
        first = _head(core, leaf)
    return None if first is app else first


def _at_work(core: Core, leaf: QueueState) -> TrackedApplication | None:
    """The application that has begun and is to be finished before any other begins."""
    if core.policy(leaf) is SortPolicy.STATE_AWARE:
        return leaf.started[0] if leaf.started else None
    return next((app for app in leaf.started if app.is_reserving), None)


def _head(core: Core, leaf: QueueState) -> TrackedApplication | None:
    """The first in line."""
    if core.policy(leaf) is SortPolicy.STATE_AWARE:
        return next((app for app in leaf.reserving if app.state is ApplicationState.ACCEPTED), None)
    return leaf.reserving[0] if leaf.reserving else None


def stopped_by_gate(core: Core, app: TrackedApplication) -> Shortage | None:
    """Y8: the quota that keeps ``app`` from starting, None where it may, or has started already."""
    if app.begun or core.options.gate is Gate.NONE:
        return None
    with_owed = core.options.gate is Gate.RESERVES
    return core.queues.shortage(app.leaf, app.ask, with_owed=with_owed)


def _too_many(core: Core, app: TrackedApplication) -> bool:
    """Whether maxapplications of a queue on its path keeps ``app`` from starting."""
    return not app.counted and core.queues.full_of_applications(app.leaf) is not None


def _next_placeholder(core: Core, leaf: QueueState) -> Event | None:
    """The next placeholder allocation of one leaf."""
    if core.policy(leaf) is SortPolicy.FAIR:
        by_share = sorted(leaf.reserving, key=lambda app: (core.queues.share_of(app.held()), app.order))
        return next(_found(placeholder_allocation(core, app) for app in by_share), None)
    first = _at_work(core, leaf)
    if first is None and core.options.strict:
        first = _head(core, leaf)
    if first is not None or core.options.strict:
        return placeholder_allocation(core, first) if first is not None else None
    if leaf.cursor_epoch != core.epoch:
        leaf.cursor, leaf.cursor_epoch = 0, core.epoch
    while leaf.cursor < len(leaf.reserving):
        found = placeholder_allocation(core, leaf.reserving[leaf.cursor])
        if found is not None:
            return found
        leaf.cursor += 1
    return None


def _found(events: Iterable[Event | None]) -> Iterator[Event]:
    return (event for event in events if event is not None)


def placeholder_allocation(core: Core, app: TrackedApplication) -> Event | None:
    """The placeholder of ``app`` that goes first, on its first node; None where none fits. Turn is not looked at."""
    if app.state is not ApplicationState.ACCEPTED or not app.is_reserving or app.being_killed:
        return None
    if stopped_by_gate(core, app) is not None or _too_many(core, app):
        return None
    for ask in _first_of_each_group(app.placeholder_asks.values()):
        if core.queues.fits(app.leaf, ask.resources):
            node = core.nodes.first(ask.resources, ask.constraints)
            if node is not None:
                return Event(EventName.ALLOCATE_PLACEHOLDER, app.name, ask.task_group, node)
    return None


def replacements(core: Core, app: TrackedApplication) -> Iterator[Event]:
    """Replacements that may start: a real ask, and a node with an unmarked placeholder of its group (Y16)."""
    if not app.may_place_reals:
        return
    for ask in _first_of_each_kind(app.real_asks.values()):
        for node in dict.fromkeys(p.node for p in unmarked(app, ask.task_group)):
            yield Event(EventName.START_REPLACEMENT, app.name, ask.task_group, node, ask.key)


def real_allocations(core: Core, app: TrackedApplication) -> Iterator[Event]:
    """Normal allocations of real asks: only where no unmarked placeholder of the group is left (Y16)."""
    if not app.may_place_reals:
        return
    for ask in _first_of_each_kind(app.real_asks.values()):
        if next(unmarked(app, ask.task_group), None) is None and core.queues.fits(app.leaf, ask.resources):
            for node in core.nodes.choices(ask.resources, ask.constraints):
                yield Event(EventName.ALLOCATE_REAL, app.name, ask.task_group, node, ask.key)


def unmarked(app: TrackedApplication, group: str) -> Iterator[Allocation]:
    """Placeholders of ``group`` that are not to be released; none for a pod outside every group (Y30)."""
    return (p for p in app.placeholders.values() if group and p.task_group == group and not p.marked)


def _first_of_each_group(asks: Iterable[Ask]) -> Iterator[Ask]:
    """Placeholder asks of one group are alike: the first stands for all."""
    seen: dict[str, Ask] = {}
    for ask in asks:
        seen.setdefault(ask.task_group, ask)
    return iter(seen.values())


def _first_of_each_kind(asks: Iterable[Ask]) -> Iterator[Ask]:
    """As above for real asks, which may differ in size too."""
    seen: dict[tuple[str, object, object], Ask] = {}
    for ask in asks:
        seen.setdefault((ask.task_group, ask.resources, ask.constraints), ask)
    return iter(seen.values())
