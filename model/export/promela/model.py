"""A machine as a model for Spin: one process that takes one step at a time, and looks at every state it is in.

Spin's stored states are the machine's: whatever else the model has is hidden. An option of the loop is an instance of
an action; those at its end can be taken where a claim does not hold, and then fail.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from model.export.enums import enums_of
from model.export.promela import terms
from model.export.promela.ground import MOST, Environment, Grounder
from model.export.promela.steps import Flags, Steps
from model.language import Action, Machine, Property, PropertyKind, SpecError, VariableBase
from model.language.properties import BUILT_IN
from model.language.types import EnumType, domain_type
from model.semantics import Semantics

_DEADLOCK, _RANGE, _WRITE = BUILT_IN
_WORDS = """
    active assert atomic bit bool break byte chan d_step D_proctype do else empty enabled end eval false fi for full
    get_p goto hidden if in init inline int len local ltl mtype nempty never nfull noclaim notrace nr_pr np_ od of
    pc_value pid printf printm priority proctype progress provided return run select set_p short show skip STDIN
    timeout trace true type typedef unless unsigned xr xs
    auto case char const continue default double enum extern float inline long register restrict return signed sizeof
    static struct switch union void volatile while linux unix now NULL TRUE FALSE stdin stdout stderr main
    Air0 G_int G_long IfNotBlocked PanSource Pclaim Pmachine SpinVersion StackSize UnBlock maxseq0 minseq0
    rand uchar uint ulong ushort wasnew errno machine
"""
_RESERVED = frozenset(_WORDS.split())
"""Words of Promela and of C, and what Spin's verifier defines; that in capitals no variable is called."""
_MOST_STARTS = 5_000
_WIDTH = 100
_NOT_SAID = {
    PropertyKind.POSSIBLE: "Spin cannot say that a state stays reachable",
    PropertyKind.EVENTUALLY: "Spin knows no fairness of actions",
    PropertyKind.LEADS_TO: "Spin knows no fairness of actions",
}


@dataclass(frozen=True)
class Model:
    """The ``text`` of a model.

    ``starts``: Spin stores one state more than the machine has where there are several initial states, from which it
    begins. ``left_out``: properties of which Spin cannot speak, each with the reason.
    """

    name: str
    text: str
    starts: int
    left_out: tuple[tuple[str, str], ...]


def promela(machine: Machine, claims: Collection[str] | None = None) -> Model:
    """``machine`` in Promela; with ``claims`` only these properties are looked at, and of these also a ``sometimes``,
    whose assertion fails where it is reached. SpecError for what is too large."""
    return _Model(machine.finish(), claims).model()


