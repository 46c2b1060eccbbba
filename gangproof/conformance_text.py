"""What ``gangproof conform`` says on a terminal."""

from __future__ import annotations

import textwrap

from gangproof.output import WIDTH
from model.conform import Conformance, Divergence, Ending
from model.language import Machine

_MOST_EXPECTED = 12


def conformance_text(machine: Machine, found: Conformance, *, show_run: bool) -> str:
    """The verdict, what the log breaks, where it diverges and what was expected there; the run, if it is asked for or
    if there is a divergence to explain."""
    parts = [_verdict(machine, found)]
    if found.names and found.divergence is None:
        parts.append(_wrapped("names", ", ".join(f"{name} = {element}" for name, element in found.names.items())))
    parts += [
        f"breaks {b.property}: every run that explains the log has violated it by {b.where}, {b.record}"
        for b in found.broken
    ]
    if found.divergence is not None:
        parts.append(_divergence(machine, found.divergence))
        parts.append(f"a run that explains all before it:\n\n{found.divergence.run.table(WIDTH)}")
    elif show_run and found.run is not None:
        parts.append(f"a run that explains it:\n\n{found.run.table(WIDTH)}")
    return "\n\n".join(parts)


def _verdict(machine: Machine, found: Conformance) -> str:
    records = "1 record" if found.records == 1 else f"{found.records:,} records"
    states = "1 state" if found.candidates == 1 else f"{found.candidates:,} states"
    match found.ending:
        case Ending.CONFORMS:
            return f"CONFORMS to {machine.name}: {records}; {machine.name} may be in {states} after them"
        case Ending.VACUOUS:
            return f"VACUOUS: of {records} none could have been refused by {machine.name}"
        case Ending.UNKNOWN:
            return f"UNKNOWN: {found.budget}, after {found.matched:,} of {records}"
    assert found.divergence is not None
    where = f"{found.divergence.where}, record {found.divergence.number:,} of {found.records:,}"
    return f"DIVERGES from {machine.name} at {where}: {found.divergence.record}"


def _divergence(machine: Machine, d: Divergence) -> str:
    from gangproof.explain_text import explanation_text
    from model.explain.guards import explain_call

    states = "1 state" if d.states == 1 else f"{d.states:,} states"
    lines = [f"no run explains it; {machine.name} may be in {states} before it"]
    if d.tied > 1:
        lines.append(f"{d.tied} records have its time: they were tried in every order")
    if d.fault is not None:
        lines.append(f"a step that fits is a fault of the spec: {d.fault}")
    for cell, values in d.seen.items():
        lines.append(f"{cell} would be {' or '.join(values)}")
    some = ", ".join(d.expected[:_MOST_EXPECTED])
    more = len(d.expected) - _MOST_EXPECTED
    lines.append(_wrapped("expected", (some or "nothing") + (f" and {more} more" if more > 0 else "")))
    text = "\n".join(lines)
    if d.nearest is not None and not d.seen:
        call, state = d.nearest
        told = explanation_text(machine, None, None, explain_call(machine, call, state), "in one of these states")
        text += f"\n\n{told}"
    return text


def _wrapped(title: str, text: str) -> str:
    return textwrap.fill(f"{title}: {text}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
