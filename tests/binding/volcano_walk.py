"""Runs of Volcano's reference in a small scope, with the spec alongside."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from model.language import Machine
from reference.cluster import Resources
from reference.schedulers.volcano import Edition as ReferenceEdition
from reference.schedulers.volcano import Record, Scheduler, TaskSpec, TaskStatus
from specs.loading import build_spec
from specs.volcano import Edition, Layout
from specs.volcano import state as spec
from specs.volcano.binding import UNIT, Follower, Place, Subject, job_name, subject_for
from specs.walking import Call

Parameters = tuple[tuple[str, object], ...]
Move = tuple[Call, Callable[[], Record]]
"""The action of the spec that an event is, and the event."""


@functools.lru_cache(maxsize=64)
def machine_for(given: Parameters) -> Machine:
    """One machine per parameter set."""
    kinds: dict[str, Callable[[Any], object]] = {"edition": Edition, "layout": Layout}
    return build_spec("volcano", {name: kinds.get(name, lambda v: v)(value) for name, value in given})


class Walk:
    """A scheduler and its follower."""

    def __init__(self, given: Parameters) -> None:
        self.machine = machine_for(given)
        self.subject: Subject = subject_for(self.machine)
        self.scheduler: Scheduler = self.subject.scheduler()
        self.follower = Follower(self.machine, self.subject, self.scheduler)
        self.used: dict[str, int] = {}
        self.done: set[str] = set()
        self.grown: set[tuple[str, Place]] = set()

    def session(self) -> Record:
        """Run a session; the follower hears of each step."""
        record = self.scheduler.run_session()
        assert self.scheduler.check_invariants() == []
        return record

    def may_fail(self) -> list[str]:
        """The tasks of which the next bind may fail: one at a time, and as often as the machine's parameters allow."""
        failed = sum(action == "commit_fails" for action, _ in self.follower.taken)
        if self.scheduler.failing_binds or failed >= self.machine.parameters["bind_failures"]:
            return []
        return [name for name, task in self.scheduler.tasks.items() if task.status is TaskStatus.PENDING]

    def take(self, move: Move) -> None:
        """Let an event happen."""
        (action, arguments), event = move
        if action == "policy_arrives" or action == "pod_arrives":
            self.grown.add((action, arguments[:3]))  # type: ignore[arg-type]
        self.used[action] = self.used.get(action, 0) + 1
        self.follower.follow(event())
        assert self.scheduler.check_invariants() == []

    def moves(self) -> list[Move]:
        """Everything that may happen between two sessions, within what the machine's parameters allow."""
        s, found = self.scheduler, list[Move]()
        p = self.machine.parameters
        if not self.subject.is_static:
            for place, job_spec in self.subject.jobs.items():
                name = job_name(place)
                job = s.jobs.get(name)
                if job is None:
                    if name not in self.done:
                        found.append((("submit", place), functools.partial(s.add_job, job_spec)))
                    continue
                running = job.counts[TaskStatus.RUNNING]
                if running and running >= job.min_available:
                    found.append((("finish", place), functools.partial(self._finish, name)))
                if p["scale_ups"]:
                    found += self._growth(place)
        if p["quota_changes"] > self.used.get("change_quota", 0):
            for n in self.machine.sorts[spec.Namespace].names:
                for k in self.machine.sorts[spec.Quota].names:
                    for weight in (0, 1, 2):
                        call = ("change_quota", (n, k, str(weight)))
                        found.append((call, functools.partial(s.set_quota, n, k, weight)))
        if p["drains"] > self.used.get("drain_node", 0):
            for node in s.nodes.values():
                for task in list(node.tasks.values())[:1]:
                    place = (*task.job.name.split("/"),)
                    found.append((("drain_node", place), functools.partial(s.drain_node, node.name)))
        cordoned = [node.name for node in s.nodes.values() if not node.node.schedulable]
        found += [(("return_node", ()), functools.partial(s.uncordon_node, name)) for name in cordoned[:1]]
        return found

    def _growth(self, place: Place) -> list[Move]:
        s, name, found = self.scheduler, job_name(place), list[Move]()
        has_policy, has_pod = ("policy_arrives", place) in self.grown, ("pod_arrives", place) in self.grown
        is_new = s.jobs[name].phase.value == "Inqueue"
        scale_ups = self.machine.parameters["scale_ups"]
        if is_new and not has_policy and self.used.get("policy_arrives", 0) < scale_ups:
            least = s.jobs[name].min_available + 1
            found.append((("policy_arrives", place), functools.partial(s.update_job, name, least)))
        early = sum(a == "pod_arrives" and ("policy_arrives", where) not in self.grown for a, where in self.grown)
        may_be_early = is_new and early < scale_ups - self.used.get("policy_arrives", 0)
        is_today = self.subject.configuration.edition is ReferenceEdition.CURRENT
        if not has_pod and ((is_new or not is_today) if has_policy else (is_today and may_be_early)):
            extra = TaskSpec(f"{name}/extra", Resources(vcore=UNIT))
            found.append((("pod_arrives", place), functools.partial(s.add_task, name, extra)))
        return found

    def _finish(self, name: str) -> Record:
        self.done.add(name)
        return self.scheduler.delete_job(name)
