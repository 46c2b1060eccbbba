"""What a module claims: invariants, properties of steps, what happens at last; and the configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from model.export.tla.expressions import WIDTH, Writer, comment, hanging, indented
from model.export.tla.names import Names
from model.language import Expr, Fairness, Machine, Property, PropertyKind, Read
from model.language.properties import BUILT_IN
from model.language.walking import walk

_DEADLOCK, _RANGE, _WRITE = BUILT_IN
_MOST_STRONG = 6
"""TLC looks at two cases for each strong fairness: with more than these it would not come to an end."""
_NO_POSSIBLE = "TLA+ cannot say that a state stays reachable"


class Claims:
    """Writes them. ``calls``: name and parameters of each action's operator, by id."""

    def __init__(
        self, machine: Machine, writer: Writer, vars_: str, next_: str, calls: Mapping[int, tuple[str, list[str]]]
    ) -> None:
        self.machine = machine
        self.writer = writer
        self.vars = vars_
        self.next = next_
        self.calls = calls
        self.invariants: list[str] = []
        self.temporal: list[str] = []
        self.too_strong: list[tuple[str, int]] = []
        self.goals: list[tuple[str, str]] = []
        self.left_out: list[tuple[str, str]] = []

    def name(self, claim: Property) -> str:
        """The name of a property."""
        return self.writer.naming.properties[id(claim)]

    def lines(self, faulty: str | None) -> Iterator[str]:
        """All definitions."""
        for terminal in self.machine.terminals:
            yield from ("", *self._definition(terminal.doc, self.name(terminal), self._block(terminal)))
        yield from self.built_in(faulty)
        for p in self.machine.properties:
            match p.kind:
                case PropertyKind.ALWAYS:
                    self.invariants.append(self.name(p))
                    yield from ("", *self._definition(p.doc, self.name(p), self._block(p)))
                case PropertyKind.STEP:
                    self.temporal.append(self.name(p))
                    body = indented(self._block(p))
                    lines = [f"[][{body[0].strip()}]_{self.vars}"] if len(body) == 1 else []
                    lines = lines or ["[][", *body, f"]_{self.vars}"]
                    yield from ("", *self._definition(p.doc, self.name(p), lines))
                case PropertyKind.SOMETIMES:
                    never = self.writer.naming.fresh(f"never_{p.name}")
                    self.goals.append((p.name, never))
                    yield from ("", *self._definition(p.doc, self.name(p), self._block(p)))
                    yield f"{never} == ~{self.name(p)}"
                case PropertyKind.POSSIBLE:
                    self.left_out.append((p.name, _NO_POSSIBLE))
                    claim = "that from every reachable state one where it holds can be reached"
                    doc = f"{p.doc}\n\nNot checked, as {_NO_POSSIBLE}: {claim}."
                    yield from ("", *self._definition(doc, self.name(p), self._block(p)))
                case _:
                    strong = sum(self._demands(f) for f in p.fairness if f.strong)
                    if strong > _MOST_STRONG:
                        self.too_strong.append((self.name(p), strong))
                        why = f"it assumes {strong} strong fairnesses, of which TLC would look at 2^{strong} cases"
                        self.left_out.append((p.name, f"{why}: it is in the module, not in the configuration"))
                    else:
                        self.temporal.append(self.name(p))
                    yield from ("", *self.liveness(p))

    def initial(self) -> Iterator[str]:
        """What narrows the initial states."""
        for each in self.machine.initial_constraints:
            yield from ("", *self._definition(each.doc, self.name(each), self._block(each)))

    def built_in(self, faulty: str | None) -> Iterator[str]:
        """What every machine claims."""
        fresh, naming = self.writer.naming.fresh, self.writer.naming
        if faulty is not None:
            name = fresh(_WRITE)
            self.invariants.append(name)
            yield from ("", *self._definition("No step writes a cell twice.", name, [f"~{faulty}"]))
        name = fresh(_RANGE)
        self.invariants.append(name)
        sets = []
        for v in self.machine.variables:
            product = self.writer.product(v.sorts)
            values = naming.domain(v.domain)
            sets.append(f"/\\ {naming.of(v)} \\in {f'[{product} -> {values}]' if v.sorts else values}")
        yield from ("", *self._definition("No step leaves a range.", name, sets))
        self.deadlock_free = name = fresh(_DEADLOCK)
        self.invariants.append(name)
        ends = [f"ENABLED {self.next}", *(self.name(t) for t in self.machine.terminals)]
        doc = "Some action can fire" + (", or it is an intended end." if len(ends) > 1 else ".")
        yield from ("", *self._definition(doc, name, [" \\/ ".join(ends)]))

    def liveness(self, p: Property) -> list[str]:
        """``eventually`` and ``leads_to``, under the fairness that they assume."""
        names = self.writer.naming.bind(p.parameters, {})
        claim = self._at_last(p, names)
        if p.parameters:
            opening = f"\\A {self.writer.bounds(p.parameters, names)} :"
            flat = f"{opening} {claim[0]}"
            claim = [flat] if len(claim) == 1 and len(flat) <= WIDTH - 4 else [opening, *indented(claim)]
        if not p.fairness:
            return self._definition(p.doc, self.name(p), claim)
        fair = self.writer.naming.fresh(f"fairness_of_{p.name}")
        demands = [f"/\\ {self.fairness(f)}" for f in p.fairness]
        claim = _closed(claim)
        flat = f"{fair} => {claim[0]}"
        if len(claim) > 1 or len(self.name(p)) + 4 + len(flat) > WIDTH:
            lines = [f"{fair} =>", *indented(claim)]
        else:
            lines = [flat]
        return [f"{fair} ==", *indented(demands), "", *self._definition(p.doc, self.name(p), lines)]

    def _at_last(self, p: Property, names: Names) -> list[str]:
        """``<>(goal)``, ``(trigger) ~> (goal)``."""
        goal = self._of_states(p.condition, names)
        if p.trigger is None:
            return hanging("<>", goal)
        trigger = self._of_states(p.trigger, names)
        flat = f"{trigger[0]} ~> {goal[0]}"
        if len(trigger) == len(goal) == 1 and len(flat) <= WIDTH - 10:
            return [flat]
        return [*trigger, *hanging("  ~> ", goal)]

    def _of_states(self, expr: Expr, names: Names) -> list[str]:
        """``expr`` in parentheses. One that reads no variable TLC takes for a constant, of which it draws wrong
        conclusions inside ``~>``: it is made to read some."""
        lines = _closed(self.writer.block(expr, names, WIDTH - 10))
        if any(isinstance(part, Read) for part in walk(expr)):
            return lines
        return _closed([*lines[:-1], f"{lines[-1]} /\\ {self.vars} = {self.vars}"])

    def fairness(self, fairness: Fairness) -> str:
        """One demand: for each combination of what is meant separately, some instance of the action."""
        sign = "SF" if fairness.strong else "WF"
        if fairness.progress and len(fairness.actions) == len(self.machine.actions):
            return f"WF_{self.vars}({self.next})"
        parts = []
        for action in fairness.actions:
            names = self.writer.naming.bind(action.symbols, {})
            call = self.writer.call(self.calls[id(action)][0], [names[s.uid] for s in action.parameters])
            rest = tuple(s for s in action.parameters if not any(s is a for a in fairness.apart))
            parts.append(f"\\E {self.writer.bounds(rest, names)} : {call}" if rest else call)
        action_names = self.writer.naming.bind(fairness.actions[0].symbols, {})
        some = parts[0] if len(parts) == 1 else " \\/ ".join(f"({part})" for part in parts)
        demand = f"{sign}_{self.vars}({some})"
        if fairness.apart:
            return f"\\A {self.writer.bounds(fairness.apart, action_names)} : {demand}"
        return demand

    def _demands(self, fairness: Fairness) -> int:
        """How many combinations of values it means separately."""
        return math.prod(len(self.machine.values(s.domain)) for s in fairness.apart)

    def _block(self, p: Property) -> list[str]:
        return self.writer.block(p.condition, {}, WIDTH - 2)

    def _definition(self, doc: str, name: str, lines: list[str]) -> list[str]:
        if len(lines) == 1 and len(name) + 4 + len(lines[0]) <= WIDTH:
            return [*comment(doc), f"{name} == {lines[0]}"]
        return [*comment(doc), f"{name} ==", *indented(lines)]

    def configuration(self, spec: str, sets: Sequence[tuple[str, str]]) -> str:
        """The text of the .cfg: what TLC is to check."""
        lines = [
            f"\\* java -cp tla2tools.jar tlc2.TLC -deadlock {self.writer.naming.module}.tla",
            f"\\* (-deadlock: TLC's own check is off; {self.deadlock_free} is one that knows the intended ends)",
            f"SPECIFICATION {spec}",
        ]
        if sets:
            lines += ["CONSTANTS", *(f"  {name} {elements}" for name, elements in sets)]
        lines += ["INVARIANTS", *(f"  {name}" for name in self.invariants)]
        for name, never in self.goals:
            lines += [f"  \\* {never}", f"  \\* (where it is violated, {name} is reached: the trace leads there)"]
        if self.temporal:
            lines += ["PROPERTIES", *(f"  {name}" for name in self.temporal)]
        for name, strong in self.too_strong:
            lines += [
                f"  \\* {name}",
                f"  \\* (assumes {strong} strong fairnesses: TLC would look at 2^{strong} cases)",
            ]
        return "\n".join(lines) + "\n"


def _closed(lines: list[str]) -> list[str]:
    """``lines`` in parentheses."""
    lines = hanging("(", lines)
    return [*lines[:-1], f"{lines[-1]})"]


__all__ = ["Claims"]
