"""What holds after every event: the books add up, and nothing is in two places.

Upstream looks at a part of this from time to time (pkg/scheduler/health_checker.go); here a real pod that is parked on
another node than its placeholder is known to be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from reference.cluster import Resources, total
from reference.schedulers.yunikorn.current.application import Application, Request
from reference.schedulers.yunikorn.current.books import Books
from reference.schedulers.yunikorn.current.states import TERMINATED, ApplicationState


def broken_invariants(books: Books) -> list[str]:
    """Every invariant that does not hold now, one line each."""
    return [*_of_applications(books), *_of_nodes(books), *_of_queues(books), *_of_users(books)]


def _of_applications(books: Books) -> Iterator[str]:
    for app in books.applications.values():
        yield from (f"{app.id}: {problem}" for problem in _of_application(app))


def _of_application(app: Application) -> Iterator[str]:
    placeholders, reals = app.placeholders(), [r for r in app.allocations.values() if not r.placeholder]
    yield from _same("pending", app.pending, app.waiting)
    yield from _same("allocated", app.allocated, reals)
    yield from _same("allocated placeholders", app.allocated_placeholder, placeholders)
    if app.state in TERMINATED:
        yield f"is {app.state.value} and still in its queue"
    if app.state is ApplicationState.NEW and (app.requests or app.allocations):
        yield "is New and has asks"
    if app.state in (ApplicationState.FAILED, ApplicationState.COMPLETED) and app.allocations:
        yield "has ended and holds allocations"
    if any(r.allocated for r in app.waiting) or not all(r.allocated for r in app.allocations.values()):
        yield "an ask is both pending and allocated"
    known = Counter(r.key for r in (*app.waiting, *app.allocations.values(), *app.parked()))
    yield from (f"{key} is in {n} places" for key, n in known.items() if n > 1)
    for request in app.requests.values():
        if request.allocated and request.node == "":
            yield f"{request.key} is allocated nowhere"
    for ph in placeholders:
        if ph.link is not None and (ph.link.link is not ph or not ph.released):
            yield f"{ph.key} is linked one way, or not released"
        if ph.released and ph.preempted:
            yield f"{ph.key} is released and preempted"
    if app.placeholder_timer is not None and not placeholders:
        yield "a placeholder timer runs without placeholders"
    for group, data in app.placeholder_data.items():
        if data.count < 0 or data.replaced < 0 or data.timed_out < 0:
            yield f"{group}: {data}"


def _of_nodes(books: Books) -> Iterator[str]:
    if set(books.on_node) != set(books.nodes.index):
        yield "nodes differ from those that have allocations"
    expected: dict[str, set[tuple[str, str]]] = {name: set() for name in books.nodes.index}
    for app in books.applications.values():
        for request in app.allocations.values():
            expected.setdefault(request.node, set()).add(request.id)
        for real in app.parked():
            if real.link is not None and real.node != real.link.node:
                expected.setdefault(real.node, set()).add(real.id)
    for name, keys in expected.items():
        found = set(books.on_node.get(name, {}))
        if found != keys:
            yield f"{name}: has {sorted(found)}, expected {sorted(keys)}"
    for name in books.nodes.index:
        node = books.nodes.nodes[books.nodes.index[name]]
        free = node.available - node.counted(books.used_on(name))
        if {n: a for n, a in free.items() if a} != {n: a for n, a in books.nodes.free(name).items() if a}:
            yield f"{name}: {dict(books.nodes.free(name))} free, what is on it leaves {dict(free)}"
    kept = {(app.id, key): node for app in books.applications.values() for key, node in app.reservations.items()}
    same = {id_: node for node, asks in books.node_reservations.items() for id_ in asks}
    if kept != same:
        yield f"reservations of applications {kept}, of nodes {same}"


def _of_queues(books: Books) -> Iterator[str]:
    for name, queue in books.queues.items():
        below = [a for a in books.applications.values() if a.queue.name == name or a.queue.name.startswith(name + ".")]
        held = [r for app in below for r in app.allocations.values()]
        yield from _same(f"{name}: allocated", queue.allocated, held)
        yield from _same(f"{name}: pending", queue.pending, [r for app in below for r in app.waiting])
        yield from _same(f"{name}: preempting", queue.preempting, [r for r in held if r.preempted])
        running = sum(app.state is ApplicationState.RUNNING for app in below)
        most = queue.config.max_applications
        # an application that completes and runs again is not held back by the limit, and upstream cuts the count there;
        # so below a limit it may be too small from then on, which is a finding, and never too large
        if queue.running > running or (queue.running < running and not most):
            yield f"{name}: {queue.running} applications counted as running, {running} run"


def _of_users(books: Books) -> Iterator[str]:
    held: dict[str, list[Request]] = {}
    for app in books.applications.values():
        held.setdefault(app.user, []).extend(app.allocations.values())
    for user, tracker in books.users.users.items():
        yield from _same(f"user {user}", tracker.usage.get("root", Resources()), held.get(user, []))


def _same(what: str, tracked: Mapping[str, int], requests: list[Request]) -> Iterator[str]:
    found = {name: n for name, n in tracked.items() if n}
    wanted = {name: n for name, n in total(r.resources for r in requests).items() if n}
    if found != wanted:
        yield f"{what} is {found}, what is there makes it {wanted}"
