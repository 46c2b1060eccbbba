"""``gangproof scenario``: scenarios as data against the reference schedulers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gangproof.output import WIDTH, paragraph, print_json

if TYPE_CHECKING:
    from reference.scenarios import Outcome


@click.command("scenario")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(files: tuple[str, ...], as_json: bool) -> int:
    """Run the scenarios in each FILE (JSON, or a directory of such files) on the reference scheduler of their system.

    A scenario is a list of steps: what happens, and what is expected then. Each is told in a line: passed, or failed
    with the difference.

    Exit status: 0 all pass, 1 one fails, 2 bad input.
    """
    from reference.manifests.files import find_files
    from reference.scenarios import load, run, systems

    known = systems()
    loaded = [(str(path), scenario) for path, _ in find_files(files) for scenario in load(path, known)]
    outcomes = [(file, run(scenario)) for file, scenario in loaded]
    if as_json:
        print_json({"scenarios": [_json(file, outcome) for file, outcome in outcomes]})
    else:
        click.echo(_text([outcome for _, outcome in outcomes]))
    return 0 if all(outcome.passed for _, outcome in outcomes) else 1


def _json(file: str, outcome: Outcome) -> dict[str, object]:
    scenario = outcome.scenario
    return {
        "id": scenario.id,
        "passed": outcome.passed,
        "difference": list(outcome.differences),
        "system": scenario.system,
        "edition": scenario.edition,
        "upstream": scenario.upstream,
        "file": file,
    }


def _text(outcomes: Sequence[Outcome]) -> str:
    width = max(len(outcome.scenario.id) for outcome in outcomes)
    lines: list[str] = []
    for outcome in outcomes:
        lines.append(f"{outcome.scenario.id:<{width}}  {'passed' if outcome.passed else 'failed'}")
        lines += ["  " + paragraph(difference, WIDTH - 2, indent="    ") for difference in outcome.differences]
    passed = sum(outcome.passed for outcome in outcomes)
    several = f"{len(outcomes)} scenarios" if len(outcomes) > 1 else "1 scenario"
    last = f"{several}: {passed} passed, {len(outcomes) - passed} failed."
    return "\n".join([*lines, "", paragraph(last)])
