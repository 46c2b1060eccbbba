"""The autoscaled gang as plain Python: written beside the spec, to be compared with it, and sharing nothing with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

GONE = {"ABSENT", "TERMINATED", "ALLOCATION_FAILED"}
COMING = {"QUEUED", "REQUESTED", "ALLOCATED", "RAY_INSTALLING"}
USABLE = {"RAY_RUNNING", "RAY_STOP_REQUESTED"}
IN_CLOUD = {
    "ALLOCATED",
    "RAY_INSTALLING",
    "RAY_RUNNING",
    "RAY_STOP_REQUESTED",
    "RAY_STOPPING",
    "RAY_STOPPED",
    "TERMINATING",
}


@dataclass(frozen=True)
class Row:
    state: str
    failures: int
    held: tuple[int, ...]


State: TypeAlias = tuple[tuple[str, ...], tuple[Row, ...]]


@dataclass(frozen=True)
class World:
    apps: int = 2
    size: int = 3
    instances: int = 2
    capacity: int = 2
    fair: bool = False
    vanish: bool = False
    retries: int = 1
    max_concurrent_launches: int = 1
    kuberay: bool = False
    spare_rows: int = 1

    def initial(self) -> State:
        row = Row("ABSENT", 0, (0,) * self.apps)
        return ("NEW",) * self.apps, (row,) * (self.instances + self.spare_rows)

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        apps, rows = state
        held = [sum(r.held[a] for r in rows) for a in range(self.apps)]
        waiting = [a for a in range(self.apps) if apps[a] == "ACCEPTED" and held[a] < self.size]
        demand = sum(self.size - held[a] for a in waiting)
        supply = sum(self.capacity - sum(r.held) for r in rows if r.state in COMING | USABLE)
        alive = sum(r.state not in GONE for r in rows)

        def app(a: int, new: str, release: bool = False) -> State:
            left = tuple(replace(r, held=_set(r.held, a, 0)) for r in rows) if release else rows
            return _set(apps, a, new), left

        def row(i: int, **changes: object) -> State:
            return apps, _set(rows, i, replace(rows[i], **changes))

        if "NEW" in apps:
            yield "submit", app(apps.index("NEW"), "ACCEPTED")
        for a in range(self.apps):
            if apps[a] == "ACCEPTED" and held[a] == self.size:
                yield "start", app(a, "RUNNING")
            if apps[a] == "RUNNING":
                yield "finish", app(a, "FINISHED", release=True)
        if self.fair:
            served = [a for a in waiting if held[a] == min(held[b] for b in waiting)]
        else:
            served = [a for a in waiting if held[a] > 0 or a == waiting[0]]
        for i, r in enumerate(rows):
            room = self.capacity - sum(r.held)
            if r.state in USABLE and room:
                for a in served:
                    yield "allocate", row(i, held=_set(r.held, a, r.held[a] + 1))
            match r.state:
                case "ABSENT" | "TERMINATED" | "ALLOCATION_FAILED" if demand > supply and alive < self.instances:
                    yield "queue_instance", row(i, state="QUEUED")
                case "QUEUED":
                    if sum(x.state == "REQUESTED" for x in rows) < self.max_concurrent_launches:
                        yield "request_launch", row(i, state="REQUESTED")
                case "REQUESTED":
                    yield "launched", row(i, state="ALLOCATED", failures=0)
                    if r.failures < self.retries:
                        yield "launch_failed", row(i, state="QUEUED", failures=r.failures + 1)
                    else:
                        yield "launch_given_up", row(i, state="ALLOCATION_FAILED", failures=0)
                case "ALLOCATED" if not self.kuberay:
                    yield "install_ray", row(i, state="RAY_INSTALLING")
                case "ALLOCATED" | "RAY_INSTALLING":
                    yield "ray_started", row(i, state="RAY_RUNNING")
                case "RAY_RUNNING" if room == self.capacity and demand <= supply - self.capacity:
                    yield "request_drain", row(i, state="RAY_STOP_REQUESTED")
                case "RAY_STOP_REQUESTED" if room == self.capacity:
                    yield "drain_accepted", row(i, state="RAY_STOPPING")
                case "RAY_STOP_REQUESTED":
                    yield "drain_refused", row(i, state="RAY_RUNNING")
                case "RAY_STOPPING":
                    yield "ray_stopped", row(i, state="RAY_STOPPED")
                case "RAY_STOPPED":
                    yield "terminate", row(i, state="TERMINATING")
                case "TERMINATING":
                    yield "terminated", row(i, state="TERMINATED")
            if self.vanish and r.state in IN_CLOUD:
                back = tuple("ACCEPTED" if s == "RUNNING" and r.held[a] else s for a, s in enumerate(apps))
                _, left = row(i, state="TERMINATED", held=(0,) * self.apps)
                yield "instance_vanishes", (back, left)

    def explore(self) -> tuple[int, int, int, dict[str, int]]:
        """Distinct states, transitions, depth, and how often each action fires."""
        distance = {self.initial(): 0}
        queue = deque(distance)
        fired: dict[str, int] = {}
        while queue:
            state = queue.popleft()
            for action, new in self.steps(state):
                fired[action] = fired.get(action, 0) + 1
                if new not in distance:
                    distance[new] = distance[state] + 1
                    queue.append(new)
        return len(distance), sum(fired.values()), max(distance.values()), fired


def _set(values: tuple, position: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:position], value, *values[position + 1 :])
