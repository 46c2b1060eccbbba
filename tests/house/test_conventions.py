"""Conventions that a reader relies on: file size, docstrings, no floats where capacity is decided, one voice."""

from __future__ import annotations

import ast
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sources import PACKAGES, ROOT, modules

# A tracer would take more time here than the tests do, which read the project and run nothing of it.
pytestmark = pytest.mark.no_cover

MOST_LINES = 400
INTEGERS_ONLY = (
    "reference/cluster/",
    "reference/validate.py",
    "reference/manifests/",
    "reference/simulation/",
    "solver_placement/",
)

# The project stands alone: no paths of one machine, no files that it doesn't ship, no registry it happened to use.
FOREIGN = re.compile(
    r"""(?<![\w.-])/(work|root|home)/ | (?<![\w.-])/tmp/[a-z]
    | \b(shared|facts|peers|sketches)/ | \bseeds/\d | \bseed-rules\b | \b(DESIGN|brief)\.md | \bissues?\ show\b
    | \bpypi\.org | \bpythonhosted | \bfind-links | \bPIP_(INDEX|CERT|FIND)""",
    re.VERBOSE,
)
# This file holds the list; conftest.py knows where large data sets may lie.
MAY_NAME_THEM = {Path("tests/house/test_conventions.py"), Path("tests/conftest.py")}
TEXT = {
    "",
    ".py",
    ".md",
    ".toml",
    ".lock",
    ".ipynb",
    ".html",
    ".css",
    ".j2",
    ".json",
    ".yaml",
    ".yml",
    ".txt",
    ".cfg",
    ".ini",
}
NOT_OURS = {".git", ".venv", "__pycache__", "build", "dist", ".hypothesis", "node_modules"}


def too_long(root: Path) -> Iterator[str]:
    for path, text in modules(root, *PACKAGES):
        if (lines := len(text.splitlines())) > MOST_LINES:
            yield f"{path}: {lines} lines"


def undocumented(root: Path) -> Iterator[str]:
    for path, text in modules(root, *PACKAGES):
        if not (ast.get_docstring(ast.parse(text)) or "").strip():
            yield str(path)


def floats(root: Path) -> Iterator[str]:
    """Float literals, float() and true division on lines without a comment `# float: <why>`.

    Such a comment alone at the left margin speaks for its whole file: a module that handles seconds, say.
    """
    for path, text in modules(root, "reference", "solver_placement"):
        if not path.as_posix().startswith(INTEGERS_ONLY):
            continue
        if re.search(r"^# float: \S", text, re.MULTILINE):
            continue
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Constant(value=float()) | ast.Call(func=ast.Name(id="float")):
                    what = "a float"
                case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()):
                    what = "a true division"
                case _:
                    continue
            spanned = lines[node.lineno - 1 : node.end_lineno]
            if not any(re.search(r"#.*\bfloat: \S", line) for line in spanned):
                yield f"{path}:{node.lineno} {what}"


def foreign_words(root: Path) -> Iterator[str]:
    for directory, below, files in os.walk(root):
        below[:] = sorted(name for name in below if name not in NOT_OURS and not name.endswith(("_cache", ".egg-info")))
        for file in sorted(Path(directory, name) for name in files):
            path = file.relative_to(root)
            if path.suffix not in TEXT or path in MAY_NAME_THEM or path.name in {".coverage", ".git", "report.html"}:
                continue
            text = file.read_text(encoding="utf-8")
            if FOREIGN.search(text) is None:  # by far most files, and sooner known than line by line
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if found := FOREIGN.search(line):
                    yield f"{path}:{number} says {found[0]!r}"


def hidden_helpers(root: Path) -> Iterator[str]:
    """Test modules of one name: each folder of tests is on the path, and the first that is found hides the others."""
    first: dict[str, Path] = {}
    for path, _ in modules(root, "tests"):
        if path.name not in {"__init__.py", "conftest.py"} and (other := first.setdefault(path.name, path)) != path:
            yield f"{path} has the name of {other}"


def changed_paths(root: Path) -> Iterator[str]:
    """Tests that put a folder on the path: it stays there for all others, and for the processes that they start."""
    for path, text in modules(root, "tests"):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name("sys"), attr="path"), attr=_)):
                    yield f"{path}:{node.lineno} changes sys.path"


