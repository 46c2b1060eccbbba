"""conformance: what the cluster itself needs is nobody's victim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reference.schedulers.volcano.api import Task
from reference.schedulers.volcano.plugins.plugin import Plugin

SYSTEM_NAMESPACE: Final = "kube-system"


class Conformance(Plugin):
    """Pods of the system's priority classes, and of its namespace, are spared."""

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task] | None:
        return [t for t in candidates if not t.spec.critical and t.job.namespace != SYSTEM_NAMESPACE]

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task] | None:
        return self.preemptable(reclaimer, candidates)
