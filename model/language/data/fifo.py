"""A first-in-first-out channel: a length, and for each slot the fields of the message in it.

The first message is in slot 1. Slots behind the last message hold the first value of each field, and no element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from model.language.data.base import (
    TRUE,
    CellValues,
    Indices,
    before,
    both,
    either,
    fresh,
    is_true,
    number,
    quantified,
    read,
    total,
    write,
)
from model.language.data.elements import held_elements
from model.language.data.shown import Message, Plain, QueueText
from model.language.data.store import Sent, Store, Traffic, as_symbol, guard, plain_value
from model.language.expressions import Const, Expr, arithmetic, compare, ite, logic
from model.language.statements import choose
from model.language.tracing import Kind, Recording, recording
from model.language.variables import VariableBase


@dataclass(frozen=True, slots=True, eq=False)
class _Removal:
    """What a step takes out: slot i gets what slot i + 1 held where ``shifts(i)``."""

    shifts: Callable[[int], Expr]


class Fifo(Store):
    """See the module."""

    ordered: ClassVar = True

    def declare(self) -> None:
        self.slots: list[dict[str, VariableBase]] = []
        for number_ in range(1, self.capacity + 1):
            slot: dict[str, VariableBase] = {}
            for field, domain in self.type.fields.items():
                is_element = field in self.type.elements
                slot[field] = self.variable(
                    f"{number_}_{field}",
                    (domain,) if is_element else (),
                    bool if is_element else domain,
                    False if is_element else self._nothing(field).value,
                    f"{field} in slot {number_}",
                )
            self.slots.append(slot)

    def _nothing(self, field: str) -> Const:
        """What a field holds in a slot without a message."""
        return Const(False) if field in self.type.elements else self.type.values(field)[0]

    def variables(self) -> list[VariableBase]:
        return [self.length, *(variable for slot in self.slots for variable in slot.values())]

    # ---- reading

    def _matches(self, slot: int, over: Indices, given: dict[str, Expr]) -> list[Expr]:
        """That the message in ``slot`` has these fields; meaningful if there is one."""
        parts = []
        for field, value in given.items():
            variable = self.slots[slot][field]
            if field in self.type.elements:
                parts.append(read(variable, (*over, as_symbol(value))))
            else:
                parts.append(compare("==", read(variable, over), value))
        return parts

    def receive(self, current: Recording, over: Indices, given: dict[str, Expr]) -> dict[str, Any]:
        self.check_reads()
        guard(current, compare(">", read(self.length, over), 0))
        fields: dict[str, Any] = dict(given)
        asked = dict(given)
        for field in self.type.fields:
            if field in given:
                continue
            if field in self.type.elements:
                fields[field] = asked[field] = choose(self.type.elements[field], field)
            else:
                fields[field] = read(self.slots[0][field], over)
        for condition in self._matches(0, over, asked):
            guard(current, condition)
        removal = self.removal()
        self.pending(current, over).take(_Removal(lambda _: removal), removal)
        return fields

    def count(self, over: Indices, given: dict[str, Expr]) -> Expr:
        return total(
            [
                number(both([compare(">", read(self.length, over), slot), *self._matches(slot, over, given)]))
                for slot in range(self.capacity)
            ]
        )

    def lose(self) -> None:
        current, over = recording("lose", Kind.ACTION), self.choose_over()
        position = choose(range(1, self.capacity + 1), "position")
        guard(current, compare(">=", read(self.length, over), position))
        self.pending(current, over).take(_Removal(lambda slot: compare("<=", position, slot + 1)), TRUE)

    # ---- writing

    def settle(self, recording: Recording, traffic: Traffic) -> None:
        over, removal = traffic.over, traffic.taken
        arrivals = self._arrivals(traffic)
        happens = either([s.condition for s in traffic.sent] + ([removal.condition] if removal else []))
        for slot, variables in enumerate(self.slots):
            for field, variable in variables.items():
                extra = fresh((self.type.elements[field],)) if field in self.type.elements else ()
                value = before(variable, (*over, *extra))
                if removal is not None:
                    behind = slot + 1 < self.capacity
                    after = before(self.slots[slot + 1][field], (*over, *extra)) if behind else self._nothing(field)
                    value = _choice(removal.what.shifts(slot), after, value)
                for sent, arrives in arrivals[slot]:
                    new = compare("==", extra[0], sent.values[field]) if extra else sent.values[field]
                    value = _choice(arrives, new, value)
                binders = (*traffic.loops, *extra)
                write(recording, variable, (*over, *extra), value, binders=binders, condition=happens)

    def _arrivals(self, traffic: Traffic) -> list[list[tuple[Sent, Expr]]]:
        """For each slot what may arrive in it, and when: behind what is left, in the order of the sends."""
        result: list[list[tuple[Sent, Expr]]] = [[] for _ in self.slots]
        length = before(self.length, traffic.over)
        certain = 0
        if traffic.taken is not None:
            if is_true(traffic.taken.condition):
                certain -= 1
            else:
                length = arithmetic("-", length, number(traffic.taken.condition))
        for sent in traffic.sent:
            for slot in range(self.capacity):
                arrives = both([sent.condition, compare("==", length, slot - certain)])
                result[slot].append((sent, arrives))
            if is_true(sent.condition):
                certain += 1
            else:
                length = arithmetic("+", length, number(sent.condition))
        return result

    # ---- the invariant, and showing

    def consistent(self, over: Indices) -> Expr:
        parts: list[Expr] = []
        for slot, variables in enumerate(self.slots):
            empty = compare("<=", before(self.length, over), slot)
            for field, variable in variables.items():
                if field in self.type.elements:
                    (symbol,) = fresh((self.type.elements[field],))
                    held = quantified("count", (symbol,), before(variable, (*over, symbol)))
                    parts.append(compare("==", held, ite(empty, 0, 1)))
                else:
                    nothing = compare("==", before(variable, over), self._nothing(field))
                    parts.append(logic("=>", empty, nothing))
        return both(parts)

    def text(self, index: tuple[int, ...], values: CellValues) -> str:
        length = values[self.length.name, index]
        held, behind = (
            [self._message(slot, index, values) for slot in some] for some in (self.slots[:length], self.slots[length:])
        )
        odd = any(not self._is_empty(slot, index, values) for slot in self.slots[length:])
        return QueueText(held, f" before {QueueText(behind)}" if odd else "")

    def _is_empty(self, slot: dict[str, VariableBase], index: tuple[int, ...], values: CellValues) -> bool:
        plain = all(values[slot[f].name, index] == self._nothing(f).raw for f in self.type.plain)
        return plain and not any(held_elements(self.machine, slot[f], index, values) for f in self.type.elements)

    def _message(self, slot: dict[str, VariableBase], index: tuple[int, ...], values: CellValues) -> Message:
        shown: dict[str, Plain] = {}
        for field, variable in slot.items():
            if field in self.type.elements:
                shown[field] = "+".join(held_elements(self.machine, variable, index, values)) or "none"
            else:
                shown[field] = plain_value(self.machine, variable.domain, values[variable.name, index])
        return shown


def _choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    return then if is_true(condition) else ite(condition, then, otherwise)


__all__ = ["Fifo"]
