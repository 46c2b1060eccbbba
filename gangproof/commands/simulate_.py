"""``gangproof simulate``: random walks over a spec that is too big to explore, or a run of a trace on a cluster."""

from __future__ import annotations

import click
from click.core import ParameterSource

from gangproof.output import print_json
from gangproof.progress import Bar
from gangproof.sizes import Seconds

_OF_WALKS = ("walks", "steps", "time_limit", "shown")
_OF_TRACES = ("trace", "order", "strict", "settings", "steps_per_second", "log")


@click.command("simulate")
@click.argument("target", metavar="SPEC|INPUT")
@click.argument("more", nargs=-1, metavar="[NAME=VALUE|INPUT]...")
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Same seed, same run.")
@click.option("--walks", type=click.IntRange(1, 10**9), default=1_000, show_default=True, help="How many walks.")
@click.option("--steps", type=click.IntRange(1, 10**6), default=100, show_default=True, help="Most steps of a walk.")
@click.option("--time-limit", type=Seconds(), help="Stop walking after so many seconds.")
@click.option("--property", "shown", metavar="NAME", help="Show the trace of this property.")
@click.option("--policy", metavar="NAME", help="A cluster, under this scheduler: yunikorn, first-fit, ...")
@click.option("--trace", metavar="FILE", help="Jobs and times: Gavel, openb, CSV, JSON. Default: made of the seed.")
@click.option("--order", default="fifo", show_default=True, help="Gangs by fifo, size or density (heuristics).")
@click.option("--strict", is_flag=True, help="A gang that cannot start holds up those behind it.")
@click.option("--settings", metavar="FILE", help="Failures, prices, an autoscaler, the generator; JSON.")
@click.option("--steps-per-second", type=click.IntRange(1, 10**9), default=10, show_default=True, help="For Gavel.")
@click.option("--log", metavar="FILE", help="Write all events there, as JSON lines.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    target: str,
    more: tuple[str, ...],
    seed: int,
    walks: int,
    steps: int,
    time_limit: float | None,
    shown: str | None,
    policy: str | None,
    trace: str | None,
    order: str,
    strict: bool,
    settings: str | None,
    steps_per_second: int,
    log: str | None,
    as_json: bool,
) -> int:
    """Walk at random through SPEC, a shipped name (see `gangproof list`) or FILE.py:FUNCTION; or, with --policy, run
    jobs on the cluster of INPUT: manifests, queues, openb CSV or native JSON.

    Each walk begins in any initial state and takes any enabled step, until it has STEPS of them or none is enabled. All
    steps out of every visited state are checked. Walks stop once a violation is found; its trace is shortened, but need
    not be the shortest. No number of walks shows that a property holds.

    With --policy, jobs come, run and end on a virtual clock, and the answer is the metrics of the run: waiting times,
    utilisation, fragmentation, cost, fairness. docs/simulation.md defines them, and the files.

    Exit status: 0 answered (with --policy), 1 violated, 2 bad input, 3 unknown (no violation was found).
    """
    foreign = _OF_TRACES if policy is None else _OF_WALKS
    given = [name for name in foreign if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if given:
        option = "--property" if given[0] == "shown" else f"--{given[0].replace('_', '-')}"
        raise click.UsageError(f"{option} goes {'with' if policy is None else 'without'} --policy", ctx)
    if policy is not None:
        from gangproof.cluster_simulation import run_trace

        return run_trace(
            (target, *more),
            policy=policy,
            trace=trace,
            order=order,
            strict=strict,
            seed=seed,
            settings_path=settings,
            steps_per_second=steps_per_second,
            log=log,
            as_json=as_json,
        )
    from gangproof.names import known_property
    from gangproof.simulation_text import simulation_text
    from model.explore import simulate
    from specs.loading import load_spec

    machine = load_spec(target, more)
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
