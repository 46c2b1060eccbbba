"""The READMEs of the shipped specs say what the specs are made of, and every property says where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest
from edition_pages import CITED
from readme_tables import BY_HAND, SECTION, machines, readmes, written

from specs.registry import SHIPPED

READMES = [(spec, file, names) for spec in SHIPPED for file, names in readmes(spec)]


@pytest.mark.parametrize(("spec", "file", "names"), [each for each in READMES if each[0] not in BY_HAND])
def test_the_tables_are_those_of_the_docstrings(spec: str, file: Path, names: tuple[str, ...]) -> None:
    """Written anew by ``python tests/specs/readme_tables.py``."""
    found = SECTION.search(file.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == written(spec, file, names)


@pytest.mark.parametrize(("spec", "file", "names"), READMES)
def test_every_property_names_a_rule_or_a_report(spec: str, file: Path, names: tuple[str, ...]) -> None:
    without = {p.name for machine in machines(spec, file, names) for p in machine.properties if not CITED.search(p.doc)}
    assert not without
