"""What a step ``expect`` of a YuniKorn scenario may say, and what the partition has.

``pd``: per application and task group, placeholders [count, timed out, replaced]. ``total`` and ``ph``: allocations,
and placeholders among them. ``usage``: of the one user; ``users`` and ``groups``: by name. ``app_ph``, ``app_alloc``,
``pending``: per application. ``allocs``: keys. ``state`` and ``log`` (without New). ``node``, ``queue``, ``headroom``,
``maxset``: per node or queue. ``released_marks``: the shim is asked for these. ``reserved``: per node the keys that it
is kept for. ``running``: per queue the applications that count as running, with those still Accepted. Amounts of 0 may
be left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from reference.cluster import NOTHING, Resources
from reference.manifests.document import Field
from reference.manifests.queue_parts import only_keys
from reference.schedulers.yunikorn.current import Application, Partition, PlaceholderData
from reference.schedulers.yunikorn.current.queue import QueueState
from reference.schedulers.yunikorn.current.users import Tracker

Found = list[tuple[str, object, object]]
"""What is compared: its name, what was expected, what was found."""

_MOST = 2**62


Reader = Callable[[str, Field], Found]
"""What is compared for an expectation of that name."""


def resources(field: Field) -> Resources:
    """``{"vcore": 1000}``: whole amounts in their base units."""
    return Resources({name: amount.integer(-_MOST, _MOST) for name, amount in field.members("amounts by name")})


def plain(value: object) -> str:
    """A value in one line."""
    return json.dumps(value, sort_keys=True, default=str)


def expectations(partition: Partition, step: Field, user: str, more: Mapping[str, Reader]) -> Found:
    """Each thing that the step expects, with what there is; ``more``: readers of other things."""
    readers = {**_readers(partition, user), **more}
    only_keys(step, "op", *readers)
    if len(step.mapping()) == 1:
        raise step.error(f"what is expected: {', '.join(readers)}", "nothing")
    found: Found = []
    for name, value in step.mapping().items():
        if name != "op":
            field = step.child(name, value)
            if value is None:
                raise field.error("what is expected")
            found += readers[name](name, field)
    return found


def _readers(partition: Partition, user: str) -> Mapping[str, Callable[[str, Field], Found]]:
    def of_app(read: Callable[[Application], object], expected: Callable[[Field], object]) -> Reader:
        return lambda name, field: each_of(name, field, lambda key: read(_app(partition, key)), expected)

    def keys(requests: object) -> list[str]:
        assert isinstance(requests, Mapping)
        return sorted(requests)

    tracked = partition.users
    return {
        "pd": _placeholder_data(partition),
        "total": lambda name, field: [(name, field.integer(0, _MOST), partition.allocation_count())],
        "ph": lambda name, field: [(name, field.integer(0, _MOST), partition.placeholder_count())],
        "usage": lambda name, field: [(name, _amounts(field), _usage(tracked.users.get(user)))],
        "users": lambda name, field: each_of(
            name, field, lambda key: _usage(tracked.users.get(key.string())), _amounts
        ),
        "groups": lambda name, field: each_of(
            name, field, lambda key: _usage(tracked.groups.get(key.string())), _amounts
        ),
        "app_ph": of_app(lambda app: _nonzero(app.allocated_placeholder), _amounts),
        "app_alloc": of_app(lambda app: _nonzero(app.allocated), _amounts),
        "pending": of_app(lambda app: _nonzero(app.pending), _amounts),
        "allocs": of_app(lambda app: keys(app.allocations), _sorted_names),
        "state": of_app(lambda app: app.state.value, Field.string),
        "log": of_app(lambda app: [state.value for state in app.log], _names),
        "node": lambda name, field: each_of(name, field, lambda key: _nonzero(_on_node(partition, key)), _amounts),
        "queue": lambda name, field: each_of(
            name, field, lambda key: _nonzero(_queue(partition, key).allocated), _amounts
        ),
        "headroom": lambda name, field: each_of(
            name, field, lambda key: _limit(_queue(partition, key).head_room()), _limits, nulls=True
        ),
        "maxset": lambda name, field: each_of(
            name, field, lambda key: _limit(_queue(partition, key).max_set()), _limits, nulls=True
        ),
        "running": lambda name, field: each_of(
            name,
            field,
            lambda key: _queue(partition, key).running + len(_queue(partition, key).allocating_accepted),
            lambda f: f.integer(0, _MOST),
        ),
        "reserved": lambda name, field: each_of(
            name,
            field,
            lambda key: sorted(name for _, name in partition.node_reservations.get(key.string(), {})),
            _sorted_names,
        ),
        "released_marks": lambda name, field: [(name, _sorted_names(field), _marks(partition))],
    }


def each_of(
    name: str,
    field: Field,
    read: Callable[[Field], object],
    expected: Callable[[Field], object],
    nulls: bool = False,
) -> Found:
    """One comparison for each member; ``read`` is given the member's key, with its place."""
    found: Found = []
    for key, value in field.mapping("a mapping by name").items():
        member = field.child(key, value)
        wanted = None if nulls and value is None else expected(member)
        found.append((f"{name}.{key}", wanted, read(field.child(key, key))))
    return found


def _placeholder_data(partition: Partition) -> Reader:
    def read(name: str, field: Field) -> Found:
        found: Found = []
        for app_id, groups in field.mapping().items():
            data = _app(partition, field.child(app_id, app_id)).placeholder_data
            for group, numbers in field.child(app_id, groups).mapping().items():
                counts = field.child(app_id, groups).child(group, numbers)
                wanted = [f.integer(0, _MOST) for f in counts.elements("[count, timed out, replaced]")]
                have = data.get(group, PlaceholderData())
                found.append((f"{name}.{app_id}.{group}", wanted, [have.count, have.timed_out, have.replaced]))
        return found

    return read


def _app(partition: Partition, key: Field) -> Application:
    """The application of that ID: the one that is there, else the last one that has ended."""
    there = partition.applications.get(key.string())
    if there is not None:
        return there
    ended = [app for app in partition.ended if app.id == key.value]
    if not ended:
        raise key.error("an application that the core has accepted")
    return ended[-1]


def _on_node(partition: Partition, key: Field) -> Resources:
    if key.string() not in partition.on_node:
        raise key.error(f"one of {', '.join(partition.on_node)}")
    return partition.used_on(key.string())


def _queue(partition: Partition, key: Field) -> QueueState:
    if key.string() not in partition.queues:
        raise key.error(f"one of {', '.join(partition.queues)}")
    return partition.queues[key.string()]


def _usage(tracker: Tracker | None) -> dict[str, int]:
    return {} if tracker is None else _nonzero(tracker.usage.get("root", NOTHING))


def _marks(partition: Partition) -> list[str]:
    apps = partition.applications.values()
    return sorted(request.key for app in apps for request in app.allocations.values() if request.released)


def _nonzero(amounts: Resources) -> dict[str, int]:
    return {name: amount for name, amount in amounts.items() if amount}


def _amounts(field: Field) -> dict[str, int]:
    return _nonzero(resources(field))


def _limit(limit: Resources | None) -> dict[str, int] | None:
    return None if limit is None else dict(limit.items())


def _limits(field: Field) -> dict[str, int]:
    return dict(resources(field).items())


def _names(field: Field) -> list[str]:
    return [each.name() for each in field.elements()]


def _sorted_names(field: Field) -> list[str]:
    return sorted(_names(field))
