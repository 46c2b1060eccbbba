"""The page of each shipped spec's life cycles, beside the spec, one for each edition; as a script it writes them
anew."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gangproof.cli import run
from specs.editions import editions
from specs.registry import SHIPPED, spec_function

Subject = tuple[str, str]
"""A spec and its edition, empty where it has none."""

SCOPES: Mapping[Subject, tuple[str, ...]] = MappingProxyType(
    {
        ("kubernetes", "seed"): ("pods=2", "nodes=2", "misfits=0"),
        ("kubernetes", "current"): ("pods=2", "nodes=2", "misfits=0"),
        ("volcano_reclaim", ""): ("--project", "phase[queue1, job1]", "--project", "phase[queue2, job1]"),
        ("yunikorn", "seed"): ("queues=two_leaves", "gate=reserves"),
        ("ray", "seed"): ("timers=free",),
        ("ray", "current"): ("timers=free",),
    }
)
"""Parameters and projections, where the default ones do not show all that there is."""

SUBJECTS: Final[tuple[Subject, ...]] = tuple(
    (spec, edition) for spec in SHIPPED for edition in editions(spec_function(spec)) or ("",)
)


def page(subject: Subject) -> Path:
    """Where the page is."""
    spec, edition = subject
    name = f"{spec}.{edition}.life_cycle.md" if edition else f"{spec}.life_cycle.md"
    return Path(str(importlib.import_module(SHIPPED[spec]).__file__)).parent / name


def written(subject: Subject) -> str:
    """The page as `gangproof export` writes it."""
    spec, edition = subject
    asked = [spec, *([f"edition={edition}"] if edition else []), *SCOPES.get(subject, ())]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "page.md"
        status = run(["export", *asked, "--to", "markdown", "--output", str(file)])
        assert status == 0
        return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    for each in SUBJECTS:
        page(each).write_text(written(each), encoding="utf-8")