class _Model:
    def __init__(self, machine: Machine, claims: Collection[str] | None) -> None:
        self.machine = machine
        self.claims = claims
        self._taken: set[str] = set(_RESERVED)
        for variable in machine.variables:
            if isinstance(variable.domain, range) and not -MOST <= variable.domain.start < variable.domain.stop <= MOST:
                raise SpecError(f"{variable.name}: Spin has integers of 32 bits, the range leaves them", variable.at)
        self.names = {
            id(v): self.fresh(v.name if v.name != v.name.upper() else f"{v.name}_") for v in machine.variables
        }
        self.members = {cls: [self._member(cls.__name__, m.name) for m in cls] for cls in enums_of(machine)}
        elements = {sort: [self.fresh(n) for n in d.names] for sort, d in machine.sorts.items()}
        self.elements = elements
        cells = [
            self._cell(c.variable, [elements[s][i] for s, i in zip(c.variable.sorts, c.indices, strict=True)])
            for c in machine.cells()
        ]
        self.grounder = Grounder(machine, cells, self.members)
        flags = {p.name: self.fresh(f"holds_{p.name}") for p in machine.properties}
        self.flags = flags | {name: self.fresh(f"holds_{name}") for name in BUILT_IN}
        step_claims = [(p, flags[p.name]) for p in machine.properties if self._looked_at(p, PropertyKind.STEP)]
        flags_of_steps = Flags(self.flags[_WRITE], self.flags[_RANGE], step_claims)
        self.steps = Steps(machine, self.grounder, flags_of_steps, self.fresh("new_"))

    def fresh(self, name: str) -> str:
        """``name`` or, where that is taken or not Promela, one like it; it is taken then."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if re.match("[A-Za-z]", plain) else f"v{plain}"
        found = next(
            n for n in itertools.chain([plain], (f"{plain}_{i}" for i in itertools.count(2))) if n not in self._taken
        )
        self._taken.add(found)
        return found

    def _member(self, cls: str, name: str) -> str:
        return self.fresh(name if name not in self._taken else f"{cls}_{name}")

    def _cell(self, variable: VariableBase, indices: list[str]) -> str:
        name = self.names[id(variable)]
        if not indices:
            return name
        return f"{name}[{indices[0]}]" if len(indices) == 1 else f"{name}({', '.join(indices)})"

    def _looked_at(self, p: Property, kind: PropertyKind) -> bool:
        return p.kind is kind and (self.claims is None or p.name in self.claims)

    def model(self) -> Model:
        """The whole."""
        starts = Semantics(self.machine).initial_states()
        if len(starts) > _MOST_STARTS:
            first = self.machine.variables[0]
            raise SpecError(f"{len(starts):,} initial states; each is written out, at most {_MOST_STARTS:,}", first.at)
        loop = list(self.loop())
        lines = [
            *self.head(),
            *self.definitions(),
            *self.declarations(starts[0] if len(starts) == 1 else None),
            "",
            *self.hidden(),
            "",
            "active proctype machine() {",
            *self.beginning(starts if len(starts) > 1 else []),
            "  do",
            *loop,
            "  od",
            "}",
        ]
        left_out = tuple((p.name, _NOT_SAID[p.kind]) for p in self.machine.properties if p.kind in _NOT_SAID)
        return Model(self.machine.name, "\n".join(lines) + "\n", len(starts), left_out)

    # ---- declarations

    def head(self) -> Iterator[str]:
        """What it is, and how to run it."""
        name = self.machine.name
        given = " ".join(f"{k}={v}" for k, v in self.machine.parameters.items())
        yield from comment(f"The spec {name}{f' with {given}' if given else ''}, written by gangproof.", "")
        run = f"spin -o2 -a {name}.pml; gcc -O2 -w -DSAFETY -DNOREDUCE -DVECTORSZ=8192 -o pan pan.c; ./pan -m1000000"
        yield f"/* {run} */"
        yield "/* -o2 keeps in the state what is never read; without it Spin stores fewer states. */"
        yield "/* with -DBFS the trail of a violation is shortest; a bad state is told one step later. */"
        yield ""

    def definitions(self) -> Iterator[str]:
        """Numbers for elements and enum members; arrays of two and three indices."""
        for sort, names in self.elements.items():
            yield f"/* {sort.__name__} */"
            yield from (f"#define {name} {i}" for i, name in enumerate(names))
        for cls, names in self.members.items():
            yield f"/* {cls.__name__} */"
            yield from (f"#define {name} {i}" for i, name in enumerate(names))
        for v in self.machine.variables:
            sizes = [self.machine.sorts[s].size for s in v.sorts]
            name = self.names[id(v)]
            if len(sizes) == 2:
                yield f"#define {name}(i, j) {name}_[(i) * {sizes[1]} + (j)]"
            elif len(sizes) == 3:
                yield f"#define {name}(i, j, k) {name}_[((i) * {sizes[1]} + (j)) * {sizes[2]} + (k)]"
        yield ""

    def declarations(self, start: tuple[int, ...] | None) -> Iterator[str]:
        """The state, with its initial values if it has only these."""
        position = 0
        for v in self.machine.variables:
            size = 1
            for s in v.sorts:
                size *= self.machine.sorts[s].size
            values = start[position : position + size] if start else ()
            name = self.names[id(v)] + ("_" if len(v.sorts) > 1 else "")
            array = f"[{size}]" if v.sorts else ""
            same = len(set(values)) == 1
            shown = f" = {self.grounder.value_in(position, values[0]).text}" if same else ""
            if values and not same:
                shown = " = { " + ", ".join(self.grounder.value_in(position, x).text for x in values) + " }"
            yield f"{self._type(v)} {name}{array}{shown};"
            position += size

    def _type(self, v: VariableBase) -> str:
        values = self.machine.values(v.domain)
        if v.domain is bool:
            return "bool"
        if isinstance(domain_type(v.domain), EnumType) or (values.start >= 0 and values.stop <= 256):
            return "byte"
        return "short" if values.start >= -(2**15) and values.stop <= 2**15 else "int"

    def hidden(self) -> Iterator[str]:
        """What is no part of the state."""
        yield "/* What a failed assertion names is the claim that does not hold; a claim that holds stays true. */"
        used = [f for f in self.flags.values() if f in self.steps.used]
        yield from (f"bool {flag} = true;" for flag in used)
        if self.steps.most:
            yield "/* New values until they are stored; 0 between steps. */"
            yield from (f"int {self.steps.temporary}{i};" for i in range(self.steps.most))

    # ---- behaviour

    def beginning(self, starts: list[tuple[int, ...]]) -> Iterator[str]:
        """The choice of an initial state."""
        if not starts:
            return
        yield "  if"
        for start in starts:
            values = [
                f"{c.text} = {self.grounder.value_in(n, start[n]).text}" for n, c in enumerate(self.grounder.cells)
            ]
            yield from _statements(values)
        yield "  fi;"

    def loop(self) -> Iterator[str]:
        """Every instance, then every claim."""
        for action in self.machine.actions:
            first = True
            for env in self.grounder.bindings(action.symbols, {}):
                statements = self.steps.step(action, env)
                if statements is not None:
                    if first:
                        yield from comment(f"{action.name}: {action.doc}" if action.doc else action.name)
                    first = False
                    yield f"  /* {self._call(action, env)} */"
                    yield from _statements(statements)
        if self.machine.terminals:
            ends = terms.either([self.grounder.ground(t.condition, {}) for t in self.machine.terminals])
            yield "  /* an intended end is no deadlock */"
            yield from _statements([ends.text, "skip"])
        for p in self.machine.properties:
            if self._looked_at(p, PropertyKind.ALWAYS):
                yield from comment(f"{p.name}: {p.doc}" if p.doc else p.name)
                yield from self._never(p, terms.negation(self.grounder.ground(p.condition, {})))
            elif p.kind is PropertyKind.SOMETIMES:
                holds = self.grounder.ground(p.condition, {})
                yield from comment(f"{p.name}: {p.doc} To be led there, take the next option out of its comment.")
                if self.claims is None or p.name not in self.claims:
                    lines = list(self._never(p, holds, count=False))
                    yield from (f"  /*{line[2:]}" + (" */" if line is lines[-1] else "") for line in lines[:1])
                    yield from (line + (" */" if line is lines[-1] else "") for line in lines[1:])
                else:
                    yield from self._never(p, holds)

    def _call(self, action: Action, env: Environment) -> str:
        shown = (self.machine.show(s.domain, env[s.uid]) for s in action.symbols)
        return f"{action.name}({', '.join(shown)})".replace("*/", "* /")

    def _never(self, p: Property, condition: terms.Term, count: bool = True) -> Iterator[str]:
        """An option that fails where ``condition`` holds."""
        if condition.constant == 0:
            return
        flag = self.flags[p.name]
        if count:
            self.steps.used.add(flag)
        yield from _statements([condition.text, f"{flag} = false", f"assert({flag})"])


def _statements(parts: list[str]) -> list[str]:
    """An option of a loop: one ``d_step``."""
    flat = f"  :: d_step {{ {' -> '.join([parts[0], '; '.join(parts[1:])] if len(parts) > 1 else parts)} }}"
    if len(flat) <= _WIDTH:
        return [flat]
    first, *rest = parts
    lines = _lines(f":: d_step {{ {first} ->", "  ", "       ")
    return [*lines, *(line for part in rest for line in _lines(f"{part};", "       ", "         ")), "     }"]


def _lines(text: str, first: str, others: str) -> list[str]:
    """``text`` on several lines, which break after ``&&`` and ``||``: after a name Spin reads a ``;`` there."""
    parts = re.split(r"(?<=&&) |(?<=\|\|) ", text)
    lines = [first + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < _WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(others + part)
    return lines


def comment(text: str, indent: str = "  ") -> list[str]:
    """``text`` as a comment."""
    plain = " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")
    lines = textwrap.wrap(plain, _WIDTH - len(indent) - 6, break_long_words=False) or [""]
    return [
        f"{indent}{'/* ' if i == 0 else '   '}{line}{' */' if i == len(lines) - 1 else ''}"
        for i, line in enumerate(lines)
    ]


__all__ = ["Model", "promela"]
