"""The core's state and its bookkeeping: a pod enters and leaves its application, node and queues in one step."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter

from reference.cluster import Cluster, Resources, SortPolicy, TaskGroup
from reference.schedulers.yunikorn.nodes import Nodes
from reference.schedulers.yunikorn.options import Options
from reference.schedulers.yunikorn.queues import Queues, QueueState
from reference.schedulers.yunikorn.state import Allocation, ApplicationState, Ask, TrackedApplication


class NotEnabledError(ValueError):
    """The event cannot happen in the present state; the message says why."""


def require(condition: bool, message: str) -> None:
    """Raise NotEnabledError unless ``condition`` holds."""
    if not condition:
        raise NotEnabledError(message)


class Books:
    """State, and the changes that several events share."""

    def __init__(self, cluster: Cluster, options: Options | None = None) -> None:
        self.cluster = cluster
        self.options = options or Options()
        self.nodes = Nodes(cluster.nodes, self.options.node_order, cluster.running)
        self.queues = Queues(cluster)
        self.applications: dict[str, TrackedApplication] = {}
        self.earlier: list[TrackedApplication] = []
        """Ended applications whose ID was submitted again (Y28)."""
        self.times_released: Counter[int] = Counter()
        """How often each placeholder was released, by key."""
        self.epoch = 0
        """Counts every time something was given back: what could not start before may be able to now."""
        self._known = {app.name: app for app in cluster.applications}
        self._keys = itertools.count(1)
        self._arrivals = itertools.count()

    def policy(self, leaf: QueueState) -> SortPolicy:
        """How applications of ``leaf`` are ordered."""
        return self.options.sort_policy or leaf.queue.sort_policy

    def _live(self, name: str) -> TrackedApplication:
        app = self.applications.get(name)
        if app is None or app.state.is_terminal:
            raise NotEnabledError(f"application {name!r} is not in the core")
        return app

    def _group(self, app: TrackedApplication, name: str) -> TaskGroup:
        try:
            return app.group(name)
        except KeyError:
            raise NotEnabledError(f"application {app.name!r} has no task group {name!r}") from None

    def _real_ask(self, app: TrackedApplication, key: int) -> Ask:
        """A pending real ask that may be placed now."""
        ask = app.real_asks.get(key)
        if ask is None:
            raise NotEnabledError(f"{app.name!r} has no pending real ask #{key}")
        require(app.may_place_reals, f"{app.name!r} still waits for placeholders: real asks are ignored")
        return ask

    def _forget_ask(self, app: TrackedApplication, key: int) -> None:
        """A real ask is pending no more."""
        del app.real_asks[key]
        app.unschedulable.discard(key)
        if not app.real_asks:
            self.queues.leaf(app.leaf).placing.remove(app)

    def _line_up(self, app: TrackedApplication) -> None:
        """An application with a new pending real ask takes its place among those that have some."""
        placing = self.queues.leaf(app.leaf).placing
        if app not in placing:
            bisect.insort(placing, app, key=lambda other: other.order)

    def _room(self, app: TrackedApplication, ask: Ask, node: str) -> str:
        """The node for a pod: ``node``, or the first in node order where that is empty; quotas and room are checked."""
        shortage = self.queues.shortage(app.leaf, ask.resources)
        require(shortage is None, f"queue {shortage.queue if shortage else ''} has no room for a pod of {app.name!r}")
        if node:
            require(node in self.nodes.index, f"no node is named {node!r}")
            fits = self.nodes.fits(node, ask.resources, ask.constraints)
            require(fits, f"{node!r} cannot take a pod of {app.name!r}")
            return node
        first = self.nodes.first(ask.resources, ask.constraints)
        if first is None:
            raise NotEnabledError(f"no node can take a pod of {app.name!r}")
        return first

    def _hold(self, app: TrackedApplication, pod: Allocation) -> None:
        """``pod`` now runs: in application, node and queues."""
        (app.placeholders if pod.placeholder else app.reals)[pod.key] = pod
        self.nodes.take(pod.node, pod.resources)
        self.queues.take(app.leaf, pod.resources)
        if not app.counted:
            app.counted = True
            self.queues.count_begun(app.leaf, 1)

    def _run(self, app: TrackedApplication, ask: Ask, node: str) -> None:
        """A real pod starts; its application runs."""
        self._hold(app, Allocation(ask.key, ask.task_group, node, ask.resources, False, ask.constraints))
        app.state = ApplicationState.RUNNING
        self._has_started(app)

    def _drop(self, app: TrackedApplication, pod: Allocation) -> None:
        """``pod`` is gone: from application, node and queues."""
        del (app.placeholders if pod.placeholder else app.reals)[pod.key]
        if pod.placeholder:
            self.times_released[pod.key] += 1
        self.nodes.give(pod.node, pod.resources)
        self.queues.give(app.leaf, pod.resources)
        self.epoch += 1

    def _count_reserved(self, app: TrackedApplication, owed_before: Resources, started: bool) -> None:
        """After a change of what ``app`` reserves: what its queues are owed, and its place in line."""
        self.queues.owe(app.leaf, app.owed() - owed_before, 1)
        if app.begun and not started and app.state is ApplicationState.ACCEPTED:
            bisect.insort(self.queues.leaf(app.leaf).started, app, key=lambda other: other.order)
        if not app.is_reserving:
            self._leave_line(app)

    def _has_started(self, app: TrackedApplication) -> None:
        """``app`` is no longer on its way from New to Running."""
        started = self.queues.leaf(app.leaf).started
        if app in started:
            started.remove(app)

    def _leave_line(self, app: TrackedApplication) -> None:
        """``app`` is in line for placeholders no more: whole, given up or gone."""
        leaf = self.queues.leaf(app.leaf)
        if app in leaf.reserving:
            place = leaf.reserving.index(app)
            del leaf.reserving[place]
            leaf.cursor -= place < leaf.cursor

    def _settle(self, app: TrackedApplication) -> None:
        """State changes that follow from what an application still holds and asks for (Y20, Y21, Y26)."""
        if app.being_killed and not app.placeholders:
            self._end(app, ApplicationState.KILLED)
        elif app.state is ApplicationState.RUNNING and app.is_idle:
            app.state = ApplicationState.WAITING
        elif app.state is ApplicationState.WAITING and app.being_cleaned and not app.placeholders:
            self._end(app, ApplicationState.COMPLETED)

    def _end(self, app: TrackedApplication, state: ApplicationState) -> None:
        """Y27: out of its queue for good."""
        app.state = state
        app.placeholder_asks.clear()
        for key in list(app.real_asks):
            self._forget_ask(app, key)
        self._leave_line(app)
        self._has_started(app)
        if app.counted:
            app.counted = False
            self.queues.count_begun(app.leaf, -1)
        self.epoch += 1
