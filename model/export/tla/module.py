"""A machine as a module of TLA+ and the configuration with which TLC checks it."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from model.export.enums import enums_of
from model.export.tla.claims import Claims
from model.export.tla.derived import Derived, expressions
from model.export.tla.expressions import MOST, WIDTH, Writer, comment, hanging, indented
from model.export.tla.names import Names, Naming, integer, is_identifier, quoted
from model.export.tla.updates import Updates
from model.language import Action, Const, Machine, Sort, SpecError, Table, VariableBase
from model.language.walking import operands, walk


@dataclass(frozen=True)
class Module:
    """``text`` belongs into ``name``.tla, which TLC demands, and ``configuration`` into ``name``.cfg.

    ``left_out``: properties of which TLA+ cannot speak, each with the reason.
    """

    name: str
    text: str
    configuration: str
    left_out: tuple[tuple[str, str], ...]


def tla(machine: Machine, name: str | None = None) -> Module:
    """``machine`` in TLA+, as a module called ``name``. SpecError for numbers that TLC has no room for."""
    return _Module(machine.finish(), name).module()


class _Module:
    def __init__(self, machine: Machine, name: str | None) -> None:
        _check_numbers(machine)
        self.machine = machine
        self.naming = Naming(machine, name)
        self.derived = Derived(machine, self.naming)
        self.writer = Writer(self.naming, self.derived)
        fresh = self.naming.fresh
        self.vars, self.init, self.next, self.spec = (fresh(n) for n in ("vars", "Init", "Next", "Spec"))
        self.calls: dict[int, tuple[str, list[str]]] = {}
        self.faulty = fresh("written_twice")
        odd = [s for s, d in machine.sorts.items() if any(map(_needs_escapes, d.names))]
        self.elements = {s: fresh(f"{s.__name__}Elements") for s in odd}
        self.variables = [self.naming.of(v) for v in machine.variables]

    def module(self) -> Module:
        """The whole."""
        clashes = {id(a): Updates(self.writer, a, self._names(a)).clashes() for a in self.machine.actions}
        self.tells_faults = any(clashes.values())
        actions = [line for a in self.machine.actions for line in ("", *self.action(a, clashes[id(a)]))]
        claims = Claims(self.machine, self.writer, self.vars, self.next, self.calls)
        said = list(claims.lines(self.faulty if self.tells_faults else None))
        definitions = list(self.definitions())
        beginning = [*claims.initial(), *self.initially()]
        head = [
            f"{'-' * 20} MODULE {self.naming.module} {'-' * 20}",
            *comment(self.about()),
            "EXTENDS Integers, FiniteSets",
            "",
            *self.declarations(),
            *self.helpers(),
        ]
        lines = [*head, *definitions, *beginning, *actions, "", *self.steps(), *said, "=" * 60]
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines) + "\n")
        return Module(self.naming.module, text, claims.configuration(self.spec, self.sets()), tuple(claims.left_out))

    def about(self) -> str:
        """What the module is, in a sentence or two."""
        given = " ".join(f"{k}={v}" for k, v in self.machine.parameters.items())
        doc = f" {self.machine.doc.strip()}" if self.machine.doc else ""
        return f"The spec {self.machine.name}{f' with {given}' if given else ''}, written by gangproof.{doc}"

    # ---- declarations

    def sets(self) -> list[tuple[str, str]]:
        """Each sort and the set of its elements."""
        found = []
        for sort, declared in self.machine.sorts.items():
            elements = f"{{{', '.join(map(quoted, declared.names))}}}"
            # A configuration has no way to write a quote in a name: it points to a definition then.
            here = self.elements.get(sort)
            found.append((self.naming.sorts[id(sort)], f"<- {here}" if here else f"= {elements}"))
        return found

    def declarations(self) -> Iterator[str]:
        """Sorts, enums, tables, variables."""
        if self.machine.sorts:
            yield from (*_wrapped("CONSTANTS ", [self.naming.sorts[id(s)] for s in self.machine.sorts], ""), "")
        for sort, name in self.elements.items():
            yield from _wrapped(f"{name} == {{", list(map(quoted, self.machine.sorts[sort].names)), "}")
        for cls in enums_of(self.machine):
            name = self.naming.enums[id(cls)]
            yield from _wrapped(f"{name} == {{", [quoted(member.name) for member in cls], "}")
        for sort, name in self.writer.positions.items():
            places = [str(i) for i in range(1, self.machine.sorts[sort].size + 1)]
            yield from hanging(f"{name} == ", self._by_element([sort], places))
        for table in self.machine.tables:
            yield from self.table(table)
        variables = [*self.variables, *([self.faulty] if self.tells_faults else [])]
        if self.machine.tables or self.writer.positions or enums_of(self.machine):
            yield ""
        yield from (*_wrapped("VARIABLES ", variables, ""), *_wrapped(f"{self.vars} == <<", variables, ">>"), "")

    def table(self, table: Table[Any]) -> Iterator[str]:
        """A table of constants."""
        values = [integer(v) for _, v in sorted(table.values.items())]
        yield from hanging(f"{self.naming.of(table)} == ", self._by_element(list(table.sorts), values))

    def _by_element(self, sorts: Sequence[type[Sort]], values: list[str]) -> list[str]:
        """A function from elements of ``sorts`` to ``values``, in the order of their positions."""
        names = [self.machine.sorts[s].names for s in sorts]
        symbols: dict[int, str] = {}
        for number, sort in enumerate(sorts):
            symbols[-1 - number] = self.naming.local(sort.__name__.lower(), symbols)
        indices = list(symbols.values())
        bounds = ", ".join(f"{i} \\in {self.naming.sorts[id(s)]}" for i, s in zip(indices, sorts, strict=True))
        if len(set(values)) == 1:
            return [f"[{bounds} |-> {values[0]}]"]
        if len(sorts) == 1 and all(map(is_identifier, names[0])):
            return [f"[{', '.join(f'{n} |-> {v}' for n, v in zip(names[0], values, strict=True))}]"]
        cases = _cases(indices, names, values)
        flat = " ".join(line.strip() for line in cases)
        if len(flat) + len(bounds) <= WIDTH - 20:
            return [f"[{bounds} |-> {flat}]"]
        return [f"[{bounds} |->", *indented(cases[:-1]), f"  {cases[-1]}]"]

    def helpers(self) -> Iterator[str]:
        """The operators that sums and extremes need."""
        f, whole, over, x, y = (self.naming.local(n, {}) for n in ("f", "S", "over", "x", "y"))
        if "Sum" in self.writer.needed:
            # A recursive function: TLC evaluates its argument once, and that of an operator at each use.
            yield from (
                "\\* The sum of the values of a function.",
                f"{self.writer.helpers['Sum']}({f}) ==",
                f"  LET {over}[{whole} \\in SUBSET DOMAIN {f}] ==",
                f"        IF {whole} = {{}} THEN 0",
                f"        ELSE LET {x} == CHOOSE {x} \\in {whole} : TRUE IN {f}[{x}] + {over}[{whole} \\ {{{x}}}]",
                f"  IN {over}[DOMAIN {f}]",
            )
        for kind, sign in (("Min", "<="), ("Max", ">=")):
            if kind in self.writer.needed:
                least = f"CHOOSE {x} \\in {whole} : \\A {y} \\in {whole} : {x} {sign} {y}"
                yield f"{self.writer.helpers[kind]}({whole}) == {least}"

    def definitions(self) -> Iterator[str]:
        """What the spec computes in several places."""
        for each in self.derived.definitions:
            names = self.naming.bind(each.parameters, {})
            head = f"{self.writer.call(each.name, [names[s.uid] for s in each.parameters])} =="
            yield from ("", *_joined(head, self.writer.block(each.body, names, definition=True), WIDTH))

    # ---- behaviour

    def initially(self) -> Iterator[str]:
        """``Init``."""
        yield from ("", f"{self.init} ==")
        parts = [self._start(v) for v in self.machine.variables]
        if self.tells_faults:
            parts.append([f"{self.faulty} = FALSE"])
        parts += [[self.naming.properties[id(c)]] for c in self.machine.initial_constraints]
        yield from (line for part in parts for line in hanging("  /\\ ", part))

    def _start(self, variable: VariableBase) -> list[str]:
        """The values that ``variable`` may start with."""
        name, domain = self.naming.of(variable), variable.domain
        choices = [
            [self.naming.value(domain, raw) for raw in dict.fromkeys(Const(v).raw for v in one_of.values)]
            for _, one_of in self.machine.initial_choices(variable)
        ]
        sets = [f"{{{', '.join(c)}}}" for c in choices]
        if not variable.sorts:
            return [f"{name} = {choices[0][0]}" if len(choices[0]) == 1 else f"{name} \\in {sets[0]}"]
        if all(len(c) == 1 for c in choices):
            return hanging(f"{name} = ", self._by_element(variable.sorts, [c[0] for c in choices]))
        product = self.writer.product(variable.sorts)
        if len(set(sets)) == 1:
            return [f"{name} \\in [{product} -> {sets[0]}]"]
        every = list(dict.fromkeys(v for c in choices for v in c))
        each = self._by_element(variable.sorts, sets)
        inside, allowed = self.naming.local("f", {}), self.naming.local("i", {})
        lines = hanging(f"\\A {allowed} \\in {product} : {inside}[{allowed}] \\in (", each)
        lines = [*lines[:-1], f"{lines[-1]})[{allowed}]}}"]
        return [f"{name} \\in {{{inside} \\in [{product} -> {{{', '.join(every)}}}] :", *indented(indented(lines))]

    def _names(self, action: Action) -> Names:
        return self.naming.bind(action.symbols, {})

    def action(self, action: Action, clashes: list[str]) -> list[str]:
        """The operator of an action: guards in the spec's order, then the writes."""
        names = self._names(action)
        name, parameters = self.naming.actions[id(action)], [names[p.uid] for p in action.parameters]
        self.calls[id(action)] = (name, parameters)
        updates = Updates(self.writer, action, names)
        room = WIDTH - 7
        parts = [self.writer.block(each, names, room) for g in action.guards for each in operands(g.condition, "&")]
        parts += [updates.lines(v) for v in updates.variables]
        written = {id(v) for v in updates.variables}
        rest = [self.naming.of(v) for v in self.machine.variables if id(v) not in written]
        if clashes:
            parts.append(_clash_lines(self.faulty, clashes))
        elif self.tells_faults:
            rest.append(self.faulty)
        if rest:
            parts.append(_wrapped("UNCHANGED <<", rest, ">>", room))
        body = [line for part in parts for line in hanging("/\\ ", part)]
        if action.choices:
            body = [f"\\E {self.writer.bounds(action.choices, names)} :", *indented(body)]
        return [*comment(action.doc), f"{self.writer.call(name, parameters)} ==", *indented(body)]

    def steps(self) -> Iterator[str]:
        """``Next`` and ``Spec``."""
        yield f"{self.next} =="
        for action in self.machine.actions:
            name, parameters = self.calls[id(action)]
            call = self.writer.call(name, parameters)
            bounds = self.writer.bounds(action.parameters, self._names(action))
            yield f"  \\/ \\E {bounds} : {call}" if parameters else f"  \\/ {call}"
        yield from ("", f"{self.spec} == {self.init} /\\ [][{self.next}]_{self.vars}")


