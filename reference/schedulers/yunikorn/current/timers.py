"""What timers do when they fire, on a virtual clock.

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/objects/application.go (timeoutPlaceholderProcessing,
timeoutStateTimer) and pkg/common/utils.go (the timeout after a restart).
"""

from __future__ import annotations

from collections.abc import Iterator

from reference.cluster import GangStyle
from reference.schedulers.yunikorn.current.application import DEFAULT_TIMEOUT_MS, Application, Request
from reference.schedulers.yunikorn.current.books import Books
from reference.schedulers.yunikorn.current.messages import AddApplication, TerminationType
from reference.schedulers.yunikorn.current.states import ApplicationEvent, ApplicationState


def timeout_of(message: AddApplication, now: int) -> int:
    """How long placeholders may wait: what was asked for, or 15 minutes, less what has passed since the creation."""
    timeout = message.timeout_ms or DEFAULT_TIMEOUT_MS
    return timeout if message.created is None else max(timeout - (now - message.created), 1)


def next_due(books: Books) -> int | None:
    """When the next timer fires, or None."""
    return min((due for due, _, _ in _timers(books)), default=None)


def _timers(books: Books) -> Iterator[tuple[int, int, Application]]:
    for app in (*books.applications.values(), *books.ended):
        if app.placeholder_timer is not None:
            yield app.placeholder_timer, app.arrival, app
        if app.state_timer is not None:
            yield app.state_timer.due, app.arrival, app


def fire_due(books: Books) -> None:
    """Fires whatever is due by now, in the order of time, then of arrival."""
    while True:
        due = min((t for t in _timers(books) if t[0] <= books.now), key=lambda t: t[:2], default=None)
        if due is None:
            return
        when, _, app = due
        if app.placeholder_timer == when:
            placeholder_timeout(books, app)
        else:
            state_timeout(books, app)
        books.settle()


def placeholder_timeout(books: Books, app: Application) -> None:
    """Placeholders have waited long enough.

    An application that runs or completes loses those that nobody wants back yet. Any other is thought to have nothing
    but placeholders: it resumes (Soft) or fails (Hard), all that it has allocated is asked for in one message, all that
    is pending in another, and its asks are dropped. That this takes real pods for placeholders is a finding, and
    repaired.
    """
    app.placeholder_timer = None
    runs = app.state in (ApplicationState.RUNNING, ApplicationState.COMPLETING)
    repaired = books.options.repaired
    started = repaired and (app.allocated_placeholder.is_zero() or not app.allocated.is_zero() or bool(app.parked()))
    if started or (runs and not app.allocated_placeholder.is_zero()):
        _release_free(books, app, "releasing allocated placeholders on placeholder timeout")
        return
    hard = app.style is GangStyle.HARD
    books.handle(app, ApplicationEvent.FAIL if hard else ApplicationEvent.RESUME, "ResourceReservationTimeout")
    app.given_up = True
    keeps_reals = repaired and not hard
    taken = [r for r in app.allocations.values() if r.placeholder or not repaired]
    dropped = [r for r in app.waiting if r.placeholder or not keeps_reals]
    allocated = [r for r in taken if not (repaired and r.released) and r.mark_released()]
    pending = [r for r in dropped if r.mark_released()]
    for request in pending:
        # upstream counts whatever is pending, and does not survive a real ask of a group without placeholders
        if request.task_group in app.placeholder_data and (request.placeholder or not repaired):
            app.data_of(request.task_group).timed_out += 1
    _drop_asks(books, app, [r for r in app.requests.values() if r.placeholder or not keeps_reals])
    why = "releasing {} placeholders on placeholder timeout"
    books.ask_for(allocated, TerminationType.TIMEOUT, why.format("allocated"))
    books.ask_for(pending, TerminationType.TIMEOUT, why.format("pending"))


def _drop_asks(books: Books, app: Application, requests: list[Request]) -> None:
    """removeAsksInternal for all of them. It may complete an application that has nothing left and was not moved."""
    for request in requests:
        books.forget_ask(app, request.key)
    stays = app.state in (ApplicationState.FAILING, ApplicationState.COMPLETING)
    if requests and app.is_idle() and not stays and not app.placeholders():
        books.handle(app, ApplicationEvent.COMPLETE)


def _release_free(books: Books, app: Application, why: str) -> None:
    """Asks for the placeholders that are neither released nor preempted."""
    free = [ph for ph in app.placeholders() if not ph.released and ph.mark_released()]
    books.ask_for(free, TerminationType.TIMEOUT, why)


def state_timeout(books: Books, app: Application) -> None:
    """The state is left by itself. Before Completed, placeholders that are left are asked for; the last one completes
    the application."""
    timer = app.state_timer
    if timer is None:
        return
    if app.state is ApplicationState.COMPLETING and not app.allocated_placeholder.is_zero():
        _release_free(books, app, "releasing placeholders on app complete")
        app.state_timer = None
        return
    books.handle(app, timer.event)
    if app.state is ApplicationState.EXPIRED:
        books.ended.remove(app)
