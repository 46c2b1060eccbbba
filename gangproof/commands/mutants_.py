"""``gangproof mutants``: every seeded and historical fault, and the property that finds it."""

from __future__ import annotations

import os

import click

from gangproof.output import print_json
from gangproof.progress import Bar
from gangproof.sizes import Seconds


@click.command("mutants")
@click.argument("spec", required=False)
@click.option(
    "--mutant", "only", metavar="NAME", help="Only mutants of this name, each with the trace that it leads to."
)
@click.option("--reports", is_flag=True, help="Only faults that people really met.")
@click.option("--list", "only_list", is_flag=True, help="Say what there is, and run nothing.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes; by default one for each core.")
@click.option("--time-limit", type=Seconds(), help="Seconds for each exploration; past them a mutant is UNKNOWN.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    spec: str | None,
    only: str | None,
    reports: bool,
    only_list: bool,
    workers: int | None,
    time_limit: float | None,
    as_json: bool,
) -> int:
    """Run the mutants of SPEC, or of every shipped spec: small faults, each of which must break the property it names.

    A mutant is caught if that property holds without the fault and is broken with it. One that tells a real report must
    break nothing else, but for what it lists.

    Exit status: 0 all are caught, 1 one survives, 2 bad input, 3 unknown (a time limit ran out).
    """
    from gangproof.mutants_text import listed_text, trial_text, trials_text
    from specs.registry import SHIPPED, mutants
    from specs.trials import Fate, run_trials

    if spec is not None and spec not in SHIPPED:
        raise click.BadParameter(f"no spec {spec!r} is shipped; there are {', '.join(SHIPPED)}")
    names = [spec] if spec is not None else list(SHIPPED)
    pairs = [(s, m) for s in names for m in mutants(s) if (not reports or m.report) and only in (None, m.name)]
    if not pairs:
        where = spec or "any shipped spec"
        there = [m.name for s in names for m in mutants(s) if m.report or not reports]
        known = f"; it has {', '.join(there)}" if spec else ""
        raise click.BadParameter(
            f"no mutant {only!r} of {where}{known}" if only else f"{where} has no mutant of a report"
        )
    if only_list:
        if as_json:
            raise click.UsageError("--list is text; what there is as JSON is the answer without it, or gangproof list")
        click.echo(listed_text(pairs))
        return 0
    order = {(s, m.name): i for i, (s, m) in enumerate(pairs)}
    trials = []
    with Bar() as bar:
        chosen = [(s, m.name) for s, m in pairs]
        for trial in run_trials(chosen, workers=workers or os.cpu_count() or 1, time_limit=time_limit):
            trials.append(trial)
            bar.show(f"{len(trials):,} of {len(pairs):,} mutants")
    trials.sort(key=lambda t: order[t.spec, t.name])
    if as_json:
        print_json({"mutants": [t.to_json(trace=only is not None) for t in trials]})
    else:
        told = {(s, m.name): m for s, m in pairs}
        texts = [trial_text(told[t.spec, t.name], t) for t in trials] if only else [trials_text(trials)]
        click.echo("\n\n".join(texts))
    fates = {t.fate for t in trials}
    return 1 if Fate.SURVIVES in fates else 3 if Fate.UNKNOWN in fates else 0
