"""A node in the scheduler: what is idle, what runs down, what is promised (upstream: NodeInfo)."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from reference.cluster import PODS, Node
from reference.schedulers.volcano.amounts import Amounts, change
from reference.schedulers.volcano.api import Task, TaskStatus


class NodeInfo:
    """Idle, releasing and pipelined amounts, and the tasks that cause them.

    A node that does not list ``pods`` does not limit them. What pods hold that no queue accounts for is not idle.
    """

    __slots__ = ("_amounts", "allocatable", "idle", "name", "node", "pipelined", "releasing", "tasks")

    def __init__(self, node: Node, held: Mapping[str, int]) -> None:
        self.node, self.name = node, node.name
        self.allocatable: Amounts = dict(node.capacity)
        self.idle: Amounts = dict(node.available)
        change(self.idle, held, -1)
        if PODS not in node.capacity:
            self.idle.pop(PODS, None)
        self.releasing: Amounts = {}
        self.pipelined: Amounts = {}
        self.tasks: dict[str, Task] = {}
        self._amounts: str | None = None

    @property
    def amounts(self) -> str:
        """All amounts of the node, as a text: nodes that have the same are alike, and it is hashed once."""
        if self._amounts is None:
            parts = (self.allocatable, self.idle, self.releasing, self.pipelined)
            self._amounts = sys.intern(repr([sorted(part.items()) for part in parts]))
        return self._amounts

    def add(self, task: Task) -> None:
        """The task takes its room, by its status: a pipelined one only what others give back."""
        self.tasks[task.name] = task
        self._change(task, 1)

    def remove(self, task: Task) -> None:
        """The task gives its room back; its status is still that with which it was added."""
        del self.tasks[task.name]
        self._change(task, -1)

    def future_idle(self, name: str) -> int:
        """What is idle, or will be, and is not promised."""
        return self.idle.get(name, 0) + self.releasing.get(name, 0) - self.pipelined.get(name, 0)

    def fits(self, resreq: Mapping[str, int]) -> bool:
        """Whether there is room now."""
        idle = self.idle
        for name, amount in resreq.items():  # the innermost loop: all() costs twice as much
            if amount > idle.get(name, 0) and amount > 0 and (name != PODS or PODS in self.allocatable):
                return False
        return True

    def will_fit(self, resreq: Mapping[str, int]) -> bool:
        """Whether there is room once what runs down is gone."""
        if not self.releasing and not self.pipelined:
            return self.fits(resreq)
        return self.short_of(resreq) is None

    def short_of(self, resreq: Mapping[str, int]) -> str | None:
        """The first resource of which there will not be enough, or None."""
        for name, amount in resreq.items():
            limited = name != PODS or PODS in self.allocatable
            if amount > 0 and limited and amount > self.future_idle(name):
                return name
        return None

    def _change(self, task: Task, sign: int) -> None:
        self._amounts = None
        if task.status is TaskStatus.PIPELINED:
            _count(self.pipelined, task.resreq, sign)
            return
        if task.status is TaskStatus.SUCCEEDED:
            return
        if task.status is TaskStatus.RELEASING:
            _count(self.releasing, task.resreq, sign)
        limited = PODS in self.allocatable
        idle = self.idle
        for name, amount in task.resreq.items():
            if limited or name != PODS:
                idle[name] = idle.get(name, 0) - sign * amount


def _count(amounts: Amounts, by: Mapping[str, int], sign: int) -> None:
    """As ``change``, and nothing is left where nothing is counted: equal states look alike."""
    change(amounts, by, sign)
    for name in by:
        if amounts[name] == 0:
            del amounts[name]
