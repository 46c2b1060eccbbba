"""nodeorder: the emptier and the more evenly used node is the better one.

As upstream's defaults have it, least requested and balanced resource count once each, both of cores and memory. Both
are whole numbers between 0 and 100. Balanced, upstream, is computed in floats before it is cut to a whole number; here
it is exact, so it may differ by one where upstream's rounding does. Left out: affinity and image scores, the weights of
soft taints, and the smallest amounts that upstream takes for pods that ask for nothing.
"""

from __future__ import annotations

from typing import Final

from reference.cluster import MEMORY, VCORE
from reference.schedulers.volcano.api import Task
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.plugins.plugin import Plugin

MOST: Final = 100
"""The highest score of each part."""


class NodeOrder(Plugin):
    """LeastAllocated and BalancedAllocation."""

    def node_order(self, task: Task, node: NodeInfo) -> int:
        cores, memory = node.allocatable.get(VCORE, 0), node.allocatable.get(MEMORY, 0)
        asked = task.resreq
        free_cores = node.idle.get(VCORE, 0) - asked.amount(VCORE) if cores else 0
        free_memory = node.idle.get(MEMORY, 0) - asked.amount(MEMORY) if memory else 0
        return least_allocated(free_cores, cores, free_memory, memory) + balanced(
            cores - free_cores, cores, memory - free_memory, memory
        )


def least_allocated(free_cores: int, cores: int, free_memory: int, memory: int) -> int:
    """The mean of the free parts with the task, of 100 each; a resource that is short counts as full."""
    parts = whole = 0
    if cores:
        parts, whole = max(free_cores, 0) * MOST // cores, 1
    if memory:
        parts, whole = parts + max(free_memory, 0) * MOST // memory, whole + 1
    return parts // whole if whole else 0


def balanced(used_cores: int, cores: int, used_memory: int, memory: int) -> int:
    """100 where both used parts are equal, 50 where one is full and the other unused."""
    if not cores or not memory:
        return MOST
    a, b = min(used_cores, cores) * memory, min(used_memory, memory) * cores
    whole = 2 * cores * memory
    return MOST * (whole - abs(a - b)) // whole
