"""LLVM text that several functions share: the words of a packed state, and a loop over packed states."""

from __future__ import annotations

from collections.abc import Sequence


def load_words(words: int, base: str, name: str) -> list[str]:
    """``%name0 %name1 ...`` from the words at the pointer ``base``."""
    lines = []
    for k in range(words):
        lines += [f"%{name}{k}.p = getelementptr i64, ptr {base}, i64 {k}", f"%{name}{k} = load i64, ptr %{name}{k}.p"]
    return lines


def each_state(name: str, words: int, body: Sequence[str], enter: Sequence[str] = (), leave: Sequence[str] = ()) -> str:
    """The function ``name(states, count, out)``: ``body`` for each of ``count`` packed states, ``%i`` its number and
    ``%w0 %w1 ...`` its words; ``enter`` before them and ``leave`` after. The body may be of several blocks."""
    return "\n".join(
        [
            f"define void @{name}(ptr noalias %states, i64 %count, ptr noalias %out) {{",
            "entry:",
            *enter,
            "br label %head",
            "head:",
            "%i = phi i64 [ 0, %entry ], [ %i.next, %tail ]",
            "%more = icmp ult i64 %i, %count",
            "br i1 %more, label %load, label %exit",
            "load:",
            f"%offset = mul i64 %i, {words}",
            "%row = getelementptr i64, ptr %states, i64 %offset",
            *load_words(words, "%row", "w"),
            *body,
            "br label %tail",
            "tail:",
            "%i.next = add i64 %i, 1",
            "br label %head",
            "exit:",
            *leave,
            "ret void",
            "}",
        ]
    )


__all__ = ["each_state", "load_words"]
