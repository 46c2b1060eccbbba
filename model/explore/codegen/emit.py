"""The successor function of one machine, as LLVM text.

``expand(ctx, first, last)`` takes states ``first..last-1`` of a shard and writes a record per successor into the buffer
for the successor's shard: its words, then a word of 32 bits of hash, 12 bits of the state's row (its number less
``first``) and 20 bits of the instance's number. It notes events not seen before and counts how often each action fired.
It stops before a state whose records might not fit and returns its number. ``predicates(states, count, out)`` writes
one word of conditions per state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from model.explore.codegen import context as c
from model.explore.codegen import plan
from model.explore.codegen.blocks import Region, signed
from model.explore.codegen.decide import Branch, decide
from model.explore.codegen.each import each_state, load_words
from model.explore.codegen.routing import route
from model.explore.packing import PackedProgram
from model.lowering.ground import Node
from model.lowering.lower import Instance

_DEADLOCK, _RANGE, _WRITE = 0, 1, 2
_SHARED = "ptr %ctx, ptr %row, i64 %i, i64 %row.n, ptr %seen, ptr %fired, ptr %out, ptr %enabled"


class _Writer:
    """Writes the text of one planned function."""

    def __init__(self, program: PackedProgram, parts: list[list[Branch]]) -> None:
        self.program: Final = program
        self.planner: Final = plan.Planner(program, parts)
        self.done: list[str] = []
        self._count = 0

    def write(self, end: str) -> list[str]:
        """The text of the root body; its first block is ``state``, and it ends at label ``end``."""
        self.planner.placement.settle()
        self._body(self.planner.root, "state", end)
        return self.done

    def _value(self, node: Node, region: Region) -> str:
        return self.planner.placement.value(node, region)

    def _new(self, word: str) -> str:
        self._count += 1
        return f"{word}{self._count}"

    def _body(self, body: plan.Body, label: str, end: str) -> None:
        """Write ``body`` from ``label`` on; its last block goes to ``end``."""
        body.region.lines = [f"{label}:"]
        for step in body.steps:
            self._step(step, body.region)
        self._close(body.region, f"br label %{end}")

    def _close(self, region: Region, terminator: str, label: str | None = None) -> None:
        """End the open block of ``region``; go on with block ``label``, if any."""
        self.done += [*region.lines, terminator]
        region.lines = [f"{label}:"] if label is not None else []

    def _step(self, step: plan.Step, region: Region) -> None:
        match step:
            case plan.Alarm(events=events, instance=instance):
                self._alarm(events, instance, region)
            case plan.Hope(events=events, body=body):
                self._hope(events, body, region)
            case plan.Note(events=events, instance=instance):
                self._note(events, instance, region)
            case plan.Test(condition=condition, body=body):
                inside, after = self._new("then"), self._new("next")
                name = self._value(condition, region)
                self._body(body, inside, after)
                self._close(region, f"br i1 {name}, label %{inside}, label %{after}", after)
            case plan.Cases(subject=subject, cases=cases):
                self._cases(subject, cases, region)
            case plan.Count(action=action):
                name = self._new("%fired")
                region.lines += [
                    f"{name}.p = getelementptr i64, ptr %fired, i64 {action}",
                    f"{name}.o = load i64, ptr {name}.p",
                    f"{name} = add i64 {name}.o, 1",
                    f"store i64 {name}, ptr {name}.p",
                    "store i64 1, ptr %enabled",
                ]
            case plan.Sound(instance=instance, body=body):
                self._sound(instance, body, region)
            case plan.Produce(instance=instance):
                words = [self._word(k, instance, region) for k in range(self.program.layout.words)]
                region.lines.append(route(words, "%row.n", str(instance.number)))
                # A block of its own: the time that code takes to generate grows faster than a block's size.
                after = self._new("next")
                self._close(region, f"br label %{after}", after)
            case plan.Stuck(body=body):
                inside, after = self._new("stuck"), self._new("next")
                name = self._new("%any")
                region.lines += [f"{name}.l = load i64, ptr %enabled", f"{name} = icmp ne i64 {name}.l, 0"]
                self._body(body, inside, after)
                self._close(region, f"br i1 {name}, label %{after}, label %{inside}", after)
            case plan.Part(number=number):
                region.lines.append(f"call void @part{number}({_SHARED})")
            case plan.Bits(conditions=conditions):
                name = self._bits(list(enumerate(conditions)), region, region.lines)
                region.lines.append(f"store i64 {name}, ptr %target")

    def _cases(self, subject: Node, cases: tuple[tuple[int, plan.Body], ...], region: Region) -> None:
        after = self._new("next")
        labels = [self._new("case") for _ in cases]
        name = self._value(subject, region)
        for label, (_, body) in zip(labels, cases, strict=True):
            self._body(body, label, after)
        kind = "i1" if subject.boolean else "i64"
        targets = " ".join(f"{kind} {v}, label %{label}" for label, (v, _) in zip(labels, cases, strict=True))
        self._close(region, f"switch {kind} {name}, label %{after} [ {targets} ]", after)

    # ---- events

    def _bits(self, events: Sequence[tuple[int, Node]], region: Region, lines: list[str]) -> str:
        """The name of a word with bit b set where the condition of (b, condition) holds; its text goes to ``lines``."""
        total = "0"
        for bit, node in events:
            name = self._new("%bit")
            lines.append(f"{name}.z = zext i1 {self._value(node, region)} to i64")
            lines.append(f"{name}.s = shl i64 {name}.z, {bit}")
            lines.append(f"{name} = or i64 {name}.s, {total}")
            total = name
        return total

    def _alarm(self, events: plan.Events, instance: int, region: Region) -> None:
        """One test of whether any occurs; which ones is found out apart."""
        total = "false"
        for _, node in events:
            name = self._new("%any")
            region.lines.append(f"{name} = or i1 {self._value(node, region)}, {total}")
            total = name
        cold, after = self._new("cold"), self._new("next")
        lines = [f"{cold}:"]
        for word, inside in _by_word(events):
            bits = self._bits(inside, region, lines)
            lines.append(f"call void @note(ptr %ctx, i64 {word}, i64 {bits}, i64 %i, i64 {instance})")
        self._close(region, f"br i1 {total}, label %{cold}, label %{after}, !prof !0", after)
        self.done += [*lines, f"br label %{after}"]

    def _hope(self, events: plan.Events, body: plan.Body, region: Region) -> None:
        inside, after = self._new("hope"), self._new("next")
        total = "true"
        for word, bits in _by_word(events):
            name, mask = self._new("%seen"), signed(sum(1 << bit for bit, _ in bits))
            region.lines += [
                f"{name}.p = getelementptr i64, ptr %seen, i64 {word}",
                f"{name}.s = load i64, ptr {name}.p",
                f"{name}.m = and i64 {name}.s, {mask}",
                f"{name}.c = icmp eq i64 {name}.m, {mask}",
                f"{name} = and i1 {name}.c, {total}",
            ]
            total = name
        self._body(body, inside, after)
        self._close(region, f"br i1 {total}, label %{after}, label %{inside}, !prof !1", after)

    def _note(self, events: plan.Events, instance: int, region: Region) -> None:
        for word, bits in _by_word(events):
            name = self._bits(bits, region, region.lines)
            region.lines.append(f"call void @note(ptr %ctx, i64 {word}, i64 {name}, i64 %i, i64 {instance})")

    def _sound(self, instance: Instance, body: plan.Body, region: Region) -> None:
        cold, inside, after = self._new("fault"), self._new("sound"), self._new("next")
        write, leaves = self._value(instance.write_fault, region), self._value(instance.range_fault, region)
        name = self._new("%fault")
        region.lines.append(f"{name} = or i1 {write}, {leaves}")
        self._body(body, inside, after)
        self._close(region, f"br i1 {name}, label %{cold}, label %{inside}, !prof !0", after)
        self.done += [
            f"{cold}:",
            f"{name}.b = select i1 {write}, i64 {1 << _WRITE}, i64 {1 << _RANGE}",
            f"call void @note(ptr %ctx, i64 0, i64 {name}.b, i64 %i, i64 {instance.number})",
            f"br label %{after}",
        ]

    # ---- the new state

    def _word(self, k: int, instance: Instance, region: Region) -> str:
        """The name of word ``k`` after the step. Additions are made in place: within its domain no field carries."""
        cleared = added = put = 0
        parts: list[tuple[str, str]] = []
        for write in instance.writes:
            place = self.program.layout.fields[write.cell]
            if place.word != k or place.bits == 0:
                continue
            if write.delta is not None:
                if write.delta.op == "const":
                    added += write.delta.value << place.shift
                else:
                    parts.append(("add", self._shifted(self._value(write.delta, region), place.shift, region)))
                continue
            cleared |= place.mask
            if write.value.op == "const":
                put |= (write.value.value - place.start) << place.shift
            else:
                name = self._value(write.value, region)
                if write.value.boolean:
                    wide = self._new("%wide")
                    region.lines.append(f"{wide} = zext i1 {name} to i64")
                    name = wide
                elif place.start:
                    rel = self._new("%rel")
                    region.lines.append(f"{rel} = sub i64 {name}, {place.start}")
                    name = rel
                parts.append(("or", self._shifted(name, place.shift, region)))
        constant = [("and", ~cleared if cleared else 0), ("or", put), ("add", added)]
        operations = [(op, str(signed(n))) for op, n in constant if n] + parts
        result = f"%w{k}"
        for op, operand in operations:
            name = self._new("%word")
            region.lines.append(f"{name} = {op} i64 {result}, {operand}")
            result = name
        return result

    def _shifted(self, value: str, shift: int, region: Region) -> str:
        if shift == 0:
            return value
        name = self._new("%up")
        region.lines.append(f"{name} = shl i64 {value}, {shift}")
        return name


def _by_word(events: plan.Events) -> list[tuple[int, list[tuple[int, Node]]]]:
    """Events by the word of 64 that their number lies in, with their bits in it."""
    words: dict[int, list[tuple[int, Node]]] = {}
    for number, node in events:
        words.setdefault(number // 64, []).append((number % 64, node))
    return list(words.items())


def _part_text(program: PackedProgram, number: int, branches: list[Branch], parts: list[list[Branch]]) -> str:
    """A function for ``branches``, which a larger one calls."""
    writer = _Writer(program, parts)
    writer.planner.branches(writer.planner.root, branches)
    return "\n".join(
        [
            f"define internal void @part{number}({_SHARED}) noinline {{",
            "entry:",
            *load_words(program.layout.words, "%row", "w"),
            "br label %state",
            *writer.write("exit"),
            "exit:",
            "ret void",
            "}",
        ]
    )


def expand_text(program: PackedProgram, shards: int) -> str:
    """The function ``expand``, and the functions of its parts."""
    words = program.layout.words
    parts: list[list[Branch]] = []
    writer = _Writer(program, parts)
    planner = writer.planner
    planner.events(planner.root, program.state_events, -1)
    planner.branches(planner.root, decide(program.graph, program.instances))
    functions: list[str] = []
    # Writing a part may add further ones.
    for number, part in enumerate(parts):
        functions.append(_part_text(program, number, part, parts))
    stuck = planner.below(planner.root)
    planner.add(stuck, plan.Alarm(((_DEADLOCK, program.graph.no(program.terminal)),), -1))
    planner.add(planner.root, plan.Stuck(stuck))
    full = "false"
    reset, check = [], []
    for s in range(shards):
        reset += [
            f"%base{s}.slot = getelementptr i64, ptr %ctx, i64 {c.buffers(shards) + s}",
            f"%base{s} = load ptr, ptr %base{s}.slot",
            f"%bound{s} = getelementptr i8, ptr %base{s}, i64 %bytes",
            f"%cursor{s} = getelementptr i64, ptr %ctx, i64 {c.cursors(shards) + s}",
            f"store ptr %base{s}, ptr %cursor{s}",
        ]
        check += [
            f"%now{s} = load ptr, ptr %cursor{s}",
            f"%full{s}.c = icmp ugt ptr %now{s}, %bound{s}",
            f"%full{s} = or i1 %full{s}.c, {full}",
        ]
        full = f"%full{s}"
    functions.append(
        "\n".join(
            [
                "define i64 @expand(ptr noalias %ctx, i64 %first, i64 %last) {",
                "entry:",
                *c.load("states", c.STATES, "ptr"),
                *c.load("seen", c.SEEN, "ptr"),
                *c.load("fired", c.FIRED, "ptr"),
                *c.load("room", c.ROOM),
                f"%bytes = mul i64 %room, {8 * (words + 1)}",
                # In memory, not in registers: each successor would otherwise be a place where values of it meet.
                f"%out = getelementptr i64, ptr %ctx, i64 {c.cursors(shards)}",
                f"%enabled = getelementptr i64, ptr %ctx, i64 {c.ENABLED}",
                *reset,
                "br label %head",
                "head:",
                "%i = phi i64 [ %first, %entry ], [ %i.next, %tail ]",
                *check,
                "%over = icmp uge i64 %i, %last",
                f"%stop = or i1 %over, {full}",
                "br i1 %stop, label %exit, label %load",
                "load:",
                "store i64 0, ptr %enabled",
                "%row.n = sub i64 %i, %first",
                f"%offset = mul i64 %i, {words}",
                "%row = getelementptr i64, ptr %states, i64 %offset",
                *load_words(words, "%row", "w"),
                "br label %state",
                *writer.write("tail"),
                "tail:",
                "%i.next = add i64 %i, 1",
                "br label %head",
                "exit:",
                "ret i64 %i",
                "}",
            ]
        )
    )
    return "\n\n".join(functions)


def predicates_text(program: PackedProgram, conditions: Sequence[Node]) -> str:
    """The function ``predicates``: ``conditions`` of each of ``count`` packed states, at most 64, as bits of a word."""
    writer = _Writer(program, [])
    writer.planner.add(writer.planner.root, plan.Bits(tuple(conditions)))
    target = "%target = getelementptr i64, ptr %out, i64 %i"
    body = [target, "br label %state", *writer.write("done"), "done:"]
    return each_state("predicates", program.layout.words, body)


__all__ = ["expand_text", "predicates_text"]
