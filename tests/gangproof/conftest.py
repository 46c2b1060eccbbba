"""A spec as a user writes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import TOY


@pytest.fixture
def toy(tmp_path: Path) -> str:
    (tmp_path / "my_spec.py").write_text(TOY)
    return f"{tmp_path / 'my_spec.py'}:toy"
