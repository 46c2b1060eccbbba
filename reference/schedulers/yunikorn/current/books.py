"""The partition's state, and the changes that several events share: each keeps application, node, queues and user in
step.

Where upstream would lose a pod or room (a real pod whose placeholder goes for another reason, an application that ends
while it still holds something), the books here stay right; each such place says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from reference.cluster import NOTHING, Resources, total
from reference.schedulers.yunikorn.current.application import (
    COMPLETING_TIMEOUT_MS,
    TERMINATED_TIMEOUT_MS,
    Application,
    Request,
    StateTimer,
)
from reference.schedulers.yunikorn.current.messages import (
    AllocationRelease,
    AllocationResponse,
    Message,
    TerminationType,
    UpdatedApplication,
)
from reference.schedulers.yunikorn.current.queue import ROOT, QueueConfig, QueueState, build
from reference.schedulers.yunikorn.current.states import TRANSITIONS, ApplicationEvent, ApplicationState
from reference.schedulers.yunikorn.current.users import UserGroupManager
from reference.schedulers.yunikorn.nodes import Nodes
from reference.schedulers.yunikorn.options import NodeOrder

RequestId = tuple[str, str]
"""Application and key."""

Predicates = Callable[[Request, str], bool]
"""Whether a node (by name) may run a request, beside labels, taints and room: the shim's predicates plugin."""


@dataclass(frozen=True, slots=True)
class PartitionOptions:
    """Choices for a whole run.

    ``root_maximum_from_nodes``: the root's maximum is the size of all nodes, as in a partition; without it the root's
    own configuration counts, as in upstream's tests of single queues. ``repaired``: with the repairs that the findings
    about today's code propose (specs/yunikorn/current/findings).
    """

    node_order: NodeOrder = NodeOrder.FAIR
    root_maximum_from_nodes: bool = True
    repaired: bool = False


