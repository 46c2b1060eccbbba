"""A placement as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from gangproof.output import paragraph, table
from reference.cluster import Cluster, Placement
from reference.validate import Violation

LONG = 40
"""Past this many rows a listing is cut, with a line that says so; ``--json`` has all of it."""


def placement_text(cluster: Cluster, placement: Placement) -> str:
    """Which gang runs where, node by node, and why the others wait."""
    by_node: dict[str, list[str]] = {}
    for a in placement.assignments:
        by_node.setdefault(a.node, []).append(f"{a.application}/{a.task_group} x{a.count}")
    rows = [(n.name, ", ".join(by_node[n.name])) for n in cluster.nodes if n.name in by_node]
    parts = [cut(["node", "pods"], rows)] if rows else ["No gang is placed."]
    if placement.pending:
        parts += ["", cut(["pending", "because"], list(placement.pending.items()))]
    return "\n".join(parts)


def cut(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The table of ``rows``; past ``LONG`` rows the rest is counted, not shown."""
    shown = table(head, rows[:LONG])
    left = len(rows) - LONG
    return shown if left <= 0 else f"{shown}\n... and {left:,} more; --json lists all"


def refusals_text(refusals: Sequence[Violation]) -> str:
    """What the judge found, a line each."""
    return "\n".join(paragraph(f"REFUSED by the judge: {v.where}: {v.message}", indent="  ") for v in refusals)
