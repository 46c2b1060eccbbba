"""The pages that say what differs by edition say what the specs answer now."""

from __future__ import annotations

from pathlib import Path

import pytest
from edition_pages import SCOPES, page, written

import specs
from specs.editions import editions
from specs.registry import SHIPPED, spec_function

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, marks=pytest.mark.slow) if spec in ("yunikorn", "ray", "volcano") else spec for spec in SCOPES],
)
def test_the_page_is_what_the_editions_answer(spec: str) -> None:
    """Written anew by ``python tests/specs/edition_pages.py``."""
    assert page(spec).read_text(encoding="utf-8") == written(spec)


def test_every_spec_with_editions_has_a_page_and_no_other() -> None:
    assert list(SCOPES) == [spec for spec in SHIPPED if editions(spec_function(spec))]
    assert set(Path(specs.__path__[0]).rglob("*editions.md")) == {page(spec) for spec in SCOPES}
