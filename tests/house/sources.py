"""Reading the project's own source files, for the tests that hold its conventions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("model", "specs", "reference", "solver_placement", "gangproof")


def modules(root: Path, *tops: str) -> Iterator[tuple[Path, str]]:
    """Every Python file under the given directories, in path order: path relative to root, and text."""
    for top in tops:
        for path in sorted((root / top).rglob("*.py")):
            yield path.relative_to(root), path.read_text(encoding="utf-8")


@cache
def imported(path: Path, text: str) -> tuple[tuple[int, str], ...]:
    """Line and absolute dotted name of every import in a module, also inside functions, also through importlib.

    Kept, as several rules ask the same of each file, and reading it takes longer than all that they look for.
    """
    return tuple(_imports(path.parent.parts, ast.parse(text, filename=str(path))))


def _imports(package: tuple[str, ...], tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node.lineno, alias.name
            case ast.ImportFrom(module=module, level=0) if module is not None:
                yield node.lineno, module
            case ast.ImportFrom(module=module, level=level):
                base = package[: len(package) - (level - 1)]
                yield node.lineno, ".".join((*base, module) if module else (*base, node.names[0].name))
            case ast.Call(func=ast.Name(id="__import__" | "import_module"), args=[ast.Constant(value=str(name)), *_]):
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
                yield node.lineno, name
