"""Hashes, and which shard a state belongs to.

Of a state's hash the top 32 bits are kept in its record: they say where in its shard's table it is looked for, and tell
states apart in the table. The bits below them choose the shard.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.explore.codegen.blocks import signed
from model.explore.codegen.canon import struct_of
from model.explore.layout import INSTANCE_BITS

_AHEAD = 64  # words
# Odd numbers with well-mixed bits.
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)


def hash_text(words: int, collide: bool = False) -> str:
    """``hash(w0, ...)``: 64 bits, the top ones best. ``collide``: always 0, to test what then happens."""
    parameters = ", ".join(f"i64 %w{k}" for k in range(words))
    lines = [f"define internal i64 @hash({parameters}) alwaysinline {{"]
    if collide:
        return "\n".join([*lines, "ret i64 0", "}"])
    total = "0"
    for k in range(words):
        factor = signed((_FACTORS[k % 4] * (2 * (k // 4) + 1)) | 1)
        lines += [f"%m{k} = mul i64 %w{k}, {factor}", f"%t{k} = add i64 %m{k}, {total}"]
        total = f"%t{k}"
    return "\n".join(
        [
            *lines,
            f"%x = lshr i64 {total}, 32",
            f"%y = xor i64 {total}, %x",
            f"%z = mul i64 %y, {signed(_FACTORS[3])}",
            "%u = lshr i64 %z, 29",
            "%v = xor i64 %z, %u",
            f"%h = mul i64 %v, {signed(_FACTORS[0])}",
            "ret i64 %h",
            "}",
        ]
    )


def route_text(words: int, shards: int, canonical: bool = False) -> str:
    """``route(ctx, out, w0, ..., row, instance)``: append a state's record to its shard's buffer.

    ``out`` is the address of the cursors. ``canonical``: the record is that of the state that ``canon`` makes of it.
    """
    given = "g" if canonical else "w"
    parameters = ", ".join(f"i64 %{given}{k}" for k in range(words))
    states = ", ".join(f"i64 %w{k}" for k in range(words))
    inline = "noinline" if canonical else "alwaysinline"
    lines = [f"define internal void @route(ptr %ctx, ptr %out, {parameters}, i64 %row, i64 %instance) {inline} {{"]
    if canonical:
        kind = struct_of(words)
        lines.append(f"%c = call {kind} @canon({parameters})")
        lines += [f"%w{k} = extractvalue {kind} %c, {k}" for k in range(words)]
    lines.append(f"%h = call i64 @hash({states})")
    if shards == 1:
        lines.append("%cursor = getelementptr i64, ptr %out, i64 0")
    else:
        lines += [
            f"%low = lshr i64 %h, {32 - (shards - 1).bit_length()}",
            f"%shard = and i64 %low, {shards - 1}",
            "%cursor = getelementptr i64, ptr %out, i64 %shard",
        ]
    lines += ["%to = load ptr, ptr %cursor"]
    for k in range(words):
        lines += [f"%to{k} = getelementptr i64, ptr %to, i64 {k}", f"store i64 %w{k}, ptr %to{k}"]
    return "\n".join(
        [
            *lines,
            f"%upper = and i64 %h, {signed(0xFFFFFFFF << 32)}",
            f"%row.s = shl i64 %row, {INSTANCE_BITS}",
            "%lower = or i64 %row.s, %instance",
            "%meta = or i64 %upper, %lower",
            f"%meta.p = getelementptr i64, ptr %to, i64 {words}",
            "store i64 %meta, ptr %meta.p",
            f"%to.next = getelementptr i64, ptr %to, i64 {words + 1}",
            "store ptr %to.next, ptr %cursor",
            # Another thread may have read what was here before.
            f"%ahead = getelementptr i64, ptr %to, i64 {_AHEAD}",
            "call void @llvm.prefetch.p0(ptr %ahead, i32 1, i32 3, i32 1)",
            "ret void",
            "}",
        ]
    )


def route(words: Sequence[str], row: str, instance: str) -> str:
    """A call of ``route``."""
    states = ", ".join(f"i64 {w}" for w in words)
    return f"call void @route(ptr %ctx, ptr %out, {states}, i64 {row}, i64 {instance})"


__all__ = ["hash_text", "route", "route_text"]
