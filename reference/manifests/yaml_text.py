"""YAML, read safely and with the position of every key and value.

Built on libyaml's event stream instead of a loader, so that nothing recurses, nothing is constructed by tag, a repeated
key is an error, and aliases cannot grow a small file into a large one. Plain scalars are typed as in YAML 1.2's core
schema, numbers exactly: int or Decimal. Merge keys (``<<``) are honoured, as kubectl does.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import yaml

from reference.manifests.position import NO_CHILDREN, NO_KEYS, Position, Spot, SyntaxProblem, position_of

MAX_DEPTH: Final = 200
MAX_GROWTH: Final = 10  # values after expanding aliases, per value written ...
FREE_VALUES: Final = 100_000  # ... beyond this many

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,99})")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,9})?")
_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_MERGE: Final = "<<"
_TAG: Final = "tag:yaml.org,2002:"


@dataclass(slots=True)
class _Built:
    """A finished value, where it stands, and how many values it holds with aliases expanded."""

    value: object
    spot: Spot
    size: int = 1


@dataclass(slots=True)
class _Open:
    """A mapping or sequence under construction."""

    built: _Built
    anchor: str | None
    key: str | None = None
    key_spot: Spot | None = None
    merges: list[_Built] = field(default_factory=list)


def parse_yaml(text: str) -> list[tuple[object, Spot]]:
    """The documents of ``text``: mappings as dict with str keys, sequences as list, scalars as None, bool, int,
    Decimal or str. Empty documents are left out. Raises SyntaxProblem."""
    builder = _Builder(text)
    take = builder.takers
    collecting = gc.isenabled()
    gc.disable()  # millions of small objects, none of them garbage: collecting would double the time
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if (handler := take.get(type(event))) is not None:
                handler(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.problem, error.context) if part)
        at = Position(mark.line + 1, mark.column + 1) if mark else None
        raise SyntaxProblem(f"bad YAML ({problem})", "well-formed YAML", at) from None
    except yaml.reader.ReaderError as error:
        at = position_of(text, error.position)
        raise SyntaxProblem(f"bad YAML ({error.reason})", "printable characters", at) from None
    finally:
        if collecting:
            gc.enable()
    return builder.documents


class _Builder:
    """Turns events into values: give each, in order, to the taker of its type."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self.documents: list[tuple[object, Spot]] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Built | None] = {}
        self._written = 0
        self._expanded = 0

        self.takers: Final[dict[type, Callable[[Any], None]]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._open_mapping,
            yaml.SequenceStartEvent: self._open_sequence,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._start,
        }

    def _start(self, _: Any) -> None:
        self._anchors = {}

    def _close(self, _: Any) -> None:
        frame = self._stack.pop()
        for merged in frame.merges:
            _merge(frame.built, merged)
        self._finish(frame.built, frame.anchor)

    def _open_mapping(self, event: Any) -> None:
        self._open({}, "map", event)

    def _open_sequence(self, event: Any) -> None:
        self._open([], "seq", event)

    def _open(self, value: object, kind: str, event: Any) -> None:
        self._written += 1
        self._expanded += 1
        mark = event.start_mark
        spot = Spot(mark.line + 1, mark.column + 1, {}, {})
        if event.tag not in (None, "!", _TAG + kind):
            raise SyntaxProblem(f"the tag {event.tag!r}", "plain YAML without tags", spot.position)
        if len(self._stack) >= MAX_DEPTH:
            raise SyntaxProblem(f"more than {MAX_DEPTH} nested levels", "a manifest", spot.position)
        if event.anchor:
            self._anchors[event.anchor] = None  # an alias to it from inside would be endless
        frame = _Open(_Built(value, spot), event.anchor)
        if self._wants_key():
            raise SyntaxProblem("a mapping or list as a key", "text as a key", spot.position)
        self._stack.append(frame)

    def _scalar(self, event: Any) -> None:
        self._written += 1
        self._expanded += 1
        spot = _spot(event)
        text: str = event.value
        if event.style == "|":
            spot.indent = self._indent(event)
        tag = event.tag
        if tag in (None, "!"):
            value = _typed(text) if tag is None and event.implicit[0] else text
        elif tag == _TAG + "str":
            value = text
        else:
            value = _typed(text)
            names = {type(None): "null", bool: "bool", int: "int", Decimal: "float"}
            if tag != _TAG + names.get(type(value), "str"):
                raise SyntaxProblem(f"the tag {tag!r} on {text!r}", "plain YAML without tags", spot.position)
        if not isinstance(value, str) or (text == _MERGE and tag is None and event.implicit[0]):
            spot.text = text  # a quoted "<<" is an ordinary key
        self._finish(_Built(value, spot), event.anchor)

    def _wants_key(self) -> bool:
        """Whether the next value is the key of a mapping."""
        return bool(self._stack) and isinstance(self._stack[-1].built.value, dict) and self._stack[-1].key is None

    def _indent(self, event: Any) -> int:
        """By how much the file indents a literal block scalar; 0 where that cannot be seen."""
        first = event.start_mark.line + 1
        for number, content in enumerate(event.value.splitlines(), first):
            if content.strip() and number < len(self._lines):
                return max(self._lines[number].find(content), 0)
        return 0

    def _alias(self, event: Any) -> None:
        at = _spot(event).position
        if event.anchor not in self._anchors:
            raise SyntaxProblem(f"the alias *{event.anchor} of nothing", f"an anchor &{event.anchor} before it", at)
        built = self._anchors[event.anchor]
        if built is None:
            raise SyntaxProblem(f"the alias *{event.anchor} inside what it stands for", "no cycle", at)
        if isinstance(built.value, (dict, list)) and self._wants_key():
            raise SyntaxProblem("a mapping or list as a key", "text as a key", at)
        self._written += 1
        self._expanded += built.size
        if self._expanded > FREE_VALUES + MAX_GROWTH * self._written:
            raise SyntaxProblem("aliases that expand to far more than is written", "a manifest", at)
        self._finish(built, None)

    def _finish(self, built: _Built, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = built
        if not self._stack:
            if built.value is not None:
                self.documents.append((built.value, built.spot))
            return
        frame = self._stack[-1]
        parent, container = frame.built, frame.built.value
        if isinstance(container, list):
            parent.spot.children[len(container)] = built.spot
            container.append(built.value)
        elif isinstance(container, dict):
            if frame.key is None:
                frame.key = built.value if isinstance(built.value, str) else built.spot.text or ""
                frame.key_spot = built.spot
                return
            key, key_spot, frame.key, frame.key_spot = frame.key, frame.key_spot, None, None
            assert key_spot is not None
            if key_spot.text == _MERGE:
                frame.merges += _merge_sources(built)
            elif key in container:
                first = parent.spot.keys[key].line
                raise SyntaxProblem(f"the key {key!r} twice", f"it once (first in line {first})", key_spot.position)
            else:
                container[key] = built.value
                parent.spot.children[key] = built.spot
                parent.spot.keys[key] = key_spot
        parent.size += built.size


def _spot(event: Any) -> Spot:
    mark = event.start_mark
    return Spot(mark.line + 1, mark.column + 1, NO_KEYS, NO_CHILDREN)


def _merge_sources(built: _Built) -> list[_Built]:
    values = built.value if isinstance(built.value, list) else [built.value]
    spots = list(built.spot.children.values()) if isinstance(built.value, list) else [built.spot]
    for value in values:
        if not isinstance(value, dict):
            raise SyntaxProblem("a merge key << with something else", "a mapping to merge", built.spot.position)
    return [_Built(value, spot) for value, spot in zip(values, spots, strict=True)]


def _merge(target: _Built, source: _Built) -> None:
    assert isinstance(target.value, dict)
    assert isinstance(source.value, dict)
    for key, value in source.value.items():
        if key not in target.value:
            target.value[key] = value
            target.spot.children[key] = source.spot.children[key]
            target.spot.keys[key] = source.spot.keys[key]


def _typed(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    # plain digits with a leading zero are octal to some readers and decimal to others: leave them as text
    if _FLOAT.fullmatch(text) and not re.fullmatch(r"[-+]?0[0-9]+", text):
        return Decimal(text)
    return text
