"""Of a long table a third for the fast tests; the slow ones try the rest too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def a_third(rows: Iterable[Any]) -> list[Any]:
    """Parameters of ``rows``, of which every third is not marked slow."""
    marks = [[], [pytest.mark.slow], [pytest.mark.slow]]
    listed = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [pytest.param(*row, marks=marks[i % 3]) for i, row in enumerate(listed)]
