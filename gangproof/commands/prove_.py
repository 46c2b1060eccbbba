"""``gangproof prove``: what holds in runs of any length, with Z3."""

from __future__ import annotations

import signal

import click

from gangproof.interrupts import Interrupts
from gangproof.output import print_json
from gangproof.progress import Bar
from gangproof.sizes import Seconds


@click.command("prove")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--property", "only", metavar="NAME", multiple=True, help="Prove only this property; may be repeated.")
@click.option(
    "--k", "most_k", type=click.IntRange(1, 50), default=5, show_default=True, help="Most steps of induction."
)
@click.option(
    "--length",
    type=click.IntRange(0, 1000),
    default=12,
    show_default=True,
    help="Look for violations of what is not proved in runs of up to so many steps.",
)
@click.option(
    "--strengthen/--no-strengthen", default=True, show_default=True, help="Find lemmas where induction fails."
)
@click.option(
    "--samples",
    type=click.IntRange(1, 10**7),
    default=100_000,
    show_default=True,
    help="Find lemmas from at most so many states.",
)
@click.option("--time-limit", type=Seconds(), help="Stop, with UNKNOWN, after so many seconds.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    spec: str,
    parameters: tuple[str, ...],
    only: tuple[str, ...],
    most_k: int,
    length: int,
    strengthen: bool,
    samples: int,
    time_limit: float | None,
    as_json: bool,
) -> int:
    """Prove the claims of SPEC for runs of any length: a shipped name (see `gangproof list`) or FILE.py:FUNCTION.

    What is proved are properties of kind always and step, and the built-in ones: by induction over up to K steps, with
    lemmas where it fails alone. What is not proved is searched for a violation in short runs; the trace is then a
    shortest one. Properties about runs, and goals, are left out: `gangproof check` decides those. A property
    that holds because its premise is proved to be never true is vacuous; where a premise was only not seen, that is
    said. Ctrl-C ends it with what is known by then.

    Exit status: 0 holds, 1 violated, 2 bad input, 3 unknown, 4 vacuous.
    """
    from gangproof.names import known_property
    from gangproof.proof_text import proof_text
    from model.prove import prove
    from specs.loading import load_spec

    machine = load_spec(spec, parameters)
    for name in only:
        known_property(machine, name)
    # SIGTERM ends it as usual: the solver hears of Ctrl-C only.
    with Bar() as bar, Interrupts(signal.SIGINT) as interrupts:
        proof = prove(
            machine,
            properties=only,
            most_k=most_k,
            length=length,
            strengthen=strengthen,
            samples=samples,
            time_limit=time_limit,
            progress=bar.show,
            stop=interrupts.stop,
        )
    if as_json:
        print_json(proof.to_json())
    else:
        click.echo(proof_text(machine, proof))
    return proof.outcome.exit_status
