"""Merged state graphs as text for Graphviz (DOT) and Mermaid (``stateDiagram-v2``).

Steps that stay within a node are left out unless they are asked for: in a life cycle they are what all others do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from model.export.graph import Edge, Merged, Node
from model.trace import show

_SPECIAL = re.compile(r"[#;\"]")


def dot(name: str, graphs: Sequence[Merged], loops: bool = False) -> str:
    """A ``digraph``, each graph in a cluster of its own if there are several. Ends have a double border."""
    lines = [
        f"digraph {_quoted(name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="Helvetica"];',
    ]
    lines.append('  edge [fontname="Helvetica", fontsize=10];')
    for number, graph in enumerate(graphs):
        indent = "  "
        if len(graphs) > 1:
            lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(graph.title)};"]
            indent = "    "
        else:
            lines.append(f"  label={_quoted(graph.title)};")
        lines += [indent + line for line in _dot_lines(graph, f"g{number}", loops)]
        if len(graphs) > 1:
            lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_lines(graph: Merged, prefix: str, loops: bool) -> list[str]:
    lines = []
    for i, node in enumerate(graph.nodes):
        border = ", peripheries=2" if node.end else ""
        size = f"{node.states:,} {'state' if node.states == 1 else 'states'}"
        about = f", tooltip={_quoted(size)}"
        lines.append(f"{prefix}n{i} [label={_quoted(label(graph, node), newline=True)}{border}{about}];")
    for i, node in enumerate(graph.nodes):
        if node.initial:
            lines.append(f'{prefix}start{i} [shape=point, label=""];')
            lines.append(f"{prefix}start{i} -> {prefix}n{i};")
    lines += [
        f"{prefix}n{e.source} -> {prefix}n{e.target} [label={_quoted(chr(10).join(e.actions), newline=True)}];"
        for e in edges(graph, loops)
    ]
    return lines


def mermaid(graphs: Sequence[Merged], loops: bool = False, titled: bool = True) -> str:
    """A ``stateDiagram-v2``, each graph in a composite state of its own if there are several."""
    title = ["---", f"title: {json.dumps(graphs[0].title, ensure_ascii=False)}", "---"]
    lines = [*(title if titled and len(graphs) == 1 else []), "stateDiagram-v2", "  direction LR"]
    for number, graph in enumerate(graphs):
        indent = "  "
        if len(graphs) > 1:
            lines += [f'  state "{_text(graph.title)}" as g{number} {{', "    direction LR"]
            indent = "    "
        lines += [indent + line for line in _mermaid_lines(graph, f"g{number}", loops)]
        if len(graphs) > 1:
            lines.append("  }")
    return "\n".join(lines) + "\n"


def _mermaid_lines(graph: Merged, prefix: str, loops: bool) -> list[str]:
    labels = [_text(label(graph, node)).replace("\n", "<br/>") for node in graph.nodes]
    lines = [f'state "{label}" as {prefix}n{i}' for i, label in enumerate(labels)]
    lines += [f"[*] --> {prefix}n{i}" for i, node in enumerate(graph.nodes) if node.initial]
    lines += [
        f"{prefix}n{e.source} --> {prefix}n{e.target} : {', '.join(map(_text, e.actions))}" for e in edges(graph, loops)
    ]
    return lines + [f"{prefix}n{i} --> [*]" for i, node in enumerate(graph.nodes) if node.end]


def edges(graph: Merged, loops: bool) -> list[Edge]:
    """Those that are shown."""
    return [e for e in graph.edges if loops or e.source != e.target]


def label(graph: Merged, node: Node) -> str:
    """The value, or with several expressions each with its value on a line of its own."""
    values = list(map(show, node.values))
    if len(values) == 1:
        return values[0]
    return "\n".join(f"{text} = {value}" for text, value in zip(graph.projection, values, strict=True))


def _quoted(text: str, newline: bool = False) -> str:
    """A string of DOT."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped.replace(chr(10), chr(92) + "n" if newline else " ")}"'


def _text(words: str) -> str:
    """``words`` without what Mermaid would take for syntax: written as character codes."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", words)


__all__ = ["dot", "edges", "label", "mermaid"]
