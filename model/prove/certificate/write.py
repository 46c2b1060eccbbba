"""The text of a certificate, written from the spec: where runs begin, steps, invariant, the checks that make it one.

State 0 is any state in which the invariant holds, state 1, whose cells have a prime, the one after a step from there,
and so on, up to as many steps as the induction has. Over the integers, and not in words of so many bits as the prover's
own formulas: that those are wide enough is then no reason to believe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from model.language import Const, Machine
from model.lowering.ground import Node, parts
from model.lowering.lower import Instance, Program
from model.prove.certificate.cells import CellNames
from model.prove.certificate.syntax import SExpr, number, printed, quoted, symbol
from model.prove.certificate.terms import Terms, is_linear, shared
from model.prove.claims import Claim, claims
from model.semantics import Semantics
from model.verdict import typed

VERSION = "1"


@dataclass(frozen=True, slots=True)
class OfAll:
    """A lemma about all elements: ``body`` over ``parameters``, each a symbol and its sort, in whose place are the
    cells of state 0 that ``arguments`` have, for each of the elements. It is written once."""

    parameters: tuple[tuple[str, str], ...]
    body: SExpr
    arguments: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Invariant:
    """What is claimed, and why: ``claims`` by name and ``lemmas`` on the cells of state 0 are inductive together over
    ``k`` steps."""

    claims: tuple[str, ...]
    k: int
    lemmas: tuple[SExpr | OfAll, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A command: ``what`` it is, in a message, and comments to stand before it. ``check``: the name of a check, of
    which this command gets the answer."""

    what: str
    expr: SExpr
    comments: tuple[str, ...] = ()
    check: str | None = None


def text_of(commands: Sequence[Part]) -> str:
    """The certificate as a file has it."""
    lines = []
    for part in commands:
        if part.comments:
            lines += ["", *(f"; {line}".rstrip() for line in part.comments)]
        lines.append(printed(part.expr))
    return "\n".join(lines).lstrip("\n") + "\n"


def certificate(program: Program, invariant: Invariant, words: Sequence[str] = ()) -> list[Part]:
    """All commands. ``words``: the lemmas as the spec would tell them. KeyError for a claim that there is not."""
    return list(_Writer(program, invariant, words).commands())


