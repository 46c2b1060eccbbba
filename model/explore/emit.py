"""The successor function of one machine, as LLVM text.

``expand(ctx, first, last)`` takes states ``first..last-1`` and writes a record per successor (its words, then a word
with 32 bits of hash above the instance's number), notes events not seen before, and counts how often each action
fired. It stops before a state whose records might not fit and returns its number. ``predicates(states, count, out)``
writes one word of conditions per state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from model.explore import context as c
from model.explore.blocks import Placement, Region, signed
from model.explore.decide import Branch, Fire, Switch, When, decide
from model.explore.ground import Node
from model.explore.lower import Instance, Program

_DEADLOCK, _RANGE, _WRITE = 0, 1, 2


@dataclass(slots=True)
class Body:
    """What happens in a region, in order."""

    region: Region
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Note:
    """Tell of events that occur here: number and condition; ``instance`` is -1 for those of the state alone."""

    events: tuple[tuple[int, Node], ...]
    instance: int


@dataclass(frozen=True, slots=True)
class Test:
    """``body`` where ``condition`` holds."""

    condition: Node
    body: Body


@dataclass(frozen=True, slots=True)
class Cases:
    """The body for the value of ``subject``, if it has one."""

    subject: Node
    cases: tuple[tuple[int, Body], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """The action fires here."""

    action: int


@dataclass(frozen=True, slots=True)
class Sound:
    """``body`` where the step of ``instance`` is no fault; the fault is noted else."""

    instance: Instance
    body: Body


@dataclass(frozen=True, slots=True)
class Produce:
    """Write the successor's record."""

    instance: Instance


@dataclass(frozen=True, slots=True)
class Stuck:
    """``body`` where no instance was enabled."""

    body: Body


@dataclass(frozen=True, slots=True)
class Bits:
    """Store ``conditions`` as bits of one word."""

    conditions: tuple[Node, ...]


Step: TypeAlias = Note | Test | Cases | Count | Sound | Produce | Stuck | Bits


