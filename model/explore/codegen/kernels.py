"""The compiled functions that are the same for all machines but for the number of words of a state, put together."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from model.explore.codegen import context as c
from model.explore.codegen.rounds import BARRIER, records_text, run_text
from model.explore.codegen.routing import hash_text, route_text
from model.explore.codegen.table import BUCKET, guess_text, rehash_text, table_text

NOTE = "\n".join(
    [
        "define internal void @note(ptr %ctx, i64 %word, i64 %events, i64 %state, i64 %instance) noinline cold {",
        "entry:",
        *c.load("seen", c.SEEN, "ptr"),
        "%p = getelementptr i64, ptr %seen, i64 %word",
        "%old = load i64, ptr %p",
        "%not = xor i64 %old, -1",
        "%new = and i64 %events, %not",
        "%any = icmp ne i64 %new, 0",
        "br i1 %any, label %add, label %exit",
        "add:",
        "%both = or i64 %old, %new",
        "store i64 %both, ptr %p",
        *c.load("log", c.LOG, "ptr"),
        *c.load("count", c.LOG_COUNT),
        f"%first = mul i64 %count, {c.LOG_WORDS}",
        "%q0 = getelementptr i64, ptr %log, i64 %first",
        "%q1 = getelementptr i64, ptr %q0, i64 1",
        "%q2 = getelementptr i64, ptr %q0, i64 2",
        "%q3 = getelementptr i64, ptr %q0, i64 3",
        "store i64 %word, ptr %q0",
        "store i64 %new, ptr %q1",
        "store i64 %state, ptr %q2",
        "store i64 %instance, ptr %q3",
        "%count2 = add i64 %count, 1",
        "store i64 %count2, ptr %count.slot",
        "br label %exit",
        "exit:",
        "ret void",
        "}",
    ]
)

_WORD = ctypes.c_uint64
# Result and argument types, for Python.
FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "run": (_WORD,) + 6 * (_WORD,),
    "insert": (None, _WORD, _WORD, _WORD),
    "find": (None, _WORD, _WORD, _WORD),
    "rehash": (None, _WORD),
    "records": (None, _WORD, _WORD, _WORD),
}


def shared_text(words: int, shards: int, collide: bool = False, canon: str = "") -> str:
    """What ``expand`` calls. ``collide``: all states have the same hash. ``canon``: the text of that function."""
    return "\n\n".join(
        [
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            "declare i64 @llvm.smin.i64(i64, i64)",
            "declare i64 @llvm.smax.i64(i64, i64)",
            "declare i64 @llvm.umin.i64(i64, i64)",
            "declare i64 @llvm.umax.i64(i64, i64)",
            f"declare i{BUCKET} @llvm.cttz.i{BUCKET}(i{BUCKET}, i1)",
            '!0 = !{!"branch_weights", i32 1, i32 100000}',
            '!1 = !{!"branch_weights", i32 100000, i32 1}',
            hash_text(words, collide),
            *([canon] if canon else []),
            route_text(words, shards, bool(canon)),
            NOTE,
        ]
    )


def kernel_text(words: int, shards: int, collide: bool = False) -> str:
    """The module with the functions of `FUNCTIONS`."""
    return "\n\n".join(
        [
            shared_text(words, shards, collide),
            guess_text(words),
            table_text(words, insert=True),
            table_text(words, insert=False),
            rehash_text(words),
            records_text(words, shards),
            BARRIER,
            run_text(words, shards),
        ]
    )


__all__ = ["FUNCTIONS", "kernel_text", "shared_text"]
