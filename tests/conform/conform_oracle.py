"""The meaning of conformance, in the plainest way: every order, every state, by the interpreter."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from model.conform import Log, Pattern, Record
from model.conform.changes import MOST_MERGED
from model.conform.log import groups
from model.language import Machine, Property, PropertyKind
from model.semantics import Fault, Instance, Semantics, State
from model.trace import named_state


class Oracle:
    """Follows logs whose names are the elements' own."""

    def __init__(self, machine: Machine, avoid: Property | None = None) -> None:
        self.semantics = Semantics(machine)
        self.machine = self.semantics.machine
        self.avoid = avoid

    def fits(self, instance: Instance, patterns: Iterable[Pattern]) -> bool:
        told = dict(self.semantics.arguments(instance))
        return any(
            p.action == instance.action.name and all(told[name] in values for name, values in p.arguments.items())
            for p in patterns
        )

    def steps(self, state: State) -> list[tuple[Instance, State]]:
        found = []
        for instance in self.semantics.instances:
            if self.semantics.is_enabled(instance, state):
                new = self.semantics.fire(instance, state)
                if not isinstance(new, Fault) and self.may(state, new):
                    found.append((instance, new))
        return found

    def may(self, state: State | None, new: State) -> bool:
        if self.avoid is None:
            return True
        if self.avoid.kind is PropertyKind.ALWAYS:
            return bool(self.semantics.evaluate(self.avoid.condition, new, {}))
        return state is None or bool(self.semantics.evaluate(self.avoid.condition, state, {}, new))

    def closed(self, states: set[State], silent: Sequence[Pattern] | None) -> set[State]:
        """With all that steps without a record lead to; None: any steps."""
        found, todo = set(states), list(states)
        while todo:
            for instance, new in self.steps(todo.pop()):
                if (silent is None or self.fits(instance, silent)) and new not in found:
                    found.add(new)
                    todo.append(new)
        return found

    def after(self, states: set[State], record: Record) -> set[State]:
        if record.end:
            return {s for s in states if self.semantics.is_terminal(s)}
        if record.patterns:
            states = {new for s in states for i, new in self.steps(s) if self.fits(i, record.patterns)}
        return {s for s in states if record.state.items() <= named_state(self.machine, s).items()}

    def follow(self, log: Log) -> tuple[int, set[State]]:
        """How many groups of records are explained, and the states after them."""
        states = {s for s in self.semantics.initial_states() if self.may(None, s)}
        done = groups(log.records)
        for number, group in enumerate(done):
            if group[0].gap:
                states = self.closed(states, None)
                continue
            new: set[State] = set()
            for order in itertools.permutations(group):
                some = states
                for record in order:
                    some = self.after(self.closed(some, log.unobserved), record)
                new |= some
            if not new:
                return number, self.closed(states, log.unobserved)
            states = new
        return len(done), self.closed(states, log.unobserved)

    def follow_changes(self, log: Log) -> tuple[int, set[State]]:
        """Of a log of changes without gaps: how many records can be explained, and the states after all of them."""
        cells = [i for i, c in enumerate(self.semantics.cells) if c.variable.label in log.observed]
        names = [self.machine.show_cell(c) for c in self.semantics.cells]
        raw = {(i, named_value): v for i in cells for v, named_value in self._values(i)}

        def expected(state: State, records: Iterable[Record]) -> dict[int, int]:
            told = {c: v for record in records for c, v in record.state.items()}
            return {i: raw[i, told[names[i]]] if names[i] in told else state[i] for i in cells}

        start = {(0, s) for s in self.semantics.initial_states()}
        found, todo = set(start), list(start)
        while todo:
            done, state = todo.pop()
            after = [(0, new) for _, new in self.steps(state)]
            moves = [
                (done + m, new)
                for _, new in after
                for m in range(min(MOST_MERGED, len(log.records) - done) + 1)
                if all(new[i] == v for i, v in expected(state, log.records[done : done + m]).items())
            ]
            if done < len(log.records) and all(
                state[i] == v for i, v in expected(state, log.records[done : done + 1]).items()
            ):
                moves.append((done + 1, state))
            for move in moves:
                if move not in found:
                    found.add(move)
                    todo.append(move)
        return max(done for done, _ in found), {s for done, s in found if done == len(log.records)}

    def _values(self, cell: int) -> Iterable[tuple[int, object]]:
        state = list(self.semantics.initial_states()[0])
        for value in self.machine.values(self.semantics.cells[cell].variable.domain):
            state[cell] = value
            yield value, named_state(self.machine, tuple(state))[self.machine.show_cell(self.semantics.cells[cell])]
