"""JSON, read fast, with positions found only when a message needs one.

The standard library's parser does the reading (``kubectl get pods -A -o json`` of a large cluster is tens of
megabytes); ``JsonPositions`` scans the text again to a given path.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Final, NoReturn

from reference.manifests.position import Path, Position, SyntaxProblem, position_of

MAX_DEPTH: Final = 200
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class _RepeatedKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class _ConstantError(Exception):
    pass


def parse_json(text: str) -> object:
    """The value that ``text`` holds: dict, list, str, int, Decimal, bool or None. Raises SyntaxProblem."""
    expected = "well-formed JSON"
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        at = Position(error.lineno, error.colno)
        problem = error.msg[:1].lower() + error.msg[1:]
        raise SyntaxProblem(f"bad JSON ({problem})", expected, at) from None
    except _RepeatedKeyError as error:
        raise SyntaxProblem(f"the key {error.key!r} twice in one object", "it once", None) from None
    except _ConstantError as error:
        raise SyntaxProblem(f"the number {error}", expected, None) from None
    except RecursionError:
        raise SyntaxProblem("values nested too deeply", "a manifest", None) from None
    except ValueError:  # Python refuses to convert integers of thousands of digits
        raise SyntaxProblem("a number of thousands of digits", "a manifest", None) from None
    _refuse_depth(value)
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
        except UnicodeEncodeError:
            raise SyntaxProblem("half a surrogate pair (\\ud800-\\udfff)", "whole characters", None) from None
    return value


class JsonPositions:
    """Finds where values stand in one text; what one search has passed over, the next does not scan again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: dict[Path, list[int]] = {}

    def find(self, path: Path, of_key: bool = False) -> Position | None:
        """Where the value at ``path`` stands (or its key, with ``of_key``); None where the path leads nowhere."""
        at = key_at = _skip(self._text, 0)
        for depth, step in enumerate(path):
            found = self._member(at, step) if isinstance(step, str) else self._element(at, step, path[:depth])
            if found is None:
                return None
            key_at, at = found
        return position_of(self._text, key_at if of_key else at)

    def _member(self, at: int, name: str) -> tuple[int, int] | None:
        text = self._text
        if text[at] != "{":
            return None
        at = _skip(text, at + 1)
        while text[at] == '"':
            key_at = at
            key, end = _SKIPPER.raw_decode(text, at)
            at = _skip(text, _skip(text, end) + 1)
            if key == name:
                return key_at, at
            at = _skip(text, _SKIPPER.raw_decode(text, at)[1])
            at = _skip(text, at + 1) if text[at] == "," else at
        return None

    def _element(self, at: int, index: int, owner: Path) -> tuple[int, int] | None:
        text = self._text
        if text[at] != "[":
            return None
        starts = self._starts.setdefault(owner, [_skip(text, at + 1)])
        while len(starts) <= index:
            at = _skip(text, _SKIPPER.raw_decode(text, starts[-1])[1])
            if text[at] != ",":
                return None
            starts.append(_skip(text, at + 1))
        return starts[index], starts[index]


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _refuse_depth(value: object) -> None:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below.extend(v for v in each.values() if isinstance(v, (dict, list)))
            elif isinstance(each, list):
                below.extend(v for v in each if isinstance(v, (dict, list)))
        if not below:
            return
        level = below
    raise SyntaxProblem(f"more than {MAX_DEPTH} nested levels", "a manifest", None)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(key)
            seen.add(key)
    return result


def _no_constant(text: str) -> NoReturn:
    raise _ConstantError(text)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_float=Decimal, parse_constant=_no_constant)
_SKIPPER: Final = json.JSONDecoder()
