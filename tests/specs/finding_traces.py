"""The traces in findings, each beneath the call that prints it; as a script it writes them anew."""

from __future__ import annotations

import contextlib
import io
import re
import textwrap
from pathlib import Path

import specs
from gangproof.cli import run

FOLDER = Path(str(specs.__file__)).parent
SPECS = ("ray", "kubernetes")
BLOCK = re.compile(r"`gangproof check ([^`]+ --property \w+)` prints:\n\n```\n(.*?)```\n", re.DOTALL)

SHOWN = re.compile(r"^(Shown by `gangproof check ([^`]+)`.*?\n## Trace\n\n)(?: {4}.*\n)+", re.DOTALL | re.MULTILINE)
"""The other form: the call comes first, its table of steps last and indented."""


def findings() -> list[Path]:
    """Those of which the traces are kept."""
    return [path for spec in SPECS for path in sorted((FOLDER / spec / "findings").glob("*.md"))]


def printed(call: str) -> str:
    """The table of steps that a call prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run(["check", *call.split()])
    found = re.search(r"^step .*?(?=\n\n|\Z)", out.getvalue(), re.MULTILINE | re.DOTALL)
    assert found is not None, out.getvalue()
    return found[0].rstrip() + "\n"


def rewritten(text: str) -> str:
    """A finding with every trace as it is printed now."""
    text = BLOCK.sub(lambda m: f"`gangproof check {m[1]}` prints:\n\n```\n{printed(m[1])}```\n", text)
    return SHOWN.sub(lambda m: m[1] + textwrap.indent(printed(m[2]), "    "), text)


if __name__ == "__main__":
    for page in [*findings(), *sorted((FOLDER / "yunikorn").rglob("findings/*.md"))]:
        page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
