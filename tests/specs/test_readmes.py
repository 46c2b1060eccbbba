"""The READMEs of the shipped specs say what the specs are made of, and every property says where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest
from edition_pages import CITED
from readme_tables import BY_HAND, SECTION, documented, readmes, written

from specs.registry import SHIPPED

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

READMES = [(spec, file, names) for spec in SHIPPED for file, names in readmes(spec)]


LARGE = ("yunikorn", "ray", "volcano", "volcano_reclaim", "kubernetes", "predicate_cache")
"""Specs of which many machines are built; slow tests do that."""


@pytest.mark.parametrize(
    ("spec", "file", "names"),
    [pytest.param(*each, marks=pytest.mark.slow) if each[0] in LARGE else each for each in READMES],
)
def test_the_tables_are_those_of_the_docstrings(spec: str, file: Path, names: tuple[str, ...]) -> None:
    """Written anew by ``python tests/specs/readme_tables.py``. Every property names a rule or a report."""
    actions, properties = documented(spec, file, names)
    assert [name for name, (_, doc) in properties.items() if not CITED.search(doc)] == []
    if spec not in BY_HAND:
        found = SECTION.search(file.read_text(encoding="utf-8"))
        assert found is not None
        assert found[0] == written(file, actions, properties)
