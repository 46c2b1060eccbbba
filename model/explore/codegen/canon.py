"""The canonical state as LLVM text: what `canonical` does, for packed states, in registers.

An exchange of two elements exchanges bit fields: those as far apart in the same words go together. What is said of an
element of a sorted class is gathered into a key, the keys are sorted by a network of comparisons, and scattered again.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.explore.codegen.blocks import signed
from model.explore.layout import Layout
from model.explore.symmetry.canonical import Canonical, Keys


def canon_text(canonical: Canonical) -> str:
    """``canon(w0, ...)``: the packed canonical state, as a struct of words."""
    return _Writer(canonical).text()


class _Writer:
    def __init__(self, canonical: Canonical) -> None:
        self._canonical = canonical
        self._layout = canonical.layout
        self._lines: list[str] = []
        self._count = 0

    def _let(self, text: str) -> str:
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"{name} = {text}")
        return name

    def text(self) -> str:
        words = self._layout.words
        kind = struct_of(words)
        parameters = ", ".join(f"i64 %w{k}" for k in range(words))
        moves = self._canonical.moves
        numbers = {move: n for n, move in enumerate(sorted(set(moves)))}
        table = ", ".join(f"i32 {numbers[m]}" for m in moves)
        head = [f"@moves = internal constant [{len(moves)} x i32] [{table}]", ""] if moves else []
        self._lines = [f"define internal {kind} @canon({parameters}) noinline {{", "entry:"]
        now = [f"%w{k}" for k in range(words)]
        best = self._loop(words, len(moves), numbers) if moves else self._sorted(now)
        result = "undef"
        for k, word in enumerate(best):
            result = self._let(f"insertvalue {kind} {result}, i64 {word}, {k}")
        return "\n".join([*head, *self._lines, f"ret {kind} {result}", "}"])

    def _loop(self, words: int, moves: int, numbers: dict[tuple[int, int], int]) -> list[str]:
        """The least sorted state over all arrangements."""
        lines = self._lines
        lines += ["br label %try", "try:", "%k = phi i32 [ 0, %entry ], [ %k.next, %moved ]"]
        for k in range(words):
            lines.append(f"%now{k} = phi i64 [ %w{k}, %entry ], [ %to{k}, %moved ]")
            lines.append(f"%best{k} = phi i64 [ -1, %entry ], [ %least{k}, %moved ]")
        found = self._sorted([f"%now{k}" for k in range(words)])
        less = self._less(found, [f"%best{k}" for k in range(words)])
        for k, word in enumerate(found):
            lines.append(f"%least{k} = select i1 {less}, i64 {word}, i64 %best{k}")
        lines += [
            f"%more = icmp ult i32 %k, {moves}",
            "br i1 %more, label %move, label %done",
            "move:",
            f"%which.p = getelementptr [{moves} x i32], ptr @moves, i32 0, i32 %k",
            "%which = load i32, ptr %which.p",
            "%k.next = add i32 %k, 1",
            "switch i32 %which, label %done [ " + " ".join(f"i32 {n}, label %swap{n}" for n in numbers.values()) + " ]",
        ]
        after: dict[int, list[str]] = {}
        for (row, place), n in numbers.items():
            lines.append(f"swap{n}:")
            pairs = self._canonical.swaps[row][place][3]
            after[n] = self._exchanged([f"%now{k}" for k in range(words)], pairs)
            lines.append("br label %moved")
        lines.append("moved:")
        for k in range(words):
            values = ", ".join(f"[ {after[n][k]}, %swap{n} ]" for n in numbers.values())
            lines.append(f"%to{k} = phi i64 {values}")
        lines += ["br label %try", "done:"]
        return [f"%least{k}" for k in range(words)]

    def _less(self, a: Sequence[str], b: Sequence[str]) -> str:
        """Whether ``a`` comes before ``b``, the first word counting most."""
        result = self._let(f"icmp ult i64 {a[-1]}, {b[-1]}")
        for x, y in zip(reversed(a[:-1]), reversed(b[:-1]), strict=True):
            same = self._let(f"icmp eq i64 {x}, {y}")
            below = self._let(f"icmp ult i64 {x}, {y}")
            result = self._let(f"select i1 {same}, i1 {result}, i1 {below}")
        return result

    # ---- exchanges

    def _exchanged(self, words: list[str], pairs: Sequence[tuple[int, int]]) -> list[str]:
        """``words`` with the fields of each pair of cells exchanged."""
        groups: dict[tuple[int, int, int], int] = {}
        for pair in pairs:
            fields = self._layout.fields
            f, g = sorted((fields[c] for c in pair), key=lambda field: (field.word, field.shift))
            if f.bits:
                key = (f.word, g.word, g.shift - f.shift)
                groups[key] = groups.get(key, 0) | f.mask
        words = list(words)
        for (one, other, distance), mask in groups.items():
            down = self._moved(words[other], -distance)
            differ = self._let(f"xor i64 {down}, {words[one]}")
            here = self._let(f"and i64 {differ}, {signed(mask)}")
            there = self._moved(here, distance)
            if one == other:
                both = self._let(f"xor i64 {here}, {there}")
                words[one] = self._let(f"xor i64 {words[one]}, {both}")
            else:
                words[one], words[other] = (
                    self._let(f"xor i64 {words[one]}, {here}"),
                    self._let(f"xor i64 {words[other]}, {there}"),
                )
        return words

    def _moved(self, value: str, left: int) -> str:
        if left == 0:
            return value
        return self._let(f"shl i64 {value}, {left}" if left > 0 else f"lshr i64 {value}, {-left}")

    # ---- sorting

    def _sorted(self, words: list[str]) -> list[str]:
        """``words`` with the elements of each sorted class in order."""
        for keys in self._canonical.keys:
            if not keys.places:
                continue
            runs = [_runs(self._layout, keys, at) for at in range(len(keys.elements))]
            found = [self._key(words, keys, r) for r in runs]
            for a, b in network(len(found)):
                first, second = found[a], found[b]
                if keys.words == 1:
                    found[a] = [self._let(f"call i64 @llvm.umin.i64(i64 {first[0]}, i64 {second[0]})")]
                    found[b] = [self._let(f"call i64 @llvm.umax.i64(i64 {first[0]}, i64 {second[0]})")]
                    continue
                less = self._less(second, first)
                pairs = list(zip(first, second, strict=True))
                found[a] = [self._let(f"select i1 {less}, i64 {y}, i64 {x}") for x, y in pairs]
                found[b] = [self._let(f"select i1 {less}, i64 {x}, i64 {y}") for x, y in pairs]
            words = self._scattered(words, runs, found)
        return words

    def _key(self, words: Sequence[str], keys: Keys, runs: Sequence[_Run]) -> list[str]:
        result = ["0"] * keys.words
        for word, shift, bits, to, place in runs:
            part = self._moved(words[word], place - shift)
            masked = self._let(f"and i64 {part}, {signed(((1 << bits) - 1) << place)}")
            result[to] = masked if result[to] == "0" else self._let(f"or i64 {result[to]}, {masked}")
        return result

    def _scattered(
        self, words: Sequence[str], runs: Sequence[Sequence[_Run]], keys: Sequence[Sequence[str]]
    ) -> list[str]:
        result = list(words)
        for k in range(len(words)):
            mask = sum(((1 << bits) - 1) << shift for each in runs for word, shift, bits, _, _ in each if word == k)
            if mask:
                result[k] = self._let(f"and i64 {words[k]}, {signed(~mask & (1 << 64) - 1)}")
        for each, key in zip(runs, keys, strict=True):
            for word, shift, bits, to, place in each:
                masked = self._let(f"and i64 {key[to]}, {signed(((1 << bits) - 1) << place)}")
                result[word] = self._let(f"or i64 {result[word]}, {self._moved(masked, shift - place)}")
        return result


_Run = tuple[int, int, int, int, int]
"""Bits that lie together in the state and in the key: word, shift, bits; word of the key, shift there."""


def _runs(layout: Layout, keys: Keys, at: int) -> list[_Run]:
    """The runs of element number ``at`` of a class, in order."""
    found: list[_Run] = []
    for cell, place in zip(keys.cells[at], keys.places, strict=True):
        field = layout.fields[cell]
        if found:
            word, shift, bits, to, start = found[-1]
            if (field.word, field.shift) == (word, shift + bits) and (place.word, place.shift) == (to, start + bits):
                found[-1] = (word, shift, bits + field.bits, to, start)
                continue
        found.append((field.word, field.shift, field.bits, place.word, place.shift))
    return found


def network(size: int) -> list[tuple[int, int]]:
    """Batcher's odd-even merge: pairs of places to be put in order, one after the other, that sort ``size`` things."""
    found = []
    step = 1
    while step < size:
        distance = step
        while distance:
            for start in range(distance % step, size - distance, 2 * distance):
                for i in range(min(distance, size - start - distance)):
                    a, b = start + i, start + i + distance
                    if a // (2 * step) == b // (2 * step):
                        found.append((a, b))
            distance //= 2
        step *= 2
    return found


def struct_of(words: int) -> str:
    """The type of what ``canon`` returns."""
    return "{ " + ", ".join(["i64"] * words) + " }"


__all__ = ["canon_text", "network", "struct_of"]
