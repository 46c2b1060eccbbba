"""``gangproof simulate``: random walks over a spec, for models that are too big to explore."""

from __future__ import annotations

import click

from gangproof.output import print_json
from gangproof.progress import Bar
from gangproof.sizes import Seconds


@click.command("simulate")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--walks", type=click.IntRange(1, 10**9), default=1_000, show_default=True, help="How many walks.")
@click.option("--steps", type=click.IntRange(1, 10**6), default=100, show_default=True, help="Most steps of a walk.")
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Same seed, same walks.")
@click.option("--time-limit", type=Seconds(), help="Stop after so many seconds.")
@click.option("--property", "shown", metavar="NAME", help="Show the trace of this property.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    spec: str,
    parameters: tuple[str, ...],
    walks: int,
    steps: int,
    seed: int,
    time_limit: float | None,
    shown: str | None,
    as_json: bool,
) -> int:
    """Walk at random through SPEC: a shipped name (see `gangproof list`) or FILE.py:FUNCTION.

    Each walk begins in any initial state and takes any enabled step, until it has STEPS of them or none is enabled. All
    steps out of every visited state are checked. Walks stop once a violation is found; its trace is shortened, but need
    not be the shortest. No number of walks shows that a property holds.

    Exit status: 1 violated, 2 bad input, 3 unknown (no violation was found).
    """
    from gangproof.names import known_property
    from gangproof.simulation_text import simulation_text
    from model.explore import simulate
    from specs.loading import load_spec

    machine = load_spec(spec, parameters)
    if shown is not None:
        known_property(machine, shown)
    with Bar() as bar:
        answer = simulate(
            machine,
            walks=walks,
            steps=steps,
            seed=seed,
            time_limit=time_limit,
            progress=lambda done, taken: bar.show(f"{done:,} of {walks:,} walks  {taken:,} steps"),
        )
    if as_json:
        print_json(answer.to_json(shown))
    else:
        click.echo(simulation_text(machine, answer, shown))
    return answer.outcome.exit_status
