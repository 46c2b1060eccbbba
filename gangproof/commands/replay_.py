"""``gangproof replay``: whether a trace that comes from outside is a run of a spec."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gangproof.output import WIDTH, print_json

if TYPE_CHECKING:
    from model.language import Machine
    from model.replay import Replayed


@click.command("replay")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--trace",
    "file",
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The trace, in ITF.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(spec: str, parameters: tuple[str, ...], file: Path, as_json: bool) -> int:
    """Whether the trace in FILE is a run of SPEC: a shipped name or FILE.py:FUNCTION.

    FILE is in ITF, as `gangproof check --trace-format itf` writes it, or as another tool does of an exported spec:
    then without actions, and any that leads from a state to the next will do.

    Exit status: 0 it is a run, 1 it is none, and the first step that is no step of SPEC is told, 2 bad input.
    """
    from model.errors import FileError
    from model.replay import replay_itf
    from model.trace import in_steps
    from specs.loading import load_spec

    machine = load_spec(spec, parameters)
    try:
        whole = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{file}: {error.strerror}") from None
    except RecursionError:
        raise FileError(f"{file}: not a trace: its JSON is nested too deeply") from None
    except ValueError as error:
        raise FileError(f"{file}: not a file of JSON: {error}") from None
    found = replay_itf(machine, whole)
    if as_json:
        print_json(
            {
                "spec": machine.name,
                "parameters": dict(machine.parameters),
                "verdict": "run" if found.problem is None else "no run",
                "steps": found.steps,
                "first_wrong_step": found.step,
                "problem": found.problem,
                "trace": [] if found.trace is None else found.trace.to_json(),
            }
        )
    else:
        told = "A RUN" if found.problem is None else "NO RUN"
        click.echo(f"{told} of {machine.name}: {in_steps(found.steps) if found.problem is None else found.problem}")
        if (why := _why(machine, found)) is not None:
            click.echo(f"\n{why}")
        if found.trace is not None:
            click.echo(("" if found.problem is None else "\nas far as it is one:\n\n") + found.trace.table(WIDTH))
    return 0 if found.problem is None else 1


def _why(machine: Machine, found: Replayed) -> str | None:
    """Which conjunct of its guard forbids the action that is not enabled; None where that is not what is wrong."""
    from gangproof.explain_text import explanation_text
    from model.errors import QueryError
    from model.explain.guards import explain_call
    from model.semantics import Semantics

    told = re.fullmatch(r"step \d+: (.*) is not enabled", found.problem or "")
    if told is None or found.trace is None:
        return None
    states, _ = Semantics(machine).run_of(found.trace)
    try:
        enabling = explain_call(machine, told[1], states[-1])
    except QueryError:  # no such action, or not with these arguments
        return None
    return explanation_text(machine, None, None, enabling, f"after step {len(found.trace)}")
