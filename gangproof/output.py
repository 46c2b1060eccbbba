"""What commands print: JSON that is stable, and text that fits 80 columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

import click

WIDTH = 80


def print_json(answer: Any) -> None:
    """``answer`` on stdout; keys keep their order."""
    click.echo(json.dumps(answer, indent=2, ensure_ascii=False))


def warn(warnings: Sequence[object]) -> None:
    """Each warning on a line of stderr."""
    for each in warnings:
        click.echo(f"warning: {each}", err=True)


_LEAST = 16
"""Columns that the last column of a table has at least."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]], width: int = WIDTH) -> str:
    """Rows under a head, columns as wide as their longest entry; the last column is wrapped to ``width``.

    Where that leaves it too little, the longest entries of the first column have a line of their own.
    """
    cells = [[str(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    beside = sum(widths[1:-1]) + 2 * (len(widths) - 1)
    widths[0] = max(min(widths[0], width - _LEAST - beside), len(head[0]), 1)
    indent = widths[0] + beside if len(widths) > 1 else 0
    last = max(_LEAST, width - indent)
    lines: list[str] = []
    for row in [list(head), [*("-" * w for w in widths[:-1]), "-" * min(widths[-1], last)], *cells]:
        if len(row) > 1 and len(row[0]) > widths[0]:
            lines.append(row[0])
            row[0] = ""
        left = "".join(f"{x:<{w}}  " for x, w in zip(row[:-1], widths[:-1], strict=True))
        first, *rest = textwrap.wrap(row[-1], last, break_on_hyphens=False) or [""]
        lines.append((left + first).rstrip())
        lines += [" " * indent + more for more in rest]
    return "\n".join(lines)


def paragraph(text: str, width: int = WIDTH, indent: str = "") -> str:
    """``text`` wrapped to ``width``."""
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
