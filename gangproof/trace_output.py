"""A counterexample in the format that was asked for, on stdout or in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from gangproof.output import WIDTH
from model.language import Machine
from model.trace import Trace
from model.verdict import Verdict

FORMATS = ("table", "json", "itf", "mermaid")


def trace_text(machine: Machine, trace: Trace, form: str, about: str) -> str:
    """``trace`` in one of FORMATS; ``about`` says in a line what it shows."""
    from model.export.itf import itf
    from model.export.sequence import sequence_diagram

    match form:
        case "table":
            return trace.table(WIDTH) + "\n"
        case "json":
            whole = {"spec": machine.name, "about": about, "loop_start": trace.loop_start, "trace": trace.to_json()}
            return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
        case "itf":
            return json.dumps(itf(machine, trace, about), indent=2, ensure_ascii=False) + "\n"
        case "mermaid":
            return sequence_diagram(machine, trace, about)
    raise ValueError(f"no trace format is named {form!r}")


def write_trace(machine: Machine, verdict: Verdict, shown: str | None, form: str, file: Path | None) -> None:
    """The trace of property ``shown``, or of the first violation, to ``file`` or stdout; says so if there is none."""
    of = verdict[shown] if shown else verdict.first_violation
    if of is None or of.trace is None:
        why = f"{of.name}: {of.how}" if of is not None else "nothing is violated"
        click.echo(f"no trace was written; {why}", err=True)
        return
    text = trace_text(machine, of.trace, form, f"{machine.name}, {of.name}: {of.how}")
    if file is None:
        click.echo(text, nl=False)
    else:
        write_text(file, text)


def check_file(file: Path, taken: Sequence[Path]) -> None:
    """A click error where ``file`` cannot be written, as far as can be told before, or is one of ``taken``."""
    if file.is_dir() or not file.parent.is_dir():
        raise click.FileError(str(file), "is a directory" if file.is_dir() else "its directory does not exist")
    if any(other.exists() and file.exists() and file.samefile(other) for other in taken):
        raise click.BadParameter(f"{file} would be overwritten: it is another file of this command")
    if file.absolute() in [other.absolute() for other in taken]:
        raise click.BadParameter(f"{file} is to be written twice")


def write_text(file: Path, text: str) -> None:
    """``text`` to ``file``; a click error where that cannot be done."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(file), error.strerror or str(error)) from None


__all__ = ["FORMATS", "check_file", "trace_text", "write_text", "write_trace"]
