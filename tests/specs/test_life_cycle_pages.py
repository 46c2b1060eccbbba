"""The pages of life cycles say what the specs do now."""

from __future__ import annotations

import pytest
from life_cycle_pages import page, written

from specs.registry import SHIPPED


@pytest.mark.parametrize("spec", SHIPPED)
def test_the_page_is_what_the_spec_does(spec: str) -> None:
    """Written anew by ``python tests/specs/life_cycle_pages.py``."""
    assert page(spec).read_text(encoding="utf-8") == written(spec)
