"""The rounds of a search, as LLVM text: threads expand states of their shards, meet, and take in what was found."""

from __future__ import annotations

from model.explore.codegen import context as c
from model.explore.codegen.each import load_words
from model.explore.codegen.routing import route

# Some hundred microseconds, longer than threads usually wait for each other. Then they sleep: who only yields, where
# something else wants the core, waits for a whole slice of it, at every meeting.
_SPINS = 400_000
_NAP_MICROSECONDS = 20


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
            *load_words(words, "%from", "s"),
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
        "define internal i1 @barrier(ptr %shared, i64 %goal) {",
        "entry:",
        f"%arrived = getelementptr i64, ptr %shared, i64 {c.ARRIVED}",
        f"%abort = getelementptr i64, ptr %shared, i64 {c.ABORT}",
        f"%nap.slot = getelementptr i64, ptr %shared, i64 {c.NAP}",
        "%nap = load ptr, ptr %nap.slot",
        "%before = atomicrmw add ptr %arrived, i64 1 seq_cst",
        "br label %head",
        "head:",
        "%spins = phi i64 [ 0, %entry ], [ %spins.next, %spin ], [ 0, %sleep ]",
        "%now = load atomic i64, ptr %arrived seq_cst, align 8",
        "%done = icmp uge i64 %now, %goal",
        "br i1 %done, label %exit, label %wait",
        "wait:",
        "%spins.next = add i64 %spins, 1",
        f"%patient = icmp ult i64 %spins, {_SPINS}",
        "br i1 %patient, label %spin, label %sleep",
        "spin:",
        "br label %head",
        "sleep:",
        f"%unused = call i32 %nap(i32 {_NAP_MICROSECONDS})",
        # Who waits this long may wait for a thread that never comes.
        "%stop = load atomic i64, ptr %abort seq_cst, align 8",
        "%stopped = icmp ne i64 %stop, 0",
        "br i1 %stopped, label %leave, label %head",
        "exit:",
        "ret i1 false",
        "leave:",
        "ret i1 true",
        "}",
    ]
)


def run_text(words: int, shards: int) -> str:
    """``run(blocks, low, high, shared, threads, me)``: expand, for shards low..high-1, up to their END.

    ``blocks`` points to the addresses of all shards' blocks. Returns 0 when every shard of every thread is done, 1 when
    one has to grow, 2 when ABORT was set while it waited for others. In a round each thread first expands some states
    of each of its shards, then takes into each of its shards the records that all threads wrote for it, in the order of
    the shards that they come from: so what is found, and its order, does not depend on the number of threads. A single
    thread goes on with further levels if it is told how many, as long as each is one batch and its ends are what the
    caller would have set: a deep graph of small levels would else spend its time in Python.
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
        "%d.large.old = load i64, ptr %largest",
        "%d.larger = icmp ugt i64 %d.left, %d.large.old",
        "%d.large.new = select i1 %d.larger, i64 %d.left, i64 %d.large.old",
        "store i64 %d.large.new, ptr %largest",
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
            "%largest = alloca i64",
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
            "%aborted.a = call i1 @barrier(ptr %shared, i64 %goal.a)",
            "br i1 %aborted.a, label %aborted, label %met",
            "met:",
            *loop("gather", "0", "%threads", gather, "met", "gathered"),
            "%status = load i64, ptr %all",
            "%must.grow = icmp ugt i64 %status, 1",
            "br i1 %must.grow, label %grow, label %ask",
            "ask:",
            "%idle = icmp eq i64 %status, 0",
            "br i1 %idle, label %idle.end, label %go",
            "go:",
            *loop("step", "%low", "%high", step, "go", "stepped"),
            "%aborted.b = call i1 @barrier(ptr %shared, i64 %goal.b)",
            "br i1 %aborted.b, label %aborted, label %met.again",
            "met.again:",
            *loop(
                "to",
                "%low",
                "%high",
                [
                    *(line.format("to") for line in block),
                    *loop("from", "0", str(shards), take, "to.body", "taken"),
                ],
                "met.again",
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
            "store i64 0, ptr %largest",
            *loop("deep", "0", str(shards), deepen, "may.deepen", "deepened"),
            f"%stop.slot = getelementptr i64, ptr %shared, i64 {c.STOP}",
            "%stop = load i64, ptr %stop.slot",
            "%left.all = load i64, ptr %left",
            "%expanded.all = load i64, ptr %expanded",
            "%would = add i64 %left.all, %expanded.all",
            "%any = icmp ne i64 %left.all, 0",
            "%small = icmp ult i64 %would, %stop",
            f"%each.slot = getelementptr i64, ptr %shared, i64 {c.EACH}",
            "%each = load i64, ptr %each.slot",
            "%largest.all = load i64, ptr %largest",
            "%fits = icmp ule i64 %largest.all, %each",
            "%some = and i1 %any, %small",
            "%go.on = and i1 %some, %fits",
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
            "aborted:",
            "ret i64 2",
            "}",
        ]
    )
