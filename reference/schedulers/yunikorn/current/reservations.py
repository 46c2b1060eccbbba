"""Nodes that are kept for asks: for those that have waited, and for pods that can run on one node only.

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/objects/application.go (tryNodes, tryRequiredNode,
tryReservedAllocate) and required_node_preemptor.go. A node is kept for an ask that is older than two seconds and would
fit the node if it were empty; the least wanting one is taken. A pod with a required node may have victims there,
placeholders among them: whatever is neither released nor preempted, nor bound to the node, nor of a higher priority.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reference.cluster import NOTHING, Resources
from reference.schedulers.yunikorn.current.allocate import allocate
from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books
from reference.schedulers.yunikorn.current.messages import TerminationType
from reference.schedulers.yunikorn.current.queue import QueueState
from reference.schedulers.yunikorn.current.result import Result, ResultType
from reference.schedulers.yunikorn.current.room import choices, fits, is_kept, may_start, passes, user_room
from reference.schedulers.yunikorn.current.states import ApplicationState

RESERVATION_DELAY_MS: Final = 2000


def candidate(books: Books, app: Application, request: Request) -> str | None:
    """The node to keep for an ask that no node can take now, or None."""
    if request.key in app.reservations or books.now - request.created <= RESERVATION_DELAY_MS:
        return None
    best: tuple[Fraction, str] | None = None
    for node in books.nodes.in_order():
        if request.resources.fits_in(books.nodes.capacity(node)) and node not in books.nodes.cordoned:
            score = (_lacking(books, request, node), node)
            best = score if best is None or score[0] < best[0] else best
    if best is None or best[1] in books.node_reservations or not passes(books, request, best[1]):
        return None
    return best[1]


def _lacking(books: Books, request: Request, node: str) -> Fraction:
    """FitInScore: for each type the part that the node lacks of what is asked for; upstream adds floats."""
    free = books.nodes.free(node)
    parts = [
        Fraction(1) if free.get(name, 0) <= 0 else Fraction(max(amount - free[name], 0), amount)
        for name, amount in request.resources.items()
        if amount > 0
    ]
    return sum(parts, Fraction(0))


def required_node(books: Books, app: Application, request: Request) -> Result | None:
    """An ask that can run on one node: there now, or the node is kept for it, and for no ask that can go elsewhere."""
    node = request.required_node
    if node not in books.nodes.index:
        return None
    for other in list(books.node_reservations.get(node, {}).values()):
        if not other.required_node:
            books.unreserve(books.applications[other.application], other.key)
    if can_take(books, request, node):
        reserved = request.key in app.reservations
        allocate(books, app, request, node)
        return Result(ResultType.ALLOCATED_RESERVED if reserved else ResultType.ALLOCATED, request, node)
    if request.key in app.reservations or not request.resources.fits_in(books.nodes.capacity(node)):
        return None
    return Result(ResultType.RESERVED, request, node)


def can_take(books: Books, request: Request, node: str) -> bool:
    """Whether ``node`` can take ``request`` now."""
    return (
        not is_kept(books, request, node)
        and books.nodes.fits(node, request.resources, request.constraints)
        and passes(books, request, node)
    )


def reserved_allocation(books: Books, leaf: QueueState) -> Result | None:
    """An ask of this leaf for which a node is kept: on that node, or on another one."""
    room = leaf.head_room()
    for name in sorted(leaf.reserved, key=lambda name: leaf.applications[name].order):
        app = leaf.applications[name]
        if app.state is ApplicationState.ACCEPTED and not may_start(books, app):
            continue
        result = _of_application(books, app, room)
        if result is not None:
            return result
    return None


def _of_application(books: Books, app: Application, room: Resources | None) -> Result | None:
    limit = user_room(books, app)
    for key, node in list(app.reservations.items()):
        request = app.requests[key]
        if not fits(request, limit, room):
            # upstream asks for the wait twice over: since a moment that lies one wait after the reservation
            if books.now - request.reserved_since > 2 * RESERVATION_DELAY_MS:
                books.unreserve(app, key)
            continue
        if request.required_node and not request.resources.fits_in(Resources(books.nodes.free(node))):
            if not request.triggered_preemption:
                preempt_for_required_node(books, request, node)
            continue
        if can_take(books, request, node):
            return _take(books, app, request, node)
    for key, node in list(app.reservations.items()):
        request = app.requests[key]
        if not request.required_node and fits(request, limit, room):
            other = next((n for n in choices(books, request) if n != node), None)
            if other is not None:
                return _take(books, app, request, other)
    return None


def _take(books: Books, app: Application, request: Request, node: str) -> Result:
    allocate(books, app, request, node)
    return Result(ResultType.ALLOCATED_RESERVED, request, node)


def preempt_for_required_node(books: Books, request: Request, node: str) -> list[Request]:
    """Marks victims on ``node`` and asks the shim to release them; none where all of them would not make room.

    Victims: pods other than originators first, the lowest priority, the youngest, the smallest.
    """
    possible = [
        other
        for other in books.on_node[node].values()
        if other.allocated
        and other.key in books.applications[other.application].allocations
        and not (other.required_node or other.preempted or other.released)
        and other.priority <= request.priority
        and any(name in request.resources for name in other.resources)
    ]
    victims: list[Request] = []
    freed = NOTHING
    for other in sorted(possible, key=lambda o: (o.originator, o.priority, -o.created, -o.arrival)):
        if request.resources.fits_in(freed):
            break
        freed = freed + other.resources
        victims.append(other)
    if not victims or not request.resources.fits_in(freed + Resources(books.nodes.free(node))):
        return []
    for victim in victims:
        victim.mark_preempted()
        books.applications[victim.application].queue.change_preempting(victim.resources)
    request.triggered_preemption = True
    books.ask_for(victims, TerminationType.PREEMPTED_BY_SCHEDULER, f"preempted for {request.key}")
    return victims
