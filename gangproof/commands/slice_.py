"""``gangproof slice``: whether a spec's slice, the machine that proofs about any size speak of, is one at this size."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from gangproof.output import WIDTH, print_json, table
from gangproof.progress import Bar

if TYPE_CHECKING:
    from model.language import Machine
    from specs.slice_check import SliceReport
    from specs.slicing import Slice


@click.command("slice")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=2_000_000,
    show_default=True,
    help="Refuse what has more states.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(spec: str, parameters: tuple[str, ...], max_states: int, as_json: bool) -> int:
    """Compare every step of SPEC, a shipped name, with its slice.

    A slice is a smaller machine that proofs about any number of applications and nodes speak of. What they show holds
    of SPEC where each of its steps is a step of the slice, or changes nothing that the slice sees. That is looked at
    here, for the sizes that the parameters say; that a property of SPEC follows from those of the slice is proved, for
    the same sizes, and bad input if it does not. The slice itself is SPEC:slice, as in `gangproof check
    yunikorn:slice`.

    Exit status: 0 it is a slice, 1 it is none, and a step that leaves it is told, 2 bad input.
    """
    from specs.loading import load_sliced
    from specs.slice_check import compare

    slice_, full, small = load_sliced(spec, parameters)
    with Bar() as bar:
        report = compare(slice_, full, small, max_states=max_states, progress=bar.update)
    if as_json:
        print_json(
            {
                "spec": full.name,
                "parameters": dict(full.parameters),
                "slice": small.name,
                "slice_parameters": dict(small.parameters),
                "verdict": "slice" if report.is_slice else "no slice",
                **report.to_json(),
                "follows": {name: list(others) for name, others in slice_.follows.items()},
                "removed": dict(slice_.removed),
            }
        )
    else:
        click.echo(_text(slice_, full, small, report))
    return 0 if report.is_slice else 1


def _text(slice_: Slice, full: Machine, small: Machine, report: SliceReport) -> str:
    scope = " ".join(f"{name}={value}" for name, value in small.parameters.items())
    if report.first_bad is not None:
        return f"{_filled(f'NO SLICE of {full.name}: {small.name} {scope}')}\n\n{report.first_bad.text}"
    claims = [p.name for p in full.properties if p.name in slice_.follows]
    names = [*(v.name for v in full.variables), *(a.name for a in full.actions)]
    counts = (
        f"All {report.steps:,} steps compared; {report.stutters:,} change nothing that the slice sees. "
        f"{report.states:,} states, {report.slice_states:,} for the slice."
    )
    lines = [
        _filled(f"A SLICE of {full.name}: {small.name} {scope}"),
        _filled(counts),
        "",
        table(("action", "in the slice"), [(name, ", ".join(seen)) for name, seen in report.seen_as.items()], WIDTH),
        "",
        table(("property", "follows in the slice from"), [(n, ", ".join(slice_.follows[n])) for n in claims], WIDTH),
        "",
        table(("left out", "because"), [(n, slice_.removed[n]) for n in names if n in slice_.removed], WIDTH),
    ]
    return "\n".join(lines)


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ")
