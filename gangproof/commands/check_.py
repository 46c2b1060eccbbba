"""``gangproof check``: explore every state of a spec and say what holds."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import click

from gangproof.interrupts import Interrupts
from gangproof.output import paragraph, print_json
from gangproof.progress import Bar
from gangproof.sizes import Seconds

_FILE = click.Path(dir_okay=False, path_type=Path)
# Options that a run goes on without.
_OF_ONE_RUN = ("resume", "checkpoint", "max_states", "max_memory", "time_limit")


@click.command("check")
@click.argument("spec")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--max-states", type=click.IntRange(min=1), help="Stop, with UNKNOWN, past this many distinct states.")
@click.option("--max-memory", metavar="SIZE", help="Stop, with UNKNOWN, past this much memory (e.g. 512M, 4G).")
@click.option("--time-limit", type=Seconds(), help="Stop searching, with UNKNOWN, after so many seconds.")
@click.option("--stop-at-first", is_flag=True, help="Stop at the first violation.")
@click.option("--symmetry", is_flag=True, help="Of states that differ by an exchange of equals explore only one.")
@click.option("--vacuity", is_flag=True, help="Also explore mutants, until one has broken each property.")
@click.option("--strict", is_flag=True, help="Count values never taken, and steps that change nothing, as vacuous.")
@click.option("--property", "shown", metavar="NAME", help="Show the trace of this property.")
@click.option(
    "--trace-format",
    "form",
    type=click.Choice(["table", "json", "itf", "mermaid"]),
    help="Only the trace, in this format, and the verdict on stderr; with --trace into the file.",
)
@click.option("--trace", "trace_file", metavar="FILE", type=click.Path(path_type=Path), help="Write the trace to FILE.")
@click.option(
    "--checkpoint", type=_FILE, help="Where to keep a checkpoint. If interrupted, else: SPEC-DIGEST.checkpoint."
)
@click.option("--checkpoint-every", type=Seconds(), metavar="SECONDS", help="Also write it so often.")
@click.option("--resume", type=_FILE, help="Go on from this checkpoint of the same SPEC and parameters.")
@click.option(
    "--spill",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Move old states to unnamed files in DIR where memory runs out.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(
    spec: str,
    parameters: tuple[str, ...],
    max_states: int | None,
    max_memory: str | None,
    time_limit: float | None,
    stop_at_first: bool,
    symmetry: bool,
    vacuity: bool,
    strict: bool,
    shown: str | None,
    form: str | None,
    trace_file: Path | None,
    checkpoint: Path | None,
    checkpoint_every: float | None,
    resume: Path | None,
    spill: Path | None,
    as_json: bool,
) -> int:
    """Explore every state of SPEC: a shipped name (see `gangproof list`) or FILE.py:FUNCTION.

    A violation that was found before the time limit is traced to its end, which takes a while where it lies deep.

    With --strict, a value of a range that is never taken, or a step that changes nothing, is an exit status of 4 too.

    With --vacuity, small faults are put into the actions one by one; a property that none of them breaks is vacuous.

    Exit status: 0 holds, 1 violated, 2 bad input, 3 unknown (a budget ran out), 4 vacuous.

    Ctrl-C and SIGTERM end it as a budget would, after writing a checkpoint: the file of --checkpoint, of --resume, or
    in the working directory one named after SPEC, its parameters and the options. With --checkpoint it is also written
    when a budget runs out. A second Ctrl-C ends it at once.
    """
    from gangproof.names import known_property
    from gangproof.sizes import bytes_of
    from gangproof.trace_output import check_file, write_trace
    from gangproof.verdict_text import headline, verdict_text
    from model.explore import INTERRUPTED, Saving, explore
    from model.explore.search.checkpoint import check_target
    from model.verdict import Outcome
    from specs.loading import spec_builder

    only_trace = form is not None and trace_file is None
    if as_json and only_trace:
        raise click.UsageError("--json has the trace already; with --trace-format say --trace FILE")
    if trace_file is not None:
        files = [checkpoint, resume, Path(spec.rpartition(":")[0] or spec)]
        check_file(trace_file, [each for each in files if each is not None])
    if symmetry and vacuity:
        raise click.UsageError("--vacuity explores every state of each mutant: give it without --symmetry")
    build = spec_builder(spec, parameters)
    machine = build()
    if shown is not None:
        known_property(machine, shown)
    memory = None if max_memory is None else bytes_of(max_memory)
    if checkpoint_every is not None and checkpoint is None and resume is None:
        raise click.BadParameter("--checkpoint-every needs --checkpoint, which says where")
    target = checkpoint or resume or Path(f"{machine.name}.checkpoint")
    if checkpoint is not None:
        check_target(checkpoint)
    asked = checkpoint is not None or checkpoint_every is not None
    own = checkpoint is None and resume is None
    saving = Saving(target, required=asked, own_name=own, every=checkpoint_every, always=asked, warn=_warn)
    with Bar() as bar, Interrupts() as interrupts:
        verdict = explore(
            machine,
            max_states=max_states,
            max_memory=memory,
            time_limit=time_limit,
            stop_at_first=stop_at_first,
            symmetry=symmetry,
            progress=bar.update,
            coverage=True,
            stop=interrupts.stop,
            saving=saving,
            resume=resume,
            spill=spill,
        )
        # Where all was decided before it was asked to stop, what was not tried is still told.
        if vacuity and not (interrupts.asked and verdict.outcome is Outcome.UNKNOWN):
            from model.explore.vacuity import vacuity as what_mutants_break
            from model.explore.vacuity import with_vacuity

            found = what_mutants_break(
                build,
                verdict,
                time_limit=time_limit,
                stop=interrupts.stop,
                max_memory=memory,
                progress=lambda tried, left: bar.show(f"{tried:,} mutants tried  {left:,} properties not broken yet"),
            )
            verdict = with_vacuity(verdict, found)
    verdict = replace(verdict, strict=strict)
    kept = None if saving.written is None else str(saving.path)
    if only_trace:
        write_trace(machine, verdict, shown, form or "table", None)
        click.echo(paragraph(headline(verdict), indent="  "), err=True)
    elif as_json:
        print_json({**verdict.to_json(shown), "checkpoint": kept})
    else:
        click.echo(verdict_text(machine, verdict, shown))
    if trace_file is not None:
        write_trace(machine, verdict, shown, form or "table", trace_file)
    unfinished = not verdict.coverage.complete or any(p.outcome is Outcome.UNKNOWN for p in verdict.properties)
    if saving.written is not None and unfinished:
        click.echo(
            f"checkpoint of {saving.written:,} bytes: {saving.path}\nto go on: {_command(saving.path)}", err=True
        )
    elif verdict.coverage.budget == INTERRUPTED or (checkpoint is not None and not verdict.coverage.complete):
        click.echo("there is no checkpoint of this run", err=True)
    return verdict.outcome.exit_status


def _warn(text: str) -> None:
    click.echo(f"warning: {text}", err=True)


def _command(checkpoint: Path) -> str:
    """The command that goes on from ``checkpoint``: this one, without the options that belong to one run."""
    context = click.get_current_context()
    words = ["gangproof", "check", context.params["spec"], *context.params["parameters"]]
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if isinstance(option, click.Option) and option.name not in _OF_ONE_RUN and value not in (None, False, ()):
            words += [option.opts[0]] if option.is_flag else [option.opts[0], str(value)]
    return shlex.join([*words, "--resume", str(checkpoint)])
