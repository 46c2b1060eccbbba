"""A partition of YuniKorn's core as its code is today: one method for each event, on a virtual clock.

Source: apache/yunikorn-core at be3bb487 (2026-07-02), pkg/scheduler/partition.go and context.go. Start reading here,
then ``cycle.py`` (who is next), ``releases.py`` (what happens when pods go), ``timers.py``. Events that cannot be, such
as the release of an unknown allocation, do what they do upstream: nothing, or they are refused with a message to the
shim; the books are right after every event.
"""

from __future__ import annotations

from reference.cluster import Node
from reference.schedulers.yunikorn.current import cycle, releases, timers
from reference.schedulers.yunikorn.current.allocate import place, recover
from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books
from reference.schedulers.yunikorn.current.messages import (
    AcceptedApplication,
    AddApplication,
    Allocation,
    AllocationRelease,
    Message,
    RejectedAllocation,
    RejectedApplication,
    TerminationType,
)
from reference.schedulers.yunikorn.current.releases import Removed
from reference.schedulers.yunikorn.current.result import Result
from reference.schedulers.yunikorn.current.states import ApplicationEvent, ApplicationState


class Partition(Books):
    """Queues, nodes, applications, users, and every event that changes them. What the shim is told is in ``outbox``."""

    # --- nodes ---

    def add_node(self, node: Node) -> bool:
        """A node registers. False where there is one of that name: upstream refuses the second one."""
        if node.name in self.nodes.index:
            return False
        self.nodes.add(node)
        self.on_node[node.name] = {}
        self.change_total(node.capacity, 1)
        return True

    def remove_node(self, name: str) -> Removed:
        """A node is decommissioned, with all that is on it."""
        removed = releases.remove_node(self, name)
        self.settle()
        return removed

    def drain_node(self, name: str, schedulable: bool = False) -> bool:
        """A node takes no new pods, or takes them again. False for an unknown one."""
        if name not in self.nodes.index:
            return False
        if schedulable:
            self.nodes.uncordon(name)
            self.epoch += 1
        else:
            self.nodes.cordon(name)
        return True

    # --- applications ---

    def add_application(self, message: AddApplication) -> bool:
        """An application comes: into its leaf, if it is one and can ever hold the whole gang; else it is rejected."""
        reason = self._why_rejected(message)
        if reason is not None:
            self.tell(RejectedApplication(message.application, reason))
            return False
        app = self._application(message)
        self.applications[app.id] = app
        app.queue.applications[app.id] = app
        self.tell(AcceptedApplication(app.id))
        return True

    def _application(self, message: AddApplication) -> Application:
        return Application(
            message.application,
            self.queues[message.queue],
            message.user,
            message.groups,
            message.placeholder_ask,
            message.style,
            timers.timeout_of(message, self.now),
            self.now if message.created is None else message.created,
            next(self._arrivals),
        )

    def _why_rejected(self, message: AddApplication) -> str | None:
        """What refuses an application, or None. What a queue uses now does not count, nor how large the cluster is."""
        if message.application in self.applications:
            return f"application {message.application} is there already"
        queue = self.queues.get(message.queue)
        if queue is None or not queue.is_leaf:
            return f"{message.queue} is not a leaf queue"
        if message.placeholder_ask.is_zero():
            return None
        if not queue.supports_task_groups():
            return f"queue {message.queue} cannot run a gang: unsupported sort type"
        limit = queue.max_set()
        if limit is not None and not message.placeholder_ask.fits_in_limit(limit):
            return f"queue {message.queue}: the gang is larger than the maximum of the queue"
        return None

    def remove_application(self, name: str) -> tuple[Request, ...]:
        """The shim has deleted an application; what of it was allocated. Nothing happens to an unknown one."""
        gone = releases.remove_application(self, name)
        self.settle()
        return gone

    # --- asks and allocations ---

    def update_allocation(self, message: Allocation) -> bool:
        """The shim asks for a pod, tells of one that runs already (recovery), or of a new size. False: refused."""
        reason = self._why_not(message)
        if reason is not None:
            self.tell(RejectedAllocation(message.application, message.key, reason))
            return False
        app = self.applications[message.application]
        known = app.requests.get(message.key)
        if known is not None:
            self._update(app, known, message)
        elif message.node:
            recover(self, app, self._request(message), message.node)
        else:
            self._ask(app, self._request(message))
        self.settle()
        return True

    def _why_not(self, message: Allocation) -> str | None:
        app = self.applications.get(message.application)
        if app is None:
            return f"application {message.application} is not known"
        if message.node and message.node not in self.nodes.index:
            return f"node {message.node} is not known"
        amounts = message.resources.values()
        if message.resources.is_zero() or min(amounts) < 0:
            return "an allocation needs amounts above 0"
        if message.placeholder and not message.task_group:
            return "a placeholder needs a task group"
        # upstream takes it; with nothing left to release it, such a placeholder stays for ever
        if self.options.repaired and app.given_up and message.placeholder and not message.node:
            return "the reservation has timed out"
        known = app.requests.get(message.key)
        if known is not None and known.link is not None and known.resources != message.resources:
            return "it is being replaced, or replaces"
        if known is None and (message.key in app.allocations or any(r.key == message.key for r in app.parked())):
            return "its ask was released"
        return None

    def _request(self, message: Allocation) -> Request:
        return Request(
            message.key,
            message.application,
            message.resources,
            message.task_group,
            message.placeholder,
            message.priority,
            self.now if message.created is None else message.created,
            next(self._arrivals),
            message.required_node,
            message.originator,
            message.constraints,
        )

    def _ask(self, app: Application, request: Request) -> None:
        """A new ask: it makes a new application Accepted, and one that is Completing run again."""
        if app.state in (ApplicationState.NEW, ApplicationState.COMPLETING):
            self.handle(app, ApplicationEvent.RUN)
        self.new_request(app, request)
        self.make_pending(app, request)

    def _update(self, app: Application, known: Request, message: Allocation) -> None:
        """An ask that is known: another size, or a node that the shim has found for it."""
        delta = message.resources - known.resources
        if not known.allocated:
            self.stop_pending(app, known)
            known.resources = message.resources
            if message.node:
                self.unreserve(app, known.key)
                place(self, app, known, message.node)
            else:
                self.make_pending(app, known)
        elif not delta.is_zero() and known.key in app.allocations:
            self.resize(app, known, message.resources)

    def release(self, message: AllocationRelease) -> Removed:
        """The shim tells that a pod is gone, or confirms that one is which the core had asked for."""
        removed = releases.release(self, message)
        self.settle()
        return removed

    def remove_ask(self, application: str, key: str = "") -> None:
        """The shim takes back an ask, or all; an allocation of it stays. Nothing happens to what is not known."""
        app = self.applications.get(application)
        if app is not None:
            releases.remove_asks(self, app, key)
            self.settle()

    def preempt(self, application: str, key: str) -> bool:
        """Some preemptor takes an allocation for a victim; False where it is released already, or not there."""
        app = self.applications.get(application)
        request = app.allocations.get(key) if app is not None else None
        if app is None or request is None or request.preempted or not request.mark_preempted():
            return False
        app.queue.change_preempting(request.resources)
        self.ask_for([request], TerminationType.PREEMPTED_BY_SCHEDULER, "preempted")
        return True

    # --- the cycle and the clock ---

    def schedule(self) -> Result | None:
        """One cycle: a reserved ask, else a replacement, else a normal allocation; None where nothing is done."""
        result = cycle.try_reserved(self) or cycle.try_placeholder(self) or cycle.try_normal(self)
        self.settle()
        return result

    def advance(self, to: int) -> None:
        """The clock goes on to ``to``; timers fire on the way, each at its own time. It never goes back."""
        while (due := timers.next_due(self)) is not None and due <= to:
            self.now = max(self.now, due)
            timers.fire_due(self)
        if to > self.now:
            self.now = to
            self.epoch += 1  # asks have grown older, and nodes may be kept for them

    def fire_placeholder_timer(self, application: str) -> bool:
        """The placeholder timer of an application fires, whatever the time; False where none runs."""
        app = self.applications.get(application)
        if app is None or app.placeholder_timer is None:
            return False
        timers.placeholder_timeout(self, app)
        self.settle()
        return True

    def fire_state_timer(self, application: str) -> bool:
        """The timer of its state fires, whatever the time; False where none runs."""
        app = self.applications.get(application)
        if app is None or app.state_timer is None:
            return False
        timers.state_timeout(self, app)
        self.settle()
        return True

    def drain_outbox(self) -> list[Message]:
        """What the shim has not been told yet, in order."""
        told, self.outbox = self.outbox, []
        return told
