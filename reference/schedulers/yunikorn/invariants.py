"""What must hold in every state of the core, recomputed from the pods that applications hold.

Sums are made afresh here and compared with what nodes and queues have tracked, so a slip in the bookkeeping shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reference.cluster import PODS, Resources, SortPolicy, total
from reference.schedulers.yunikorn.state import ApplicationState, TrackedApplication

if TYPE_CHECKING:
    from reference.schedulers.yunikorn.core import Core


def broken_invariants(core: Core) -> list[str]:
    """Every invariant that does not hold, one line each, in a fixed order."""
    found = [*_queues(core), *_nodes(core), *_released_once(core), *_in_line(core)]
    for app in (*core.earlier, *core.applications.values()):
        found += [f"{app.name} ({app.state.value}): {problem}" for problem in _application(app)]
    return found


def _queues(core: Core) -> Iterator[str]:
    """Tracked usage is what is held; no maximum is exceeded at any level; debts and counts of gangs are right."""
    for name, state in core.queues.states.items():
        below = [a for a in core.applications.values() if a.leaf == name or a.leaf.startswith(name + ".")]
        held = total(app.held() for app in below)
        yield from _same(f"queue {name}: used", state.used, core.queues.running[name] + held)
        yield from _same(f"queue {name}: owed", state.owed, total(app.owed() for app in below))
        for resource, limit in state.queue.maximum.items():
            used = state.used.get(resource, 0)
            if held.amount(resource) > 0 and used > max(limit, 0) and not any(app.recovered for app in below):
                yield f"queue {name}: {resource} {used} used, maximum {limit}"
        before = core.queues.begun_before[name]
        now = sum(1 for app in below if not app.state.is_terminal and (app.begun or app.reals or app.recovered))
        begun = before + now
        if begun != state.begun:
            yield f"queue {name}: {state.begun} applications counted as begun, {begun} are"
        most = state.queue.max_applications
        if most is not None and now and begun > most and not any(app.recovered for app in below):
            yield f"queue {name}: {begun} applications have begun, maxapplications {most}"


def _nodes(core: Core) -> Iterator[str]:
    """Free room is the node's room less what is held there; none is negative, but for pods that ran before."""
    for node in core.cluster.nodes:
        pods = (pod for app in core.applications.values() for pod in app.allocations())
        held = total(pod.resources for pod in pods if pod.node == node.name)
        expected = core.cluster.free(node) - node.counted(held)
        yield from _same(f"node {node.name}: free", core.nodes.free(node.name), expected)
        for resource, free in core.nodes.free(node.name).items():
            limited = resource != PODS or PODS in node.capacity
            recovered = any(app.recovered for app in core.applications.values())
            if free < 0 and held.amount(resource) > 0 and limited and not recovered:
                yield f"node {node.name}: {resource} over capacity by {-free}"


def _released_once(core: Core) -> Iterator[str]:
    """A placeholder is released once, and is then gone."""
    held = {key for app in core.applications.values() for key in app.placeholders}
    for key, times in core.times_released.items():
        if times > 1:
            yield f"placeholder #{key} was released {times} times"
        if times and key in held:
            yield f"placeholder #{key} is released, and still held"


def _in_line(core: Core) -> Iterator[str]:
    """Y7: but for fair, at most one application of a leaf holds a part of its gang and waits for the rest."""
    for leaf in core.queues.leaves():
        apps = [app for app in core.applications.values() if app.leaf == leaf.name]
        partial = [
            app.name for app in apps if app.begun and app.is_reserving and not (app.being_killed or app.recovered)
        ]
        if core.policy(leaf) is not SortPolicy.FAIR and len(partial) > 1:
            yield f"queue {leaf.name}: {', '.join(partial)} reserve at the same time"
        if {app.name for app in leaf.reserving} != {app.name for app in apps if app.is_reserving}:
            yield f"queue {leaf.name}: the line for placeholders is wrong"
        on_the_way = {app.name for app in apps if app.begun and app.state is ApplicationState.ACCEPTED}
        if {app.name for app in leaf.started} != on_the_way:
            yield f"queue {leaf.name}: the applications between Accepted and Running are others"
        for line in (leaf.reserving, leaf.started, leaf.placing):
            if [app.order for app in line] != sorted(app.order for app in line):
                yield f"queue {leaf.name}: a line is out of order"


def _application(app: TrackedApplication) -> Iterator[str]:
    """Each state's own conditions, and the life of every ask and placeholder accounted for."""
    if app.state.is_terminal and (app.placeholder_asks or app.real_asks or any(app.allocations())):
        yield "holds or asks for something after its end"
    if app.state in (ApplicationState.NEW, ApplicationState.REJECTED) and (any(app.allocations()) or app.begun):
        yield "holds something before it was accepted"
    runs = app.state in (ApplicationState.RUNNING, ApplicationState.WAITING, ApplicationState.COMPLETED) or app.reals
    if runs and not app.whole and not app.recovered:
        yield "a partial gang runs"
    if app.state is ApplicationState.WAITING and not app.is_idle:
        yield "waits with something allocated or pending"
    if app.state is ApplicationState.RUNNING and app.is_idle:
        yield "runs with nothing allocated and nothing pending"
    if app.state is ApplicationState.ACCEPTED and app.reals:
        yield "holds a real pod but does not run"
    if any(p.parked is not None and not p.marked for p in app.placeholders.values()):
        yield "a real ask is parked on a placeholder that is not to be released"
    parked = Counter(ask.key for ask in app.parked_asks())
    everywhere = parked + Counter(app.real_asks.keys()) + Counter(app.reals.keys())
    yield from (f"real pod #{key} is in {n} places" for key, n in everywhere.items() if n > 1)
    given_up = app.being_killed or app.state is ApplicationState.KILLED
    for group in app.application.task_groups:
        count = app.groups[group.name]
        pending = sum(1 for ask in app.placeholder_asks.values() if ask.task_group == group.name)
        held = sum(1 for p in app.placeholders.values() if p.task_group == group.name)
        if count.allocated != held + count.replaced + count.timed_out:
            yield f"{group.name}: {count.allocated} placeholders allocated, {held} held, {count} gone"
        if count.asked != count.allocated + pending and not given_up:
            yield f"{group.name}: {count.asked} placeholders asked for, {count.allocated} allocated, {pending} pending"
        if count.asked > group.min_member and not app.recovered:
            yield f"{group.name}: {count.asked} placeholders asked for, minMember is {group.min_member}"


def _same(what: str, tracked: object, expected: Resources) -> Iterator[str]:
    """Tracked and recomputed amounts agree; a type with amount 0 may be left out on either side."""
    found = {name: n for name, n in dict(tracked).items() if n}  # type: ignore[call-overload]  # any mapping of amounts
    wanted = {name: n for name, n in expected.items() if n}
    if found != wanted:
        yield f"{what} is {found}, but what is held makes it {wanted}"
