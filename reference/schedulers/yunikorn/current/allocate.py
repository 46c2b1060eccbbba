"""How a request becomes an allocation: by the cycle, by recovery, or in the place of its placeholder.

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/objects/application.go (addAllocationInternal, tryNode) and
pkg/scheduler/partition.go (UpdateAllocation).
"""

from __future__ import annotations

from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books
from reference.schedulers.yunikorn.current.states import ApplicationEvent, ApplicationState


def add_allocation(books: Books, app: Application, request: Request, replaces: bool = False) -> None:
    """``request`` counts as an allocation of ``app``, which may run now; node and queues know of it already.

    An application runs with the placeholder that makes up the whole gang, and with a real pod, but for the first one
    that ``replaces`` a placeholder: by then it runs. An application that has lost a placeholder does not; that it stays
    Accepted is a finding, and repaired.
    """
    if request.placeholder:
        if app.allocated_placeholder.is_zero():
            _start_placeholder_timer(books, app)
        books.hold(app, request)
        if (app.allocated_placeholder - app.placeholder_ask).is_zero():
            books.handle(app, ApplicationEvent.RUN)
        return
    first = replaces and app.allocated.is_zero() and app.state is not ApplicationState.COMPLETING
    if not first or (books.options.repaired and app.state is ApplicationState.ACCEPTED):
        books.handle(app, ApplicationEvent.RUN)
    books.hold(app, request)


def _start_placeholder_timer(books: Books, app: Application) -> None:
    """The timer runs from the first placeholder on, of an application that is Accepted (with repairs: or runs)."""
    starts = app.state is ApplicationState.ACCEPTED or (
        books.options.repaired and app.state is ApplicationState.RUNNING
    )
    if app.placeholder_timer is None and starts and app.timeout_ms > 0:
        app.placeholder_timer = books.now + app.timeout_ms


def allocate(books: Books, app: Application, request: Request, node: str) -> None:
    """A pending ask is allocated on ``node``. An application that is Accepted counts as one that runs from now on."""
    books.put_on(node, request)
    app.queue.increase(request.resources)
    request.allocated = True
    books.stop_pending(app, request)
    add_allocation(books, app, request)
    if app.state is ApplicationState.ACCEPTED:
        app.queue.set_allocating(app.id)


def recover(books: Books, app: Application, request: Request, node: str) -> None:
    """A pod that runs already: it is added whatever the quotas say, and makes a new application Accepted."""
    app.queue.increase(request.resources)
    books.put_on(node, request)
    request.allocated = True
    books.new_request(app, request)
    if app.state is ApplicationState.NEW:
        books.handle(app, ApplicationEvent.RUN)
    add_allocation(books, app, request)


def place(books: Books, app: Application, request: Request, node: str) -> None:
    """The shim has found a node for an ask that waits no more: it is allocated whatever the quotas say."""
    app.queue.increase(request.resources)
    books.put_on(node, request)
    request.allocated = True
    add_allocation(books, app, request)


def park(books: Books, app: Application, request: Request, placeholder: Request, node: str) -> None:
    """A real ask waits behind ``placeholder`` until the shim confirms that it is gone.

    On another ``node`` than the placeholder's it is there from now on; queue and user do not count it yet. The caller
    has looked that the placeholder is neither released nor preempted.
    """
    request.allocated = True
    books.stop_pending(app, request)
    if node == placeholder.node:
        request.node = node
    else:
        books.put_on(node, request)
    request.link, placeholder.link = placeholder, request
    placeholder.mark_released()
