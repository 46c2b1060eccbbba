"""Runs a notebook from top to bottom, and tells what it shows.

``python tests/notebooks/executed.py NOTEBOOK...`` writes what the cells show now into the notebook.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120


def executed(notebook: Any) -> Any:
    """A copy with the outputs of a run in a fresh kernel, started at the root of the repository. Raises on an error."""
    fresh = copy.deepcopy(notebook)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # sockets in the file system: no open port, also where a sandbox has no network
    config = Config({"KernelManager": {"transport": "ipc"}})
    client = NotebookClient(
        fresh,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT)}},
        record_timing=False,
        config=config,
    )
    client.execute()
    return fresh


def shown(notebook: Any) -> list[list[Any]]:
    """Per code cell what a reader sees: text of streams, joined, and the data of results."""
    cells: list[list[Any]] = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        parts: list[Any] = []
        for output in cell.outputs:
            if output.output_type == "stream":
                before = (
                    parts.pop()[1] if parts and isinstance(parts[-1], tuple) and parts[-1][0] == output.name else ""
                )
                parts.append((output.name, before + output.text))
            else:
                parts.append({"type": output.output_type, **dict(output.get("data", {}))})
        cells.append(parts)
    return cells


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(executed(nbformat.read(name, as_version=4)), name)
