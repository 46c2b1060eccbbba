"""``gangproof place``: the optimal placement of a cluster's gangs, with its bound."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import TYPE_CHECKING, Any

import click

from gangproof.inputs import cluster_input, read_cluster, solver
from gangproof.interrupts import Interrupts
from gangproof.output import paragraph, print_json, warn
from gangproof.progress import Bar
from gangproof.sizes import Seconds

if TYPE_CHECKING:
    from reference.cluster import Cluster
    from reference.validate import Violation
    from solver_placement import Solution

UNPROVED = 3


@click.command("place")
@cluster_input
@click.option("--time-limit", type=Seconds(), default=60.0, show_default=True, help="Seconds.")
@click.option("--method", default="auto", show_default=True, help="Which formulation.")
@click.option("--objective", default="", help="Objectives by name, the first one first: admission,cost,nodes,...")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the solver.")
@click.option("--shared-gpus", is_flag=True, help="For openb: pods that share a GPU do, instead of taking a whole one.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    paths: tuple[str, ...],
    gang_seed: int,
    time_limit: float,
    method: str,
    objective: str,
    seed: int,
    shared_gpus: bool,
    as_json: bool,
) -> int:
    """The placement of most weight, then fewest nodes, on INPUT, and how far from the best it can be.

    Nodes of the cluster's node types are launched where that admits more, at the least price. Ctrl-C ends the search;
    the answer is then the best so far, with its bound.

    Exit status: 0 proved optimal, 3 answered but not proved within the time limit, 1 the independent judge refuses the
    placement, 2 bad input.
    """
    from gangproof.placement_text import refusals_text
    from reference.validate import validate
    from solver_placement import METHODS, OBJECTIVES, Status

    if method not in METHODS:
        raise click.BadParameter(f"--method is one of {', '.join(METHODS)}, found {method!r}")
    objectives = tuple(name.strip() for name in objective.split(",")) if objective else ()
    for name in objectives:
        if name not in OBJECTIVES:
            raise click.BadParameter(f"--objective is some of {', '.join(OBJECTIVES)}, found {name!r}")
    engines = solver(launches=True, objectives=objectives)
    cluster, warnings = read_cluster(paths, gang_seed, engines, shared_gpus)
    options = {"time_limit": time_limit, "method": method, "seed": seed, "objectives": objectives, "launch": True}
    solution = _solve(cluster, options)
    refusals = validate(solution.cluster, solution.placement)
    if as_json:
        print_json(_json(solution, refusals, warnings))
    else:
        click.echo(_text(cluster, solution))
    if refusals:
        warn([refusals_text(refusals)])
        return 1
    return 0 if solution.status is Status.OPTIMAL else UNPROVED


def _solve(cluster: Cluster, options: dict[str, Any]) -> Solution:
    """Solve in a thread of its own, so that this one can take Ctrl-C and show progress."""
    from solver_placement import Watch, solve

    with Bar() as bar, Interrupts() as interrupts, ThreadPoolExecutor(1) as pool:
        seen: list[tuple[int, int]] = []
        watch = Watch(lambda weight, bound: seen.append((weight, bound)))
        running = pool.submit(lambda: solve(cluster, watch=watch, **options))
        while True:
            try:
                return running.result(timeout=0.1)
            except StillRunning:
                if interrupts.asked:
                    watch.stop()
                if seen:
                    weight, bound = seen[-1]
                    bar.show(f"weight {weight:,} of at most {bound:,}, gap {(bound - weight) * 100 / bound:.3f} %")


def _json(solution: Solution, refusals: list[Violation], warnings: list[str]) -> dict[str, Any]:
    from gangproof.answers import fraction_json, placement_json, refusals_json

    return {
        **placement_json(solution.placement),
        "objective": solution.objective.weight,
        "bound": solution.bound,
        "gap": fraction_json(solution.gap),
        "nodes_used": solution.objective.nodes,
        "nodes_bound": solution.nodes_bound,
        "phases": [
            {"name": p.name, "sense": p.sense, "value": p.value, "bound": p.bound, "proven": p.proven}
            for p in solution.phases
        ],
        "launched": dict(solution.launched),
        "status": solution.status.value,
        "method": solution.method,
        "seconds": round(solution.seconds, 3),
        "refusals": refusals_json(refusals),
        "warnings": warnings,
    }


def _text(cluster: Cluster, solution: Solution) -> str:
    from gangproof.answers import percent
    from gangproof.placement_text import placement_text

    head = (
        f"{solution.status.value}: weight {solution.objective.weight} of at most {solution.bound} "
        f"(gap {percent(solution.gap)}), {solution.objective.nodes} nodes of at least {solution.nodes_bound}; "
        f"{len(solution.placement.admitted)} of {len(cluster.applications)} gangs admitted "
        f"({solution.method}, {solution.seconds:.2f} s)"
    )
    parts = [paragraph(head)]
    if tuple(phase.name for phase in solution.phases) != ("admission", "nodes"):
        shown = (
            f"{p.name} {p.value} ({'at most' if p.sense == 'maximise' else 'at least'} {p.bound})"
            for p in solution.phases
        )
        parts.append(paragraph(f"In this order: {', '.join(shown)}"))
    if solution.launched:
        launched = ", ".join(f"{count} {kind}" for kind, count in solution.launched.items())
        parts.append(paragraph(f"To launch: {launched}"))
    return "\n".join(parts) + "\n\n" + placement_text(solution.cluster, solution.placement)
