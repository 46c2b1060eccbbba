"""A machine's states and steps as formulas.

A state is one unknown for each cell. A step is chosen by its number: that of an instance of the `Program`. What the
formulas say is what `model.semantics` does: a step needs every conjunct of its instance's guard, is no fault, writes
what the instance writes, and leaves every other cell as it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import z3

from model.language import Const
from model.lowering.ground import Node
from model.lowering.lower import Instance, Program
from model.prove.arithmetic import Formula, Integers, Words, words_for

State = Sequence[Formula]


@dataclass(frozen=True, slots=True)
class View:
    """What ground expressions read: a state, and the state after the step. Each expression is written once."""

    before: State
    after: State | None = None
    known: dict[int, Formula] = field(default_factory=dict)


class Encoding:
    """The formulas of ``program``."""

    def __init__(self, program: Program, words: Words | Integers | None = None) -> None:
        """``words``: what numbers are; else machine words that are wide enough."""
        self.program: Final = program
        self.machine: Final = program.machine
        self.cells: Final = program.machine.cells()
        domains = [program.machine.values(c.variable.domain) for c in self.cells]
        self.words: Final = words_for(program.graph.nodes, domains) if words is None else words
        self._write: Final = _writers(self.words)

    # ---- states

    def state(self, mark: str) -> State:
        """New unknowns for one state, told from others by ``mark``."""
        return [
            self.words.condition(f"{self.machine.show_cell(c)}@{mark}")
            if c.variable.domain is bool
            else self.words.variable(f"{self.machine.show_cell(c)}@{mark}")
            for c in self.cells
        ]

    def in_domains(self, state: State) -> Formula:
        """Every cell has a value of its domain."""
        bounds = []
        for cell, unknown in zip(self.cells, state, strict=True):
            if cell.variable.domain is not bool:
                values = self.machine.values(cell.variable.domain)
                bounds += [self._constant(values.start) <= unknown, unknown <= self._constant(values.stop - 1)]
        return self.words.every(bounds)

    def initial(self, state: State) -> Formula:
        """It is one of the initial states."""
        choices = [o for v in self.machine.variables for _, o in self.machine.initial_choices(v)]
        starts = [
            self.words.some([unknown == self.raw(unknown, Const(value).raw) for value in one_of.values])
            for unknown, one_of in zip(state, choices, strict=True)
        ]
        return self.words.every([*starts, self.holds(self.program.initially, View(state))])

    def raw(self, unknown: Formula, value: int) -> Formula:
        """``value`` as something that ``unknown`` can equal."""
        return self.words.truth(bool(value)) if z3.is_bool(unknown) else self._constant(value)

    def _constant(self, value: int) -> Formula:
        return self.words.constant(value)

    # ---- expressions

    def holds(self, node: Node, view: View) -> Formula:
        """``node`` as ``view`` has it."""
        # Without recursion: a chain of thousands of operands is as deep.
        stack = [node]
        while stack:
            top = stack[-1]
            if top.number in view.known:
                stack.pop()
                continue
            missing = [a for a in top.args if a.number not in view.known]
            if missing:
                stack += missing
                continue
            view.known[top.number] = self._of(top, view)
            stack.pop()
        return view.known[node.number]

    def _of(self, node: Node, view: View) -> Formula:
        match node.op:
            case "const":
                return self.words.truth(bool(node.value)) if node.boolean else self._constant(node.value)
            case "cell":
                return view.before[node.value]
            case "next":
                assert view.after is not None, "after() outside a step"
                return view.after[node.value]
        return self._write[node.op](node, [view.known[a.number] for a in node.args])

    # ---- steps

    def chosen(self, mark: str) -> Formula:
        """The unknown number of a step's instance, by its place in the program."""
        return z3.BitVec(f"step@{mark}", self._chosen_bits, self.words.context)

    @functools.cached_property
    def _chosen_bits(self) -> int:
        return max(1, len(self.program.instances).bit_length())

    def is_chosen(self, chosen: Formula, place: int) -> Formula:
        """The step is the instance at this place."""
        return chosen == self._place(place)

    def _place(self, number: int) -> Formula:
        return z3.BitVecVal(number, self._chosen_bits, self.words.context)

    def is_step(self, view: View, chosen: Formula) -> Formula:
        """From the state before to the state after there is the step of the chosen instance, and it is no fault."""
        assert view.after is not None
        program = self.program
        parts = [z3.ULT(chosen, self._place(len(program.instances)))]
        writers: list[list[Formula]] = [[] for _ in self.cells]
        for place, instance in enumerate(program.instances):
            this = self.is_chosen(chosen, place)
            writes = [view.after[w.cell] == self.holds(w.value, view) for w in instance.writes]
            parts.append(
                z3.Implies(
                    this, self.words.every([self.is_enabled(instance, view), *self.sound(instance, view), *writes])
                )
            )
            for write in instance.writes:
                writers[write.cell].append(this)
        parts += [
            self.words.some([after == before, *of])
            for before, after, of in zip(view.before, view.after, writers, strict=True)
        ]
        return self.words.every(parts)

    def is_enabled(self, instance: Instance, view: View) -> Formula:
        """Every conjunct of its guard holds."""
        return self.words.every([self.holds(c, view) for c in instance.conjuncts])

    def sound(self, instance: Instance, view: View) -> list[Formula]:
        """Its step is no fault."""
        false = self.program.graph.false
        return [z3.Not(self.holds(f, view)) for f in (instance.write_fault, instance.range_fault) if f is not false]

    # ---- back to raw values

    def value(self, model: z3.ModelRef, state: State) -> tuple[int, ...]:
        """The raw values that ``model`` gives to ``state``; what it leaves open is the least value of the domain."""
        found = []
        for cell, unknown in zip(self.cells, state, strict=True):
            value = model.eval(unknown)
            if z3.is_bool(unknown):
                found.append(int(z3.is_true(value)))
            elif z3.is_bv_value(value):
                found.append(int(value.as_signed_long()))
            else:
                found.append(self.machine.values(cell.variable.domain).start)
        return tuple(found)

    def place(self, model: z3.ModelRef, chosen: Formula) -> int:
        """The place in the program of the instance that ``model`` chooses."""
        return int(model.eval(chosen, model_completion=True).as_long())


def _writers(words: Words | Integers) -> dict[str, Callable[[Node, list[Formula]], Formula]]:
    """How each operator of a ground expression is written, given its operands."""
    zero, one = words.constant(0), words.constant(1)
    return {
        "+": lambda _, x: x[0] + x[1],
        "-": lambda _, x: x[0] - x[1],
        "*": lambda _, x: x[0] * x[1],
        "//": lambda node, x: words.quotient(x[0], node.value),
        "%": lambda node, x: words.remainder(x[0], node.value),
        "min": lambda _, x: z3.If(x[0] <= x[1], x[0], x[1]),
        "max": lambda _, x: z3.If(x[0] >= x[1], x[0], x[1]),
        "int": lambda _, x: z3.If(x[0], one, zero),
        "==": lambda _, x: x[0] == x[1],
        "same": lambda _, x: x[0] == x[1],
        "<": lambda _, x: x[0] < x[1],
        "and": lambda _, x: words.every(x),
        "or": lambda _, x: words.some(x),
        "not": lambda _, x: z3.Not(x[0]),
        "ite": lambda _, x: z3.If(x[0], x[1], x[2]),
    }


__all__ = ["Encoding", "State", "View"]
