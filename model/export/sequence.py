"""A trace as a Mermaid sequence diagram: who acts on whom, with what it changed noted below.

The participants are the elements that the actions of the trace name, such as applications and nodes. A step is a
message from the first element that its arguments name to the second, or to itself.
"""

from __future__ import annotations

import re

from model.language import Action, Machine
from model.language.types import SortType, domain_type
from model.trace import Step, Trace, Value, show, summary

_SPECIAL = re.compile(r"[#;\"<>]|\bend\b", re.IGNORECASE)


def sequence_diagram(machine: Machine, trace: Trace, title: str = "") -> str:
    """The text of a Mermaid ``sequenceDiagram``. A run that goes on forever has its repeated part in a ``loop``."""
    return "\n".join(_Diagram(machine, trace).lines(title)) + "\n"


class _Diagram:
    def __init__(self, machine: Machine, trace: Trace) -> None:
        self._trace = trace
        self._actions = {a.name: a for a in machine.actions}
        named = {name for step in trace.steps for name in self._elements(step)}
        every = [(s, name) for s, declared in machine.sorts.items() for name in declared.names]
        shown = [(f"{s.__name__} {name}", (s.__name__, name)) for s, name in every if (s.__name__, name) in named]
        # Ids of our own: names may hold what Mermaid takes for syntax.
        self._ids = {element: f"p{i}" for i, (_, element) in enumerate(shown)}
        self._labels = [label for label, _ in shown]
        if not shown:
            self._labels = [machine.name]

    @property
    def _everybody(self) -> str:
        last = len(self._labels) - 1
        return f"p0,p{last}" if last else "p0"

    def lines(self, title: str) -> list[str]:
        """The whole text, line by line."""
        trace = self._trace
        lines = ["---", f"title: {_quoted(title)}", "---"] if title else []
        lines += ["sequenceDiagram", "  autonumber"]
        lines += [f"  participant p{i} as {_text(label)}" for i, label in enumerate(self._labels)]
        lines.append(f"  Note over {self._everybody}: {_breaks(summary(trace.initial))}")
        indent = "  "
        for number, (step, changed) in enumerate(zip(trace.steps, trace.changes(), strict=True)):
            if number == trace.loop_start:
                lines.append("  loop again and again, forever")
                indent = "    "
            lines += [indent + line for line in self._step(step, changed)]
        if trace.loop_start is not None and trace.loop_start < len(trace):
            lines.append("  end")
        elif trace.loop_start is not None:
            lines.append(f"  Note over {self._everybody}: and stays so forever")
        return lines

    def _step(self, step: Step, changed: dict[str, tuple[Value, Value]]) -> list[str]:
        ids = list(dict.fromkeys(self._ids[e] for e in self._elements(step)))
        from_, to = (ids[0], ids[min(1, len(ids) - 1)]) if ids else ("p0", "p0")
        over = ",".join(sorted((from_, to), key=lambda p: int(p[1:]))) if from_ != to else from_
        words = [f"{cell}: {show(old)} → {show(new)}" for cell, (old, new) in changed.items()]
        if step.fault is not None:
            words.append(f"FAULT: {step.fault}")
        arrow = "->>" if step.fault is None else "-x"
        return [
            f"{from_}{arrow}{to}: {_text(self._call(step))}",
            f"Note over {over}: {_breaks(words or ['nothing changes'])}",
        ]

    def _call(self, step: Step) -> str:
        """The action, with those arguments that the arrow does not show."""
        shown = {name for name, _ in self._named(step)[:2]}
        rest = [f"{name} = {value}" for name, value in step.arguments if name not in shown]
        return f"{step.action}({', '.join(rest)})" if rest else step.action

    def _named(self, step: Step) -> list[tuple[str, tuple[str, str]]]:
        """The arguments that are elements: parameter, and the element as its sort's name and its own."""
        action: Action = self._actions[step.action]
        found = []
        for symbol, (name, value) in zip(action.symbols, step.arguments, strict=True):
            kind = domain_type(symbol.domain)
            if isinstance(kind, SortType):
                found.append((name, (kind.sort.__name__, value)))
        return found

    def _elements(self, step: Step) -> list[tuple[str, str]]:
        return [element for _, element in self._named(step)]


def _text(words: str) -> str:
    """``words`` without what Mermaid would take for syntax: written as character codes."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0][0])};{found[0][1:]}", " ".join(words.split()))


def _breaks(words: list[str]) -> str:
    return "<br/>".join(map(_text, words))


def _quoted(title: str) -> str:
    return '"' + " ".join(title.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'


__all__ = ["sequence_diagram"]
