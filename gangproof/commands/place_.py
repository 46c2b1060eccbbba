"""``gangproof place``: the optimal placement of a cluster's gangs, with its bound."""

from __future__ import annotations

import click

from gangproof.inputs import cluster_input, read_cluster, solver
from gangproof.output import paragraph, print_json, warn
from gangproof.sizes import Seconds

UNPROVED = 3


@click.command("place")
@cluster_input
@click.option("--time-limit", type=Seconds(), default=60.0, show_default=True, help="Seconds.")
@click.option("--method", default="auto", show_default=True, help="Which formulation.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(paths: tuple[str, ...], gang_seed: int, time_limit: float, method: str, as_json: bool) -> int:
    """The placement of most weight, then fewest nodes, on INPUT, and how far from the best it can be.

    Exit status: 0 proved optimal, 3 answered but not proved within the time limit, 1 the independent judge refuses the
    placement, 2 bad input.
    """
    from gangproof.answers import fraction_json, percent, placement_json, refusals_json
    from gangproof.placement_text import placement_text, refusals_text
    from reference.validate import validate
    from solver_placement import METHODS, Status, solve

    if method not in METHODS:
        raise click.BadParameter(f"--method is one of {', '.join(METHODS)}, found {method!r}")
    cluster, warnings = read_cluster(paths, gang_seed, solver())
    solution = solve(cluster, time_limit=time_limit, method=method)
    refusals = validate(cluster, solution.placement)
    if as_json:
        answer = {
            **placement_json(solution.placement),
            "objective": solution.objective.weight,
            "bound": solution.bound,
            "gap": fraction_json(solution.gap),
            "nodes_used": solution.objective.nodes,
            "nodes_bound": solution.nodes_bound,
            "status": solution.status.value,
            "method": solution.method,
            "seconds": round(solution.seconds, 3),
            "refusals": refusals_json(refusals),
            "warnings": warnings,
        }
        print_json(answer)
    else:
        head = (
            f"{solution.status.value}: weight {solution.objective.weight} of at most {solution.bound} "
            f"(gap {percent(solution.gap)}), {solution.objective.nodes} nodes of at least {solution.nodes_bound}; "
            f"{len(solution.placement.admitted)} of {len(cluster.applications)} gangs admitted "
            f"({solution.method}, {solution.seconds:.2f} s)"
        )
        click.echo(paragraph(head) + "\n\n" + placement_text(cluster, solution.placement))
    if refusals:
        warn([refusals_text(refusals)])
        return 1
    return 0 if solution.status is Status.OPTIMAL else UNPROVED
