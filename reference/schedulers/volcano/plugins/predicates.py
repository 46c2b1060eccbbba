"""predicates: node selector, required node affinity, taints, cordons.

Upstream runs Kubernetes' filters here. Left out: ports, volumes, pod affinity and topology spread, of which the common
cluster says nothing.
"""

from __future__ import annotations

from reference.schedulers.volcano.api import Task
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.plugins.plugin import Plugin


class Predicates(Plugin):
    """What no eviction can mend: such a node is no candidate for preempt and reclaim either."""

    def predicate(self, task: Task, node: NodeInfo) -> str | None:
        return node.node.why_not(task.spec.constraints)
