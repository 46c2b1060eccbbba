"""The table of states, as LLVM text: what is the same for all machines but for the number of words of a state.

It is open-addressed, in buckets of lanes that are compared at once. A slot of 32 bits holds, in its low ``bits`` bits
(the table has ``2**bits`` slots), a state's number plus one, and above them further bits of the state's hash, so that
almost every state that is compared is the same one. The position is the top bits of the hash. Records are taken in
tiles: the slots of one tile are prefetched while the states behind the slots of the tile before it are, and those
compared after that. Exact: states are compared word by word.
"""

from __future__ import annotations

from typing import Final

from model.explore.codegen import context as c
from model.explore.codegen.each import load_words

BUCKET_BITS: Final = 4
BUCKET: Final = 1 << BUCKET_BITS
_VECTOR = f"<{BUCKET} x i32>"
_AHEAD = 32
TILE: Final = 64
"""Records whose buckets, and then states, are fetched together."""


def _hash_of(words: int, name: str) -> str:
    return f"call i64 @hash({', '.join(f'i64 %{name}{k}' for k in range(words))})"


def _bucket(name: str, hash_: str) -> list[str]:
    """``%name`` is the pointer to the bucket of ``hash_``, ``%name.b`` its number."""
    return [f"%{name}.b = lshr i64 {hash_}, %shift", *_bucket_at(name, f"%{name}.b")]


def _meta(name: str, number: str, words: int) -> list[str]:
    """``%name``: the last word of record ``number``."""
    return [
        f"%{name}.first = mul i64 {number}, {words + 1}",
        f"%{name}.last = add i64 %{name}.first, {words}",
        f"%{name}.p = getelementptr i64, ptr %out, i64 %{name}.last",
        f"%{name} = load i64, ptr %{name}.p",
    ]


def _fetch_record(at: str, words: int) -> list[str]:
    """Prefetch the record a tile behind ``at``: another thread may have written it."""
    return [
        f"%ahead = getelementptr i64, ptr {at}, i64 {TILE * (words + 1)}",
        "call void @llvm.prefetch.p0(ptr %ahead, i32 0, i32 3, i32 1)",
    ]


def _bucket_at(name: str, number: str) -> list[str]:
    return [
        f"%{name}.o = shl i64 {number}, {BUCKET_BITS}",
        f"%{name} = getelementptr i32, ptr %table, i64 %{name}.o",
    ]


def _geometry() -> list[str]:
    """``%shift`` and ``%buckets.last`` (for bucket numbers), ``%mask`` (of state numbers), ``%tags`` (of the bits
    above)."""
    return [
        f"%bits.b = sub i64 %bits, {BUCKET_BITS}",
        "%shift = sub i64 64, %bits.b",
        "%buckets = shl i64 1, %bits.b",
        "%buckets.last = sub i64 %buckets, 1",
        "%size = shl i64 1, %bits",
        "%mask = sub i64 %size, 1",
        "%mask.32 = trunc i64 %mask to i32",
        "%tags.32 = xor i32 %mask.32, -1",
        *_splat("tags", "%tags.32"),
    ]


def _splat(name: str, value: str) -> list[str]:
    return [
        f"%{name}.v0 = insertelement {_VECTOR} poison, i32 {value}, i64 0",
        f"%{name} = shufflevector {_VECTOR} %{name}.v0, {_VECTOR} poison, {_VECTOR} zeroinitializer",
    ]


def _want(name: str, hash_: str) -> list[str]:
    """``%name.e``: the bits of a slot above the state's number, as i64; ``%name``: the same in each lane."""
    return [
        f"%{name}.u = lshr i64 {hash_}, 32",
        f"%{name}.t = shl i64 %{name}.u, %bits",
        f"%{name}.e = and i64 %{name}.t, 4294967295",
        f"%{name}.32 = trunc i64 %{name}.e to i32",
        *_splat(name, f"%{name}.32"),
    ]


def _lanes(name: str, bucket: str, want: str) -> list[str]:
    """``%name.empty`` and ``%name.near``: bit per slot of the bucket that is free, that may hold the state wanted."""
    return [
        f"%{name}.v = load {_VECTOR}, ptr {bucket}, align 64",
        f"%{name}.e = icmp eq {_VECTOR} %{name}.v, zeroinitializer",
        f"%{name}.empty = bitcast <{BUCKET} x i1> %{name}.e to i{BUCKET}",
        f"%{name}.x = xor {_VECTOR} %{name}.v, {want}",
        f"%{name}.y = and {_VECTOR} %{name}.x, %tags",
        f"%{name}.n = icmp eq {_VECTOR} %{name}.y, zeroinitializer",
        f"%{name}.m = bitcast <{BUCKET} x i1> %{name}.n to i{BUCKET}",
        f"%{name}.used = xor i{BUCKET} %{name}.empty, -1",
        f"%{name}.near = and i{BUCKET} %{name}.m, %{name}.used",
    ]


