"""The tables of actions and properties in the READMEs of the shipped specs, from the docstrings; as a script it writes
them anew.

They stand between two comments. A README's table is of all machines that it has figures of, in every edition.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from edition_pages import NAMES
from tables import rows

from model.language import Machine
from specs.editions import editions
from specs.loading import SpecLoadError, load_spec
from specs.registry import SHIPPED, spec_function

BEGIN: Final = "<!-- written by tests/specs/readme_tables.py -->"
END: Final = "<!-- end -->"
SECTION: Final = re.compile(re.escape(BEGIN) + r"\n.*?" + re.escape(END) + r"\n", re.DOTALL)


BY_HAND: Final = ("gang", "autoscaled_gang")
"""Their tables say more; tests of their own hold them."""


def readmes(spec: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The READMEs that tell of ``spec``, each with the editions that it tells of."""
    folder = Path(str(importlib.import_module(SHIPPED[spec]).__file__)).parent
    names = editions(spec_function(spec))
    own = [(folder / each / "README.md", (each,)) for each in names if (folder / each / "README.md").exists()]
    yield from own or [(folder / "README.md", names or ("",))]


def machines(spec: str, readme: Path, names: Iterable[str]) -> Iterator[Machine]:
    """The machines that the README has figures of, and those that have what no figure is of."""
    scopes = [row.split() if row != "(default)" else [] for row in rows(_figures(readme))]
    for edition in names:
        chosen = [f"edition={edition}"] if edition else []
        yield load_spec(spec, chosen)
        yield from (load_spec(spec, [*chosen, *more.split()]) for more in NAMES.get((spec, edition), ()))
        for scope in scopes:
            named = [each for each in scope if each.startswith("edition=")]
            if not named or named == chosen:
                # A README may have figures of two specs, or of one edition only; other tests hold them.
                with contextlib.suppress(SpecLoadError):
                    yield load_spec(spec, scope if named else [*chosen, *scope])


def _figures(readme: Path) -> str:
    """The README with the figures: that of the system, if this one has none."""
    text, above = readme.read_text(encoding="utf-8"), readme.parent.parent / "README.md"
    return above.read_text(encoding="utf-8") if not rows(text) and above.exists() else text


def written(spec: str, readme: Path, names: Iterable[str]) -> str:
    """The tables, with the comments around them."""
    actions: dict[str, str] = {}
    properties: dict[str, tuple[str, str]] = {}
    for machine in machines(spec, readme, names):
        for action in machine.actions:
            actions.setdefault(action.name, _first(action.doc))
        for p in machine.properties:
            properties.setdefault(p.name, (p.kind.value, _first(p.doc)))
    lines = ["## Actions", "", "| action | what happens |", "|---|---|"]
    lines += [f"| `{name}` | {doc} |" for name, doc in actions.items()]
    lines += ["", "## Properties", "", "| property | kind | what must hold |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {doc} |" for name, (kind, doc) in properties.items()]
    pages = sorted(readme.parent.glob("*.life_cycle.md")) or sorted(readme.parent.parent.glob("*.life_cycle.md"))
    links = ", ".join(f"[{page.name}]({_link(readme, page)})" for page in pages)
    lines += ["", f"Pictures and tables of the life cycles: {links}."]
    return "\n".join([BEGIN, *lines, END]) + "\n"


def _link(readme: Path, page: Path) -> str:
    return page.name if page.parent == readme.parent else f"../{page.name}"


def _first(doc: str) -> str:
    """The first paragraph on one line."""
    return " ".join(doc.partition("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    for each in SHIPPED:
        for file, those in () if each in BY_HAND else readmes(each):
            text = file.read_text(encoding="utf-8")
            assert SECTION.search(text), f"{file} has no place for its tables"
            table = written(each, file, those)
            file.write_text(SECTION.sub(lambda _, table=table: table, text), encoding="utf-8")