class _Function:
    """One function being written: plan the steps, settle where values are computed, write the text."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.placement = Placement(program.graph, program.layout)
        self.root = Body(Region(None))
        self.done: list[str] = []
        self._label = "state"
        self._count = 0

    # ---- plan

    def plan(self, body: Body, steps: Iterable[Step]) -> None:
        """Append ``steps`` to ``body`` and tell the placement what they use there."""
        for step in steps:
            body.steps.append(step)
            self.placement.use(_uses(step), body.region)

    def branches(self, body: Body, branches: Sequence[Branch]) -> None:
        """Plan a decision tree."""
        for branch in branches:
            match branch:
                case When(condition=condition, body=inside):
                    below = Body(Region(body.region))
                    self.branches(below, inside)
                    self.plan(body, [Test(condition, below)])
                case Switch(subject=subject, cases=cases):
                    bodies = [(value, Body(Region(body.region))) for value, _ in cases]
                    for (_, below), (_, inside) in zip(bodies, cases, strict=True):
                        self.branches(below, inside)
                    self.plan(body, [Cases(subject, tuple(bodies))])
                case Fire(instance=instance):
                    self._fire(body, instance)

    def _fire(self, body: Body, instance: Instance) -> None:
        self.plan(body, [Count(instance.action)])
        false = self.program.graph.false
        if instance.write_fault is not false or instance.range_fault is not false:
            below = Body(Region(body.region))
            self.plan(body, [Sound(instance, below)])
            body = below
        if instance.events:
            self.plan(body, [Note(instance.events, instance.number)])
        self.plan(body, [Produce(instance)])

    # ---- write

    def write(self, end: str) -> list[str]:
        """The text of the root body; its first block is ``state``, and it ends at label ``end``."""
        self.placement.settle()
        self._body(self.root, "state", end)
        return self.done

    def _new(self, word: str) -> str:
        self._count += 1
        return f"{word}{self._count}"

    def _body(self, body: Body, label: str, end: str) -> None:
        """Write ``body`` from ``label`` on; its last block goes to ``end``."""
        body.region.lines = [f"{label}:"]
        for step in body.steps:
            self._step(step, body.region)
        self._close(body.region, f"br label %{end}")

    def _close(self, region: Region, terminator: str, label: str | None = None) -> None:
        """End the open block of ``region``; go on with block ``label``, if any."""
        self.done += [*region.lines, terminator]
        region.lines = [f"{label}:"] if label is not None else []

    def _step(self, step: Step, region: Region) -> None:
        value = self.placement.value
        match step:
            case Note(events=events, instance=instance):
                self._note(events, instance, region)
            case Test(condition=condition, body=body):
                inside, after = self._new("then"), self._new("next")
                name = value(condition)
                self._body(body, inside, after)
                self._close(region, f"br i1 {name}, label %{inside}, label %{after}", after)
            case Cases(subject=subject, cases=cases):
                self._cases(subject, cases, region)
            case Count(action=action):
                name = self._new("%fired")
                region.lines += [
                    f"{name}.p = getelementptr i64, ptr %fired, i64 {action}",
                    f"{name}.o = load i64, ptr {name}.p",
                    f"{name} = add i64 {name}.o, 1",
                    f"store i64 {name}, ptr {name}.p",
                    "store i1 true, ptr %enabled",
                ]
            case Sound(instance=instance, body=body):
                self._sound(instance, body, region)
            case Produce(instance=instance):
                self._produce(instance, region)
            case Stuck(body=body):
                inside, after = self._new("stuck"), self._new("next")
                name = self._new("%any")
                region.lines.append(f"{name} = load i1, ptr %enabled")
                self._body(body, inside, after)
                self._close(region, f"br i1 {name}, label %{after}, label %{inside}", after)
            case Bits(conditions=conditions):
                name = self._bits(list(enumerate(conditions)), region)
                region.lines.append(f"store i64 {name}, ptr %target")

    def _cases(self, subject: Node, cases: tuple[tuple[int, Body], ...], region: Region) -> None:
        after = self._new("next")
        labels = [self._new("case") for _ in cases]
        name = self.placement.value(subject)
        for label, (_, body) in zip(labels, cases, strict=True):
            self._body(body, label, after)
        kind = "i1" if subject.boolean else "i64"
        targets = " ".join(f"{kind} {v}, label %{label}" for label, (v, _) in zip(labels, cases, strict=True))
        self._close(region, f"switch {kind} {name}, label %{after} [ {targets} ]", after)

    def _bits(self, events: Sequence[tuple[int, Node]], region: Region) -> str:
        """The name of a word with bit b set where the condition of (b, condition) holds."""
        total = "0"
        for bit, node in events:
            name = self._new("%bit")
            lines = [f"{name}.z = zext i1 {self.placement.value(node)} to i64"]
            lines.append(f"{name}.s = shl i64 {name}.z, {bit}")
            lines.append(f"{name} = or i64 {name}.s, {total}")
            region.lines += lines
            total = name
        return total

    def _note(self, events: tuple[tuple[int, Node], ...], instance: int, region: Region) -> None:
        words: dict[int, list[tuple[int, Node]]] = {}
        for number, node in events:
            words.setdefault(number // 64, []).append((number % 64, node))
        for word, bits in words.items():
            occurring = self._bits(bits, region)
            name, cold, after = self._new("%new"), self._new("cold"), self._new("next")
            region.lines += [
                f"{name}.p = getelementptr i64, ptr %seen, i64 {word}",
                f"{name}.s = load i64, ptr {name}.p",
                f"{name}.n = xor i64 {name}.s, -1",
                f"{name} = and i64 {occurring}, {name}.n",
                f"{name}.c = icmp ne i64 {name}, 0",
            ]
            self._close(region, f"br i1 {name}.c, label %{cold}, label %{after}, !prof !0", after)
            call = f"call void @note(ptr %ctx, i64 {word}, i64 {name}, i64 %i, i64 {instance})"
            self.done += [f"{cold}:", call, f"br label %{after}"]

    def _sound(self, instance: Instance, body: Body, region: Region) -> None:
        cold, inside, after = self._new("fault"), self._new("sound"), self._new("next")
        write, leaves = self.placement.value(instance.write_fault), self.placement.value(instance.range_fault)
        name = self._new("%fault")
        region.lines.append(f"{name} = or i1 {write}, {leaves}")
        region.lines.append(f"{name}.b = select i1 {write}, i64 {1 << _WRITE}, i64 {1 << _RANGE}")
        self._body(body, inside, after)
        self._close(region, f"br i1 {name}, label %{cold}, label %{inside}, !prof !0", after)
        call = f"call void @note(ptr %ctx, i64 0, i64 {name}.b, i64 %i, i64 {instance.number})"
        self.done += [f"{cold}:", call, f"br label %{after}"]

    def _produce(self, instance: Instance, region: Region) -> None:
        words = [self._word(k, instance, region) for k in range(self.program.layout.words)]
        name = self._new("%s")
        lines = [f"{name} = load ptr, ptr %out"]
        for k, word in enumerate(words):
            lines.append(f"{name}.{k} = getelementptr i64, ptr {name}, i64 {k}")
            lines.append(f"store i64 {word}, ptr {name}.{k}")
        lines += [
            f"{name}.h = call i64 @hash({', '.join(f'i64 {w}' for w in words)})",
            f"{name}.u = and i64 {name}.h, {signed(0xFFFFFFFF << 32)}",
            f"{name}.m = or i64 {name}.u, {instance.number}",
            f"{name}.mp = getelementptr i64, ptr {name}, i64 {len(words)}",
            f"store i64 {name}.m, ptr {name}.mp",
            f"{name}.x = lshr i64 {name}.h, %shift",
            f"{name}.t = getelementptr i32, ptr %table, i64 {name}.x",
            f"call void @llvm.prefetch.p0(ptr {name}.t, i32 1, i32 3, i32 1)",
            f"{name}.next = getelementptr i64, ptr {name}, i64 {len(words) + 1}",
            f"store ptr {name}.next, ptr %out",
        ]
        region.lines += lines

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
                    parts.append(("add", self._shifted(self.placement.value(write.delta), place.shift, region)))
                continue
            cleared |= place.mask
            if write.value.op == "const":
                put |= (write.value.value - place.start) << place.shift
            else:
                name = self.placement.value(write.value)
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


def _uses(step: Step) -> list[Node]:
    match step:
        case Note(events=events):
            return [node for _, node in events]
        case Test(condition=condition):
            return [condition]
        case Cases(subject=subject):
            return [subject]
        case Sound(instance=instance):
            return [instance.write_fault, instance.range_fault]
        case Produce(instance=instance):
            return [w.delta if w.delta is not None else w.value for w in instance.writes]
        case Bits(conditions=conditions):
            return list(conditions)
        case _:
            return []


def _words(count: int) -> list[str]:
    lines = ["%offset = mul i64 %i, " + str(count), "%row = getelementptr i64, ptr %states, i64 %offset"]
    for k in range(count):
        lines.append(f"%w{k}.p = getelementptr i64, ptr %row, i64 {k}")
        lines.append(f"%w{k} = load i64, ptr %w{k}.p")
    return lines


def expand_text(program: Program) -> str:
    """The function ``expand``."""
    function = _Function(program)
    root = function.root
    if program.state_events:
        function.plan(root, [Note(program.state_events, -1)])
    function.branches(root, decide(program.graph, program.instances))
    stuck = Body(Region(root.region))
    function.plan(stuck, [Note(((_DEADLOCK, program.graph.no(program.terminal)),), -1)])
    function.plan(root, [Stuck(stuck)])
    body = function.write("tail")
    words = program.layout.words
    record = 8 * (words + 1)
    reserve = record * max(1, len(program.instances))
    return "\n".join(
        [
            "define i64 @expand(ptr noalias %ctx, i64 %first, i64 %last) {",
            "entry:",
            *c.load("states", c.STATES, "ptr"),
            *c.load("table", c.TABLE, "ptr"),
            *c.load("bits", c.BITS),
            *c.load("begin", c.OUT, "ptr"),
            *c.load("end", c.OUT_END, "ptr"),
            *c.load("ends", c.ENDS, "ptr"),
            *c.load("seen", c.SEEN, "ptr"),
            *c.load("fired", c.FIRED, "ptr"),
            "%shift = sub i64 64, %bits",
            f"%limit = getelementptr i8, ptr %end, i64 -{reserve}",
            "%out = alloca ptr",
            "%enabled = alloca i1",
            "store ptr %begin, ptr %out",
            "br label %head",
            "head:",
            "%i = phi i64 [ %first, %entry ], [ %i.next, %tail ]",
            "%now = load ptr, ptr %out",
            "%more = icmp ult i64 %i, %last",
            "%room = icmp ule ptr %now, %limit",
            "%go = and i1 %more, %room",
            "br i1 %go, label %load, label %exit",
            "load:",
            "store i1 false, ptr %enabled",
            *_words(words),
            "br label %state",
            *body,
            "tail:",
            "%after = load ptr, ptr %out",
            "%a = ptrtoint ptr %after to i64",
            "%b = ptrtoint ptr %begin to i64",
            "%bytes = sub i64 %a, %b",
            f"%records = udiv exact i64 %bytes, {record}",
            "%records.n = trunc i64 %records to i32",
            "%k = sub i64 %i, %first",
            "%ends.p = getelementptr i32, ptr %ends, i64 %k",
            "store i32 %records.n, ptr %ends.p",
            "%i.next = add i64 %i, 1",
            "br label %head",
            "exit:",
            "%last.a = ptrtoint ptr %now to i64",
            "%last.b = ptrtoint ptr %begin to i64",
            "%last.bytes = sub i64 %last.a, %last.b",
            f"%count = udiv exact i64 %last.bytes, {record}",
            *c.store("%count", c.COUNT),
            "ret i64 %i",
            "}",
        ]
    )


def predicates_text(program: Program, conditions: Sequence[Node]) -> str:
    """The function ``predicates``: ``conditions`` of each of ``count`` packed states, at most 64, as bits of a word."""
    function = _Function(program)
    function.plan(function.root, [Bits(tuple(conditions))])
    return "\n".join(
        [
            "define void @predicates(ptr noalias %states, i64 %count, ptr noalias %out) {",
            "entry:",
            "br label %head",
            "head:",
            "%i = phi i64 [ 0, %entry ], [ %i.next, %tail ]",
            "%more = icmp ult i64 %i, %count",
            "br i1 %more, label %load, label %exit",
            "load:",
            *_words(program.layout.words),
            "%target = getelementptr i64, ptr %out, i64 %i",
            "br label %state",
            *function.write("tail"),
            "tail:",
            "%i.next = add i64 %i, 1",
            "br label %head",
            "exit:",
            "ret void",
            "}",
        ]
    )


__all__ = ["expand_text", "predicates_text"]
