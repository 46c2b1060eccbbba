"""YuniKorn's gang scheduling as its first design document states it, one method per event.

The document is the proposal that introduced placeholders ("Gang Scheduling Implementation", core side; below "the
design"). Rules are quoted by the numbers Y1-Y30 under which this project lists them. Where the document contradicts
itself or is silent, this reference settles as follows:

- Completed and Killed are entered when the last placeholder's release is confirmed, not when it is asked for.
- Waiting means nothing allocated and nothing pending, and is entered from Running only. So a whole gang whose real pods
  never come stays Accepted: the document gives it no way out.
- Real asks are ignored until placeholderAsk is reserved in full, not just while placeholder asks are pending: the shim
  may send a group's asks one by one.
- A placeholder timeout kills only while placeholder asks are pending. An application that is being killed stays in line
  until the shim has confirmed the release of those asks, which it does before it turns to the allocations.
- An application that has begun to reserve comes before all others of a fifo or stateaware leaf.

Not here, because the document leaves them out: preemption, priorities, user limits, reservations of nodes, removal of
nodes, soft gang style.
"""

from __future__ import annotations

import bisect

from reference.cluster import ANYWHERE, Constraints, Resources
from reference.schedulers.yunikorn import cycle
from reference.schedulers.yunikorn.books import Books, NotEnabledError, require
from reference.schedulers.yunikorn.enabled import Environment, enabled_events
from reference.schedulers.yunikorn.events import Event, EventName, Outcome, Record
from reference.schedulers.yunikorn.invariants import broken_invariants
from reference.schedulers.yunikorn.reasons import why_rejected
from reference.schedulers.yunikorn.state import Allocation, ApplicationState, Ask, GroupCount, TrackedApplication


