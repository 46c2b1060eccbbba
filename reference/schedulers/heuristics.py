"""The heuristics of bin packing as policies for whole clusters: every gang there from the start, one after the other.

Rules for nodes and orders of gangs are those of ``reference.simulation.schedulers.heuristic``, which does the work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from reference.cluster import Assignment, Cluster, Placement
from reference.simulation.scheduler import Bound, Closed
from reference.simulation.schedulers.heuristic import HeuristicScheduler, Order
from reference.simulation.schedulers.room import NodeRule


def place(cluster: Cluster, rule: NodeRule, order: Order = Order.FIFO) -> Placement:
    """The placement of ``cluster``'s gangs by one rule for nodes and one order of gangs; ties go by submission."""
    scheduler = HeuristicScheduler(cluster, rule, order)
    for node in cluster.nodes:
        scheduler.add_node(node, 0)
    for app in sorted(cluster.applications, key=lambda a: (a.submitted, a.name)):
        scheduler.submit(app, 0)
    changes = scheduler.cycle(0)
    cells = Counter((c.application, c.task_group, c.node) for c in changes if isinstance(c, Bound))
    admitted = {app for app, _, _ in cells}
    closed = {c.application: c.reason for c in changes if isinstance(c, Closed)}
    waiting = sorted(app.name for app in cluster.applications if app.name not in admitted)
    reason = f"{rule.value} finds no room, or its queue is full"
    return Placement(
        tuple(Assignment(*cell, count) for cell, count in sorted(cells.items())),
        tuple(sorted(admitted)),
        {name: closed.get(name, reason) for name in waiting},
    )


def _policy(rule: NodeRule, order: Order) -> Callable[[Cluster], Placement]:
    return lambda cluster: place(cluster, rule, order)


HEURISTICS: Final[Mapping[str, Callable[[Cluster], Placement]]] = MappingProxyType(
    {
        rule.value if order is Order.FIFO else f"{rule.value}-by-{order.value}": _policy(rule, order)
        for rule in NodeRule
        for order in Order
    }
)
"""By name: ``first-fit`` takes gangs as submitted, ``first-fit-by-size`` and ``first-fit-by-density`` do not."""
