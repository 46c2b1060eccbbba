"""What is the same for all machines but for the number of words of a state: hashing, the table, the search's inner loop.

The table is open-addressed with linear probing. A slot of 32 bits holds, in its low ``bits`` bits (the table has ``2**bits``
slots), a state's number plus one, and above them further bits of the state's hash, so that almost every state that is
compared is the same one. The position is the top ``bits`` bits of the hash. Slots were prefetched when the successor was
written; here the state behind a slot is prefetched some records ahead. Exact: states are compared word by word.
"""

from __future__ import annotations

from model.explore import context as c

_AHEAD = 16
# Odd constants with well-mixed bits (from the fractional parts of square roots).
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)


def _signed(word: int) -> int:
    word &= 2**64 - 1
    return word - 2**64 if word >= 2**63 else word


def _factor(k: int) -> int:
    """A different odd factor for each word."""
    return _signed((_FACTORS[k % 4] * (2 * (k // 4) + 1)) | 1)


def hash_text(words: int, collide: bool = False) -> str:
    """``hash(w0, ...)``: 64 bits, the top ones best. ``collide``: always 0, to test what then happens."""
    parameters = ", ".join(f"i64 %w{k}" for k in range(words))
    lines = [f"define internal i64 @hash({parameters}) alwaysinline {{"]
    if collide:
        return "\n".join([*lines, "ret i64 0", "}"])
    total = "0"
    for k in range(words):
        lines += [f"%m{k} = mul i64 %w{k}, {_factor(k)}", f"%t{k} = add i64 %m{k}, {total}"]
        total = f"%t{k}"
    lines += [
        f"%x = lshr i64 {total}, 32",
        f"%y = xor i64 {total}, %x",
        f"%z = mul i64 %y, {_signed(0xD6E8FEB86659FD93)}",
        "%u = lshr i64 %z, 29",
        "%v = xor i64 %z, %u",
        f"%h = mul i64 %v, {_signed(0x9E3779B97F4A7C15)}",
        "ret i64 %h",
        "}",
    ]
    return "\n".join(lines)


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


def table_text(words: int, insert: bool) -> str:
    """``insert(ctx)`` puts the records' states into the table and the states, each once; ``find(ctx)`` only looks them up."""
    record = words + 1
    compare = []
    total = "0"
    for k in range(words):
        compare += [f"%d{k} = xor i64 %s{k}, %r{k}", f"%o{k} = or i64 %d{k}, {total}"]
        total = f"%o{k}"
    if insert:
        absent = [
            "%fits = icmp ult i64 %n, %limit",
            "br i1 %fits, label %add, label %drop",
            "add:",
            "%n.next = add i64 %n, 1",
            "%entry.new = or i64 %want, %n.next",
            "%entry.32 = trunc i64 %entry.new to i32",
            "store i32 %entry.32, ptr %slot",
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
        merge = ["%n2 = phi i64 [ %n, %compare ], [ %n.next, %add ], [ %n, %drop ]"]
        found = ["br i1 %same, label %next, label %step, !prof !1"]
        exit_ = c.store("%n", c.COUNT_STATES)
    else:
        absent = ["store i32 -1, ptr %answer", "br label %next"]
        merge = ["%n2 = add i64 %n, 0"]
        found = [
            "br i1 %same, label %found, label %step, !prof !1",
            "found:",
            "%index.32 = trunc i64 %index to i32",
            "store i32 %index.32, ptr %answer",
            "br label %next",
        ]
        exit_ = []
    name = "insert" if insert else "find"
    lines = [
        f"define void @{name}(ptr noalias %ctx) {{",
        "entry:",
        *c.load("states", c.STATES, "ptr"),
        *c.load("n0", c.COUNT_STATES),
        *c.load("limit", c.LIMIT),
        *c.load("table", c.TABLE, "ptr"),
        *c.load("bits", c.BITS),
        *c.load("out", c.OUT, "ptr"),
        *c.load("count", c.COUNT),
        *c.load("indices", c.INDICES, "ptr"),
        "%shift = sub i64 64, %bits",
        "%size = shl i64 1, %bits",
        "%mask = sub i64 %size, 1",
        "br label %head",
        "head:",
        "%j = phi i64 [ 0, %entry ], [ %j.next, %next ]",
        "%n = phi i64 [ %n0, %entry ], [ %n2, %next ]",
        "%more = icmp ult i64 %j, %count",
        "br i1 %more, label %ahead, label %exit",
        "ahead:",
        f"%a.far = add i64 %j, {_AHEAD}",
        "%a.in = icmp ult i64 %a.far, %count",
        "%a.j = select i1 %a.in, i64 %a.far, i64 %j",
        f"%a.first = mul i64 %a.j, {record}",
        f"%a.last = add i64 %a.first, {words}",
        "%a.p = getelementptr i64, ptr %out, i64 %a.last",
        "%a.meta = load i64, ptr %a.p",
        "%a.x = lshr i64 %a.meta, %shift",
        "%a.slot = getelementptr i32, ptr %table, i64 %a.x",
        "%a.e32 = load i32, ptr %a.slot",
        "%a.e = zext i32 %a.e32 to i64",
        "%a.n = and i64 %a.e, %mask",
        "%a.i = sub i64 %a.n, 1",
        f"%a.o = mul i64 %a.i, {words}",
        "%a.s = getelementptr i64, ptr %states, i64 %a.o",
        "call void @llvm.prefetch.p0(ptr %a.s, i32 0, i32 3, i32 1)",
        f"%first = mul i64 %j, {record}",
        "%record = getelementptr i64, ptr %out, i64 %first",
        *_load_words(words, "%record", "r"),
        f"%meta.p = getelementptr i64, ptr %record, i64 {words}",
        "%meta = load i64, ptr %meta.p",
        "%x = lshr i64 %meta, %shift",
        "%upper = lshr i64 %meta, 32",
        "%tag = shl i64 %upper, %bits",
        "%want = and i64 %tag, 4294967295",
        "%answer = getelementptr i32, ptr %indices, i64 %j",
        "br label %probe",
        "probe:",
        "%pos = phi i64 [ %x, %ahead ], [ %pos.next, %step ]",
        "%slot = getelementptr i32, ptr %table, i64 %pos",
        "%e.32 = load i32, ptr %slot",
        "%e = zext i32 %e.32 to i64",
        "%empty = icmp eq i64 %e, 0",
        "br i1 %empty, label %absent, label %check",
        "check:",
        "%differs = xor i64 %e, %want",
        "%near = icmp ule i64 %differs, %mask",
        "br i1 %near, label %compare, label %step",
        "compare:",
        "%number = and i64 %e, %mask",
        "%index = sub i64 %number, 1",
        f"%offset = mul i64 %index, {words}",
        "%state = getelementptr i64, ptr %states, i64 %offset",
        *_load_words(words, "%state", "s"),
        *compare,
        f"%same = icmp eq i64 {total}, 0",
        *found,
        "step:",
        "%pos.up = add i64 %pos, 1",
        "%pos.next = and i64 %pos.up, %mask",
        "br label %probe",
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
    return "\n".join(lines)


def rehash_text(words: int) -> str:
    """``rehash(ctx)``: every state into the new table, which is empty and large enough. All are different."""
    return "\n".join(
        [
            "define void @rehash(ptr noalias %ctx) {",
            "entry:",
            *c.load("states", c.STATES, "ptr"),
            *c.load("n", c.COUNT_STATES),
            *c.load("table", c.NEW_TABLE, "ptr"),
            *c.load("bits", c.NEW_BITS),
            "%shift = sub i64 64, %bits",
            "%size = shl i64 1, %bits",
            "%mask = sub i64 %size, 1",
            "%last = sub i64 %n, 1",
            "br label %head",
            "head:",
            "%i = phi i64 [ 0, %entry ], [ %i.next, %put ]",
            "%more = icmp ult i64 %i, %n",
            "br i1 %more, label %ahead, label %exit",
            "ahead:",
            f"%a.far = add i64 %i, {2 * _AHEAD}",
            "%a.in = icmp ult i64 %a.far, %n",
            "%a.i = select i1 %a.in, i64 %a.far, i64 %last",
            f"%a.o = mul i64 %a.i, {words}",
            "%a.s = getelementptr i64, ptr %states, i64 %a.o",
            *_load_words(words, "%a.s", "a"),
            f"%a.h = {_hash_of(words, 'a')}",
            "%a.x = lshr i64 %a.h, %shift",
            "%a.slot = getelementptr i32, ptr %table, i64 %a.x",
            "call void @llvm.prefetch.p0(ptr %a.slot, i32 1, i32 3, i32 1)",
            f"%o = mul i64 %i, {words}",
            "%s.p = getelementptr i64, ptr %states, i64 %o",
            *_load_words(words, "%s.p", "s"),
            f"%h = {_hash_of(words, 's')}",
            "%x = lshr i64 %h, %shift",
            "%upper = lshr i64 %h, 32",
            "%tag = shl i64 %upper, %bits",
            "%want = and i64 %tag, 4294967295",
            "br label %probe",
            "probe:",
            "%pos = phi i64 [ %x, %ahead ], [ %pos.next, %step ]",
            "%slot = getelementptr i32, ptr %table, i64 %pos",
            "%e = load i32, ptr %slot",
            "%empty = icmp eq i32 %e, 0",
            "br i1 %empty, label %put, label %step",
            "step:",
            "%pos.up = add i64 %pos, 1",
            "%pos.next = and i64 %pos.up, %mask",
            "br label %probe",
            "put:",
            "%i.next = add i64 %i, 1",
            "%entry.new = or i64 %want, %i.next",
            "%entry.32 = trunc i64 %entry.new to i32",
            "store i32 %entry.32, ptr %slot",
            "br label %head",
            "exit:",
            "ret void",
            "}",
        ]
    )


def records_text(words: int) -> str:
    """``records(ctx, states)``: records of ``COUNT`` given states, instance 0."""
    lines = [
        "define void @records(ptr noalias %ctx, ptr noalias %given) {",
        "entry:",
        *c.load("out", c.OUT, "ptr"),
        *c.load("count", c.COUNT),
        "br label %head",
        "head:",
        "%j = phi i64 [ 0, %entry ], [ %j.next, %body ]",
        "%more = icmp ult i64 %j, %count",
        "br i1 %more, label %body, label %exit",
        "body:",
        f"%from.o = mul i64 %j, {words}",
        "%from = getelementptr i64, ptr %given, i64 %from.o",
        *_load_words(words, "%from", "s"),
        f"%to.o = mul i64 %j, {words + 1}",
        "%to = getelementptr i64, ptr %out, i64 %to.o",
    ]
    for k in range(words):
        lines += [f"%to{k} = getelementptr i64, ptr %to, i64 {k}", f"store i64 %s{k}, ptr %to{k}"]
    return "\n".join(
        [
            *lines,
            f"%h = {_hash_of(words, 's')}",
            "%m = and i64 %h, -4294967296",
            f"%m.p = getelementptr i64, ptr %to, i64 {words}",
            "store i64 %m, ptr %m.p",
            "%j.next = add i64 %j, 1",
            "br label %head",
            "exit:",
            "ret void",
            "}",
        ]
    )


RUN = "\n".join(
    [
        "define i64 @run(ptr noalias %ctx) {",
        "entry:",
        *c.load("end", c.END),
        *c.load("pause", c.PAUSE),
        *c.load("batch", c.BATCH),
        *c.load("rows", c.ROWS),
        f"%next.slot = getelementptr i64, ptr %ctx, i64 {c.NEXT}",
        f"%n.slot = getelementptr i64, ptr %ctx, i64 {c.COUNT_STATES}",
        "br label %head",
        "head:",
        "%next = load i64, ptr %next.slot",
        "%more = icmp ult i64 %next, %end",
        "br i1 %more, label %room, label %done",
        "room:",
        "%n = load i64, ptr %n.slot",
        "%most = add i64 %n, %batch",
        "%fits = icmp ule i64 %most, %pause",
        "br i1 %fits, label %body, label %grow",
        "body:",
        "%far = add i64 %next, %rows",
        "%near = icmp ult i64 %far, %end",
        "%stop = select i1 %near, i64 %far, i64 %end",
        "%after = call i64 @expand(ptr %ctx, i64 %next, i64 %stop)",
        "store i64 %after, ptr %next.slot",
        "call void @insert(ptr %ctx)",
        "br label %head",
        "done:",
        "ret i64 0",
        "grow:",
        "ret i64 1",
        "}",
    ]
)


def kernel_text(words: int, collide: bool = False) -> str:
    """All of this file's functions, and what they and ``expand`` call."""
    return "\n\n".join(
        [
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            "declare i64 @llvm.smin.i64(i64, i64)",
            "declare i64 @llvm.smax.i64(i64, i64)",
            '!0 = !{!"branch_weights", i32 1, i32 100000}',
            '!1 = !{!"branch_weights", i32 100000, i32 1}',
            hash_text(words, collide),
            NOTE,
            table_text(words, insert=True),
            table_text(words, insert=False),
            rehash_text(words),
            records_text(words),
            RUN,
        ]
    )


__all__ = ["kernel_text"]
