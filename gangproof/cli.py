"""The command line: ``gangproof COMMAND``. What each command answers with ``--json`` is in ``gangproof/schemas``.

Nothing heavy is imported here: a command's module is loaded when the command runs, so ``--help`` is immediate.

Exit status: 0 holds / answered, 1 violated / refused by the judge, 2 bad input, 3 unknown, 4 vacuous, 70 internal
error.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
import traceback

import click

BAD_INPUT = 2
INTERNAL_ERROR = 70
INTERRUPTED = 130

_COMMANDS = {
    "list": "what is shipped: specs, their parameters, actions, properties",
    "check": "explore every state of a spec",
    "simulate": "random walks over a spec that is too big to explore; with --policy, jobs on a cluster over time",
    "prove": "what holds in runs of any length, by induction",
    "slice": "whether the small machine that proofs about any size speak of is one of a spec",
    "verify-certificate": "whether a file of `prove --certificate` proves what it says, by another solver",
    "explain": "why a state is reachable, why an action is not enabled there",
    "conform": "whether a log of a real run belongs to a spec, and where it stops to",
    "replay": "whether a trace in ITF is a run of a spec",
    "export": "a spec for other tools: its life cycles as a picture, or all of it for TLC or Spin",
    "mutants": "every seeded and historical fault, and the property that finds it",
    "scenario": "scenarios as data, such as upstream's own tests, against the reference schedulers",
    "schedule": "run a reference scheduler on a cluster",
    "place": "the optimal placement, with its bound",
    "explain-pending": "what blocks a gang that waits, and what to relax",
    "compare": "greedy versus optimal, and the smallest input on which they differ",
    "lint": "gangs that their queues will reject, or that can starve each other, with the place in the file",
    "review": "verdict, counterexample and both placements of one cluster, as an HTML page",
}


class _Lazy(click.Group):
    """Loads ``gangproof.commands.NAME`` when the command is used; its short help stands above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"gangproof.commands.{cmd_name.replace('-', '_')}_")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gangproof")
def cli() -> None:
    """A laboratory for gang schedulers: check specs exhaustively, run reference schedulers, prove placements
    optimal."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit status."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:  # closed by the caller: what is said is lost, the exit status is not
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115 - lives as long as the process
    if not isinstance(sys.stdout.buffer, io.BufferedIOBase):
        # PYTHONUNBUFFERED: what a raw file takes of a write only in part would be lost without a word
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = open(1, "w", encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115 - as above
    if hasattr(signal, "SIGPIPE"):
        # like other filters: when the reader of our output is gone (head, less), end by the signal; its status 141 is
        # none of ours, while an exception in the middle of printing would take the verdict's status away
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status. A user's mistakes are told in one line, without a traceback."""
    try:
        status = cli.main(args=arguments, prog_name="gangproof", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        click.echo(f"error: {_in_one_line(error)}", err=True)
        return BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except RecursionError:
        click.echo("error: the spec nests expressions too deeply; combine values with sum_, all_ or any_", err=True)
        return BAD_INPUT
    except Exception as error:  # noqa: BLE001 - the last line of defence: told as our fault, with a status of its own
        if _is_users_mistake(error):
            click.echo(f"error: {error}", err=True)
            return BAD_INPUT
        if isinstance(error, OSError) and error.filename is None and error.errno in _OUTPUT_IS_FULL:
            _say_on_stderr(f"error: the output cannot be written: {error.strerror}")
            return BAD_INPUT
        if os.environ.get("GANGPROOF_DEBUG"):
            traceback.print_exc()
        else:
            click.echo(
                f"internal error: {type(error).__name__}: {error}\n"
                "This is a fault of gangproof, not of your input; GANGPROOF_DEBUG=1 shows where.",
                err=True,
            )
        return INTERNAL_ERROR


def _in_one_line(error: click.ClickException) -> str:
    """What click found, and where the command says what it expects."""
    said = " ".join(error.format_message().split())
    where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else None
    return said if where is None else f"{said.rstrip('.')}; see {where} --help"


_OUTPUT_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _say_on_stderr(text: str) -> None:
    """``text`` on stderr; what is still buffered for stdout cannot be written and must not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(text, err=True)


def _is_users_mistake(error: Exception) -> bool:
    from gangproof.mistakes import USER_MISTAKES

    return isinstance(error, USER_MISTAKES)


if __name__ == "__main__":
    main()
