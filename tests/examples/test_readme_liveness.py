"""The liveness property that the README shows, added to the spec that it builds."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from console_blocks import ROOT, File, blocks

from model.explore import explore
from model.verdict import Outcome
from specs.loading import load_spec

README = (ROOT / "README.md").read_text(encoding="utf-8")


def spec_with(property_: str, folder: Path) -> Path:
    """The README's spec with one more property, in a file."""
    (text,) = [b.text for b in blocks(README) if isinstance(b, File) and b.name == "my_spec.py"][:1]
    text = text.replace("import Expr,", "import each, weak, Expr,")
    head, end = text.rsplit("    return m\n", 1)
    path = folder / "my_spec.py"
    path.write_text(f"{head}{property_}\n    return m\n{end}", encoding="utf-8")
    return path


@pytest.mark.parametrize(("kinds", "outcome"), [("as shown", Outcome.HOLDS), ("finish only", Outcome.VIOLATED)])
def test_the_property_says_something(kinds: str, outcome: Outcome, tmp_path: Path) -> None:
    (block,) = re.findall(r"^  ```python\n(.*?)^  ```$", README, re.MULTILINE | re.DOTALL)
    shown = textwrap.indent(textwrap.dedent(block), "    ")
    assert "weak(each(start)), " in shown
    if kinds == "finish only":
        shown = shown.replace("weak(each(start)), ", "")
    found = explore(load_spec(f"{spec_with(shown, tmp_path)}:toy", []))["whoever_holds_all_slots_ends"]
    assert found.outcome is outcome
