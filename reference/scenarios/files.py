"""Reads a file of scenarios and checks what all systems have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reference.manifests.document import Field, json_field
from reference.manifests.files import read_text
from reference.manifests.queue_parts import only_keys

YUNIKORN: Final = "yunikorn"
"""The system of a file that is a list alone."""

OUTCOMES: Final = frozenset({"want", "accepted", "released", "confirmed", "sizes", "marked", "refused"})
"""Members by which a step that is no ``expect`` says what has to come of it."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario of a file: ``id``, where its facts come from, and the whole of it as its system reads it."""

    system: str
    id: str
    upstream: str
    edition: str | None
    field: Field

    @property
    def content(self) -> Mapping[str, object]:
        """The scenario's own members, with the file's ``edition`` where it has none."""
        own = self.field.mapping()
        return own if self.edition is None else {**own, "edition": self.edition}


def load(path: Path | str, systems: tuple[str, ...]) -> list[Scenario]:
    """The scenarios of one file, in its order, for the ``systems`` that there are.

    Raises ManifestError (an InputError) with file, line, path, what was found and what was expected.
    """
    file = Path(path)
    root = json_field(read_text(file), str(path))
    system, edition, listed = YUNIKORN, None, root
    if isinstance(root.value, dict):
        only_keys(root, "system", "edition", "upstream", "scenarios")
        named = root.need("system", f"one of {', '.join(systems)}")
        system = named.string()
        if system not in systems:
            raise named.error(f"one of {', '.join(systems)}")
        edition = root.optional("edition", Field.name, None)
        root.optional("upstream", Field.name, None)
        listed = root.need("scenarios", "a list of scenarios")
    elements = listed.elements("a list of scenarios, or an object with 'system' and 'scenarios'")
    if not elements:
        raise listed.error("at least one scenario")
    found: dict[str, Scenario] = {}
    for element in elements:
        scenario = _scenario(element, system, edition)
        if scenario.id in found:
            raise element.need("id", "a name").error(f"an id of its own, not that of {found[scenario.id].field.where}")
        found[scenario.id] = scenario
    return list(found.values())


def _scenario(field: Field, system: str, edition: str | None) -> Scenario:
    steps = field.need("steps", "a list of steps")
    if not steps.elements("a list of steps"):
        raise steps.error("at least one step")
    expects = False
    for step in steps.elements():
        op = step.need("op", "what happens in this step").name()
        expects = expects or op == "expect" or not OUTCOMES.isdisjoint(step.mapping())
    if not expects:
        raise steps.error("a step that says what has to come of it, such as 'expect': else nothing can fail", "none")
    return Scenario(
        system,
        field.need("id", "a name").name(),
        field.need("upstream", "which test of which project says so").name(),
        field.optional("edition", Field.name, edition),
        field,
    )
