"""ARCHITECTURE.md stays true: it names every room of the house, and every path in it exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("model", "specs", "reference", "solver_placement", "gangproof")
PATH = re.compile(rf"(?<![\w/.-])(?:{'|'.join([*PACKAGES, 'tests', 'notebooks', 'examples'])})/[\w./-]*")


def text() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def rooms(root: Path) -> list[str]:
    """Packages, and the packages directly below them."""
    tops = [root / name for name in PACKAGES]
    below = [p.parent for top in tops for p in sorted(top.glob("*/__init__.py"))]
    return [p.relative_to(root).as_posix() for p in [*tops, *below]]


def missing(document: str, root: Path) -> list[str]:
    """Paths that the document names and that do not exist; <...> stands for any name."""
    named = {m.rstrip("./") for m in PATH.findall(document)}
    return sorted(path for path in named if not (root / path).exists())


@pytest.mark.parametrize("room", rooms(ROOT))
def test_every_room_is_named(room: str) -> None:
    system = room.split("/")[1:] if room.startswith("specs/") else None
    assert room in text() or (system and f"`{system[0]}`" in text())


def test_every_path_exists() -> None:
    assert missing(text(), ROOT) == []


def test_every_link_exists() -> None:
    links = [target for target in re.findall(r"\]\(([^)#]+)\)", text()) if "://" not in target]
    assert len(links) > 20
    assert [target for target in links if not (ROOT / target).exists()] == []


def test_a_path_that_is_gone_is_found(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/a.py").touch()
    assert missing("see model/a.py and model/b.py. Not specs/<system>/x.py", tmp_path) == ["model/b.py", "specs"]
