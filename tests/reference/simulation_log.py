"""A second, plain reading of a run: from the text of its log alone, everything that a metric needs, the slow way.

It shares no code with the simulation. Between two instants nothing changes, so an integral is a sum over the gaps of
what held in them, all of it added up anew each time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Line = dict[str, Any]


@dataclass
class PodSeen:
    application: str
    task_group: str
    node: str
    placeholder: bool
    began: int
    resources: dict[str, int]


@dataclass
class JobSeen:
    arrival: int
    queue: str
    weight: int
    groups: dict[str, Line]
    attempt: int = 1
    started: int | None = None
    running_since: int | None = None
    end: tuple[str, int] | None = None


@dataclass
class World:
    """What holds between two instants."""

    nodes: dict[str, Line] = field(default_factory=dict)
    pods: dict[int, PodSeen] = field(default_factory=dict)
    jobs: dict[str, JobSeen] = field(default_factory=dict)
    worked: int = 0
    """Pod-milliseconds of members of running gangs, counted when a pod leaves."""

    def take(self, line: Line) -> None:
        now = line["time"]
        match line["event"]:
            case "add_node":
                assert line["node"] not in self.nodes
                self.nodes[line["node"]] = line
            case "remove_node":
                del self.nodes[line["node"]]
            case "submit":
                groups = {group["name"]: group for group in line["task_groups"]}
                job = self.jobs.setdefault(line["application"], JobSeen(now, line["queue"], line["weight"], groups))
                job.attempt, job.running_since = line["attempt"], None
            case "allocate":
                assert line["pod"] not in self.pods
                job = self.jobs[line["application"]]
                asked = job.groups[line["task_group"]]["pod"]
                seen = PodSeen(line["application"], line["task_group"], line["node"], line["placeholder"], now, asked)
                self.pods[line["pod"]] = seen
            case "start":
                job = self.jobs[line["application"]]
                job.running_since = now
                job.started = now if job.started is None else job.started
                mine = [p for p in self.pods.values() if p.application == line["application"] and not p.placeholder]
                wanted = sum(group["min_member"] for group in job.groups.values())
                assert len(mine) == wanted, "a gang starts whole"
            case "finish_pod":
                pod = self._leave(line)
                job = self.jobs[pod.application]
                assert not pod.placeholder
                assert job.running_since is not None
                assert now == job.running_since + job.groups[pod.task_group]["duration_ms"], "work is conserved"
            case "release" | "fail_pod" | "stop_pod":
                self._leave(line)
            case "fail":
                job = self.jobs[line["application"]]
                job.running_since = None
                if line["final"]:
                    job.end = ("fail", now)
            case "finish" | "reject" | "kill" as how:
                self.jobs[line["application"]].end = (how, now)

    def _leave(self, line: Line) -> PodSeen:
        pod = self.pods.pop(line["pod"])
        assert pod.application == line["application"]
        since = self.jobs[pod.application].running_since
        if since is not None and not pod.placeholder:
            self.worked += line["time"] - since
        return pod

    def left(self, node: str) -> dict[str, int]:
        free = dict(self.nodes[node]["capacity"])
        for pod in self.pods.values():
            if pod.node == node:
                for name, amount in pod.resources.items():
                    if name != "pods" or "pods" in free:
                        free[name] = free.get(name, 0) - amount
        return free


def parse(lines: Iterable[str]) -> tuple[Line, list[Line]]:
    head, *entries = map(json.loads, lines)
    assert head["gangproof"] == "log/v1"
    assert [entry["number"] for entry in entries] == list(range(1, len(entries) + 1))
    times = [entry["time"] for entry in entries]
    assert times == sorted(times)
    return head, entries


def instants(entries: list[Line]) -> Iterator[tuple[int, World]]:
    """What holds after each instant, with its time; the world is one object that goes on changing."""
    world = World()
    for place, entry in enumerate(entries):
        if entry["by"] == "simulation":
            world.take(entry)
        if place + 1 == len(entries) or entries[place + 1]["time"] != entry["time"]:
            yield entry["time"], world


@dataclass
class Sums:
    """Integrals over the window."""

    capacity: dict[str, int] = field(default_factory=dict)
    running: dict[str, int] = field(default_factory=dict)
    allocated: dict[str, int] = field(default_factory=dict)
    queues: dict[str, dict[str, int]] = field(default_factory=dict)
    hours: dict[str, int] = field(default_factory=dict)
    price: int = 0


def add(sums: dict[str, int], amounts: dict[str, int], times: int) -> None:
    for name, amount in amounts.items():
        sums[name] = sums.get(name, 0) + amount * times


def integrate(entries: list[Line], start: int, end: int) -> Sums:
    sums = Sums()
    times = sorted({entry["time"] for entry in entries} | {end})
    following = dict(itertools.pairwise(times))
    for time, world in instants(entries):
        gap = min(following.get(time, end), end) - max(time, start)
        if gap <= 0:
            continue
        for node in world.nodes.values():
            add(sums.capacity, node["capacity"], gap)
            add(sums.hours, {node["type"]: 1}, gap)
            sums.price += node["price"] * gap
        for pod in world.pods.values():
            job = world.jobs[pod.application]
            add(sums.allocated, pod.resources, gap)
            add(sums.queues.setdefault(job.queue, {}), pod.resources, gap)
            if job.running_since is not None and not pod.placeholder:
                add(sums.running, pod.resources, gap)
    return sums
