"""``gangproof prove``: what holds in runs of any length, with Z3."""

from __future__ import annotations

import signal
from pathlib import Path

import click
from click.core import ParameterSource

from gangproof.interrupts import Interrupts
from gangproof.output import print_json, warn
from gangproof.progress import Bar
from gangproof.sizes import Seconds
from model.proof_limits import LENGTH, LONGEST_K, MOST_ATOMS, MOST_K, SAMPLES


@click.command("prove")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--property", "only", metavar="NAME", multiple=True, help="Prove only this property; may be repeated.")
@click.option(
    "--method",
    type=click.Choice(["induction", "spacer"]),
    default="induction",
    show_default=True,
    help="Induction, with lemmas from states; or an invariant from z3's engine for Horn clauses.",
)
@click.option(
    "--k",
    "most_k",
    type=click.IntRange(1, LONGEST_K),
    default=MOST_K,
    show_default=True,
    help="Most steps of induction.",
)
@click.option(
    "--max-k",
    type=click.IntRange(1, LONGEST_K),
    default=MOST_K,
    show_default=True,
    help="An induction over more steps is no proof.",
)
@click.option(
    "--max-atoms",
    type=click.IntRange(0, 10**6),
    default=MOST_ATOMS,
    show_default=True,
    help="An invariant of more comparisons is no proof.",
)
@click.option(
    "--length",
    type=click.IntRange(0, 1000),
    default=LENGTH,
    show_default=True,
    help="Look for violations of what is not proved in runs of up to so many steps.",
)
@click.option(
    "--strengthen/--no-strengthen", default=True, show_default=True, help="Find lemmas where induction fails."
)
@click.option(
    "--samples",
    type=click.IntRange(1, 10**7),
    default=SAMPLES,
    show_default=True,
    help="Find lemmas from at most so many states.",
)
@click.option(
    "--any-size",
    is_flag=True,
    help="For any number of elements of the sorts; of yunikorn, kubernetes and volcano through their slices.",
)
@click.option("--time-limit", type=Seconds(), help="Stop, with UNKNOWN, after so many seconds.")
@click.option(
    "--certificate",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what makes the proof one into FILE, for any solver; see `gangproof verify-certificate`.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    spec: str,
    parameters: tuple[str, ...],
    only: tuple[str, ...],
    method: str,
    most_k: int,
    max_k: int,
    max_atoms: int,
    length: int,
    strengthen: bool,
    samples: int,
    any_size: bool,
    time_limit: float | None,
    certificate: Path | None,
    as_json: bool,
) -> int:
    """Prove the claims of SPEC for runs of any length: a shipped name (see `gangproof list`) or FILE.py:FUNCTION.

    What is proved are properties of kind always and step, and the built-in ones: by induction over up to K steps, with
    lemmas where it fails alone. What is not proved is searched for a violation in short runs; the trace is then a
    shortest one. Properties about runs, and goals, are left out: `gangproof check` decides those. A property
    that holds because its premise is proved to be never true is vacuous; where a premise was only not seen, that is
    said. Ctrl-C ends it with what is known by then.

    A proof is an induction over few steps, or an invariant of few comparisons, of lemmas and of properties that help;
    one that speaks of all elements counts once. How many may be is what --max-k and --max-atoms say. What is shown by
    more is unknown, and how much it takes is told; with options that allow more, the answer says that they do.

    With --any-size the claims are proved for any number of elements of each sort, by one step of induction; sums over a
    sort are followed as counters. The parameters that say how many there are say then only where to look for violations
    and lemmas; the others are as given. What cannot be read, or is not inductive, is unknown, and why is told. Where
    SPEC has a slice, that is what is proved, and every step of SPEC at these sizes is compared with it.

    With --method spacer z3's engine for Horn clauses is asked for an invariant for each claim; what it answers is
    checked by the usual solver, like lemmas. --k, --strengthen and --samples are for induction.

    Exit status: 0 holds, 1 violated, 2 bad input, 3 unknown, 4 vacuous.
    """
    from gangproof.names import known_property
    from gangproof.proof_text import proof_text
    from model.proof import Method
    from model.prove import prove
    from model.prove.needs import Limits
    from specs.loading import load_spec

    if any_size:
        return _any_size(spec, parameters, only, samples, time_limit, as_json)
    if ParameterSource.COMMANDLINE is click.get_current_context().get_parameter_source("max_k"):
        most_k = max(most_k, max_k)
    machine = load_spec(spec, parameters)
    for name in only:
        known_property(machine, name)
    if certificate is not None:
        from model.prove.certificate.making import may_be_written, write_certificate

        may_be_written(certificate)
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
            method=Method.SPACER if method == "spacer" else Method.INDUCTION,
            stop=interrupts.stop,
            limits=Limits(max_k, max_atoms),
        )
    if as_json:
        print_json({**proof.to_json(), "slice": None})
    else:
        click.echo(proof_text(machine, proof))
    if certificate is not None:
        written = write_certificate(machine, proof, certificate)
        if written is None:
            warn([f"nothing is proved by induction, so {certificate} is not written"])
        else:
            click.echo(
                f"certificate of {len(written.claims)} of {len(proof.claimed)} properties: {certificate}", err=True
            )
    return proof.outcome.exit_status


def _any_size(
    spec: str, parameters: tuple[str, ...], only: tuple[str, ...], samples: int, time_limit: float | None, as_json: bool
) -> int:
    from gangproof.any_size_text import any_size_text, slice_json, without_slice
    from gangproof.names import known_property
    from model.prove.any_size import SAMPLES as SAMPLES_OF_EACH
    from model.prove.any_size import prove_any_size
    from model.prove.solving import INTERRUPTED, Deadline, OutOfTime
    from specs.families import load_family

    def given(name: str) -> bool:
        return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE

    for name in ("most_k", "max_k", "max_atoms", "length", "strengthen", "method", "certificate"):
        if given(name):
            option = {"most_k": "--k"}.get(name, f"--{name.replace('_', '-')}")
            if name == "certificate":
                raise click.UsageError(
                    "--certificate is not for --any-size: leave --any-size out, and write down the proof at one size"
                )
            raise click.UsageError(f"{option} is not for --any-size, which is one step of induction")
    family = load_family(spec, parameters)
    for name in only:
        known_property(family.machine, name)
    ended = False
    with Bar() as bar, Interrupts(signal.SIGINT) as interrupts:
        deadline, report, why = Deadline(time_limit, lambda: ended or interrupts.stop()), None, None
        try:
            report = family.compare(bar.update, deadline)
        except OutOfTime as out:
            why = str(out)
            ended = why == INTERRUPTED  # which z3 may have been told alone
        proof = prove_any_size(
            family.build,
            family.parameters,
            properties=only,
            samples=samples if given("samples") else SAMPLES_OF_EACH,
            progress=bar.show,
            deadline=deadline,
        )
    if why is not None:
        proof = without_slice(proof, f"whether the spec's steps are its own is not known: {why}")
    elif report is not None and not report.is_slice:
        proof = without_slice(proof)
    if as_json:
        print_json({**proof.to_json(), "slice": slice_json(family, report)})
    else:
        click.echo(any_size_text(family, report, proof))
    return proof.outcome.exit_status
