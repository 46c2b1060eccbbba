"""A channel without order: for each content that a message can have, how many such messages there are, and a length.

Fields over a sort are indices of the counts; of the other fields each combination of values has a variable of its own.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from model.language.data.base import (
    CellValues,
    Indices,
    before,
    both,
    either,
    fresh,
    is_true,
    quantified,
    read,
    total,
    write,
)
from model.language.data.records import contents
from model.language.data.shown import BagText, Message, Plain
from model.language.data.store import Store, Traffic, as_symbol, guard, plain_value
from model.language.errors import SpecError, where
from model.language.expressions import Const, Expr, Symbol, compare, ite
from model.language.statements import choose
from model.language.tracing import Kind, Recording, recording
from model.language.variables import VariableBase

MOST_CONTENTS = 256


class Bag(Store):
    """See the module."""

    ordered: ClassVar = False

    def declare(self) -> None:
        of = self.type
        sizes = 1
        for field, domain in of.plain.items():
            sizes *= len(self.machine.values(domain))
            if sizes > MOST_CONTENTS:
                raise SpecError(
                    f"{self.name}: with {field} a message has {sizes:,} contents, and order=Order.ANY counts messages "
                    f"of each; at most {MOST_CONTENTS}",
                    where(),
                )
        if len(self.over) + len(of.elements) > 3:
            raise SpecError(
                f"{self.name}: order=Order.ANY counts messages by {', '.join(of.elements)}: at most "
                f"{3 - len(self.over)} fields over sorts",
                where(),
            )
        sorts, domain = tuple(of.elements.values()), range(self.capacity + 1)
        self.counts: list[tuple[tuple[Const, ...], VariableBase]] = []
        for number, content in enumerate(contents(of), start=1):
            # Words joined may be the same for two contents, numbers are not.
            label = "_".join(map(self._word, content)) if content else "messages"
            self.counts.append((content, self.variable(str(number), sorts, domain, 0, label)))

    def _word(self, value: Const) -> str:
        text = str(value).lower() if isinstance(value.value, bool) else getattr(value.value, "name", str(value))
        return text.replace("-", "minus_")

    def variables(self) -> list[VariableBase]:
        return [self.length, *(variable for _, variable in self.counts)]

    def words(self) -> dict[str, str]:
        """``inbox.count(ASK)``: without the fields that are elements."""
        shown = {
            v.name: [self.machine.show(d, c.raw) for d, c in zip(self.type.plain.values(), content, strict=True)]
            for content, v in self.counts
        }
        return {name: f"{self.name}.count({', '.join(values)})" for name, values in shown.items()}

    # ---- which counts a message is among

    def _matching(self, given: dict[str, Expr]) -> list[tuple[VariableBase, Expr]]:
        """The counts that messages with the plain fields ``given`` may be among, and when."""
        found = []
        for content, variable in self.counts:
            conditions: list[Expr] = []
            for value, field in zip(content, self.type.plain, strict=True):
                asked = given.get(field)
                if isinstance(asked, Const):
                    if asked.raw != value.raw:
                        break
                elif asked is not None:
                    conditions.append(compare("==", asked, value))
            else:
                found.append((variable, both(conditions)))
        return found

    def _elements(self, given: dict[str, Expr]) -> tuple[Indices, Indices]:
        """The indices of a count beside ``over``: those ``given``, and new symbols, which are returned apart, too."""
        indices: list[Symbol] = []
        new: list[Symbol] = []
        for field, sort in self.type.elements.items():
            if field in given:
                indices.append(as_symbol(given[field]))
            else:
                new.extend(fresh((sort,)))
                indices.append(new[-1])
        return tuple(indices), tuple(new)

    def count(self, over: Indices, given: dict[str, Expr]) -> Expr:
        indices, new = self._elements(given)
        parts = []
        for variable, condition in self._matching(given):
            held = quantified("sum", new, read(variable, (*over, *indices)))
            parts.append(held if is_true(condition) else ite(condition, held, 0))
        return total(parts)

    # ---- writing

    def _take(self, current: Recording, over: Indices, given: dict[str, Expr], removal: Expr) -> None:
        """A message with all the fields ``given`` leaves."""
        indices, _ = self._elements(given)
        matching = self._matching(given)
        present = [both([when, compare(">", read(v, (*over, *indices)), 0)]) for v, when in matching]
        guard(current, either(present))
        self.pending(current, over).take(given, removal)

    def receive(self, current: Recording, over: Indices, given: dict[str, Expr]) -> dict[str, Any]:
        self.check_reads()
        fields = {
            field: given[field] if field in given else choose(domain, field)
            for field, domain in self.type.fields.items()
        }
        self._take(current, over, fields, self.removal())
        return fields

    def lose(self) -> None:
        over = self.choose_over()
        fields = {field: choose(domain, field) for field, domain in self.type.fields.items()}
        self._take(recording("lose", Kind.ACTION), over, fields, Const(True))

    def amount(self, values: Any) -> Expr:
        """A number outside its field's range is a fault, never a message that is not counted."""
        fits: list[Expr] = []
        for field, domain in self.type.plain.items():
            value = values[field]
            if isinstance(domain, range) and not isinstance(value, Const):
                fits += [compare(">=", value, domain.start), compare("<", value, domain.stop)]
        return ite(both(fits), 1, self.capacity + 1) if fits else Const(1)

    def settle(self, recording: Recording, traffic: Traffic) -> None:
        taken = traffic.taken
        moves: list[tuple[Any, Indices, Expr, int]] = (
            [(taken.what, (), taken.condition, -1)] if taken is not None else []
        )
        moves += [(s.values, s.loops, s.condition, 1) for s in traffic.sent]
        for fields, loops, condition, amount in moves:
            indices, _ = self._elements(fields)
            for variable, when in self._matching(fields):
                write(
                    recording,
                    variable,
                    (*traffic.over, *indices),
                    Const(amount),
                    adds=True,
                    binders=(*traffic.loops, *loops),
                    condition=both([condition, when]),
                )

    # ---- the invariant, and showing

    def consistent(self, over: Indices) -> Expr:
        symbols = fresh(tuple(self.type.elements.values()))
        held = [quantified("sum", symbols, before(v, (*over, *symbols))) for _, v in self.counts]
        return compare("==", before(self.length, over), total(held))

    def text(self, index: tuple[int, ...], values: CellValues) -> str:
        machine, in_all = self.machine, 0
        counts: list[tuple[Message, int]] = []
        names = {field: machine.sorts[sort].names for field, sort in self.type.elements.items()}
        for content, variable in self.counts:
            plain = dict(zip(self.type.plain, content, strict=True))
            for position in itertools.product(*(range(len(n)) for n in names.values())):
                held = values[variable.name, (*index, *position)]
                shown: dict[str, Plain] = {f: plain_value(machine, self.type.plain[f], c.raw) for f, c in plain.items()}
                shown |= {f: n[i] for (f, n), i in zip(names.items(), position, strict=True)}
                in_all += held
                if held:
                    counts.append(({field: shown[field] for field in self.type.fields}, held))
        shown_length = values[self.length.name, index]
        return BagText(counts, "" if shown_length == in_all else f" of {shown_length}")


__all__ = ["Bag"]
