"""A pod as the shim follows it, and the application that it is of.

Source: apache/yunikorn-k8shim at 23b6b47f, pkg/cache/task.go and application.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reference.cluster import ANYWHERE, Constraints, GangStyle, Resources, TaskGroup, total
from reference.schedulers.yunikorn.current.messages import TerminationType
from reference.schedulers.yunikorn.current.shim.states import (
    SHIM_TRANSITIONS,
    TASK_TRANSITIONS,
    ShimEvent,
    ShimState,
    TaskEvent,
    TaskState,
)


@dataclass(slots=True, eq=False)
class Task:
    """One pod. ``termination`` is what the core gave as the reason for which it wants the pod back: it is told again
    when the pod is gone. ``node`` is where it is bound, or to be bound."""

    key: str
    application: str
    resources: Resources
    task_group: str = ""
    placeholder: bool = False
    constraints: Constraints = ANYWHERE
    created: int = 0
    state: TaskState = TaskState.NEW
    node: str = ""
    termination: TerminationType = TerminationType.STOPPED_BY_RM

    def handle(self, event: TaskEvent) -> bool:
        """False where the table has no such edge."""
        new = TASK_TRANSITIONS.get((self.state, event))
        if new is None:
            return False
        self.state = new
        return True


@dataclass(slots=True, eq=False)
class ShimApplication:
    """An application of the shim. ``late`` are tasks that were gone before the core had accepted it."""

    id: str
    queue: str
    task_groups: tuple[TaskGroup, ...] = ()
    style: GangStyle = GangStyle.SOFT
    timeout_ms: int = 0
    user: str = ""
    groups: tuple[str, ...] = ()
    created: int | None = None
    state: ShimState = ShimState.NEW
    log: list[ShimState] = field(default_factory=list)
    tasks: dict[str, Task] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)

    @property
    def placeholder_ask(self) -> Resources:
        """What the whole gang asks for: the sum of minMember x minResource, as the core hears of it."""
        return total(group.min_resource * group.min_member for group in self.task_groups)

    def placeholders(self) -> list[Task]:
        """Its placeholder tasks, ended ones too, in the order of their creation."""
        return [task for task in self.tasks.values() if task.placeholder]

    def handle(self, event: ShimEvent) -> ShimState | None:
        """The state that was left; None where the table has no such edge, and nothing happens."""
        old, new = self.state, SHIM_TRANSITIONS.get((self.state, event))
        if new is None:
            return None
        self.state = new
        if new is not old:
            self.log.append(new)
        return old

    def skips_reservation(self) -> bool:
        """No gang, or a real pod was on its way already (after a restart)."""
        started = any(not task.placeholder and task.state is not TaskState.NEW for task in self.tasks.values())
        return not self.task_groups or started

    def is_reserved(self) -> bool:
        """As many placeholders of each group are bound as it has members."""
        return all(
            sum(t.placeholder and t.task_group == g.name and t.state is TaskState.BOUND for t in self.tasks.values())
            >= g.min_member
            for g in self.task_groups
        )

    def missing_placeholders(self) -> list[TaskGroup]:
        """A group for each placeholder that is still to be created: members less tasks, whatever became of them."""
        missing: list[TaskGroup] = []
        for group in self.task_groups:
            have = sum(task.placeholder and task.task_group == group.name for task in self.tasks.values())
            missing += [group] * max(group.min_member - have, 0)
        return missing
