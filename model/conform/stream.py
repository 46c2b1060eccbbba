"""JSON values one after the other, as streams and watches write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from model.errors import FileError

_MOST_DIGITS: Final = 4000
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""How JSON writes half of a character beyond the first 65,536."""


def whole_number(text: str) -> int:
    """The number; ValueError for one that is longer than Python reads."""
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(text):,} digits, expected at most {_MOST_DIGITS:,}")
    return int(text)


def no_half_characters(text: str) -> None:
    """ValueError where a piece of JSON has one half of a character without the other: no text that can be printed."""
    if _HALF.search(text):
        for word in re.findall(r'"(?:[^"\\]|\\.)*"', text):
            try:
                json.loads(word, strict=False).encode()
            except UnicodeEncodeError:
                raise ValueError(f"{word[:60]} has half of a character") from None


def values(text: str, name: str) -> Iterator[object]:
    """The values in ``text``; ``name`` is what messages call the file. FileError, with the line, where one is none."""
    decoder, at = json.JSONDecoder(parse_int=whole_number), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, at)
            no_half_characters(text[at:end])
        except RecursionError:
            raise FileError(f"{name}: line {_line(text, at)}: its JSON is nested too deeply") from None
        except json.JSONDecodeError as error:
            raise FileError(f"{name}: line {error.lineno}: not JSON: {error.msg} at column {error.colno}") from None
        except ValueError as error:
            raise FileError(f"{name}: line {_line(text, at)}: {error}") from None
        at = end
        yield value


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


__all__ = ["no_half_characters", "values", "whole_number"]
