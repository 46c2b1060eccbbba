"""Plots of a comparison as SVG files that stand alone: no script, no font and no other file is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path

from reference.cluster import PODS, Cluster, Placement, Resources, total
from solver_placement.compare import Comparison

WIDTH, LABEL, BAR, GAP = 860, 230, 18, 8
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
"""Tol's bright scheme, told apart by most people."""

Bars = Sequence[tuple[str, Sequence[tuple[str, Fraction]]]]
"""Rows: a label, and for each bar its series and its value between 0 and 1."""


def write_plots(folder: Path, cluster: Cluster, comparison: Comparison) -> list[Path]:
    """``gap.svg``, ``utilisation.svg`` and ``nodes.svg`` in ``folder``, which is there."""
    placements = {p.name: p.placement for p in comparison.policies}
    placements["optimal"] = comparison.solution.placement
    gaps = [(p.name, [("gap", p.gap)]) for p in comparison.policies]
    gaps.append(("optimal", [("gap", comparison.solution.gap)]))
    allocations = {p.name: p.metrics.allocation for p in comparison.policies if p.metrics is not None}
    allocations["optimal"] = comparison.solution_metrics.allocation
    types = sorted({t for shares in allocations.values() for t in shares if t != PODS})
    used = [(name, [(t, shares[t]) for t in types]) for name, shares in allocations.items()]
    plots = {
        "gap.svg": bars("Gap to the bound on the weight of admitted gangs", gaps),
        "utilisation.svg": bars("Allocated, as a share of what nodes have", used),
        "nodes.svg": node_picture(cluster, placements),
    }
    for name, text in plots.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in plots]


def _svg(title: str, height: int, body: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12" role="img">'
    )
    title_lines = [
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="8" y="20" font-size="15">{escape(title)}</text>',
    ]
    return "\n".join([head, *title_lines, *body, "</svg>"]) + "\n"


def bars(title: str, rows: Bars) -> str:
    """Horizontal bars, one colour for each series; values are written beside them."""
    series = list(dict.fromkeys(name for _, values in rows for name, _ in values))
    body, y = [], 36
    if len(series) > 1:
        for i, name in enumerate(series):
            x = LABEL + i * 110
            body.append(f'<rect x="{x}" y="{y - 10}" width="10" height="10" fill="{COLOURS[i % len(COLOURS)]}"/>')
            body.append(f'<text x="{x + 14}" y="{y}">{escape(name)}</text>')
        y += 14
    room = WIDTH - LABEL - 70
    for label, values in rows:
        middle = y + (BAR * len(values)) // 2 + 4
        body.append(f'<text x="{LABEL - 8}" y="{middle}" text-anchor="end">{escape(label)}</text>')
        for name, value in values:
            length = int(room * min(max(value, Fraction(0)), Fraction(1)))
            colour = COLOURS[series.index(name) % len(COLOURS)]
            body.append(f'<rect x="{LABEL}" y="{y}" width="{length}" height="{BAR - 3}" fill="{colour}"/>')
            body.append(f'<text x="{LABEL + length + 5}" y="{y + 12}">{float(value * 100):.1f} %</text>')
            y += BAR
        y += GAP
    return _svg(title, y + 8, body)


def node_picture(cluster: Cluster, placements: Mapping[str, Placement]) -> str:
    """A strip for each policy, a cell for each node: the darker, the more of its fullest type is taken."""
    groups = {(app.name, group.name): group for app in cluster.applications for group in app.task_groups}
    free = cluster.free_by_node()
    room = WIDTH - LABEL - 16
    body, y = [], 36
    for label, placement in placements.items():
        placed: dict[str, list[Resources]] = {}
        for a in placement.assignments:
            placed.setdefault(a.node, []).append(groups[a.application, a.task_group].pod_resource * a.count)
        body.append(f'<text x="{LABEL - 8}" y="{y + 18}" text-anchor="end">{escape(label)}</text>')
        for i, node in enumerate(cluster.nodes):
            left, right = (LABEL + room * k // max(len(cluster.nodes), 1) for k in (i, i + 1))
            taken = node.available - free[node.name] + total(placed.get(node.name, ()))
            share = max(
                (Fraction(taken.amount(t), whole) for t, whole in node.available.items() if whole > 0 and t != PODS),
                default=Fraction(0),
            )
            grey = 245 - int(200 * min(share, Fraction(1)))
            body.append(
                f'<rect x="{left}" y="{y}" width="{max(right - left, 1)}" height="26" fill="rgb({grey},{grey},{grey})">'
                f"<title>{escape(node.name)}: {float(share * 100):.0f} %</title></rect>"
            )
        y += 26 + GAP
    return _svg("Nodes, in their order: how much of the fullest resource is taken", y + 8, body)
