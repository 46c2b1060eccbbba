"""The metrics of placements, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gangproof.answers import fraction_json, percent
from gangproof.output import paragraph, table
from reference.cluster import PODS
from reference.placement_metrics import PlacementMetrics
from solver_placement.compare import Comparison


def metrics_json(metrics: PlacementMetrics) -> dict[str, Any]:
    """Fractions as numbers; what is not known is null."""

    def number(value: Fraction | None) -> float | None:
        return None if value is None else fraction_json(value)

    return {
        "admission": fraction_json(metrics.admission),
        "weighted_admission": number(metrics.weighted_admission),
        "allocation": {name: fraction_json(share) for name, share in metrics.allocation.items()},
        "fragmentation": number(metrics.fragmentation),
        "idle_gpu": metrics.idle_gpu,
        "dominant_shares": {name: fraction_json(share) for name, share in metrics.dominant_shares.items()},
        "jain": number(metrics.jain),
        "nodes_used": metrics.nodes_used,
        "cost": metrics.cost,
    }


def metrics_text(comparison: Comparison) -> str:
    """A row for each placement: allocation of each type that anybody holds, fairness, idle and fragmented GPUs."""
    rows = [(p.name, p.metrics) for p in comparison.policies if p.metrics is not None]
    rows.append(("optimal", comparison.solution_metrics))
    names = comparison.solution_metrics.allocation
    types = [t for t in names if t != PODS and any(metrics.allocation[t] for _, metrics in rows)]
    parts = []
    # three types fit a terminal; the rest follow in tables of their own
    for start in range(0, max(len(types), 1), 3):
        some = types[start : start + 3]
        cells = [(name, *(percent(metrics.allocation[t]) for t in some), _jain(metrics)) for name, metrics in rows]
        parts.append(table(["allocated", *some, "Jain"], cells))
    if any(metrics.idle_gpu for _, metrics in rows):
        cells = [(name, _gpu(metrics.idle_gpu), _gpu(metrics.fragmentation)) for name, metrics in rows]
        parts.append(table(["GPUs", "idle", "of that fragmented (FGD)"], cells))
    return "\n\n".join(parts)


def _jain(metrics: PlacementMetrics) -> str:
    return "-" if metrics.jain is None else f"{float(metrics.jain):.3f}"


def _gpu(thousandths: int | Fraction | None) -> str:
    return "-" if thousandths is None else f"{float(thousandths) / 1000:.1f}"


def compaction_text(enough: Mapping[str, tuple[int, ...]]) -> str:
    """The nodes that were enough for each policy."""
    rows = [(name, min(trials), trials[len(trials) // 2], max(trials)) for name, trials in enough.items()]
    told = paragraph("The fewest nodes on which a policy places all that it places on the whole cluster:")
    return told + "\n\n" + table(["policy", "fewest", "median", "most"], rows)
