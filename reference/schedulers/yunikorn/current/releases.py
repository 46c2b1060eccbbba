"""Allocations and asks that go: confirmed or stopped by the shim, with their node, or with their application.

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/partition.go (removeAllocation, removeNodeAllocations,
removeApplication) and pkg/scheduler/objects/application.go (removeAllocationInternal, removeAsksInternal,
ReplaceAllocation). What upstream does not survive, or leaves the books wrong with, is otherwise here:

- A confirmed replacement whose real pod is parked no more is a removal (upstream reads the pod that is not there).
- A placeholder that goes for another reason than its replacement gives the real pod back to those that wait.
- An application does not complete while a real pod is parked: upstream allocates the pod to what has left its queue.
- What is removed is counted once: upstream's number of placeholders keeps one that a removed node replaces at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.schedulers.yunikorn.current.allocate import add_allocation
from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books
from reference.schedulers.yunikorn.current.messages import AllocationRelease, AllocationResponse, TerminationType
from reference.schedulers.yunikorn.current.states import ApplicationEvent, ApplicationState

_NOT_ECHOED = (TerminationType.TIMEOUT, TerminationType.PREEMPTED_BY_SCHEDULER)


@dataclass(frozen=True, slots=True)
class Removed:
    """What the shim is told has gone, and the real pods that have taken the place of placeholders."""

    released: tuple[Request, ...] = ()
    confirmed: tuple[Request, ...] = ()


def release(books: Books, message: AllocationRelease) -> Removed:
    """The shim says that a pod is gone. An unknown application, or key, changes nothing but what is said of asks.

    The ask of a pod goes with it, except after a timeout. The shim is not told again of what the core had asked for.
    """
    app = books.applications.get(message.application)
    if app is None:
        return Removed()
    if not message.key:
        gone = _remove_all(books, app)
        if message.type is not TerminationType.TIMEOUT:
            remove_asks(books, app)
        return _told(books, Removed(() if message.type in _NOT_ECHOED else tuple(gone)))
    replaces = message.type is TerminationType.PLACEHOLDER_REPLACED
    request = _remove(books, app, message.key, message.type)
    removed = Removed()
    if request is not None:
        real = request.link if replaces else None
        if real is not None:
            _put_in_place(books, app, request, real)
            removed = Removed(confirmed=(real,))
        else:
            books.give_back(app, request)
            removed = Removed(() if message.type in _NOT_ECHOED else (request,))
    if message.type is not TerminationType.TIMEOUT:
        remove_asks(books, app, message.key)
    return _told(books, removed)


def _told(books: Books, removed: Removed) -> Removed:
    """The shim hears of all that is released, and of each real pod that is allocated now."""
    books.ask_for(removed.released, TerminationType.STOPPED_BY_RM, "removed")
    for real in removed.confirmed:
        books.tell(AllocationResponse(new=(real.message(),)))
    return removed


def _remove(books: Books, app: Application, key: str, why: TerminationType) -> Request | None:
    """An allocation goes from its application's sums, counters and user; node and queues are the caller's."""
    request = app.allocations.get(key)
    if request is None:
        return None
    ended, event = False, None
    if request.placeholder:
        data = app.data_of(request.task_group)
        if why is TerminationType.PLACEHOLDER_REPLACED:
            data.replaced += 1
        else:
            data.timed_out += 1
            books.unpark(app, request)
        books.drop_sums(app, request)
        if app.allocated_placeholder.is_zero():
            app.placeholder_timer = None
            event = _after_last_placeholder(books, app)
            ended = event in (ApplicationEvent.COMPLETE, ApplicationEvent.FAIL)
    else:
        books.drop_sums(app, request)
        if _is_done(books, app):
            ended, event = True, ApplicationEvent.COMPLETE
    books.drop_usage(app, request.resources, ended)
    if event is not None:
        books.handle(app, event)
    del app.allocations[key]
    app.queue.index(app)
    return request


def _after_last_placeholder(books: Books, app: Application) -> ApplicationEvent | None:
    """What the removal of the last placeholder raises, if anything."""
    if app.state is ApplicationState.FAILING:
        return ApplicationEvent.FAIL
    if app.state is ApplicationState.RESUMING:
        return ApplicationEvent.RUN
    completing = app.state is ApplicationState.COMPLETING
    parked = bool(app.parked())
    if parked and (completing or books.options.repaired):
        return None
    if (completing and app.state_timer is None) or app.is_idle():
        return ApplicationEvent.COMPLETE
    return None


def _is_done(books: Books, app: Application) -> bool:
    """Nothing pending, no real pod allocated; with the repairs, nor parked."""
    return app.is_idle() and not (books.options.repaired and app.parked())


def _put_in_place(books: Books, app: Application, placeholder: Request, real: Request) -> None:
    """``real`` takes the place of ``placeholder``, which its application has no more; what is left over goes back."""
    placeholder.link = real.link = None
    add_allocation(books, app, real, replaces=True)
    spare = placeholder.resources - real.resources
    if not spare.is_zero():
        app.queue.decrease(spare)
        books.epoch += 1
    if real.node == placeholder.node:
        books.swap(placeholder, real)
    else:
        books.take_off(placeholder)
    if placeholder.preempted:  # never both, but what is counted has to be taken off
        app.queue.change_preempting(placeholder.resources * -1)


def remove_asks(books: Books, app: Application, key: str = "") -> None:
    """One ask, or all, of ``app`` go: pending, or of what is allocated. With nothing left the application completes."""
    if not app.requests:
        return
    if key:
        request = app.requests.get(key)
        if books.options.repaired and request is not None and request.placeholder and not request.allocated:
            app.data_of(request.task_group).timed_out += 1
        books.forget_ask(app, key)
    else:
        books.forget_asks(app)
    ends = app.state not in (ApplicationState.FAILING, ApplicationState.COMPLETING)
    if ends and _is_done(books, app) and not app.placeholders():
        books.handle(app, ApplicationEvent.COMPLETE)


def _remove_all(books: Books, app: Application) -> list[Request]:
    """RemoveAllAllocations. Upstream takes nothing off the user where something is pending; here it is."""
    gone = list(app.allocations.values())
    for request in gone:
        if request.placeholder:
            app.data_of(request.task_group).timed_out += 1
        books.drop(app, request, ended=True)
    if app.pending.is_zero():
        books.handle(app, ApplicationEvent.COMPLETE)
    app.placeholder_timer = app.state_timer = None
    return gone


def remove_application(books: Books, name: str) -> tuple[Request, ...]:
    """The shim has deleted the application: asks, then allocations go, and it is out of its queue. None: no effect."""
    app = books.applications.get(name)
    if app is None:
        return ()
    remove_asks(books, app)
    gone = _remove_all(books, app)
    books.leave(app)
    return tuple(gone)


def remove_node(books: Books, node: str) -> Removed:
    """A node is gone, with all that is on it. Removing it a second time changes nothing.

    A placeholder whose real pod is parked elsewhere is replaced at once. A real pod that is parked on the node waits
    again; its placeholder stays released.
    """
    if node not in books.nodes.index:
        return Removed()
    for request in list(books.node_reservations.get(node, {}).values()):
        books.unreserve(books.applications[request.application], request.key)
    capacity = books.nodes.remove(node).capacity
    released: list[Request] = []
    confirmed: list[Request] = []
    on_it = books.on_node.pop(node)
    for request in list(on_it.values()):
        app = books.applications[request.application]
        other = request.link
        if other is not None and not request.placeholder:
            books.unpark(app, other)
            continue
        if other is not None and other.node != node:
            _remove(books, app, request.key, TerminationType.PLACEHOLDER_REPLACED)
            _put_in_place(books, app, request, other)
            confirmed.append(other)
        else:
            books.unpark(app, request)
            _remove(books, app, request.key, TerminationType.UNKNOWN)
            books.give_back(app, request)
        released.append(request)
    books.change_total(capacity, -1)
    return _told(books, Removed(tuple(released), tuple(confirmed)))
