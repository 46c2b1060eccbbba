"""Who comes first of those that the orders of all plugins leave equal."""

from __future__ import annotations

from reference.schedulers.volcano.api import Job, Task
from reference.schedulers.volcano.plugins.plugin import Key


class Ties:
    """First come, first served, then by name: upstream compares the times of creation, then the UIDs. Of nodes the
    first by name, where upstream draws lots. Keys are compared with those of the same kind only; the key of a job is
    taken when it lines up."""

    def job(self, job: Job) -> Key:
        """Of jobs of a queue."""
        return (job.number, job.name)

    def task(self, task: Task) -> Key:
        """Of tasks of a job."""
        return (task.number, task.name)

    def queue(self, queue: str) -> Key:
        """Of queues."""
        return (queue,)

    def namespace(self, namespace: str) -> Key:
        """Of namespaces of a queue, or of all queues."""
        return (namespace,)

    def node(self, task: Task, node: str) -> Key:
        """Of nodes for a task. Asked only where the configuration has no ``index``, which goes by name."""
        return (node,)
