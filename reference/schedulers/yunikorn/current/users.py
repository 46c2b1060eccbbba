"""Limits of users and groups along the path of a queue (upstream: user group manager).

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/ugm. A user has the limits that name it, at each queue on the
path, or else those of the wildcard. An application is held against one group as well: the first configured one that
its user is in, looked for from the leaf to the root, or the wildcard there.

One difference: upstream forgets the group of an application with its last real pod, so what placeholders still hold is
never taken off the group. Here the group is kept as long as the application holds anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reference.cluster import NOTHING, Resources

WILDCARD: Final = "*"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of a queue: for each of these users and groups. ``resources`` zero, ``applications`` 0: no limit."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: Resources = NOTHING
    applications: int = 0


@dataclass(slots=True)
class Tracker:
    """What one user or group uses, per queue on the paths of its applications, and which of those run."""

    usage: dict[str, Resources] = field(default_factory=dict)
    running: dict[str, set[str]] = field(default_factory=dict)

    def increase(self, path: Sequence[str], application: str, resources: Resources) -> None:
        for queue in path:
            self.usage[queue] = self.usage.get(queue, NOTHING) + resources
            self.running.setdefault(queue, set()).add(application)

    def decrease(self, path: Sequence[str], application: str, resources: Resources, ended: bool) -> None:
        for queue in path:
            self.usage[queue] = self.usage.get(queue, NOTHING) - resources
            if ended:
                self.running.get(queue, set()).discard(application)


class UserGroupManager:
    """Usage and limits of everybody. A path is the names of queues from the leaf to the root."""

    def __init__(self) -> None:
        self.users: dict[str, Tracker] = {}
        self.groups: dict[str, Tracker] = {}
        self._limits: dict[str, tuple[Limit, ...]] = {}
        self._group_of: dict[str, str] = {}

    def configure(self, limits: Mapping[str, tuple[Limit, ...]]) -> None:
        """Takes these limits, by queue, from now on."""
        self._limits = {queue: given for queue, given in limits.items() if given}

    def group_of(self, path: Sequence[str], application: str, groups: Sequence[str]) -> str:
        """The group that ``application`` is held against, settled when it is first asked for; "" for none."""
        if application not in self._group_of:
            self._group_of[application] = self._resolve(path, groups)
        return self._group_of[application]

    def head_room(self, path: Sequence[str], application: str, user: str, groups: Sequence[str]) -> Resources | None:
        """What user and group may still be given on this path; None: no limit."""
        if not self._limits:
            return None
        rooms = [_head_room(self._user(user), path, self._limits_of_user(user, path))]
        group = self.group_of(path, application, groups)
        if group:
            rooms.append(_head_room(self._group(group), path, self._limits_of_group(group, path)))
        given = [room for room in rooms if room is not None]
        return None if not given else given[0] if len(given) == 1 else given[0].min_limit(given[1])

    def can_run(self, path: Sequence[str], application: str, user: str, groups: Sequence[str]) -> bool:
        """Whether one more application of this user, and of its group, may run on this path."""
        if not self._limits:
            return True
        group = self.group_of(path, application, groups)
        return _can_run(self._user(user), path, application, self._limits_of_user(user, path)) and (
            not group or _can_run(self._group(group), path, application, self._limits_of_group(group, path))
        )

    def increase(
        self, path: Sequence[str], application: str, user: str, groups: Sequence[str], resources: Resources
    ) -> None:
        """``resources`` were allocated to an application of ``user``."""
        self._user(user).increase(path, application, resources)
        group = self.group_of(path, application, groups)
        if group:
            self._group(group).increase(path, application, resources)

    def decrease(self, path: Sequence[str], application: str, user: str, resources: Resources, ended: bool) -> None:
        """``resources`` were given back; ``ended``: the application is not one that runs any more."""
        self._user(user).decrease(path, application, resources, ended)
        group = self._group_of.get(application, "")
        if group:
            self._group(group).decrease(path, application, resources, ended)

    def forget(self, path: Sequence[str], application: str, user: str) -> None:
        """The application has left its queue and holds nothing."""
        self.decrease(path, application, user, NOTHING, True)
        self._group_of.pop(application, None)

    def _user(self, user: str) -> Tracker:
        return self.users.setdefault(user, Tracker())

    def _group(self, group: str) -> Tracker:
        return self.groups.setdefault(group, Tracker())

    def _resolve(self, path: Sequence[str], groups: Sequence[str]) -> str:
        if not groups:
            return ""
        for queue in path:
            configured = [group for limit in self._limits.get(queue, ()) for group in limit.groups]
            for group in configured:
                if group in groups:
                    return group
            if WILDCARD in configured:
                return WILDCARD
        return ""

    def _limits_of_user(self, user: str, path: Sequence[str]) -> dict[str, Limit]:
        found: dict[str, Limit] = {}
        for queue in path:
            for name in (WILDCARD, user):  # the last one counts: a limit that names the user
                for limit in self._limits.get(queue, ()):
                    if name in limit.users:
                        found[queue] = limit
        return found

    def _limits_of_group(self, group: str, path: Sequence[str]) -> dict[str, Limit]:
        return {queue: limit for queue in path for limit in self._limits.get(queue, ()) if group in limit.groups}


def _head_room(tracker: Tracker, path: Sequence[str], limits: Mapping[str, Limit]) -> Resources | None:
    room: Resources | None = None
    for queue in path:
        limit = limits.get(queue)
        if limit is not None and not limit.resources.is_zero():
            usage = tracker.usage.get(queue, NOTHING)
            left = Resources({name: most - usage.amount(name) for name, most in limit.resources.items()})
            room = left if room is None else room.min_limit(left)
    return room


def _can_run(tracker: Tracker, path: Sequence[str], application: str, limits: Mapping[str, Limit]) -> bool:
    for queue in path:
        running = tracker.running.get(queue, set())
        most = limits[queue].applications if queue in limits else 0
        if most and application not in running and len(running) + 1 > most:
            return False
    return True
