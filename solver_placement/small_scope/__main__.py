"""``python -m solver_placement.small_scope``: all scopes, to ``results.json`` and docs/small-scope.md."""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from solver_placement.small_scope.report import RESULTS, page
from solver_placement.small_scope.scopes import SCOPES
from solver_placement.small_scope.table import count

WORKERS = 2


def row(name: str) -> dict[str, Any]:
    """The counts of one scope."""
    began = time.monotonic()
    found = count(SCOPES[name]).to_json()
    print(f"{name}: {found['worlds']} worlds, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)  # noqa: T201
    return found


def main() -> None:
    """Write the data, and the page that shows it."""
    with ProcessPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(row, SCOPES))
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    Path(__file__).resolve().parents[2].joinpath("docs", "small-scope.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
