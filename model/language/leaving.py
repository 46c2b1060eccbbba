"""``return``, ``break`` and ``continue`` inside a ``when`` block.

Python leaves the block at once, whatever the condition, and what comes after it is never recorded. Nothing can be seen
of that while the block runs, so the block's source is read before it does.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from types import FrameType

_WORDS: dict[type[ast.stmt], str] = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def way_out_of_block(frame: FrameType) -> str | None:
    """The statement that leaves the ``with`` block that ``frame`` enters; None if there is none, or no source to
    read."""
    found = [w for w in _blocks(frame.f_code.co_filename) if w.lineno <= frame.f_lineno <= _head_end(w)]
    return next((word for block in found[-1:] for word in _ways_out(block.body, in_loop=False)), None)


@functools.lru_cache(maxsize=100)
def _blocks(file: str) -> list[ast.With]:
    """All ``with`` statements of ``file``, outer ones first."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    return sorted((n for n in ast.walk(tree) if isinstance(n, ast.With)), key=lambda n: n.lineno)


def _head_end(block: ast.With) -> int:
    return max(item.context_expr.end_lineno or block.lineno for item in block.items)


def _ways_out(body: list[ast.stmt], in_loop: bool) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Return) or (isinstance(statement, (ast.Break, ast.Continue)) and not in_loop):
            yield _WORDS[type(statement)]
        if isinstance(statement, _OWN_SCOPE):
            continue
        loops = in_loop or isinstance(statement, (ast.For, ast.While))
        for name in ("body", "orelse", "finalbody"):
            yield from _ways_out(getattr(statement, name, []), (loops and name == "body") or in_loop)
        for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
            yield from _ways_out(part.body, in_loop)
