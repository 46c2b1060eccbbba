"""Explanations as text for a terminal of 80 columns."""

from __future__ import annotations

import textwrap

from gangproof.output import WIDTH, paragraph
from model.explain.guards import Enabling, Part
from model.explain.reach import Reached
from model.language import Machine
from model.trace import show, summary
from model.verdict import Outcome


def explanation_text(
    machine: Machine, condition: str | None, reached: Reached | None, enabling: Enabling | None, place: str
) -> str:
    """The run to the state that was asked for, if one was; then the guard of the action, conjunct by conjunct."""
    parts: list[str] = []
    if reached is not None:
        parts.append(_wrapped(_headline(condition or "", reached), ""))
        if reached.trace is not None:
            parts += ["", reached.trace.table(WIDTH)]
            if reached.note is not None:
                parts += ["", paragraph(f"Of the shortest runs: {reached.note}.")]
    if enabling is not None:
        parts += [""] if parts else []
        parts += _guard(enabling, place)
    return "\n".join(parts)


def _headline(condition: str, reached: Reached) -> str:
    if reached.outcome is Outcome.UNKNOWN:
        return f"UNKNOWN: {condition}: {reached.how}."
    answer, rest = reached.how.split(maxsplit=1)
    return f"{answer.upper()} {rest}: {condition}"


def _guard(enabling: Enabling, place: str) -> list[str]:
    failing = [c for c in enabling.conjuncts if not c.holds]
    count = len(enabling.conjuncts)
    said = "is enabled" if enabling.enabled else "is NOT enabled"
    why = f": {len(failing)} of {count} {'conjuncts does' if len(failing) == 1 else 'conjuncts do'} not hold"
    if enabling.choices is not None:
        able, of = enabling.choices
        why += f"; of {of} values of its choices {able or 'none'} {'is' if able in (0, 1) else 'are'} enabled"
    lines = [
        _wrapped(f"{enabling.call} {said} {place}{'' if enabling.enabled and enabling.choices is None else why}.", "")
    ]
    lines.append(_wrapped(f"The state: {'; '.join(summary(enabling.state))}", "  "))
    for conjunct in enabling.conjuncts:
        mark = "holds  " if conjunct.holds else "FAILS  "
        lines += ["", _wrapped(mark + conjunct.part.text, " " * 9)]
        if not conjunct.holds:
            lines.append(f"       {conjunct.at}")
            lines += list(dict.fromkeys(_below(conjunct.part, 9)))
    if enabling.fault is not None:
        lines += ["", paragraph(f"The step is a fault: {enabling.fault}")]
    elif enabling.enabled:
        words = [f"{name}: {show(a)} -> {show(b)}" for name, (a, b) in enabling.effect.items()] or ["nothing"]
        lines += ["", "It changes", *(_wrapped(f"  {word}", "    ") for word in words)]
    return lines


def _below(part: Part, indent: int) -> list[str]:
    """What ``part`` comes from, line by line; of what is too long for a line only what that comes from in turn."""
    lines = [f"{' ' * indent}{part.compared} is {show(part.value)}"] if part.compared is not None else []
    for inside in part.parts:
        line = f"{' ' * indent}{inside.text} = {show(inside.value)}"
        if len(line) <= WIDTH:
            lines += [line, *_below(inside, indent + 2)]
        else:
            lines += _below(inside, indent)
    return lines + ([f"{' ' * indent}and {part.left_out} more"] if part.left_out else [])


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


__all__ = ["explanation_text"]