def _first_lane(name: str, lanes: str) -> list[str]:
    """``%name``: the number of the lowest bit of ``lanes`` as i64; ``BUCKET`` if there is none."""
    return [
        f"%{name}.c = call i{BUCKET} @llvm.cttz.i{BUCKET}(i{BUCKET} {lanes}, i1 false)",
        f"%{name} = zext i{BUCKET} %{name}.c to i64",
    ]


def _same(words: int, number: str, name: str) -> list[str]:
    """``%name``: whether state ``number`` (i64) equals the words ``%r0 ...``."""
    lines = [
        f"%{name}.o = mul i64 {number}, {words}",
        f"%{name}.s = getelementptr i64, ptr %states, i64 %{name}.o",
        *load_words(words, f"%{name}.s", f"{name}.s"),
    ]
    total = "0"
    for k in range(words):
        lines += [
            f"%{name}.d{k} = xor i64 %{name}.s{k}, %r{k}",
            f"%{name}.o{k} = or i64 %{name}.d{k}, {total}",
        ]
        total = f"%{name}.o{k}"
    return [*lines, f"%{name} = icmp eq i64 {total}, 0"]


def _table_arguments() -> list[str]:
    return [
        *c.load("states", c.STATES, "ptr"),
        *c.load("table", c.TABLE, "ptr"),
        *c.load("bits", c.BITS),
        *c.load("indices", c.GUESSES, "ptr"),
        *_geometry(),
    ]


def guess_text(words: int) -> str:
    """``guess(ctx, out, first, end, count)``: for records first..end-1 of ``count`` the state it probably is, plus one,
    or 0; that state's memory is prefetched, and so are the buckets of the next tile."""
    lines = [
        "define internal void @guess(ptr noalias %ctx, ptr noalias %out, i64 %first, i64 %end, i64 %count) {",
        "entry:",
        *_table_arguments(),
        "%final = sub i64 %count, 1",
        "br label %head",
        "head:",
        "%j = phi i64 [ %first, %entry ], [ %j.next, %body ]",
        "%more = icmp ult i64 %j, %end",
        "br i1 %more, label %body, label %exit",
        "body:",
        f"%far = add i64 %j, {TILE}",
        "%far.in = icmp ult i64 %far, %count",
        "%far.j = select i1 %far.in, i64 %far, i64 %final",
        *_meta("far.meta", "%far.j", words),
        *_bucket("far.bucket", "%far.meta"),
        "call void @llvm.prefetch.p0(ptr %far.bucket, i32 1, i32 3, i32 1)",
        *_fetch_record("%far.meta.p", words),
        *_meta("meta", "%j", words),
        *_bucket("bucket", "%meta"),
        *_want("want", "%meta"),
        *_lanes("l", "%bucket", "%want"),
        *_first_lane("lane", "%l.near"),
        f"%lane.in = and i64 %lane, {BUCKET - 1}",
        "%slot = getelementptr i32, ptr %bucket, i64 %lane.in",
        "%e.32 = load i32, ptr %slot",
        "%e = zext i32 %e.32 to i64",
        "%number = and i64 %e, %mask",
        f"%any = icmp ult i64 %lane, {BUCKET}",
        "%guess = select i1 %any, i64 %number, i64 0",
        "%guess.32 = trunc i64 %guess to i32",
        "%guess.p = getelementptr i32, ptr %indices, i64 %j",
        "store i32 %guess.32, ptr %guess.p",
        "%behind = sub i64 %guess, 1",
        f"%behind.o = mul i64 %behind, {words}",
        "%behind.p = getelementptr i64, ptr %states, i64 %behind.o",
        "call void @llvm.prefetch.p0(ptr %behind.p, i32 0, i32 3, i32 1)",
        "%j.next = add i64 %j, 1",
        "br label %head",
        "exit:",
        "ret void",
        "}",
    ]
    return "\n".join(lines)


