"""``gangproof lint``: a configuration before it ships."""

from __future__ import annotations

import textwrap

import click

from gangproof.output import WIDTH, print_json, warn


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, metavar="INPUT...")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(paths: tuple[str, ...], as_json: bool) -> int:
    """Gangs in INPUT that their queues will reject, or that can starve each other: manifests, queues, native JSON, or
    the cluster YAML of Ray's launcher. docs/lint.md lists the rules.

    Exit status: 0 nothing was found, 1 something was, 2 bad input.
    """
    from gangproof.linting import SOURCES, lint

    result = lint(paths)
    warnings = [str(each) for each in result.warnings]
    warn(warnings)
    if as_json:
        findings = [
            {"rule": f.rule.value, "where": list(f.where), "why": f.why, "source": SOURCES[f.rule]}
            for f in result.findings
        ]
        print_json({"findings": findings, "warnings": warnings})
    else:
        click.echo(_counted(len(result.findings)))
        for f in result.findings:
            click.echo(f"\n{f.where[0]}: {f.rule.value}")
            click.echo(textwrap.fill(f.why, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
            for other in dict.fromkeys(f.where[1:]):
                click.echo(f"  see {other}")
    return 1 if result.findings else 0


def _counted(count: int) -> str:
    return {0: "nothing found", 1: "1 finding"}.get(count, f"{count} findings")
