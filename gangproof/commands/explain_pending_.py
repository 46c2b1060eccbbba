"""``gangproof explain-pending``: what blocks one gang, and what to relax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gangproof.inputs import cluster_input, known_to, read_cluster
from gangproof.output import paragraph, print_json
from gangproof.sizes import Seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solver_placement.explain import Constraint, Explanation

UNKNOWN = 3


@click.command("explain-pending")
@cluster_input
@click.argument("gang")
@click.option("--after", "policy", metavar="POLICY", help="First let this scheduler place the other gangs.")
@click.option("--time-limit", type=Seconds(), default=10.0, show_default=True, help="Seconds.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    paths: tuple[str, ...], gang_seed: int, gang: str, policy: str | None, time_limit: float, as_json: bool
) -> int:
    """Why GANG of INPUT is pending: a minimal set of constraints that block it, and the smallest corrections.

    The gang is asked about alone, beside the pods that run; with --after, also beside the gangs that a scheduler
    admits.

    Exit status: 0 answered, 3 the time limit came before sets were proved minimal and complete, 2 bad input.
    """
    from gangproof.names import known_policy
    from reference.cluster.features import reduce_to
    from reference.errors import InputError
    from reference.schedulers import schedule
    from solver_placement.explain import KNOWS, explain_pending, settled, waiting_gang

    if policy is not None:
        known_policy(policy, option="--after")
    cluster, warnings = read_cluster(paths, gang_seed, {"explain-pending": KNOWS})
    waiting_gang(cluster, gang)
    if policy is not None:
        # the scheduler is asked what it can answer; the gang itself stays as it is
        asked, reduced = reduce_to(cluster, known_to(policy)[policy], policy)
        warnings += [f"{each} (for the other gangs)" for each in reduced]
        placement = schedule(asked, policy=policy).placement
        if gang in placement.admitted:
            raise InputError(f"{gang!r}, which {policy} admits", f"a gang that {policy} leaves pending", where="GANG")
        cluster = settled(cluster, placement, gang)
    found = explain_pending(cluster, gang, time_limit=time_limit)
    if as_json:
        print_json(_json(found, policy, warnings))
    else:
        click.echo(_text(found, policy))
    return 0 if found.in_time else UNKNOWN


def _json(found: Explanation, policy: str | None, warnings: list[str]) -> dict[str, Any]:
    return {
        "gang": found.gang,
        "after": policy,
        "status": found.status.value,
        "blocking": _constraints(found.blocking),
        "other_blocking": [_constraints(each) for each in found.other_blocking],
        "corrections": [
            {
                "constraints": _constraints(each.constraints),
                "steps": list(each.steps),
                "placements": _placements(each.placement),
            }
            for each in found.corrections
        ],
        "placements": [] if found.placement is None else _placements(found.placement),
        "minimal": found.minimal,
        "complete": found.complete,
        "in_time": found.in_time,
        "questions": found.questions,
        "seconds": round(found.seconds, 3),
        "warnings": warnings,
    }


def _placements(placement: Any) -> Any:
    from gangproof.answers import placement_json

    return placement_json(placement)["placements"]


def _constraints(constraints: Sequence[Constraint]) -> list[dict[str, str]]:
    return [{"kind": c.kind.value, "where": c.where, "what": c.what, "text": c.text} for c in constraints]


def _text(found: Explanation, policy: str | None) -> str:
    from solver_placement.explain import Status

    beside = "beside the running pods" if policy is None else f"beside the running pods and what {policy} admits"
    if found.status is Status.UNKNOWN:
        return paragraph(f"UNKNOWN: the time limit came before it was known whether {found.gang} fits {beside}.")
    if found.placement is not None:
        from gangproof.placement_text import cut

        rows = [(a.node, f"{a.task_group} x{a.count}") for a in found.placement.assignments]
        why = "No constraint blocks it; that it waits is a matter of order."
        more = " --after POLICY asks beside the gangs that a scheduler serves first." if policy is None else ""
        return (
            paragraph(f"FITS: {found.gang} can be placed now, {beside}. {why}{more}")
            + "\n\n"
            + cut(["node", "pods"], rows)
        )
    lines = [paragraph(f"BLOCKED: {found.gang} does not fit {beside}. Together these block it:")]
    lines += [_item(c.text) for c in found.blocking]
    for each in found.other_blocking:
        lines += ["", "Each for itself blocks it too:" if each is found.other_blocking[0] else "or:"]
        lines += [_item(c.text) for c in each]
    for correction in found.corrections:
        head = "It fits with" if len(correction.steps) == 1 else "It fits with all of"
        lines += ["", f"{head}:" if correction is found.corrections[0] else f"or, {head[0].lower()}{head[1:]}:"]
        lines += [_item(step) for step in correction.steps]
    if not found.minimal:
        lines += ["", paragraph("The time limit came first: a set that blocks may not be the smallest.")]
    if not found.complete:
        lines += ["", paragraph("There may be more that blocks it, and more corrections.")]
    return "\n".join(lines)


def _item(text: str) -> str:
    return paragraph(f"- {text}", indent="  ")
