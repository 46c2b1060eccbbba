"""A statement: what an action would do for a job, all of it carried out or all undone (upstream: framework/statement).

Each operation takes effect in the session at once. ``commit`` makes it real; ``discard`` undoes it, last first, and
leaves the session exactly as it was.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.schedulers.volcano.api import Task, TaskStatus
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.options import Edition

if TYPE_CHECKING:
    from reference.schedulers.volcano.session import Session


class StepKind(enum.Enum):
    """What happens in a session, one word for each."""

    OPEN = "open session"
    ENQUEUE = "enqueue"
    POP = "pop job"
    ALLOCATE = "allocate"
    PIPELINE = "pipeline"
    EVICT = "evict"
    COMMIT = "commit"
    BIND_FAILED = "bind failed"
    DISCARD = "discard"
    LEAVE = "leave pipelined"
    BACKFILL = "backfill"
    CLOSE = "close session"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a session did, by names; ``action`` is the one that did it."""

    kind: StepKind
    action: str = ""
    job: str = ""
    task: str = ""
    node: str = ""
    reason: str = ""

    def __str__(self) -> str:
        what = [self.kind.value, self.job, self.task]
        where = f"on {self.node}" if self.node else ""
        return " ".join(part for part in (*what, where, self.reason and f"({self.reason})") if part)


@dataclass(frozen=True, slots=True)
class Operation:
    """``kind`` is ALLOCATE, PIPELINE or EVICT."""

    kind: StepKind
    task: Task
    node: NodeInfo


class Statement:
    """Operations in the order in which they were made."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.operations: list[Operation] = []

    def allocate(self, task: Task, node: NodeInfo) -> None:
        """The task takes what is idle on the node."""
        self.session.place(task, node, TaskStatus.ALLOCATED)
        self._note(StepKind.ALLOCATE, task, node)

    def pipeline(self, task: Task, node: NodeInfo) -> None:
        """The task is promised what will be idle on the node."""
        self.session.place(task, node, TaskStatus.PIPELINED)
        self._note(StepKind.PIPELINE, task, node)

    def evict(self, task: Task) -> None:
        """A running task is to go; what it has is releasing until it has gone."""
        node = self.session.nodes[task.node]
        self.session.restate(task, TaskStatus.RELEASING)
        self._note(StepKind.EVICT, task, node)

    def discard(self) -> None:
        """Undo everything."""
        for op in reversed(self.operations):
            self._undo(op)
        self.operations = []

    def commit(self) -> list[Task]:
        """Make everything real; the tasks of which nothing became real, as a bind failed. Where the bind of a task
        fails, its allocation alone is undone, so part of a gang may be bound; in the designs of 2019, of which the
        document says nothing of this, the whole statement is."""
        failed = [op for op in self.operations if self.session.bind_fails(op)]
        undone = failed
        if failed and self.session.configuration.edition is not Edition.CURRENT:
            undone = self.operations
        for op in reversed(undone):
            self._undo(op)
        for op in failed:
            self.session.note(StepKind.BIND_FAILED, op.task.job, op.task.name, op.node.name)
        for op in self.operations:
            if op not in undone:
                self.session.carry_out(op.kind, op.task)
        self.operations = []
        return [op.task for op in undone]

    def take_over(self, other: Statement) -> None:
        """What ``other`` did is this statement's from now on."""
        self.operations += other.operations
        other.operations = []

    def recover(self, operations: Sequence[Operation]) -> None:
        """Do again what a discarded statement had done: that of the best domain, after a dry run of all."""
        for op in operations:
            if op.kind is StepKind.ALLOCATE:
                self.allocate(op.task, op.node)
            elif op.kind is StepKind.PIPELINE:
                self.pipeline(op.task, op.node)
            else:
                self.evict(op.task)

    def _undo(self, op: Operation) -> None:
        if op.kind is StepKind.EVICT:
            self.session.restate(op.task, TaskStatus.RUNNING)
        else:
            self.session.unplace(op.task)

    def _note(self, kind: StepKind, task: Task, node: NodeInfo) -> None:
        self.operations.append(Operation(kind, task, node))
        self.session.note(kind, task.job, task.name, node.name)
