"""Values that stand for several cells: a text for people, which knows its parts for formats that have a place for them.

A set has elements (or tuples of them), a queue its messages in order, a bag messages with how many there are of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

Plain: TypeAlias = int | bool | str
Message: TypeAlias = Mapping[str, Plain]
Element: TypeAlias = str | tuple[str, ...]


class Compound(str):
    """The text of such a value. Equal texts are equal values.

    ``besides`` is its end, if that says what no part of it does: only a spec that was edited gets to such values, and
    its states are still told apart. A copy, also in another process, is made of the parts: `str` would take them from
    the text.
    """

    besides: str = ""


class SetText(Compound):
    """``{app1, app2}``, ``{(app1, node2)}``."""

    elements: tuple[Element, ...]

    def __new__(cls, elements: Iterable[Element]) -> SetText:
        """The text of these."""
        some = tuple(elements)
        words = (e if isinstance(e, str) else f"({', '.join(e)})" for e in some)
        made = super().__new__(cls, "{" + ", ".join(words) + "}")
        made.elements = some
        return made

    def __reduce__(self) -> tuple[type[SetText], tuple[object]]:
        return SetText, (self.elements,)


class QueueText(Compound):
    """``[ASK(app1, 2), DONE(app1, 0)]``."""

    messages: tuple[Message, ...]

    def __new__(cls, messages: Iterable[Message], besides: str = "") -> QueueText:
        """The text of these, the first to come out first."""
        some = tuple(messages)
        made = super().__new__(cls, f"[{', '.join(map(message_text, some))}]{besides}")
        made.messages, made.besides = some, besides
        return made

    def __reduce__(self) -> tuple[type[QueueText], tuple[object, str]]:
        return QueueText, (self.messages, self.besides)


class BagText(Compound):
    """``{ASK(app1), DONE(app1) x2}``."""

    counts: tuple[tuple[Message, int], ...]

    def __new__(cls, counts: Iterable[tuple[Message, int]], besides: str = "") -> BagText:
        """The text of messages and how many there are of each, at least one."""
        some = tuple(counts)
        words = (message_text(m) + (f" x{n}" if n > 1 else "") for m, n in some)
        made = super().__new__(cls, "{" + ", ".join(words) + "}" + besides)
        made.counts, made.besides = some, besides
        return made

    def __reduce__(self) -> tuple[type[BagText], tuple[object, str]]:
        return BagText, (self.counts, self.besides)


def message_text(fields: Message) -> str:
    """``ASK(app1, 2)``: the first field, and the others in parentheses."""
    first, *rest = (str(v).lower() if isinstance(v, bool) else str(v) for v in fields.values())
    return f"{first}({', '.join(rest)})" if rest else first


def in_json(value: Plain | Compound) -> Plain | Sequence[object]:
    """``value`` with its parts, if it has any: a list of elements, of messages as objects, or of messages with their
    ``count``. With something besides its parts it is the text."""
    if isinstance(value, Compound) and value.besides:
        return str(value)
    match value:
        case SetText(elements=elements):
            return [e if isinstance(e, str) else list(e) for e in elements]
        case QueueText(messages=messages):
            return [dict(m) for m in messages]
        case BagText(counts=counts):
            return [{"message": dict(m), "count": n} for m, n in counts]
    return value


__all__ = ["BagText", "Compound", "Element", "Message", "Plain", "QueueText", "SetText", "in_json", "message_text"]
