"""The review in a few lines for the terminal, and as JSON."""

from __future__ import annotations

from typing import Any

from gangproof.answers import fraction_json, percent, placement_json
from gangproof.output import paragraph, table
from gangproof.review.build import Review


def review_json(review: Review) -> dict[str, Any]:
    """``checks[]``, ``greedy``, ``optimal``, ``gap``, ``refusals``, ``cautions``, ``warnings``."""
    return {
        "title": review.title,
        "checks": [
            {
                "title": check.abstraction.title,
                "mapping": [{"cluster": here, "spec": there} for here, there in check.abstraction.mapping],
                "dropped": list(check.abstraction.dropped),
                **check.verdict.to_json(),
            }
            for check in review.checks
        ],
        "greedy": {
            "policy": review.policy,
            "objective": review.greedy.weight,
            **placement_json(review.greedy.placement),
        },
        "optimal": {
            "objective": review.solution.objective.weight,
            "bound": review.solution.bound,
            "gap": fraction_json(review.solution.gap),
            "status": review.solution.status.value,
            "method": review.solution.method,
            **placement_json(review.solution.placement),
        },
        "gap": fraction_json(review.greedy_gap),
        "refusals": list(review.refusals),
        "cautions": list(review.cautions),
        "warnings": list(review.warnings),
    }


def review_text(review: Review) -> str:
    """Verdicts, placements and gap."""
    gangs = len(review.cluster.applications)
    solution = review.solution
    rows = [(f"design, {c.abstraction.title}", c.verdict.outcome.value.upper(), c.headline) for c in review.checks]
    rows += [
        (
            f"greedy ({review.policy})",
            f"{len(review.greedy.placement.admitted)} of {gangs} gangs",
            f"weight {review.greedy.weight}, gap to the bound {percent(review.greedy_gap)}",
        ),
        (
            "optimal",
            f"{len(solution.placement.admitted)} of {gangs} gangs",
            f"weight {solution.objective.weight} of at most {solution.bound}, {solution.status.value}",
        ),
    ]
    parts = [table(["question", "answer", "more"], rows)]
    parts += [
        paragraph(f"{w.gang} ({w.queue}): greedy: {w.greedy}; optimal: {w.optimal}", indent="  ")
        for w in review.waiting[:10]
    ]
    if len(review.waiting) > 10:
        parts.append(f"... and {len(review.waiting) - 10} more gangs that wait; the page lists them")
    parts += [paragraph(f"caution: {each}") for each in review.cautions]
    return "\n".join(parts)