class _Writer:
    def __init__(self, program: Program, invariant: Invariant, words: Sequence[str]) -> None:
        self.program: Final = program
        self.machine: Final[Machine] = program.machine
        self.cells: Final = CellNames(program.machine)
        self.invariant: Final = invariant
        self.k: Final = invariant.k
        self.words: Final = words
        known = {c.name: c for c in claims(program) if not c.is_goal}
        chosen = [known[name] for name in invariant.claims]
        self.of_states: Final[list[Claim]] = [c for c in chosen if not c.of_steps]
        self.of_steps: Final[list[Claim]] = [c for c in chosen if c.of_steps]
        semantics = Semantics(program.machine)
        self.calls: Final = [semantics.call(semantics.instances[i.number]) for i in program.instances]
        graph = program.graph
        self.guards: Final = [graph.both(i.conjuncts) for i in program.instances]
        roots = [*self.guards, program.initially]
        for each in program.instances:
            roots += [each.write_fault, *(w.value for w in each.writes)]
        roots += [c.state for c in self.of_states if c.state is not None]
        roots += [node for c in self.of_steps for _, node in c.steps]
        self.roots: Final = roots
        named = {node.number: f"can {call}" for node, call in self._long_guards()}
        self.shared: Final = [n for n in shared(roots) if n.number not in named]
        named |= {node.number: f"shared {count}" for count, node in enumerate(self.shared, 1)}
        self.named: Final = named
        self.terms: Final = [
            Terms(self.cells, s, {n: symbol(name + "'" * s) for n, name in self.named.items()})
            for s in range(self.k + 1)
        ]

    def _long_guards(self) -> list[tuple[Node, str]]:
        """Guards by whose names expressions can be told, each once."""
        found: dict[int, tuple[Node, str]] = {}
        for node, call in zip(self.guards, self.calls, strict=True):
            if node.op in ("and", "or"):
                found.setdefault(node.number, (node, call))
        return list(found.values())

    def commands(self) -> Iterator[Part]:
        yield from self._head()
        yield from self._declarations()
        yield from self._initial()
        for state in range(self.k + 1):
            yield from self._shared(state)
            yield from self._enabled(state)
            yield from self._claims(state)
            if state < self.k:
                yield from self._steps(state)
                yield from self._step_claims(state)
        yield from self._checks()

    # ---- what it is about

    def _head(self) -> Iterator[Part]:
        parameters = [f"{name}={typed(value)}" for name, value in self.machine.parameters.items()]
        every = ", ".join(self.invariant.claims)
        comments = [
            f"Certificate of gangproof: {self.machine.name} {' '.join(parameters)}".rstrip(),
            "",
            f"Claimed of runs of any length: {every}.",
            f"They are inductive over {self.k} {'step' if self.k == 1 else 'steps'}"
            + (f", with {len(self.invariant.lemmas)} lemmas." if self.invariant.lemmas else "."),
            "",
            "A solver that reads this file answers unsat to every check. That states, steps and claims are those of",
            "the spec is what gangproof verify-certificate checks: it writes them anew. Comments are not checked.",
        ]
        linear = is_linear(parts(self.roots))
        yield Part("the logic", ("set-logic", "QF_LIA" if linear else "QF_NIA"), tuple(comments))
        yield Part("the version", ("set-info", ":gangproof-certificate", quoted(VERSION)))
        yield Part("the spec", ("set-info", ":spec", quoted(self.machine.name)))
        for each in parameters:
            yield Part("a parameter", ("set-info", ":parameter", quoted(each)))
        for name in self.invariant.claims:
            yield Part("a claim", ("set-info", ":claim", quoted(name)))
        yield Part("the steps of induction", ("set-info", ":k", quoted(str(self.k))))

    def _declarations(self) -> Iterator[Part]:
        comments: tuple[str, ...] = ("Values by name.",)
        for name, value in self.cells.constants.items():
            yield Part(f"the value {name}", ("define-fun", symbol(name), (), "Int", number(value)), comments)
            comments = ()
        for state in range(self.k + 1):
            primes = "'" * state
            comments = (f"The cells of state {state}{f', which have {primes}' if state else ''}.",)
            for index, shown in enumerate(self.cells.shown):
                cell = self.cells.cell(index, state)
                yield Part(f"the cell {shown}", ("declare-const", cell, self.cells.sort(index)), comments)
                comments = ()
            bounds = [
                self.cells.is_in_domain(i, self.cells.cell(i, state))
                for i, boolean in enumerate(self.cells.boolean)
                if not boolean
            ]
            if bounds:
                about = ("Each has a value of its domain. A step that leaves it is a fault: see values_in_range.",)
                yield Part("the domains", ("assert", _every(bounds)), about)

    def _initial(self) -> Iterator[Part]:
        starts: list[SExpr] = []
        choices = [o for v in self.machine.variables for _, o in self.machine.initial_choices(v)]
        for index, one_of in enumerate(choices):
            cell = self.cells.cell(index, 0)
            starts.append(_some([("=", cell, self.cells.value(index, Const(value).raw)) for value in one_of.values]))
        if self.program.initially is not self.program.graph.true:
            starts.append(Terms(self.cells, 0).of(self.program.initially))
        yield Part("the initial condition", _bool("the start", 0, _every(starts)), ("Where runs begin.",))

    # ---- expressions, steps

    def _shared(self, state: int) -> Iterator[Part]:
        comments: tuple[str, ...] = (f"What is used more than once, in state {state}.",)
        for node in self.shared:
            name, sort = symbol(self.named[node.number] + "'" * state), "Bool" if node.boolean else "Int"
            body = self.terms[state].written_out(node)
            yield Part(f"an expression, {name}", ("define-fun", name, (), sort, body), comments)
            comments = ()

    def _enabled(self, state: int) -> Iterator[Part]:
        comments: tuple[str, ...] = (f"When actions can happen in state {state}.",)
        for call, guard in zip(self.calls, self.guards, strict=True):
            own = self.named.get(guard.number) == f"can {call}"
            body = self.terms[state].written_out(guard) if own else self.terms[state].of(guard)
            yield Part(f"the guard of {call}", _bool(f"can {call}", state, body), comments)
            comments = ()

    def _steps(self, state: int) -> Iterator[Part]:
        comments: tuple[str, ...] = (
            f"Steps from state {state}: what is written, what stays. None of them is a fault.",
        )
        for call, instance in zip(self.calls, self.program.instances, strict=True):
            yield Part(f"the step {call}", _bool(f"step {call}", state, self._step(call, instance, state)), comments)
            comments = ()
        every = [symbol(f"step {call}" + "'" * state) for call in self.calls]
        yield Part("the steps", _bool("some step", state, _some(every)))

    def _step(self, call: str, instance: Instance, state: int) -> SExpr:
        found: list[SExpr] = [symbol(f"can {call}" + "'" * state)]
        terms, writes = self.terms[state], {w.cell: w.value for w in instance.writes}
        if instance.write_fault is not self.program.graph.false:
            found.append(("not", terms.of(instance.write_fault)))
        for index in range(len(self.cells.cells)):
            value = writes.get(index)
            before, after = self.cells.cell(index, state), self.cells.cell(index, state + 1)
            found.append(("=", after, before if value is None else self._value(index, value, state)))
        return _every(found)

    def _value(self, index: int, value: Node, state: int) -> SExpr:
        if value.op == "const" and not value.boolean:
            return self.cells.value(index, value.value)
        if value.op == "ite" and value.number not in self.named:
            condition, *both = value.args
            return ("ite", self.terms[state].of(condition), *(self._value(index, each, state) for each in both))
        return self.terms[state].of(value)

    # ---- claims

    def _claims(self, state: int) -> Iterator[Part]:
        names: list[SExpr] = []
        primed = self._primed(state)
        for count, lemma in enumerate(self.invariant.lemmas, 1):
            told = self.words[count - 1 : count] if not state else ()
            comments = (f"Lemma {count}: {told[0]}",) if told else () if count > 1 else (f"Lemmas, in state {state}.",)
            if isinstance(lemma, OfAll):
                name, of_all = f"lemma {count}", f"lemma {count} of all"
                if not state:
                    definition = ("define-fun", symbol(name), lemma.parameters, "Bool", lemma.body)
                    yield Part(name, definition, comments)
                    comments = ()
                every = [(symbol(name), *(renamed(cell, primed) for cell in each)) for each in lemma.arguments]
                yield Part(f"{name}, of all elements", _bool(of_all, state, _every(every)), comments)
                names.append(symbol(of_all + "'" * state))
                continue
            yield Part(f"lemma {count}", _bool(f"lemma {count}", state, renamed(lemma, primed)), comments)
            names.append(symbol(f"lemma {count}" + "'" * state))
        for claim in self.of_states:
            assert claim.state is not None
            holds = self.program.graph.no(claim.state)
            about = (f"Claim {claim.name} ({claim.kind}), of state {state}.",)
            yield Part(
                f"the claim {claim.name}", _bool(f"claim {claim.name}", state, self.terms[state].of(holds)), about
            )
            names.append(symbol(f"claim {claim.name}" + "'" * state))
        about = (f"The invariant, in state {state}.",)
        yield Part("the invariant", _bool("the invariant", state, _every(names)), about)

    def _primed(self, state: int) -> Mapping[str, str]:
        return {self.cells.cell(i, 0): self.cells.cell(i, state) for i in range(len(self.cells.cells))}

    def _step_claims(self, state: int) -> Iterator[Part]:
        for claim in self.of_steps:
            terms, bad = self.terms[state], []
            if claim.name == "values_in_range":
                bad = [self._leaving(n, i, state) for n, i in enumerate(self.program.instances) if self._may_leave(i)]
            else:
                for place, condition in claim.steps:
                    kind = "can" if claim.leads_nowhere else "step"
                    bad.append(_every([symbol(f"{kind} {self.calls[place]}" + "'" * state), terms.of(condition)]))
            about = (f"Claim {claim.name} ({claim.kind}): that no step from state {state} violates it, as these do.",)
            yield Part(f"the claim {claim.name}", _bool(f"violates {claim.name}", state, _some(bad)), about)

    def _may_leave(self, instance: Instance) -> list[tuple[int, Node]]:
        """What is written that is not in the domain whatever the state is."""
        return [
            (w.cell, w.value)
            for w in instance.writes
            if not w.value.boolean
            and not self.cells.values[w.cell].start <= w.value.low <= w.value.high < self.cells.values[w.cell].stop
        ]

    def _leaving(self, place: int, instance: Instance, state: int) -> SExpr:
        """A written value leaves its domain; where writes clash that is what the step violates."""
        terms = self.terms[state]
        leaves = [("not", self.cells.is_in_domain(i, terms.of(value))) for i, value in self._may_leave(instance)]
        found: list[SExpr] = [symbol(f"can {self.calls[place]}" + "'" * state)]
        if instance.write_fault is not self.program.graph.false:
            found.append(("not", terms.of(instance.write_fault)))
        return _every([*found, _some(leaves)])

    # ---- checks

    def _checks(self) -> Iterator[Part]:
        k, last = self.k, self.k - 1
        for state in range(k):
            run: list[SExpr] = [symbol("the start"), *(symbol("some step" + "'" * s) for s in range(state))]
            when = "initially" if not state else f"in every run of {state} steps"
            yield from self._check(f"the invariant holds {when}", [*run, ("not", self._inv(state))])
            if state < last:
                for claim in self.of_steps:
                    bad = symbol(f"violates {claim.name}" + "'" * state)
                    yield from self._check(f"{claim.name} is not violated by step {state + 1} of a run", [*run, bad])
        held: list[SExpr] = [self._inv(state) for state in range(k)]
        for state in range(last):
            held.append(symbol("some step" + "'" * state))
            held += [("not", symbol(f"violates {claim.name}" + "'" * state)) for claim in self.of_steps]
        for action in self.machine.actions:
            steps: list[SExpr] = [
                symbol(f"step {call}" + "'" * last)
                for call, instance in zip(self.calls, self.program.instances, strict=True)
                if self.machine.actions[instance.action] is action
            ]
            if steps:
                name = f"{action.name} preserves the invariant"
                yield from self._check(name, [*held, _some(steps), ("not", self._inv(k))])
        for claim in self.of_states:
            yield from self._check(
                f"the invariant implies {claim.name}", [self._inv(0), ("not", symbol(f"claim {claim.name}"))]
            )
        for claim in self.of_steps:
            bad = symbol(f"violates {claim.name}" + "'" * last)
            yield from self._check(f"no step violates {claim.name} where the invariant holds", [*held, bad])

    def _inv(self, state: int) -> str:
        return symbol("the invariant" + "'" * state)

    def _check(self, name: str, asserted: list[SExpr]) -> Iterator[Part]:
        what = f"the check that {name}"
        yield Part(what, ("push", "1"), (f"Check, unsat is expected: {name}.",))
        for each in asserted:
            yield Part(what, ("assert", each))
        yield Part(what, ("check-sat",), check=name)
        yield Part(what, ("pop", "1"))


def _bool(name: str, state: int, body: SExpr) -> SExpr:
    return ("define-fun", symbol(name + "'" * state), (), "Bool", body)


def _every(found: Sequence[SExpr]) -> SExpr:
    return "true" if not found else found[0] if len(found) == 1 else ("and", *found)


def _some(found: Sequence[SExpr]) -> SExpr:
    return "false" if not found else found[0] if len(found) == 1 else ("or", *found)


def renamed(expr: SExpr, names: Mapping[str, str]) -> SExpr:
    """``expr`` with other symbols, where ``names`` has one."""
    return names.get(expr, expr) if isinstance(expr, str) else tuple(renamed(each, names) for each in expr)


__all__ = ["VERSION", "Invariant", "OfAll", "Part", "certificate", "renamed", "text_of"]