def table_text(words: int, insert: bool) -> str:
    """``insert(ctx)`` adds the records' states that are new to table and states; ``find(ctx)`` only looks them up."""
    if insert:
        absent = [
            "%fits = icmp ult i64 %n, %limit",
            "br i1 %fits, label %add, label %drop",
            "add:",
            "%n.next = add i64 %n, 1",
            "%entry.new = or i64 %want.e, %n.next",
            "%entry.32 = trunc i64 %entry.new to i32",
            "%free = getelementptr i32, ptr %bucket, i64 %free.lane",
            "store i32 %entry.32, ptr %free",
            f"%to.offset = mul i64 %n, {words}",
            "%to = getelementptr i64, ptr %states, i64 %to.offset",
        ]
        for k in range(words):
            absent += [f"%to{k} = getelementptr i64, ptr %to, i64 {k}", f"store i64 %r{k}, ptr %to{k}"]
        absent += [
            "br label %next",
            "drop:",
            *c.load("dropped", c.DROPPED),
            "%dropped.next = add i64 %dropped, 1",
            "store i64 %dropped.next, ptr %dropped.slot",
            "br label %next",
        ]
        known = ["br label %next"]
        merge = ["%n2 = phi i64 [ %n, %guessed ], [ %n, %known ], [ %n.next, %add ], [ %n, %drop ]"]
        exit_ = ["store i64 %t.n, ptr %n0.slot"]
    else:
        absent = ["store i32 -1, ptr %answer", "br label %next"]
        known = ["%index.32 = trunc i64 %index to i32", "store i32 %index.32, ptr %answer", "br label %next"]
        merge = ["%n2 = add i64 %n, 0"]
        exit_ = []
    name = "insert" if insert else "find"
    lines = [
        f"define void @{name}(ptr noalias %ctx, ptr noalias %out, i64 %count) {{",
        "entry:",
        *_table_arguments(),
        *c.load("n0", c.COUNT),
        *c.load("limit", c.LIMIT),
        f"%few = icmp ult i64 %count, {TILE}",
        f"%warm = select i1 %few, i64 %count, i64 {TILE}",
        "br label %warm.head",
        "warm.head:",
        "%p = phi i64 [ 0, %entry ], [ %p.next, %warm.body ]",
        "%p.more = icmp ult i64 %p, %warm",
        "br i1 %p.more, label %warm.body, label %tile",
        "warm.body:",
        *_meta("p.meta", "%p", words),
        *_bucket("p.bucket", "%p.meta"),
        "call void @llvm.prefetch.p0(ptr %p.bucket, i32 1, i32 3, i32 1)",
        *(line.replace("%ahead", "%p.ahead") for line in _fetch_record("%p.meta.p", words)),
        "%p.next = add i64 %p, 1",
        "br label %warm.head",
        "tile:",
        "%t = phi i64 [ 0, %warm.head ], [ %t.end, %head ]",
        "%t.n = phi i64 [ %n0, %warm.head ], [ %n, %head ]",
        "%t.more = icmp ult i64 %t, %count",
        "br i1 %t.more, label %tile.begin, label %exit",
        "tile.begin:",
        f"%t.far = add i64 %t, {TILE}",
        "%t.in = icmp ult i64 %t.far, %count",
        "%t.end = select i1 %t.in, i64 %t.far, i64 %count",
        "call void @guess(ptr %ctx, ptr %out, i64 %t, i64 %t.end, i64 %count)",
        "br label %head",
        "head:",
        "%j = phi i64 [ %t, %tile.begin ], [ %j.next, %next ]",
        "%n = phi i64 [ %t.n, %tile.begin ], [ %n2, %next ]",
        "%more = icmp ult i64 %j, %t.end",
        "br i1 %more, label %body, label %tile",
        "body:",
        f"%first = mul i64 %j, {words + 1}",
        "%record = getelementptr i64, ptr %out, i64 %first",
        *load_words(words, "%record", "r"),
        "%answer = getelementptr i32, ptr %indices, i64 %j",
        "%guess.32 = load i32, ptr %answer",
        "%guess = zext i32 %guess.32 to i64",
        "%guess.i = sub i64 %guess, 1",
        "%any = icmp ne i64 %guess, 0",
        "br i1 %any, label %check, label %search",
        "check:",
        *_same(words, "%guess.i", "right"),
        "br i1 %right, label %guessed, label %search, !prof !1",
        "guessed:",
        *([] if insert else ["store i32 %guess.less, ptr %answer"]),
        "br label %next",
        "search:",
        f"%meta.p = getelementptr i64, ptr %record, i64 {words}",
        "%meta = load i64, ptr %meta.p",
        "%start = lshr i64 %meta, %shift",
        *_want("want", "%meta"),
        "br label %probe",
        "probe:",
        "%number = phi i64 [ %start, %search ], [ %number.next, %full ]",
        *_bucket_at("bucket", "%number"),
        *_lanes("l", "%bucket", "%want"),
        "br label %lanes",
        "lanes:",
        f"%left = phi i{BUCKET} [ %l.near, %probe ], [ %left.next, %other ]",
        f"%none = icmp eq i{BUCKET} %left, 0",
        "br i1 %none, label %unknown, label %compare",
        "compare:",
        *_first_lane("lane", "%left"),
        "%slot = getelementptr i32, ptr %bucket, i64 %lane",
        "%e.32 = load i32, ptr %slot",
        "%e = zext i32 %e.32 to i64",
        "%e.n = and i64 %e, %mask",
        "%index = sub i64 %e.n, 1",
        *_same(words, "%index", "same"),
        "br i1 %same, label %known, label %other",
        "other:",
        f"%left.one = sub i{BUCKET} %left, 1",
        f"%left.next = and i{BUCKET} %left, %left.one",
        "br label %lanes",
        "unknown:",
        *_first_lane("free.lane", "%l.empty"),
        f"%room = icmp ult i64 %free.lane, {BUCKET}",
        "br i1 %room, label %absent, label %full, !prof !1",
        "full:",
        "%number.up = add i64 %number, 1",
        "%number.next = and i64 %number.up, %buckets.last",
        "br label %probe",
        "known:",
        *known,
        "absent:",
        *absent,
        "next:",
        *merge,
        "%j.next = add i64 %j, 1",
        "br label %head",
        "exit:",
        *exit_,
        "ret void",
        "}",
    ]
    if not insert:
        lines.insert(lines.index("guessed:") + 1, "%guess.less = trunc i64 %guess.i to i32")
    return "\n".join(lines)