def _needs_escapes(name: str) -> bool:
    return '"' in name or "\\" in name


def _clash_lines(name: str, clashes: list[str]) -> list[str]:
    if len(clashes) == 1:
        return [f"{name}' = ({clashes[0]})"]
    lines = [line for c in clashes for line in hanging("\\/ ", [c])]
    lines = hanging(f"{name}' = (", lines)
    return [*lines[:-1], lines[-1] + ")"]


def _check_numbers(machine: Machine) -> None:
    """SpecError for a number that TLC cannot hold."""
    for variable in machine.variables:
        if isinstance(variable.domain, range) and not -MOST <= variable.domain.start < variable.domain.stop <= MOST:
            raise SpecError(f"{variable.name}: TLC has integers of 32 bits, the range leaves them", variable.at)
    for table in machine.tables:
        if any(abs(v) > MOST for v in table.values.values()):
            raise SpecError(f"{table.name}: TLC has integers of 32 bits, a value leaves them", None)
    for expr in expressions(machine):
        for part in walk(expr):
            if isinstance(part, Const) and abs(part.raw) > MOST:
                raise SpecError(f"TLC has integers of 32 bits, {part.raw} leaves them", part.at)


def _cases(indices: Sequence[str], names: Sequence[Sequence[str]], values: Sequence[str]) -> list[str]:
    """``CASE a = "app1" -> 1``, and the others under it."""
    rows = []
    for position, value in zip(itertools.product(*names), values, strict=True):
        condition = " /\\ ".join(f"{i} = {quoted(n)}" for i, n in zip(indices, position, strict=True))
        rows.append(f"{condition} -> {value}")
    return [f"CASE {rows[0]}", *(f"  [] {row}" for row in rows[1:])]


def _wrapped(opening: str, items: Sequence[str], closing: str, room: int = WIDTH) -> list[str]:
    """The items between two brackets, on as many lines as they need."""
    lines = textwrap.wrap(", ".join(items), room - len(opening), break_long_words=False, break_on_hyphens=False)
    lines = hanging(opening, lines or [""])
    return [*lines[:-1], lines[-1] + closing]


def _joined(head: str, lines: list[str], room: int) -> list[str]:
    """``head`` and a body of one line beside it, or under it."""
    if len(lines) == 1 and len(head) + len(lines[0]) + 1 <= room:
        return [f"{head} {lines[0]}"]
    return [head, *indented(lines)]


__all__ = ["Module", "tla"]
