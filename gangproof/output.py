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


def table(head: Sequence[str], rows: Sequence[Sequence[object]], width: int = WIDTH) -> str:
    """Rows under a head, columns as wide as their longest entry; the last column is wrapped to ``width``."""
    cells = [[str(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    indent = sum(widths[:-1]) + 2 * (len(widths) - 1)
    last = max(16, width - indent)
    lines: list[str] = []
    for row in [list(head), [*("-" * w for w in widths[:-1]), "-" * min(widths[-1], last)], *cells]:
        left = "".join(f"{x:<{w}}  " for x, w in zip(row[:-1], widths[:-1], strict=True))
        first, *rest = textwrap.wrap(row[-1], last, break_on_hyphens=False) or [""]
        lines.append((left + first).rstrip())
        lines += [" " * indent + more for more in rest]
    return "\n".join(lines)


def paragraph(text: str, width: int = WIDTH, indent: str = "") -> str:
    """``text`` wrapped to ``width``."""
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
