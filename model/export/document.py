"""A spec's life cycles as a page of Markdown: of each entity the picture and the table of its transitions, then what
the actions and the properties are, in the words of their docstrings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from model.export.graph import Edge, Merged
from model.export.pictures import edges, label, mermaid
from model.language import Machine


def document(machine: Machine, heading: str, about: str, graphs: Sequence[Merged], loops: bool = False) -> str:
    """The page; ``heading`` names the spec and its parameters, ``about`` says in a sentence what it is."""
    size = f"{graphs[0].states:,} states, {graphs[0].steps:,} steps"
    lines = [f"# {heading}", "", f"{about.rstrip('.')}. Explored: {size}."]
    for graph in graphs:
        lines += ["", f"## {graph.title}", "", "```mermaid", mermaid([graph], loops, titled=False).rstrip(), "```", ""]
        lines += _table(("from", "to", "by"), ([*_ends(graph, e), ", ".join(e.actions)] for e in edges(graph, loops)))
    actions = ([f"`{a.name}`", _words(a.doc)] for a in machine.actions)
    properties = ([f"`{p.name}`", p.kind.value, _words(p.doc)] for p in machine.properties)
    lines += ["", "## Actions", "", *_table(("action", "what happens"), actions)]
    lines += ["", "## Properties", "", *_table(("property", "kind", "what must hold"), properties)]
    return "\n".join(lines) + "\n"


def _ends(graph: Merged, edge: Edge) -> list[str]:
    ends = (label(graph, graph.nodes[i]) for i in (edge.source, edge.target))
    return [end.replace("\n", ", ").translate(_ESCAPED) for end in ends]


_ESCAPED = {ord(c): f"&#{ord(c)};" for c in "<>`"}


def _words(doc: str) -> str:
    return " ".join(doc.split())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in [head, ["---"] * len(head), *rows]:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


__all__ = ["document"]
