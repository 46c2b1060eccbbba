"""The command line: ``gangproof COMMAND``. What each command answers with ``--json`` is in ``gangproof/schemas``.

Nothing heavy is imported here: a command's module is loaded when the command runs, so ``--help`` is immediate.

Exit status: 0 holds / answered, 1 violated / refused by the judge, 2 bad input, 3 unknown, 4 vacuous, 70 internal
error.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback

import click

BAD_INPUT = 2
INTERNAL_ERROR = 70
INTERRUPTED = 130

_COMMANDS = {
    "list": "what is shipped: specs, their parameters, actions, properties",
    "check": "explore every state of a spec",
    "schedule": "run a reference scheduler on a cluster",
    "place": "the optimal placement, with its bound",
    "compare": "greedy versus optimal, and the smallest input on which they differ",
    "review": "verdict, counterexample and both placements of one cluster, as an HTML page",
}


class _Lazy(click.Group):
    """Loads ``gangproof.commands.NAME`` when the command is used; its short help stands above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"gangproof.commands.{cmd_name}_")
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
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status. A user's mistakes are told in one line, without a traceback."""
    try:
        status = cli.main(args=arguments, prog_name="gangproof", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of our output (head, less) is gone; keep the interpreter's own flush at exit from failing as well
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: told as our fault, with a status of its own
        if _is_users_mistake(error):
            click.echo(f"error: {error}", err=True)
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


def _is_users_mistake(error: Exception) -> bool:
    from gangproof.mistakes import USER_MISTAKES

    return isinstance(error, USER_MISTAKES)


if __name__ == "__main__":
    main()
