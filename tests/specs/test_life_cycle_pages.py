"""The pages of life cycles say what the specs do now."""

from __future__ import annotations

from pathlib import Path

import pytest
from life_cycle_pages import SUBJECTS, Subject, page, written

import specs

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_page_is_what_the_spec_does(subject: Subject) -> None:
    """Written anew by ``python tests/specs/life_cycle_pages.py``."""
    assert page(subject).read_text(encoding="utf-8") == written(subject)


def test_there_is_no_other_page() -> None:
    pages = set(Path(specs.__path__[0]).rglob("*.life_cycle.md"))
    assert pages == {page(subject) for subject in SUBJECTS}