class Core(Books):
    """The scheduler core: queues, nodes, applications, and every event that can change them.

    Each event method checks that the event can happen (NotEnabledError), changes the state in one step and returns the
    ``Record``. The cluster's applications are what may be submitted; its running pods hold their room from the start.
    """

    def next_decision(self) -> Event | None:
        """What the scheduling cycle would do now, or None."""
        return cycle.next_decision(self)

    def enabled_events(self, environment: Environment | None = None) -> list[Event]:
        """Everything that can happen now, in a total order; see ``enabled.py``."""
        return enabled_events(self, environment or Environment())

    def check_invariants(self) -> list[str]:
        """Every invariant that does not hold now, one line each; see ``invariants.py``."""
        return broken_invariants(self)

    def apply(self, event: Event) -> Record:
        """Let ``event`` happen: dispatches to the method of its name."""
        match event.name:
            case EventName.SUBMIT:
                return self.submit(event.application)
            case EventName.ASK_PLACEHOLDERS:
                return self.ask_placeholders(event.application, event.task_group)
            case EventName.ASK_REAL:
                return self.ask_real(event.application, event.task_group)
            case EventName.ALLOCATE_PLACEHOLDER:
                return self.allocate_placeholder(event.application, event.task_group, event.node)
            case EventName.START_REPLACEMENT:
                return self.start_replacement(event.application, event.key, event.node)
            case EventName.ALLOCATE_REAL:
                return self.allocate_real(event.application, event.key, event.node)
            case EventName.CONFIRM_ASK_RELEASE:
                return self.confirm_ask_release(event.application, event.key)
            case EventName.CONFIRM_RELEASE:
                return self.confirm_release(event.application, event.key)
            case EventName.FINISH_POD:
                return self.finish_pod(event.application, event.key)
            case EventName.PLACEHOLDER_TIMEOUT:
                return self.placeholder_timeout(event.application)
            case EventName.WAITING_TIMEOUT:
                return self.waiting_timeout(event.application)
            case EventName.CORDON:
                return self.cordon(event.node)
            case EventName.UNCORDON:
                return self.uncordon(event.node)
            case EventName.RECOVER:
                raise NotEnabledError("recover carries more than an event says: call Core.recover")

    # --- from the shim: applications and asks ---

    def submit(self, name: str) -> Record:
        """Y5, Y6, Y28: reject what can never be honoured, take everything else into its leaf as New."""
        old = self.applications.get(name)
        require(name in self._known, f"no application is named {name!r}")
        require(old is None or old.state.is_terminal, f"application {name!r} is in the core already")
        application = self._known[name]
        submitted = application.submitted
        if old is not None:
            self.earlier.append(old)
            submitted = max(app.order[0] for app in self.applications.values())
        app = TrackedApplication(application, (submitted, next(self._arrivals)))
        self.applications[name] = app
        event = Event(EventName.SUBMIT, name)
        reason = why_rejected(self, application)
        if reason is not None:
            app.state, app.reason = ApplicationState.REJECTED, reason
            return Record(event, Outcome.REJECTED, None, app.state, reason=reason)
        bisect.insort(self.queues.leaf(app.leaf).reserving, app, key=lambda other: other.order)
        return Record(event, Outcome.DONE, None, app.state)

    def ask_placeholders(self, name: str, group: str, count: int | None = None) -> Record:
        """Y12, Y13, Y15: the shim asks for ``count`` placeholders of a group (all that it has not asked for yet).

        The first ask moves the application from New to Accepted.
        """
        app = self._live(name)
        task_group = self._group(app, group)
        counts = app.groups[group]
        left = task_group.min_member - counts.asked
        number = left if count is None else count
        states = (ApplicationState.NEW, ApplicationState.ACCEPTED)
        takes = app.state in states and not app.being_killed
        require(takes, f"{name!r} takes no placeholder asks in {app.state.value}")
        require(1 <= number <= left, f"{name!r} may ask for 1 to {left} more placeholders of {group!r}, not {number}")
        for _ in range(number):
            key = next(self._keys)
            app.placeholder_asks[key] = Ask(key, group, task_group.pod_resource, task_group.constraints)
        counts.asked += number
        before, app.state = app.state, ApplicationState.ACCEPTED
        self.queues.leaf(app.leaf).cursor = 0  # it may have been passed over while it was New
        return Record(Event(EventName.ASK_PLACEHOLDERS, name, group), before=before, after=app.state)

    def ask_real(
        self, name: str, group: str = "", resources: Resources | None = None, constraints: Constraints = ANYWHERE
    ) -> Record:
        """Y12, Y21, Y30: a real pod asks for a node, a member of ``group`` unless ``resources`` says otherwise.

        ``constraints`` go with ``resources``. An application that waits runs again. While placeholders are to be
        allocated the ask is kept, and ignored (Y14).
        """
        app = self._live(name)
        accepted = app.state is ApplicationState.ACCEPTED and not app.being_killed
        runs = app.state in (ApplicationState.RUNNING, ApplicationState.WAITING)
        require(accepted or runs, f"{name!r} takes no real asks in {app.state.value}")
        key = next(self._keys)
        if resources is None:
            member = self._group(app, group)
            app.real_asks[key] = Ask(key, group, member.pod_resource, member.constraints)
        else:
            app.real_asks[key] = Ask(key, group, resources, constraints)
        if group in app.groups:
            app.groups[group].reals_asked += 1
        before = app.state
        if app.state is ApplicationState.WAITING:
            app.state, app.being_cleaned = ApplicationState.RUNNING, False
        self._line_up(app)
        return Record(Event(EventName.ASK_REAL, name, group, key=key), before=before, after=app.state)

    # --- the scheduling cycle ---

    def allocate_placeholder(self, name: str, group: str, node: str = "") -> Record:
        """Y3, Y8, Y13, Y22: the next placeholder of a group goes to ``node`` (or the first in node order)."""
        app = self._live(name)
        ask = next((ask for ask in app.placeholder_asks.values() if ask.task_group == group), None)
        if ask is None:
            raise NotEnabledError(f"{name!r} has no pending placeholder ask of {group!r}")
        require(cycle.is_in_turn(self, app), f"it is not {name!r}'s turn in {app.leaf}")
        require(cycle.stopped_by_gate(self, app) is None, f"the gate of {app.leaf} does not let {name!r} start")
        full = None if app.counted else self.queues.full_of_applications(app.leaf)
        require(full is None, f"{name!r}: a queue on its path runs all the applications it may")
        node = self._room(app, ask, node)
        del app.placeholder_asks[ask.key]
        owed, started = app.owed(), app.begun
        app.groups[group].allocated += 1
        app.reserved = app.reserved + ask.resources
        self._hold(app, Allocation(ask.key, group, node, ask.resources, True, ask.constraints))
        self._count_reserved(app, owed, started)
        return Record(
            Event(EventName.ALLOCATE_PLACEHOLDER, name, group, node, ask.key), before=app.state, after=app.state
        )

    def start_replacement(self, name: str, key: int, node: str = "") -> Record:
        """Y16, Y17: mark a placeholder for the real ask ``key``, on ``node`` if given; ask the shim to release it.

        Nothing is released here: the placeholder keeps its room and the ask is parked until the confirmation.
        """
        app = self._live(name)
        ask = self._real_ask(app, key)
        choices = [p for p in cycle.unmarked(app, ask.task_group) if node in ("", p.node)]
        require(bool(choices), f"{name!r} has no placeholder of {ask.task_group!r} to replace {node and 'on ' + node}")
        placeholder = choices[0]
        placeholder.marked, placeholder.parked = True, ask
        self._forget_ask(app, key)
        event = Event(EventName.START_REPLACEMENT, name, ask.task_group, placeholder.node, key)
        return Record(
            event, before=app.state, after=app.state, placeholder=placeholder.key, releases=(placeholder.key,)
        )

    def allocate_real(self, name: str, key: int, node: str = "") -> Record:
        """Y9, Y16: a real ask without a placeholder to replace is allocated like any other."""
        app = self._live(name)
        ask = self._real_ask(app, key)
        require(next(cycle.unmarked(app, ask.task_group), None) is None, f"#{key} has a placeholder to replace")
        node = self._room(app, ask, node)
        self._forget_ask(app, key)
        before = app.state
        self._run(app, ask, node)
        event = Event(EventName.ALLOCATE_REAL, name, ask.task_group, node, key)
        return Record(event, before=before, after=app.state, to_node=node)

    # --- from the shim: pods that have gone ---

    def confirm_ask_release(self, name: str, key: int) -> Record:
        """Y24, Y25: the shim has dropped the pod of a pending ask, after a placeholder timeout."""
        app = self._live(name)
        ask = app.placeholder_asks.get(key) or app.real_asks.get(key)
        if ask is None or not app.being_killed:
            raise NotEnabledError(f"{name!r} has no ask #{key} that is to be released")
        if key in app.real_asks:
            self._forget_ask(app, key)
        else:
            del app.placeholder_asks[key]
        if not app.is_reserving:
            self._leave_line(app)
        self.epoch += 1
        event = Event(EventName.CONFIRM_ASK_RELEASE, name, ask.task_group, key=key)
        return Record(event, Outcome.REMOVED, app.state, app.state)

    def confirm_release(self, name: str, key: int) -> Record:
        """Y18, Y19, Y26: the shim has removed the pod of a marked placeholder.

        The placeholder goes in any case. A parked real ask takes its place on the same node if that is possible, else
        another node, else it is unschedulable and waits again. All in one step. A second confirmation changes nothing.
        """
        app = self.applications.get(name)
        if app is None:
            raise NotEnabledError(f"application {name!r} is not in the core")
        if self.times_released[key]:
            return Record(Event(EventName.CONFIRM_RELEASE, name, key=key), Outcome.IGNORED, app.state, app.state)
        placeholder = app.placeholders.get(key)
        if placeholder is None or not placeholder.marked:
            raise NotEnabledError(f"{name!r} has no placeholder #{key} that is to be released")
        before, parked, epoch = app.state, placeholder.parked, self.epoch
        self._drop(app, placeholder)
        counts = app.groups.get(placeholder.task_group, GroupCount())
        outcome, node = Outcome.REMOVED, ""
        if parked is None:
            counts.timed_out += 1
        else:
            counts.replaced += 1
            outcome, node = self._place_parked(app, parked, placeholder.node)
            if outcome is Outcome.SAME_NODE and parked.resources == placeholder.resources:
                self.epoch = epoch  # nothing was given back
        self._settle(app)
        event = Event(EventName.CONFIRM_RELEASE, name, placeholder.task_group, placeholder.node, key)
        return Record(event, outcome, before, app.state, to_node=node)

    def _place_parked(self, app: TrackedApplication, ask: Ask, same: str) -> tuple[Outcome, str]:
        """Steps 4-6 of the replacement, the placeholder being gone."""
        if self.queues.fits(app.leaf, ask.resources):
            if self.nodes.fits(same, ask.resources, ask.constraints):
                self._run(app, ask, same)
                return Outcome.SAME_NODE, same
            other = self.nodes.first(ask.resources, ask.constraints)
            if other is not None:
                self._run(app, ask, other)
                return Outcome.OTHER_NODE, other
        app.real_asks[ask.key] = ask
        app.unschedulable.add(ask.key)
        self._line_up(app)
        return Outcome.UNSCHEDULABLE, ""

    def finish_pod(self, name: str, key: int) -> Record:
        """Y20: a real pod has ended; an application with nothing allocated and nothing pending now waits."""
        app = self._live(name)
        pod = app.reals.get(key)
        if pod is None:
            raise NotEnabledError(f"{name!r} has no real pod #{key}")
        before = app.state
        self._drop(app, pod)
        self._settle(app)
        return Record(Event(EventName.FINISH_POD, name, pod.task_group, pod.node, key), before=before, after=app.state)

    # --- timers ---

    def placeholder_timeout(self, name: str) -> Record:
        """Y22-Y25: give up a half-reserved gang. One response: all asks and all placeholders are to be released.

        The core forgets each once its release is confirmed; the application turns Killed with the last placeholder.
        """
        app = self._live(name)
        require(app.may_time_out, f"{name!r} is not half-reserved")
        owed = app.owed()
        app.being_killed = True
        asks = (*app.placeholder_asks, *app.real_asks)
        releases = _mark_all(app)
        self._count_reserved(app, owed, started=True)
        event = Event(EventName.PLACEHOLDER_TIMEOUT, name)
        return Record(event, before=app.state, after=app.state, releases=releases, ask_releases=asks)

    def waiting_timeout(self, name: str) -> Record:
        """Y21, Y24: the application has waited long enough: left-over placeholders go, then it is Completed."""
        app = self._live(name)
        waits = app.state is ApplicationState.WAITING and not app.being_cleaned
        require(waits, f"{name!r} is not waiting, or is being cleaned up already")
        app.being_cleaned = True
        before, releases = app.state, _mark_all(app)
        self._settle(app)
        return Record(Event(EventName.WAITING_TIMEOUT, name), before=before, after=app.state, releases=releases)

    # --- nodes, recovery ---

    def cordon(self, node: str) -> Record:
        """The node takes no new pods from now on; a replacement on it has to go elsewhere (Y18)."""
        require(node in self.nodes.index and node not in self.nodes.cordoned, f"{node!r} cannot be cordoned")
        self.nodes.cordon(node)
        return Record(Event(EventName.CORDON, node=node))

    def uncordon(self, node: str) -> Record:
        """The node takes pods again."""
        require(node in self.nodes.cordoned, f"{node!r} is not cordoned")
        self.nodes.uncordon(node)
        self.epoch += 1
        return Record(Event(EventName.UNCORDON, node=node))

    def recover(
        self, name: str, node: str, resources: Resources, group: str = "", *, placeholder: bool = False
    ) -> Record:
        """Y29, Y30: the shim reports a pod that was bound before the core started.

        It is a placeholder only if it carries the flag and a task group; else it is a regular allocation, which no
        replacement will pick. Nothing is checked: the pod is there. It counts as an ask, so New turns Accepted.
        """
        app = self._live(name)
        require(node in self.nodes.index, f"no node is named {node!r}")
        require(not app.being_killed, f"{name!r} is being killed")
        key = next(self._keys)
        before, owed, started = app.state, app.owed(), app.begun
        is_placeholder = placeholder and group != ""
        require(not is_placeholder or group in app.groups, f"application {name!r} has no task group {group!r}")
        app.recovered = True
        if app.state is ApplicationState.NEW:
            app.state = ApplicationState.ACCEPTED
        pod = Allocation(key, group, node, resources, is_placeholder)
        if is_placeholder:
            app.groups[group].asked += 1
            app.groups[group].allocated += 1
            app.reserved = app.reserved + resources
        else:
            app.state, app.being_cleaned = ApplicationState.RUNNING, False
            self._has_started(app)
        self._hold(app, pod)
        self._count_reserved(app, owed, started)
        return Record(Event(EventName.RECOVER, name, group, node, key), before=before, after=app.state)


def _mark_all(app: TrackedApplication) -> tuple[int, ...]:
    """Mark every placeholder that is not marked yet; their keys."""
    marked = tuple(p.key for p in app.placeholders.values() if not p.marked)
    for key in marked:
        app.placeholders[key].marked = True
    return marked
