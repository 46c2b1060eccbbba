"""Of a long table some rows for the fast tests; the slow ones try the rest too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(number: int, rows: Iterable[Any]) -> list[Any]:
    """Parameters of ``rows``, all but every ``number``-th, from the first one on, marked slow."""
    listed = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [pytest.param(*row, marks=[pytest.mark.slow] if i % number else []) for i, row in enumerate(listed)]
