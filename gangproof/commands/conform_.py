"""``gangproof conform``: whether a log is a run of a spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gangproof.output import print_json
from gangproof.progress import Bar
from gangproof.sizes import Seconds

if TYPE_CHECKING:
    from model.conform import Conformance

_STATUS = {"conforms": 0, "diverges": 1, "unknown": 3, "vacuous": 4}


@click.command("conform")
@click.argument("spec")
@click.argument("more", nargs=-1, required=True, metavar="[NAME=VALUE]... LOG")
@click.option(
    "--format",
    "form",
    type=click.Choice(("auto", "jsonl", "ray", "yunikorn", "kubernetes", "simulation")),
    default="auto",
    show_default=True,
    help="What LOG is; auto: as it looks.",
)
@click.option(
    "--max-candidates",
    type=click.IntRange(1, 10**8),
    default=200_000,
    show_default=True,
    help="Give up where the spec may be in more states than this.",
)
@click.option("--time-limit", type=Seconds(), help="Give up after so many seconds.")
@click.option("--run", "show_run", is_flag=True, help="Show a run that explains the log.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    spec: str,
    more: tuple[str, ...],
    form: str,
    max_candidates: int,
    time_limit: float | None,
    show_run: bool,
    as_json: bool,
) -> int:
    """Whether the recorded run in LOG is one of SPEC: a shipped name or FILE.py:FUNCTION.

    LOG is a log of a real system, or a file of JSON lines: actions that happened, as far as they are known, and what
    was seen. docs/conformance.md has the formats. All runs of SPEC that it may be are followed at once; where none is
    left, the first record that nothing explains is told, with what SPEC would have allowed there. A property that all
    of these runs violate is one that the log itself breaks.

    Exit status: 0 it is a run, 1 it is none or breaks a property, 2 bad input, 3 unknown: a budget ran out, 4 vacuous:
    the log has no record that could be refused.
    """
    from gangproof import simulated_logs
    from gangproof.conformance_text import conformance_text
    from model.conform import Ending, Limits, conform
    from model.errors import FileError
    from specs.loading import load_spec
    from specs.logs import FORMATS, Format, read

    *parameters, file = more
    if not Path(file).is_file():
        raise FileError(f"{file}: expected a log as the last argument, found no such file")
    machine = load_spec(spec, parameters)
    simulation = Format("yunikorn", simulated_logs.looks_like, simulated_logs.read)
    log = read(machine, Path(file), form, {**FORMATS, "simulation": simulation})
    with Bar() as bar:

        def tell(matched: int, records: int, candidates: int) -> None:
            bar.show(f"{matched:,} of {records:,} records  {candidates:,} candidates")

        try:
            found = conform(machine, log, Limits(max_candidates, time_limit), tell)
        except FileError as error:
            raise FileError(f"{file}: {error}") from None
    if as_json:
        print_json(_json(machine.name, dict(machine.parameters), found))
    else:
        click.echo(conformance_text(machine, found, show_run=show_run))
    if found.ending is Ending.CONFORMS and found.broken:
        return 1
    return _STATUS[found.ending.value]


def _json(spec: str, parameters: dict[str, object], found: Conformance) -> dict[str, object]:
    return {
        "spec": spec,
        "parameters": parameters,
        "verdict": found.ending.value,
        "matched": found.matched,
        "records": found.records,
        "candidates": found.candidates,
        "most_candidates": found.most,
        "names": dict(found.names),
        "first_divergence": None if found.divergence is None else found.divergence.to_json(),
        "broken": [{"property": b.property, "where": b.where, "record": b.record} for b in found.broken],
        "states": [dict(state) for state in found.samples],
        "run": [] if found.run is None else found.run.to_json(),
        "budget": found.budget,
    }
