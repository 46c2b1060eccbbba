"""What a plugin may say. Each method is one of upstream's registered functions; the answers here are those of a plugin
that did not register it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reference.schedulers.volcano.api import Job, Queue, Task
from reference.schedulers.volcano.nodes import NodeInfo

if TYPE_CHECKING:
    from reference.schedulers.volcano.session import Session

Key = tuple[Any, ...]
"""Where something stands in an order: the smaller key comes first. Plugins answer with keys where upstream compares."""


class Plugin:
    """The base of all plugins; ``hierarchy`` is the one switch that changes what a plugin is."""

    def __init__(self, session: Session, hierarchy: bool) -> None:
        self.session, self.hierarchy = session, hierarchy

    # --- orders ---

    def job_order(self, job: Job) -> Key:
        """Which job comes first in its queue."""
        return ()

    def task_order(self, task: Task) -> Key:
        """Which task comes first in its job."""
        return ()

    def queue_order(self, queue: Queue) -> Key:
        """Which queue has the next turn."""
        return ()

    def namespace_order(self, namespace: str, queue: str | None) -> Key:
        """Which namespace of a queue has the next turn; of all queues together where ``queue`` is None."""
        return ()

    def victim_queue_order(self, queue: Queue, preemptor: Queue) -> Key | None:
        """From which queue victims are taken first; None leaves it to the reverse of ``queue_order``."""
        return None

    def node_order(self, task: Task, node: NodeInfo) -> int:
        """A score, the higher the better, by the amounts of task and node alone: of alike nodes one is asked."""
        return 0

    # --- gangs ---

    def job_valid(self, job: Job) -> str | None:
        """Why the job cannot be scheduled at all, or None."""
        return None

    def job_ready(self, job: Job) -> bool:
        """Whether what the statement did may be carried out."""
        return True

    def job_pipelined(self, job: Job) -> bool:
        """Whether it may once what runs down is gone."""
        return True

    def job_starving(self, job: Job) -> bool | None:
        """Whether others may have to give way to the job; None: no say."""
        return None

    # --- queues ---

    def job_enqueueable(self, job: Job) -> bool:
        """Whether its PodGroup may become Inqueue."""
        return True

    def job_enqueued(self, job: Job) -> None:
        """It did."""

    def overused(self, queue: Queue) -> bool:
        """Whether the queue has no turn any more."""
        return False

    def allocatable(self, queue: Queue, task: Task) -> bool:
        """Whether the queue may have the task."""
        return True

    def preemptive(self, queue: Queue, task: Task) -> bool:
        """Whether the queue may take from others for the task."""
        return True

    # --- victims ---

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task] | None:
        """Which candidates may be evicted for a task of their queue; None: no say."""
        return None

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task] | None:
        """Which candidates may be evicted for a task of another queue; None: no say."""
        return None

    # --- nodes ---

    def predicate(self, task: Task, node: NodeInfo) -> str | None:
        """Why the task may never run on the node, or None; room is looked at apart."""
        return None

    # --- what happens ---

    def allocated(self, task: Task) -> None:
        """The task got room, or the promise of it, or its eviction was undone."""

    def deallocated(self, task: Task) -> None:
        """The task gave its room back, or is evicted."""
