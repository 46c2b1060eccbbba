"""Pods, as the API server has them, with the faults that a scenario may ask for; and the placeholder manager.

Source of the manager: apache/yunikorn-k8shim at 23b6b47f, pkg/cache/placeholder_manager.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from reference.schedulers.yunikorn.current.shim.task import ShimApplication, Task


@dataclass(slots=True)
class Pods:
    """The pods that there are, by key. What is in ``undeletable`` or ``unbindable`` cannot be deleted or bound;
    ``creations_left``: how many can still be created, None for any number."""

    there: dict[str, Task] = field(default_factory=dict)
    undeletable: set[str] = field(default_factory=set)
    unbindable: set[str] = field(default_factory=set)
    creations_left: int | None = None

    def create(self, task: Task) -> bool:
        """A pod is created; False where the API server refuses."""
        if self.creations_left is not None:
            if self.creations_left == 0:
                return False
            self.creations_left -= 1
        self.there[task.key] = task
        return True

    def delete(self, key: str) -> bool:
        """A pod is deleted; False where it cannot be. One that is not there is deleted already."""
        if key in self.undeletable:
            return False
        self.there.pop(key, None)
        return True


class PlaceholderManager:
    """Creates the placeholder pods of a gang and deletes them. What cannot be deleted is an orphan, and tried again."""

    def __init__(self, pods: Pods, gone: Callable[[str], None]) -> None:
        self.pods = pods
        self.orphans: dict[str, None] = {}
        self._gone = gone

    def create(self, app: ShimApplication, now: int, added: Callable[[Task], object]) -> bool:
        """The placeholders that are missing, one by one; False at the first that cannot be created."""
        for group in app.missing_placeholders():
            number = len(app.placeholders())
            name = f"tg-{app.id}-{group.name}-{number}"
            task = Task(name, app.id, group.min_resource, group.name, True, group.constraints, now)
            if not self.pods.create(task):
                return False
            added(task)
        return True

    def clean_up(self, app: ShimApplication) -> None:
        """Deletes all placeholder pods of an application."""
        for task in app.placeholders():
            if task.key in self.pods.there:
                self._delete(task.key)

    def clean_orphans(self) -> None:
        """Tries again what could not be deleted: upstream does so every five seconds."""
        for key in list(self.orphans):
            self._delete(key)

    def _delete(self, key: str) -> None:
        if self.pods.delete(key):
            self.orphans.pop(key, None)
            self._gone(key)
        else:
            self.orphans[key] = None
