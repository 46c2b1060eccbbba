"""What an exploration did not see, and what mutants break, as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from gangproof.output import paragraph, table
from model.coverage import Blocked, Conjunct, Taken, Unseen
from model.vacuity import Vacuity

_UNCHANGED_SHOWN = 10
_VARIABLES_SHOWN = 10
_VALUES_SHOWN = 10


def unseen_text(unseen: Unseen) -> list[str]:
    """Paragraphs and tables, each with an empty line before it; none where everything was seen."""
    parts: list[str] = []
    for blocked in unseen.blocked:
        parts += ["", *_blocked(blocked)]
    never = never_taken(unseen.values)
    if never:
        parts += ["", paragraph(f"Values never taken: {never}.", indent="  ")]
    return parts


def never_taken(values: Sequence[Taken]) -> str:
    """``held = 3, 5..7; phase = LOST``, only the first of many; empty where every value was seen."""
    never = [taken for taken in values if taken.never]
    words = [f"{taken.variable} = {', '.join(_some(taken.never, _VALUES_SHOWN))}" for taken in never[:_VARIABLES_SHOWN]]
    more = len(never) - _VARIABLES_SHOWN
    words += [f"and of {more:,} more variable{'' if more == 1 else 's'}, see --json"] if more > 0 else []
    return "; ".join(words)


def _some(words: Sequence[str], most: int) -> list[str]:
    more = len(words) - most
    return [*words[:most], f"and {more:,} more (see --json)"] if more > 0 else list(words)


def _blocked(blocked: Blocked) -> list[str]:
    arguments = "argument" if blocked.instances == 1 else "combinations of arguments"
    of = "" if blocked.looked_at == blocked.instances else f" (the first {blocked.looked_at:,} looked at)"
    head = (
        f"{blocked.action} never fired, in {blocked.cases:,} cases: states times {blocked.instances:,} {arguments}{of}."
    )
    if blocked.instances == 1:
        head = f"{blocked.action} never fired, in {blocked.cases:,} state{'' if blocked.cases == 1 else 's'}."
    rows = [(f"{c.false:,}", f"{c.alone:,}", _condition(c)) for c in blocked.conjuncts]
    parts = [paragraph(head, indent="  "), table(["false", "only it", "condition"], rows)]
    among = "" if blocked.looked_at == blocked.instances else f" in the first {blocked.looked_at:,} {arguments}"
    for chosen in blocked.never_together[:3]:
        words = " and ".join(blocked.conjuncts[n].condition for n in chosen)
        how = "Never true" if len(chosen) == 1 else "Never together"
        parts.append(paragraph(f"{how}{among}: {words}.", indent="  "))
    nearest = max(blocked.conjuncts, key=lambda c: c.nearest_states, default=None)
    if nearest is not None and nearest.nearest:
        call = f"{blocked.action}({', '.join(value for _, value in nearest.nearest)})"
        parts.append(paragraph(f"Nearest to firing: {call}, where only {nearest.condition} is missing.", indent="  "))
    return parts


def _condition(conjunct: Conjunct) -> str:
    return f"{conjunct.condition} ({conjunct.at})"


def vacuity_text(vacuity: Vacuity) -> list[str]:
    """Which mutant breaks which property, those that none breaks, and the mutants that change nothing."""
    head = f"{vacuity.tried:,} of {vacuity.mutants:,} mutants tried ({vacuity.seconds:.2f} s)."
    parts = ["", paragraph(head, indent="  ")]
    if vacuity.broken:
        rows = [(b.property, b.mutant) for b in vacuity.broken]
        parts += ["", table(["property", "broken by"], rows)]
    for title, names in (
        ("No mutant of any action breaks", vacuity.unbroken),
        (f"Not broken yet ({vacuity.budget})", vacuity.undecided),
        ("Not asked, for they do not hold", vacuity.not_asked),
    ):
        if names:
            parts += ["", paragraph(f"{title}: {', '.join(names)}.", indent="  ")]
    if vacuity.unchanged:
        parts += ["", "Mutants with the same states and steps; what they change decides nothing:"]
        parts += [paragraph(f"- {what}", indent="  ") for what in vacuity.unchanged[:_UNCHANGED_SHOWN]]
        more = len(vacuity.unchanged) - _UNCHANGED_SHOWN
        parts += [f"- and {more:,} more, see --json"] if more > 0 else []
    return parts


__all__ = ["never_taken", "unseen_text", "vacuity_text"]