def rehash_text(words: int) -> str:
    """``rehash(ctx)``: every state into the new table, which is empty and large enough. All are different."""
    return "\n".join(
        [
            "define void @rehash(ptr noalias %ctx) {",
            "entry:",
            *c.load("states", c.STATES, "ptr"),
            *c.load("n", c.COUNT),
            *c.load("table", c.NEW_TABLE, "ptr"),
            *c.load("bits", c.NEW_BITS),
            *_geometry(),
            "%last = sub i64 %n, 1",
            "br label %head",
            "head:",
            "%i = phi i64 [ 0, %entry ], [ %i.next, %put ]",
            "%more = icmp ult i64 %i, %n",
            "br i1 %more, label %ahead, label %exit",
            "ahead:",
            f"%a.far = add i64 %i, {_AHEAD}",
            "%a.in = icmp ult i64 %a.far, %n",
            "%a.i = select i1 %a.in, i64 %a.far, i64 %last",
            f"%a.o = mul i64 %a.i, {words}",
            "%a.s = getelementptr i64, ptr %states, i64 %a.o",
            *load_words(words, "%a.s", "a"),
            f"%a.h = {_hash_of(words, 'a')}",
            *_bucket("a.bucket", "%a.h"),
            "call void @llvm.prefetch.p0(ptr %a.bucket, i32 1, i32 3, i32 1)",
            f"%o = mul i64 %i, {words}",
            "%s.p = getelementptr i64, ptr %states, i64 %o",
            *load_words(words, "%s.p", "s"),
            f"%h = {_hash_of(words, 's')}",
            *_want("want", "%h"),
            "%start = lshr i64 %h, %shift",
            "br label %probe",
            "probe:",
            "%number = phi i64 [ %start, %ahead ], [ %number.next, %full ]",
            *_bucket_at("bucket", "%number"),
            *_lanes("l", "%bucket", "%want"),
            *_first_lane("free.lane", "%l.empty"),
            f"%room = icmp ult i64 %free.lane, {BUCKET}",
            "br i1 %room, label %put, label %full, !prof !1",
            "full:",
            "%number.up = add i64 %number, 1",
            "%number.next = and i64 %number.up, %buckets.last",
            "br label %probe",
            "put:",
            "%i.next = add i64 %i, 1",
            "%entry.new = or i64 %want.e, %i.next",
            "%entry.32 = trunc i64 %entry.new to i32",
            "%slot = getelementptr i32, ptr %bucket, i64 %free.lane",
            "store i32 %entry.32, ptr %slot",
            "br label %head",
            "exit:",
            "ret void",
            "}",
        ]
    )
