"""The scheduling cycle: one result at most, from a reservation, else a replacement, else a normal allocation.

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/context.go (schedule), pkg/scheduler/objects/queue.go
(TryAllocate and its sisters), application.go (tryAllocate, tryPlaceholderAllocate). There is no gate for a whole gang:
placeholders are allocated one by one, of all applications.

Not here: preemption between queues by their guaranteed share, and the back-off for asks that cannot be scheduled.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.cluster import Resources, SortPolicy
from reference.schedulers.yunikorn.current.allocate import allocate, park
from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books
from reference.schedulers.yunikorn.current.messages import AllocationResponse, TerminationType
from reference.schedulers.yunikorn.current.queue import QueueState
from reference.schedulers.yunikorn.current.reservations import candidate, required_node, reserved_allocation
from reference.schedulers.yunikorn.current.result import Result, ResultType
from reference.schedulers.yunikorn.current.room import choices, first_node, fits, may_start, passes, user_room
from reference.schedulers.yunikorn.current.states import ApplicationState

OfLeaf = Callable[[Books, QueueState], Result | None]


def try_reserved(books: Books) -> Result | None:
    """An ask for which a node is kept."""
    return _announced(books, _first(books, books.root, reserved_allocation)) if books.node_reservations else None


def try_placeholder(books: Books) -> Result | None:
    """A real ask in the place of a placeholder, which the shim is asked to release."""
    result = _first(books, books.root, _replacement)
    if result is not None and result.request.link is not None:
        why = f"replaced by {result.request.key}"
        books.ask_for([result.request.link], TerminationType.PLACEHOLDER_REPLACED, why)
    return result


def try_normal(books: Books) -> Result | None:
    """An ask that waits for no placeholder; or a node is kept for one, and there is no result."""
    return _announced(books, _first(books, books.root, _allocation))


def _announced(books: Books, result: Result | None) -> Result | None:
    if result is None:
        return None
    request = result.request
    app = books.applications[request.application]
    if result.type is ResultType.RESERVED:
        books.reserve(app, request, result.node)
        return None
    books.unreserve(app, request.key)
    books.tell(AllocationResponse(new=(request.message(),)))
    return result


def _first(books: Books, queue: QueueState, of_leaf: OfLeaf) -> Result | None:
    """What the first leaf gives that gives anything; children in fair order."""
    if queue.is_leaf:
        return of_leaf(books, queue)
    for child in queue.sorted_children():
        result = _first(books, child, of_leaf)
        if result is not None:
            return result
    return None


# --- the normal path ---


def _allocation(books: Books, leaf: QueueState) -> Result | None:
    room = leaf.head_room()
    if leaf.config.sort_policy is SortPolicy.FAIR:
        for app in leaf.by_fairness(leaf.waiting):
            result = _of_application(books, app, room)
            if result is not None:
                return result
        return None
    # what was tried in vain need not be tried again before something is given back
    if leaf.epoch != books.epoch:
        leaf.untried.become(leaf.waiting)
        leaf.epoch = books.epoch
    while (first := leaf.untried.first()) is not None:
        result = _of_application(books, first, room)
        if result is not None:
            return result
        leaf.untried.discard(first)
    return None


def _of_application(books: Books, app: Application, room: Resources | None) -> Result | None:
    if app.state is ApplicationState.ACCEPTED and not may_start(books, app):
        return None
    limit = user_room(books, app)
    for request in app.waiting:
        if app.can_replace(request) or not fits(request, limit, room):
            continue
        if request.required_node:
            result = required_node(books, app, request)
        else:
            result = _on_some_node(books, app, request)
        if result is not None:
            return result
    return None


def _on_some_node(books: Books, app: Application, request: Request) -> Result | None:
    node = first_node(books, request)
    if node is not None:
        reserved = request.key in app.reservations
        allocate(books, app, request, node)
        return Result(ResultType.ALLOCATED_RESERVED if reserved else ResultType.ALLOCATED, request, node)
    kept = candidate(books, app, request)
    return None if kept is None else Result(ResultType.RESERVED, request, kept)


# --- replacement ---


def _replacement(books: Books, leaf: QueueState) -> Result | None:
    apps = leaf.replacing
    for app in leaf.by_fairness(apps) if leaf.config.sort_policy is SortPolicy.FAIR else list(apps):
        result = _of_placeholders(books, app)
        if result is not None:
            return result
    return None


def _of_placeholders(books: Books, app: Application) -> Result | None:
    """The first real ask that can take the place of a placeholder of its group, on its node, whatever else is there.

    If none can, the first pair goes to another node with room. A placeholder that is too small for a real ask is of no
    use: it is released as timed out. The state of the application is not looked at, nor is any quota: what a
    placeholder holds is counted already.
    """
    free = [ph for ph in app.placeholders() if not (ph.released or ph.preempted)]
    pair: tuple[Request, Request] | None = None
    for request in list(app.waiting) if free else ():
        if request.placeholder or not request.task_group:
            continue
        for placeholder in free:
            if placeholder.released or placeholder.task_group != request.task_group:
                continue
            if any(amount < 0 for amount in (placeholder.resources - request.resources).values()):
                placeholder.mark_released()
                why = "cancel placeholder: resource incompatible"
                books.ask_for([placeholder], TerminationType.TIMEOUT, why)
                continue
            pair = pair or (request, placeholder)
            if passes(books, request, placeholder.node):
                park(books, app, request, placeholder, placeholder.node)
                return Result(ResultType.REPLACED, request, placeholder.node)
    if pair is None:
        return None
    request, placeholder = pair
    node = next((n for n in choices(books, request) if n != placeholder.node), None)
    if node is None:
        return None
    park(books, app, request, placeholder, node)
    return Result(ResultType.REPLACED, request, node)
