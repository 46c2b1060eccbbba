"""``gangproof compare``: greedy versus optimal on one input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangproof.inputs import cluster_input, known_to, read_cluster, solver
from gangproof.output import paragraph, print_json, table, warn
from gangproof.sizes import Seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.cluster import Cluster
    from solver_placement.compare import Comparison
    from solver_placement.witness import Witness

UNPROVED = 3


@click.command("compare")
@cluster_input
@click.option(
    "--policy",
    "policies",
    multiple=True,
    default=("yunikorn",),
    show_default=True,
    help="Repeat for more; `all` for all.",
)
@click.option("--time-limit", type=Seconds(), default=60.0, show_default=True, help="Seconds in all.")
@click.option("--plots", "plots", metavar="DIR", help="Write plots there, as SVG.")
@click.option(
    "--compaction",
    "trials",
    type=click.IntRange(min=1),
    help="Also look for the fewest nodes that are enough, in this many random orders; each policy runs many times.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    paths: tuple[str, ...],
    gang_seed: int,
    policies: tuple[str, ...],
    time_limit: float,
    plots: str | None,
    trials: int | None,
    as_json: bool,
) -> int:
    """Run reference schedulers, heuristics and the solver on INPUT; say what greedy leaves, and show the smallest part
    of the input on which the first policy that falls short does so.

    Exit status: 0 answered and proved, 3 answered but the optimum is not proved within the time limit, 1 the
    independent judge refuses a placement, 2 bad input.
    """
    from gangproof.names import known_policy
    from reference.schedulers.all_policies import ALL_POLICIES
    from solver_placement.compaction import compaction
    from solver_placement.compare import compare

    for name in policies:
        known_policy(name, *ALL_POLICIES, "all")
    if plots is not None:
        try:
            Path(plots).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"--plots {plots}: {error.strerror}") from None
    chosen = tuple(ALL_POLICIES) if "all" in policies else policies
    cluster, warnings = read_cluster(paths, gang_seed, known_to(*chosen) | solver())
    runs = {name: ALL_POLICIES[name] for name in chosen}
    comparison = compare(cluster, runs, time_limit=time_limit)
    enough = {} if trials is None else {name: compaction(cluster, run, trials=trials) for name, run in runs.items()}
    if plots is not None:
        from gangproof.plots import write_plots

        write_plots(Path(plots), cluster, comparison)
    if as_json:
        print_json(_json(comparison, enough, warnings))
    else:
        click.echo(_text(cluster, comparison, enough))
    refusals = [f"{p.name}: {r}" for p in comparison.policies for r in p.refusals]
    refusals += [f"optimal: {r}" for r in comparison.solution_refusals]
    if refusals:
        warn([f"REFUSED by the judge: {r}" for r in refusals])
        return 1
    return 0 if comparison.solution.weight_proven else UNPROVED


def _json(comparison: Comparison, enough: Mapping[str, tuple[int, ...]], warnings: list[str]) -> dict[str, Any]:
    from gangproof.answers import fraction_json, placement_json
    from gangproof.metrics_text import metrics_json

    solution = comparison.solution
    return {
        "policies": [
            {
                "name": p.name,
                "objective": p.objective.weight,
                "nodes_used": p.objective.nodes,
                "gap": fraction_json(p.gap),
                "seconds": round(p.seconds, 3),
                "refusals": list(p.refusals),
                "metrics": None if p.metrics is None else metrics_json(p.metrics),
                "compaction": list(enough.get(p.name, ())),
                **placement_json(p.placement),
            }
            for p in comparison.policies
        ],
        "optimal": {
            "objective": solution.objective.weight,
            "bound": solution.bound,
            "gap": fraction_json(solution.gap),
            "nodes_used": solution.objective.nodes,
            "nodes_bound": solution.nodes_bound,
            "status": solution.status.value,
            "method": solution.method,
            "seconds": round(solution.seconds, 3),
            "refusals": list(comparison.solution_refusals),
            "metrics": metrics_json(comparison.solution_metrics),
            **placement_json(solution.placement),
        },
        "witness": None if comparison.witness is None else _witness_json(comparison.witness),
        "witness_note": comparison.witness_note,
        "warnings": warnings,
    }


def _witness_json(witness: Witness) -> dict[str, Any]:
    """The witness with its cluster in the native format, so that it is an INPUT again."""
    from reference.manifests.native_write import to_native

    return {
        "policy": witness.policy,
        "sentence": witness.sentence,
        "minimal": witness.minimal,
        "weight": witness.weight,
        "optimal_weight": witness.solution.objective.weight,
        "cluster": to_native(witness.cluster),
    }


def _text(cluster: Cluster, comparison: Comparison, enough: Mapping[str, tuple[int, ...]]) -> str:
    from gangproof.answers import percent
    from gangproof.metrics_text import compaction_text, metrics_text
    from gangproof.review.pictures import show_limit
    from gangproof.witness_rows import free, members, reasons

    gangs, solution = len(cluster.applications), comparison.solution
    rows: list[tuple[object, ...]] = [
        (
            p.name,
            p.objective.weight,
            f"{p.admitted_gangs} of {gangs}",
            p.objective.nodes,
            percent(p.gap),
            f"{p.seconds:.2f}",
        )
        for p in comparison.policies
    ]
    rows.append(
        (
            f"optimal ({solution.status.value})",
            solution.objective.weight,
            f"{len(solution.placement.admitted)} of {gangs}",
            solution.objective.nodes,
            percent(solution.gap),
            f"{solution.seconds:.2f}",
        )
    )
    parts = [table(["policy", "weight", "gangs", "nodes", "gap", "seconds"], rows)]
    parts.append(paragraph(f"No placement has more weight than {solution.bound}; gaps are fractions of that bound."))
    if len(comparison.policies) > 1 or enough:
        parts.append(metrics_text(comparison))
    parts += [compaction_text(enough)] if enough else []
    witness = comparison.witness
    if witness is None:
        parts.append(paragraph(f"No witness: {comparison.witness_note}."))
        return "\n\n".join(parts)
    parts.append(paragraph(witness.sentence))
    parts += [paragraph(f"{reason}.") for reason in reasons(witness)]
    gang_rows = [(a.name, members(a)) for a in witness.cluster.applications]
    node_rows = [(n.name, free(witness.cluster, n)) for n in witness.cluster.nodes]
    queue_rows = [(q.name, show_limit(q.maximum)) for q in witness.cluster.queues if q.maximum]
    parts += [table(["gang", "members"], gang_rows), table(["node", "free"], node_rows)]
    if queue_rows:
        parts.append(table(["queue", "maximum"], queue_rows))
    return "\n\n".join(parts)
