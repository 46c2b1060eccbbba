"""What is the same for all machines but for the number of words of a state: hashing, the table, the search's inner
loop.

The table is open-addressed with linear probing. A slot of 32 bits holds, in its low ``bits`` bits (the table has
``2**bits`` slots), a state's number plus one, and above them further bits of the state's hash, so that almost every
state that is compared is the same one. The position is the top ``bits`` bits of the hash. Slots were prefetched when
the successor was written; here the state behind a slot is prefetched some records ahead. Exact: states are compared
word by word.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from model.explore import context as c
from model.explore.routing import hash_text, route, route_text

BUCKET_BITS: Final = 4
BUCKET: Final = 1 << BUCKET_BITS
_VECTOR = f"<{BUCKET} x i32>"
_AHEAD = 32
_SPINS = 1000

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


def _load_words(words: int, base: str, name: str) -> list[str]:
    """``%name0 %name1 ...`` from the words at the pointer ``base``."""
    lines = []
    for k in range(words):
        lines += [f"%{name}{k}.p = getelementptr i64, ptr {base}, i64 {k}", f"%{name}{k} = load i64, ptr %{name}{k}.p"]
    return lines


def _hash_of(words: int, name: str) -> str:
    return f"call i64 @hash({', '.join(f'i64 %{name}{k}' for k in range(words))})"


def _bucket(name: str, hash_: str) -> list[str]:
    """``%name`` is the pointer to the bucket of ``hash_``, ``%name.b`` its number."""
    return [f"%{name}.b = lshr i64 {hash_}, %shift", *_bucket_at(name, f"%{name}.b")]


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
        *_load_words(words, f"%{name}.s", f"{name}.s"),
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
    """``guess(ctx)``: for each record the state it probably is, plus one, or 0; that state's memory is prefetched."""
    lines = [
        "define internal void @guess(ptr noalias %ctx, ptr noalias %out, i64 %count) {",
        "entry:",
        *_table_arguments(),
        "br label %head",
        "head:",
        "%j = phi i64 [ 0, %entry ], [ %j.next, %body ]",
        "%more = icmp ult i64 %j, %count",
        "br i1 %more, label %body, label %exit",
        "body:",
        f"%first = mul i64 %j, {words + 1}",
        f"%last = add i64 %first, {words}",
        "%meta.p = getelementptr i64, ptr %out, i64 %last",
        "%meta = load i64, ptr %meta.p",
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
        exit_ = ["store i64 %n, ptr %n0.slot"]
    else:
        absent = ["store i32 -1, ptr %answer", "br label %next"]
        known = ["%index.32 = trunc i64 %index to i32", "store i32 %index.32, ptr %answer", "br label %next"]
        merge = ["%n2 = add i64 %n, 0"]
        exit_ = []
    name = "insert" if insert else "find"
    lines = [
        f"define void @{name}(ptr noalias %ctx, ptr noalias %out, i64 %count) {{",
        "entry:",
        "call void @guess(ptr %ctx, ptr %out, i64 %count)",
        *_table_arguments(),
        *c.load("n0", c.COUNT),
        *c.load("limit", c.LIMIT),
        "br label %head",
        "head:",
        "%j = phi i64 [ 0, %entry ], [ %j.next, %next ]",
        "%n = phi i64 [ %n0, %entry ], [ %n2, %next ]",
        "%more = icmp ult i64 %j, %count",
        "br i1 %more, label %body, label %exit",
        "body:",
        f"%first = mul i64 %j, {words + 1}",
        "%record = getelementptr i64, ptr %out, i64 %first",
        *_load_words(words, "%record", "r"),
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
            *_load_words(words, "%a.s", "a"),
            f"%a.h = {_hash_of(words, 'a')}",
            *_bucket("a.bucket", "%a.h"),
            "call void @llvm.prefetch.p0(ptr %a.bucket, i32 1, i32 3, i32 1)",
            f"%o = mul i64 %i, {words}",
            "%s.p = getelementptr i64, ptr %states, i64 %o",
            *_load_words(words, "%s.p", "s"),
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


def records_text(words: int, shards: int) -> str:
    """``records(ctx, given, count)``: records of ``count`` given states, row and instance 0, into the shards'
    buffers."""
    return "\n".join(
        [
            "define void @records(ptr noalias %ctx, ptr noalias %given, i64 %count) {",
            "entry:",
            f"%out = getelementptr i64, ptr %ctx, i64 {c.cursors(shards)}",
            "br label %head",
            "head:",
            "%j = phi i64 [ 0, %entry ], [ %j.next, %body ]",
            "%more = icmp ult i64 %j, %count",
            "br i1 %more, label %body, label %exit",
            "body:",
            f"%from.o = mul i64 %j, {words}",
            "%from = getelementptr i64, ptr %given, i64 %from.o",
            *_load_words(words, "%from", "s"),
            route([f"%s{k}" for k in range(words)], "0", "0"),
            "%j.next = add i64 %j, 1",
            "br label %head",
            "exit:",
            "ret void",
            "}",
        ]
    )


BARRIER = "\n".join(
    [
        "define internal void @barrier(ptr %shared, i64 %goal) {",
        "entry:",
        f"%arrived = getelementptr i64, ptr %shared, i64 {c.ARRIVED}",
        f"%yield.slot = getelementptr i64, ptr %shared, i64 {c.YIELD}",
        "%yield = load ptr, ptr %yield.slot",
        "%before = atomicrmw add ptr %arrived, i64 1 seq_cst",
        "br label %head",
        "head:",
        "%spins = phi i64 [ 0, %entry ], [ %spins.next, %spin ], [ 0, %give.way ]",
        "%now = load atomic i64, ptr %arrived seq_cst, align 8",
        "%done = icmp uge i64 %now, %goal",
        "br i1 %done, label %exit, label %wait",
        "wait:",
        "%spins.next = add i64 %spins, 1",
        f"%patient = icmp ult i64 %spins, {_SPINS}",
        "br i1 %patient, label %spin, label %give.way",
        "spin:",
        "br label %head",
        "give.way:",
        "%unused = call i32 %yield()",
        "br label %head",
        "exit:",
        "ret void",
        "}",
    ]
)


def run_text(words: int, shards: int) -> str:
    """``run(blocks, low, high, shared, threads, me)``: expand, for shards low..high-1, up to their END.

    ``blocks`` points to the addresses of all shards' blocks. Returns 0 when every shard of every thread is done, 1 when
    one has to grow. In a round each thread first expands some states of each of its shards, then takes into each of its
    shards the records that all threads wrote for it, in the order of the shards that they come from: so what is found,
    and its order, does not depend on the number of threads. A single thread goes on with further levels if it is told
    how many: a deep graph of small levels would else spend its time in Python.
    """
    block = [
        "%{0}.slot = getelementptr i64, ptr %blocks, i64 %{0}.n",
        "%{0} = load ptr, ptr %{0}.slot",
    ]

    def loop(name: str, low: str, high: str, body: list[str], before: str, after: str, last: str = "") -> list[str]:
        """A loop over shard numbers; ``last`` is the label that its body ends in."""
        return [
            f"br label %{name}.head",
            f"{name}.head:",
            f"%{name}.n = phi i64 [ {low}, %{before} ], [ %{name}.next, %{last or name + '.body'} ]",
            f"%{name}.more = icmp ult i64 %{name}.n, {high}",
            f"br i1 %{name}.more, label %{name}.body, label %{after}",
            f"{name}.body:",
            *body,
            f"%{name}.next = add i64 %{name}.n, 1",
            f"br label %{name}.head",
            f"{after}:",
        ]

    def word(name: str, block_: str, slot: int, kind: str = "i64") -> list[str]:
        return [
            f"%{name}.slot = getelementptr i64, ptr %{block_}, i64 {slot}",
            f"%{name} = load {kind}, ptr %{name}.slot",
        ]

    look = [
        *(line.format("look") for line in block),
        *word("l.next", "look", c.NEXT),
        *word("l.end", "look", c.END),
        *word("l.n", "look", c.COUNT),
        *word("l.most", "look", c.MOST),
        *word("l.pause", "look", c.PAUSE),
        "%l.more = icmp ult i64 %l.next, %l.end",
        "%l.full = add i64 %l.n, %l.most",
        "%l.grow = icmp ugt i64 %l.full, %l.pause",
        "%l.a = zext i1 %l.more to i64",
        "%l.b = select i1 %l.grow, i64 2, i64 0",
        "%l.c = or i64 %l.a, %l.b",
        "%l.old = load i64, ptr %mine",
        "%l.new = or i64 %l.old, %l.c",
        "store i64 %l.new, ptr %mine",
    ]
    gather = [
        f"%gather.o = mul i64 %gather.n, {c.STATUS_STRIDE}",
        "%gather.p = getelementptr i64, ptr %statuses, i64 %gather.o",
        "%gather.s = load i64, ptr %gather.p",
        "%gather.old = load i64, ptr %all",
        "%gather.new = or i64 %gather.old, %gather.s",
        "store i64 %gather.new, ptr %all",
    ]
    deepen = [
        *(line.format("deep") for line in block),
        *word("d.n", "deep", c.COUNT),
        *word("d.next", "deep", c.NEXT),
        "%d.left = sub i64 %d.n, %d.next",
        "%left.old = load i64, ptr %left",
        "%left.new = add i64 %left.old, %d.left",
        "store i64 %left.new, ptr %left",
        "%expanded.old = load i64, ptr %expanded",
        "%expanded.new = add i64 %expanded.old, %d.next",
        "store i64 %expanded.new, ptr %expanded",
        "%d.log = getelementptr i64, ptr %log, i64 %deep.n",
        "store i64 %d.n, ptr %d.log",
    ]
    begin = [
        *(line.format("begin") for line in block),
        *word("b.n", "begin", c.COUNT),
        f"%b.end.slot = getelementptr i64, ptr %begin, i64 {c.END}",
        "store i64 %b.n, ptr %b.end.slot",
    ]
    step = [
        *(line.format("step") for line in block),
        *word("s.next", "step", c.NEXT),
        *word("s.end", "step", c.END),
        *word("s.expand", "step", c.EXPAND, "ptr"),
        f"%s.far = add i64 %s.next, {c.ROWS}",
        "%s.near = icmp ult i64 %s.far, %s.end",
        "%s.stop = select i1 %s.near, i64 %s.far, i64 %s.end",
        "%s.after = call i64 %s.expand(ptr %step, i64 %s.next, i64 %s.stop)",
        "store i64 %s.after, ptr %s.next.slot",
    ]
    take = [
        *(line.format("from") for line in block),
        f"%f.base.n = add i64 %to.n, {c.buffers(shards)}",
        "%f.base.slot = getelementptr i64, ptr %from, i64 %f.base.n",
        "%f.base = load ptr, ptr %f.base.slot",
        f"%f.end.n = add i64 %to.n, {c.cursors(shards)}",
        "%f.end.slot = getelementptr i64, ptr %from, i64 %f.end.n",
        "%f.end = load ptr, ptr %f.end.slot",
        "%f.a = ptrtoint ptr %f.base to i64",
        "%f.b = ptrtoint ptr %f.end to i64",
        "%f.bytes = sub i64 %f.b, %f.a",
        f"%f.count = udiv exact i64 %f.bytes, {8 * (words + 1)}",
        "call void @insert(ptr %to, ptr %f.base, i64 %f.count)",
    ]
    return "\n".join(
        [
            "define i64 @run(ptr %blocks, i64 %low, i64 %high, ptr %shared, i64 %threads, i64 %me) {",
            "entry:",
            "%all = alloca i64",
            "%left = alloca i64",
            "%expanded = alloca i64",
            f"%statuses = getelementptr i64, ptr %shared, i64 {c.STATUS}",
            f"%mine.o = mul i64 %me, {c.STATUS_STRIDE}",
            "%mine = getelementptr i64, ptr %statuses, i64 %mine.o",
            "br label %round",
            "round:",
            "%goal = phi i64 [ 0, %entry ], [ %goal.b, %end.round ], [ %goal.a, %begun ]",
            "%goal.a = add i64 %goal, %threads",
            "%goal.b = add i64 %goal.a, %threads",
            "store i64 0, ptr %mine",
            "store i64 0, ptr %all",
            *loop("look", "%low", "%high", look, "round", "looked"),
            "call void @barrier(ptr %shared, i64 %goal.a)",
            *loop("gather", "0", "%threads", gather, "looked", "gathered"),
            "%status = load i64, ptr %all",
            "%must.grow = icmp ugt i64 %status, 1",
            "br i1 %must.grow, label %grow, label %ask",
            "ask:",
            "%idle = icmp eq i64 %status, 0",
            "br i1 %idle, label %idle.end, label %go",
            "go:",
            *loop("step", "%low", "%high", step, "go", "stepped"),
            "call void @barrier(ptr %shared, i64 %goal.b)",
            *loop(
                "to",
                "%low",
                "%high",
                [
                    *(line.format("to") for line in block),
                    *loop("from", "0", str(shards), take, "to.body", "taken"),
                ],
                "stepped",
                "end.round",
                "taken",
            ),
            "br label %round",
            "idle.end:",
            f"%most.slot = getelementptr i64, ptr %shared, i64 {c.LEVEL_MOST}",
            "%most = load i64, ptr %most.slot",
            f"%number.slot = getelementptr i64, ptr %shared, i64 {c.LEVEL_COUNT}",
            "%number = load i64, ptr %number.slot",
            "%may = icmp ult i64 %number, %most",
            "br i1 %may, label %may.deepen, label %done",
            "may.deepen:",
            f"%levels.slot = getelementptr i64, ptr %shared, i64 {c.LEVELS}",
            "%levels = load ptr, ptr %levels.slot",
            f"%log.o = mul i64 %number, {shards}",
            "%log = getelementptr i64, ptr %levels, i64 %log.o",
            "store i64 0, ptr %left",
            "store i64 0, ptr %expanded",
            *loop("deep", "0", str(shards), deepen, "may.deepen", "deepened"),
            f"%stop.slot = getelementptr i64, ptr %shared, i64 {c.STOP}",
            "%stop = load i64, ptr %stop.slot",
            "%left.all = load i64, ptr %left",
            "%expanded.all = load i64, ptr %expanded",
            "%would = add i64 %left.all, %expanded.all",
            "%any = icmp ne i64 %left.all, 0",
            "%small = icmp ult i64 %would, %stop",
            "%go.on = and i1 %any, %small",
            "br i1 %go.on, label %go.deeper, label %done",
            "go.deeper:",
            "%number.up = add i64 %number, 1",
            "store i64 %number.up, ptr %number.slot",
            *loop("begin", "0", str(shards), begin, "go.deeper", "begun"),
            "br label %round",
            "done:",
            "ret i64 0",
            "grow:",
            "ret i64 1",
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


def shared_text(words: int, shards: int, collide: bool = False) -> str:
    """What ``expand`` calls. ``collide``: all states have the same hash."""
    return "\n\n".join(
        [
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            "declare i64 @llvm.smin.i64(i64, i64)",
            "declare i64 @llvm.smax.i64(i64, i64)",
            f"declare i{BUCKET} @llvm.cttz.i{BUCKET}(i{BUCKET}, i1)",
            '!0 = !{!"branch_weights", i32 1, i32 100000}',
            '!1 = !{!"branch_weights", i32 100000, i32 1}',
            hash_text(words, collide),
            route_text(words, shards),
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
