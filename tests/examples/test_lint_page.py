"""What docs/lint.md shows is what the commands print."""

from __future__ import annotations

from console_blocks import ROOT, Command, blocks, run, steady


def test_every_command_prints_what_the_page_shows() -> None:
    steps = blocks((ROOT / "docs" / "lint.md").read_text(encoding="utf-8"))
    commands = [step for step in steps if isinstance(step, Command)]
    assert len(commands) == 1
    for command, printed in zip(commands, run(steps), strict=True):
        assert steady(printed) == steady(command.printed), f"$ {command.line}\n{printed}"
