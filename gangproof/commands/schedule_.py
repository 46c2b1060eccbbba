"""``gangproof schedule``: what a reference scheduler does with a cluster."""

from __future__ import annotations

import time

import click

from gangproof.inputs import cluster_input, known_to, read_cluster
from gangproof.output import paragraph, print_json, warn

RAY = "ray"
"""The one policy that does not read a cluster."""


@click.command("schedule")
@cluster_input
@click.option("--policy", default="yunikorn", show_default=True, help="Which reference scheduler.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(paths: tuple[str, ...], gang_seed: int, policy: str, as_json: bool) -> int:
    """Run a reference scheduler on INPUT: manifests, queues, openb CSV or native JSON.

    With --policy ray, INPUT is one JSON file with node types, instances and demand: one decision of Ray's autoscaler,
    what it launches, what it terminates and what it cannot place.

    Exit status: 0 answered, 1 the independent judge refuses the placement, 2 bad input.
    """
    from gangproof.answers import placement_json, refusals_json
    from gangproof.names import known_policy
    from gangproof.placement_text import placement_text, refusals_text
    from reference.schedulers import schedule
    from reference.validate import validate

    known_policy(policy, RAY)
    if policy == RAY:
        from gangproof.ray_decision import decide

        decide(paths, as_json)
        return 0
    cluster, warnings = read_cluster(paths, gang_seed, known_to(policy))
    started = time.monotonic()
    placement = schedule(cluster, policy=policy).placement
    seconds = time.monotonic() - started
    refusals = validate(cluster, placement)
    if as_json:
        answer = {
            "policy": policy,
            **placement_json(placement),
            "refusals": refusals_json(refusals),
            "seconds": round(seconds, 3),
            "warnings": warnings,
        }
        print_json(answer)
    else:
        admitted = f"{len(placement.admitted)} of {len(cluster.applications)} gangs admitted"
        head = f"{policy}: {admitted} on {placement.nodes_used()} nodes ({seconds:.2f} s)"
        click.echo(paragraph(head) + "\n\n" + placement_text(cluster, placement))
    if refusals:
        warn([refusals_text(refusals)])
        return 1
    return 0
