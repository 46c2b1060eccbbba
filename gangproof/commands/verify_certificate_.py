"""``gangproof verify-certificate``: whether a file of `prove --certificate` proves what it says."""

from __future__ import annotations

from pathlib import Path

import click

from gangproof.output import paragraph, print_json
from gangproof.sizes import Seconds


@click.command("verify-certificate")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("spec", required=False)
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--time-limit", type=Seconds(), help="Stop, with UNKNOWN, after so many seconds.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(file: Path, spec: str | None, parameters: tuple[str, ...], time_limit: float | None, as_json: bool) -> int:
    """Check FILE, which `gangproof prove --certificate FILE` wrote: that it is of SPEC, and that it is a proof.

    SPEC is a shipped name or FILE.py:FUNCTION, with its parameters; without it, the shipped spec that the certificate
    names, with the parameters that it names. Where runs begin, what steps do and what is claimed is written anew from
    the spec and compared; only the lemmas are taken from FILE. The checks are then answered by cvc5, in a process of
    its own.

    Exit status: 0 verified, 1 refused, and the check that fails is told, 2 bad input, 3 unknown.
    """
    from model.prove.certificate.check import Answer, check_certificate
    from model.prove.certificate.read import read_certificate
    from specs.loading import load_spec
    from specs.registry import SHIPPED

    certified = read_certificate(file)
    if spec is None:
        if certified.spec not in SHIPPED:
            raise click.UsageError(f"{file} is of {certified.spec}, which is not shipped: say where it is, as SPEC")
        spec, parameters = certified.spec, certified.parameters
    checked = check_certificate(certified, load_spec(spec, parameters), time_limit)
    if as_json:
        print_json(checked.to_json())
        return checked.answer.exit_status
    claims = "1 claim" if len(certified.claims) == 1 else f"{len(certified.claims)} claims"
    what = f"{claims} of {' '.join([certified.spec, *certified.parameters])}"
    match checked.answer:
        case Answer.VERIFIED:
            lemmas = f" with {checked.lemmas} lemma{'s' * (checked.lemmas != 1)}" if checked.lemmas else ""
            told = f"{what}: inductive at k = {certified.k}{lemmas}."
            told += f" {checked.solver} says unsat to all {checked.checks} checks"
        case Answer.REFUSED:
            told = f"no certificate of {what}: {checked.problem}"
        case Answer.UNKNOWN:
            told = f"{what}: {checked.problem}"
    click.echo(paragraph(f"{checked.answer.value.upper()}: {told} ({checked.seconds:.2f} s).", indent="  "))
    if checked.answer is Answer.VERIFIED:
        click.echo()
        click.echo(paragraph(f"Holds in runs of any length: {', '.join(certified.claims)}.", indent="  "))
    return checked.answer.exit_status
