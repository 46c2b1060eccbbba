"""What the pages in docs show is what the commands print."""

from __future__ import annotations

import pytest
from console_blocks import ROOT, Command, blocks, run, steady


@pytest.mark.parametrize(
    ("page", "count"), [("certificates.md", 7), ("conformance.md", 2), ("exports.md", 4), ("lint.md", 1)]
)
def test_every_command_prints_what_the_page_shows(page: str, count: int) -> None:
    steps = blocks((ROOT / "docs" / page).read_text(encoding="utf-8"))
    commands = [step for step in steps if isinstance(step, Command)]
    assert len(commands) == count
    for command, printed in zip(commands, run(steps), strict=True):
        assert steady(printed) == steady(command.printed), f"$ {command.line}\n{printed}"
