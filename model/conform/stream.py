"""JSON values one after the other, as streams and watches write them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from model.errors import FileError


def values(text: str, name: str) -> Iterator[object]:
    """The values in ``text``; ``name`` is what messages call the file. FileError, with the line, where one is none."""
    decoder, at = json.JSONDecoder(), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except RecursionError:
            raise FileError(f"{name}: line {_line(text, at)}: its JSON is nested too deeply") from None
        except json.JSONDecodeError as error:
            raise FileError(f"{name}: line {error.lineno}: not JSON: {error.msg} at column {error.colno}") from None
        yield value


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


__all__ = ["values"]
