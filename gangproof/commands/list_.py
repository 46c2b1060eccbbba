"""``gangproof list``: the specs that are shipped, their parameters, actions, properties and mutants."""

from __future__ import annotations

import click

from gangproof.catalogue import Entry, catalogue
from gangproof.output import paragraph, print_json
from specs.parameters import Parameter, shown


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(as_json: bool) -> None:
    """What is shipped: specs with their parameters, actions, properties and mutants."""
    entries = list(catalogue())
    if as_json:
        print_json({"specs": [entry.to_json() for entry in entries]})
        return
    for entry in entries:
        click.echo(_text(entry) + "\n")


def _text(entry: Entry) -> str:
    lines = [paragraph(f"{entry.name}: {entry.doc}", indent="  ")]
    parameters = [f"{p.name}={_default(p)} ({p.kind})" for p in entry.parameters]
    mutants = list(entry.mutants) or ["none"]
    for title, words in (
        ("parameters", parameters),
        ("actions", list(entry.actions)),
        ("properties", list(entry.properties)),
        ("mutants", mutants),
    ):
        lines.append(paragraph(f"  {title}: {', '.join(words)}", indent="    "))
    return "\n".join(lines)


def _default(parameter: Parameter) -> str:
    """Its default; where editions differ, that of each which has the parameter."""
    if not parameter.by_edition:
        return str(shown(parameter.default))
    return ", ".join(f"{shown(value)} in {edition}" for edition, value in parameter.by_edition.items())
