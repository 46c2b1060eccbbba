"""Which node a request may go to: labels, taints, cordons, predicates, room, and nodes that are kept for others."""

from __future__ import annotations

from collections.abc import Iterator

from reference.cluster import Resources
from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books


def fits(request: Request, *rooms: Resources | None) -> bool:
    """Whether each head room has what ``request`` asks for; None is no limit."""
    return all(room is None or request.resources.fits_in_limit(room) for room in rooms)


def user_room(books: Books, app: Application) -> Resources | None:
    """What limits leave to the user of ``app``, and to its group; None: no limit."""
    return books.users.head_room(books.path_names(app), app.id, app.user, app.groups)


def may_start(books: Books, app: Application) -> bool:
    """Whether maxapplications of queues, user and group let ``app`` allocate; asked of Accepted applications only."""
    return app.queue.can_run(app.id) and books.users.can_run(books.path_names(app), app.id, app.user, app.groups)


def passes(books: Books, request: Request, node: str) -> bool:
    """The predicates, room aside."""
    allowed = books.nodes.admits(node, request.constraints)
    return allowed and (books.predicates is None or books.predicates(request, node))


def is_kept(books: Books, request: Request, node: str) -> bool:
    """Whether ``node`` is kept for other asks than this one."""
    kept = books.node_reservations.get(node)
    return kept is not None and request.id not in kept


def choices(books: Books, request: Request) -> Iterator[str]:
    """The nodes that can take ``request`` now, in node order."""
    for node in books.nodes.choices(request.resources, request.constraints):
        if not is_kept(books, request, node) and (books.predicates is None or books.predicates(request, node)):
            yield node


def first_node(books: Books, request: Request) -> str | None:
    """The node that ``request`` goes to now, or None."""
    if books.predicates is None and not books.node_reservations:
        return books.nodes.first(request.resources, request.constraints)  # remembers for what there was no room
    return next(choices(books, request), None)
