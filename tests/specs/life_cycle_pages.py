"""The page of each shipped spec's life cycles, beside the spec; as a script it writes them anew."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from gangproof.cli import run
from specs.registry import SHIPPED

SCOPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kubernetes": ("pods=2", "nodes=2", "misfits=0"),
        "ray": ("timers=free",),
        "volcano_reclaim": ("--project", "phase[queue1, job1]", "--project", "phase[queue2, job1]"),
        "yunikorn": ("queues=two_leaves", "gate=reserves"),
    }
)
"""Parameters and projections, where the default ones do not show all that there is."""


def page(spec: str) -> Path:
    """Where the page of ``spec`` is."""
    return Path(str(importlib.import_module(SHIPPED[spec]).__file__)).parent / f"{spec}.life_cycle.md"


def written(spec: str) -> str:
    """The page as `gangproof export` writes it."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "page.md"
        status = run(["export", spec, *SCOPES.get(spec, ()), "--to", "markdown", "--output", str(file)])
        assert status == 0
        return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    for name in SHIPPED:
        page(name).write_text(written(name), encoding="utf-8")