class Books:
    """State, and the changes that several events share. Times are milliseconds; ``now`` is the virtual clock."""

    def __init__(self, queues: Iterable[QueueConfig], options: PartitionOptions | None = None) -> None:
        self.options = options or PartitionOptions()
        self.now = 0
        self.queues = build(queues)
        self.nodes = Nodes((), self.options.node_order, ties_by_name=True)
        self.on_node: dict[str, dict[RequestId, Request]] = {}
        """What is on each node: allocations, and real pods parked on another node than their placeholder."""
        self.node_reservations: dict[str, dict[RequestId, Request]] = {}
        self.users = UserGroupManager()
        self.configure_limits()
        self.applications: dict[str, Application] = {}
        self.ended: list[Application] = []
        """Applications that have left their queue; the ID of one may be used again."""
        self.outbox: list[Message] = []
        """What the shim has not been told yet."""
        self.epoch = 0
        """Counts whatever may make room for an ask that was tried in vain."""
        self.predicates: Predicates | None = None
        self._arrivals = itertools.count()
        self._terminated: list[Application] = []

    # --- what is there ---

    @property
    def root(self) -> QueueState:
        """The queue above all."""
        return self.queues[ROOT]

    def allocation_count(self) -> int:
        """Allocations of all applications, placeholders included."""
        return sum(len(app.allocations) for app in self.applications.values())

    def placeholder_count(self) -> int:
        """Placeholder allocations of all applications."""
        return sum(len(app.placeholders()) for app in self.applications.values())

    def used_on(self, node: str) -> Resources:
        """What is on ``node``; KeyError where there is none of that name."""
        return total(request.resources for request in self.on_node[node].values())

    def path_names(self, app: Application) -> list[str]:
        """The queues of ``app``, from its leaf to the root."""
        return [queue.name for queue in app.queue.path()]

    def configure_limits(self) -> None:
        """Limits as the queues have them now."""
        self.users.configure({name: queue.config.limits for name, queue in self.queues.items()})

    # --- messages ---

    def tell(self, message: Message) -> None:
        """``message`` is on its way to the shim."""
        self.outbox.append(message)

    def ask_for(self, requests: Iterable[Request], type_: TerminationType, why: str) -> None:
        """Asks the shim to release these, in one message; nothing is said of none."""
        releases = tuple(AllocationRelease(r.application, r.key, type_, why) for r in requests)
        if releases:
            self.tell(AllocationResponse(released=releases))

    # --- states ---

    def handle(self, app: Application, event: ApplicationEvent, why: str = "") -> bool:
        """HandleApplicationEvent: False where the table has no such edge, and nothing happens."""
        old, new = app.state, TRANSITIONS.get((app.state, event))
        if new is None or new is old:
            return new is not None
        app.state_timer = None
        if old is ApplicationState.RUNNING:
            app.queue.stop_running()
            self.epoch += 1
        app.state = new
        app.log.append(new)
        match new:
            case ApplicationState.RUNNING:
                app.queue.start_running(app.id)
            case ApplicationState.COMPLETING:
                app.state_timer = StateTimer(self.now + COMPLETING_TIMEOUT_MS, ApplicationEvent.COMPLETE)
            case ApplicationState.COMPLETED | ApplicationState.FAILED:
                app.state_timer = StateTimer(self.now + TERMINATED_TIMEOUT_MS, ApplicationEvent.EXPIRE)
                if new is ApplicationState.COMPLETED:
                    app.placeholder_timer = None
                self._terminated.append(app)
            case ApplicationState.REJECTED:
                app.state_timer = StateTimer(self.now + TERMINATED_TIMEOUT_MS, ApplicationEvent.EXPIRE)
        self.tell(UpdatedApplication(app.id, new, why))
        return True

    def settle(self) -> None:
        """What a goroutine does upstream: terminated applications leave queue and partition.

        What such an application still holds is released: upstream takes it off the queue, and leaves it on the node.
        """
        for app in self._terminated:
            if self.applications.get(app.id) is app:
                self.forget_asks(app)
                left = list(app.allocations.values())
                for request in left:
                    self.drop(app, request, ended=True)
                self.ask_for(left, TerminationType.STOPPED_BY_RM, f"application {app.state.value}")
                self.leave(app)
                self.ended.append(app)
        self._terminated.clear()

    def leave(self, app: Application) -> None:
        """``app`` is in queue and partition no more, and holds nothing."""
        self.users.forget(self.path_names(app), app.id, app.user)
        app.queue.forget(app)
        del self.applications[app.id]
        self.epoch += 1

    # --- asks ---

    def new_request(self, app: Application, request: Request) -> None:
        """``request`` is known to ``app``; a placeholder counts in its group. An older creation time is the app's."""
        app.requests[request.key] = request
        app.submitted = min(app.submitted, request.created)
        if request.placeholder:
            app.data_of(request.task_group).count += 1

    def make_pending(self, app: Application, request: Request) -> None:
        """``request`` waits for an allocation."""
        app.add_waiting(request)
        app.pending = app.pending + request.resources
        app.queue.change_pending(request.resources)
        app.queue.index(app)

    def stop_pending(self, app: Application, request: Request) -> None:
        """``request`` waits no more."""
        app.remove_waiting(request)
        app.pending = app.pending - request.resources
        app.queue.change_pending(NOTHING - request.resources)
        app.queue.index(app)

    def forget_ask(self, app: Application, key: str) -> None:
        """The ask of that key is known no more, pending or allocated; its reservation goes with it."""
        request = app.requests.pop(key, None)
        self.unreserve(app, key)
        if request is not None and not request.allocated:
            self.stop_pending(app, request)

    def forget_asks(self, app: Application) -> None:
        """All asks of ``app``, pending or allocated."""
        for key in list(app.requests):
            self.forget_ask(app, key)

    # --- reservations ---

    def reserve(self, app: Application, request: Request, node: str) -> None:
        """``node`` is kept for a pending ask."""
        app.reservations[request.key] = node
        self.node_reservations.setdefault(node, {})[request.id] = request
        app.queue.reserved[app.id] = app.queue.reserved.get(app.id, 0) + 1
        request.reserved_since = self.now

    def unreserve(self, app: Application, key: str) -> None:
        """No node is kept for the ask of that key, if one was."""
        node = app.reservations.pop(key, None)
        if node is None:
            return
        kept = self.node_reservations[node]
        del kept[app.id, key]
        if not kept:
            del self.node_reservations[node]
        left = app.queue.reserved[app.id] - 1
        if left:
            app.queue.reserved[app.id] = left
        else:
            del app.queue.reserved[app.id]
        self.epoch += 1

    # --- allocations ---

    def put_on(self, node: str, request: Request) -> None:
        """``request`` is on ``node``, whether it has room or not."""
        request.node = node
        self.on_node[node][request.id] = request
        self.nodes.take(node, request.resources)

    def take_off(self, request: Request) -> None:
        """``request`` is on its node no more, if it was there; the node may be gone."""
        if self.on_node.get(request.node, {}).pop(request.id, None) is not None:
            self.nodes.give(request.node, request.resources)
            self.epoch += 1

    def add_usage(self, app: Application, resources: Resources) -> None:
        """The user (and its group) uses so much more."""
        self.users.increase(self.path_names(app), app.id, app.user, app.groups, resources)

    def drop_usage(self, app: Application, resources: Resources, ended: bool) -> None:
        """The user uses so much less; ``ended``: the application is not counted as one that runs."""
        self.users.decrease(self.path_names(app), app.id, app.user, resources, ended)
        self.epoch += 1

    def hold(self, app: Application, request: Request) -> None:
        """``request`` is an allocation of ``app``: in its sums and its user's. Node and queues are the caller's."""
        self.add_usage(app, request.resources)
        if request.placeholder:
            app.allocated_placeholder = app.allocated_placeholder + request.resources
        else:
            app.allocated = app.allocated + request.resources
        app.submitted = min(app.submitted, request.created)
        app.allocations[request.key] = request
        app.queue.index(app)

    def drop(self, app: Application, request: Request, ended: bool) -> None:
        """An allocation of ``app`` is gone, from everywhere; a real pod parked behind it is pending again."""
        self.unpark(app, request)
        self.drop_sums(app, request)
        self.drop_usage(app, request.resources, ended)
        app.allocations.pop(request.key, None)
        self.give_back(app, request)
        app.queue.index(app)

    def drop_sums(self, app: Application, request: Request) -> None:
        """An allocation counts in its application's sums no more."""
        if request.placeholder:
            app.allocated_placeholder = app.allocated_placeholder - request.resources
        else:
            app.allocated = app.allocated - request.resources

    def give_back(self, app: Application, request: Request) -> None:
        """Node and queues have back what an allocation took."""
        self.take_off(request)
        app.queue.decrease(request.resources)
        if request.preempted:
            app.queue.change_preempting(NOTHING - request.resources)
        self.epoch += 1

    def unpark(self, app: Application, placeholder: Request) -> None:
        """The real pod parked behind ``placeholder``, if any, is parked no more: its ask is pending again.

        Upstream does so when a node goes. Where the placeholder goes for another reason it forgets the pod, and what
        it has on another node stays used.
        """
        real = placeholder.link
        if real is None:
            return
        placeholder.link = real.link = None
        self.take_off(real)
        real.node = ""
        real.allocated = False
        if app.requests.get(real.key) is real:
            self.make_pending(app, real)

    def swap(self, placeholder: Request, real: Request) -> None:
        """``real`` has the place of ``placeholder`` on its node; what is not needed there goes back."""
        if placeholder.resources == real.resources:
            here = self.on_node[real.node]
            del here[placeholder.id]
            here[real.id] = real
        else:
            self.take_off(placeholder)
            self.put_on(real.node, real)

    def resize(self, app: Application, request: Request, resources: Resources) -> None:
        """An allocation has another size now, whatever the quotas say."""
        delta = resources - request.resources
        self.take_off(request)
        request.resources = resources
        self.put_on(request.node, request)
        app.queue.increase(delta)
        self.add_usage(app, delta)
        if request.preempted:
            app.queue.change_preempting(delta)
        if request.placeholder:
            app.allocated_placeholder = app.allocated_placeholder + delta
        else:
            app.allocated = app.allocated + delta
        app.queue.index(app)

    # --- configuration ---

    def change_total(self, capacity: Resources, sign: int) -> None:
        """A node has come (1) or gone (-1): the root's maximum is the size of all nodes."""
        if self.options.root_maximum_from_nodes:
            before = self.root.config.maximum or NOTHING
            self.set_config(ROOT, maximum=before + capacity * sign)
        self.epoch += 1

    def set_config(self, queue: str, **changes: object) -> None:
        """A queue is configured anew; KeyError for an unknown one."""
        state = self.queues[queue]
        state.config = replace(state.config, **changes)  # type: ignore[arg-type]  # fields of QueueConfig
        self.configure_limits()
        self.epoch += 1