@pytest.mark.parametrize("check", [too_long, undocumented, floats, foreign_words, hidden_helpers, changed_paths])
def test_convention_is_kept(check: Callable[[Path], Iterator[str]]) -> None:
    assert list(check(ROOT)) == []


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def test_a_hidden_helper_is_caught(tmp_path: Path) -> None:
    for path in ("tests/a/agreement.py", "tests/b/agreement.py", "tests/b/conftest.py", "tests/a/conftest.py"):
        write(tmp_path, path, "")
    assert list(hidden_helpers(tmp_path)) == ["tests/b/agreement.py has the name of tests/a/agreement.py"]


def test_a_long_file_is_caught(tmp_path: Path) -> None:
    write(tmp_path, "model/a.py", "x = 1\n" * MOST_LINES)
    write(tmp_path, "model/b.py", "x = 1\n" * (MOST_LINES + 1))
    assert list(too_long(tmp_path)) == [f"model/b.py: {MOST_LINES + 1} lines"]


def test_a_missing_or_empty_docstring_is_caught(tmp_path: Path) -> None:
    write(tmp_path, "gangproof/a.py", '"""What it is for."""\n')
    write(tmp_path, "gangproof/b.py", "# What it is for.\nx = 1\n")
    write(tmp_path, "gangproof/sub/__init__.py", '""" """\n')
    assert list(undocumented(tmp_path)) == ["gangproof/b.py", "gangproof/sub/__init__.py"]


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("reference/cluster/a.py", "x = 0.5", "reference/cluster/a.py:1 a float"),
        ("reference/validate.py", "def f(x):\n    return float(x)", "reference/validate.py:2 a float"),
        ("reference/validate.py", "x = 4 / 2", "reference/validate.py:1 a true division"),
        ("reference/validate.py", "x = 4\nx /= 2", "reference/validate.py:2 a true division"),
        ("reference/manifests/quantity.py", "x = 1e3", "reference/manifests/quantity.py:1 a float"),
        ("solver_placement/model.py", "x = (\n    1.5\n)", "solver_placement/model.py:2 a float"),
        ("solver_placement/model.py", "x = 1.5  # seconds", "solver_placement/model.py:1 a float"),
        ("solver_placement/model.py", "x = 1.5  # float:", "solver_placement/model.py:1 a float"),
        ("solver_placement/model.py", "x = 1.5  # float: a time limit, decides no capacity", None),
        ("solver_placement/model.py", "# float: seconds only\nx = 1.5", None),
        (
            "solver_placement/model.py",
            "def f():\n    # float: seconds only\n    return 1.5",
            "solver_placement/model.py:3 a float",
        ),
        ("solver_placement/model.py", "def f(gap: float) -> int:\n    return 7 // 2", None),
        ("reference/schedulers/yunikorn/score.py", "x = 0.5", None),
    ],
)
def test_a_float_where_capacity_is_decided_is_caught(tmp_path: Path, path: str, source: str, found: str | None) -> None:
    write(tmp_path, path, source)
    assert list(floats(tmp_path)) == ([found] if found else [])


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("README.md", "see ../shared/data", "README.md:1 says 'shared/'"),
        ("Makefile", "all:\n\tls /work/main", "Makefile:2 says '/work/'"),
        ("model/a.py", '"""As DESIGN.md has it."""', "model/a.py:1 says 'DESIGN.md'"),
        ("notebooks/a.ipynb", '{"source": "facts/x.md"}', "notebooks/a.ipynb:1 says 'facts/'"),
        ("README.md", "Kubernetes workloads, a Spark session, artifacts/x, node/work/x", None),
        (".venv/lib/a.py", "/work/", None),
    ],
)
def test_foreign_words_are_caught(tmp_path: Path, path: str, text: str, found: str | None) -> None:
    write(tmp_path, path, text)
    assert list(foreign_words(tmp_path)) == ([found] if found else [])


def test_ci_runs_lint_and_tests() -> None:
    script = ROOT / ".ci" / "run"
    lines = script.read_text(encoding="utf-8").splitlines()
    assert "set -euo pipefail" in lines
    assert [line for line in lines if line.startswith("make ")] == ["make lint", "make test"]
    assert script.stat().st_mode & stat.S_IXUSR


def test_every_target_brings_its_environment() -> None:
    rules = dict(re.findall(r"^([a-z-]+):(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"review", "test", "test-slow", "bench", "lint"} <= rules.keys()
    for target in ("review", "test", "test-slow", "bench", "lint"):
        assert "$(READY)" in rules[target]


def test_a_path_that_is_changed_is_caught(tmp_path: Path) -> None:
    write(tmp_path, "tests/a/test_b.py", "import sys\nsys.path.insert(0, 'bench')\nprint(sys.path)\n")
    assert list(changed_paths(tmp_path)) == ["tests/a/test_b.py:2 changes sys.path"]
