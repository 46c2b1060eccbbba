"""What must hold of the scheduler between any two events, and between the steps of a session."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reference.cluster import PODS, total
from reference.schedulers.volcano.api import ALLOCATED_STATUS, TaskStatus

if TYPE_CHECKING:
    from reference.schedulers.volcano.scheduler import Scheduler

_ON_NODE = ALLOCATED_STATUS | {TaskStatus.PIPELINED, TaskStatus.RELEASING}


def broken_invariants(scheduler: Scheduler) -> list[str]:
    """One line for each that does not hold: what is counted is what is there, and no node has less than nothing."""
    found: list[str] = []
    for node in scheduler.nodes.values():
        here = [task for task in scheduler.tasks.values() if task.node == node.name and task.status in _ON_NODE]
        if {task.name for task in here} != set(node.tasks):
            found.append(
                f"node {node.name}: its tasks are {sorted(node.tasks)}, expected {sorted(t.name for t in here)}"
            )
        taken = total(t.resreq for t in here if t.status is not TaskStatus.PIPELINED)
        counts = {
            "releasing": (node.releasing, total(t.resreq for t in here if t.status is TaskStatus.RELEASING)),
            "pipelined": (node.pipelined, total(t.resreq for t in here if t.status is TaskStatus.PIPELINED)),
        }
        for what, (counted, expected) in counts.items():
            if {n: a for n, a in counted.items() if a} != {n: a for n, a in expected.items() if a}:
                found.append(f"node {node.name}: {what} is {counted}, expected {dict(expected)}")
        free = node.node.available - node.node.counted(taken + scheduler.held(node.name))
        for name in {*free, *node.idle}:
            if node.idle.get(name, 0) != free.amount(name):
                found.append(f"node {node.name}: {node.idle.get(name, 0)} {name} idle, expected {free.amount(name)}")
            if free.amount(name) < 0 and taken.amount(name) > 0 and (name != PODS or PODS in node.allocatable):
                found.append(f"node {node.name}: {name} is taken beyond what there is")
    for job in scheduler.jobs.values():
        statuses = Counter(task.status for task in job.tasks.values())
        if any(job.counts[status] != statuses[status] for status in TaskStatus):
            found.append(f"job {job.name}: its counts by status are not those of its tasks")
        have = total(t.resreq for t in job.tasks.values() if t.status in ALLOCATED_STATUS)
        if {n: a for n, a in job.allocated.items() if a} != {n: a for n, a in have.items() if a}:
            found.append(f"job {job.name}: {job.allocated} allocated, expected {dict(have)}")
        if any(task.status is TaskStatus.PENDING and task.node for task in job.tasks.values()):
            found.append(f"job {job.name}: a pending task has a node")
    return found
