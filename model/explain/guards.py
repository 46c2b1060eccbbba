"""Why an action is enabled in a state or not: each conjunct of its guard, whether it holds, and what values say so."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from model.errors import QueryError
from model.explain.calls import read_call
from model.explain.wording import Wording
from model.language import Const, Expr, Guard, Ite, Machine, Op, Quantified, Read, Symbol
from model.language.walking import operands, walk
from model.semantics import Environment, Fault, Instance, Semantics, State
from model.trace import Value, named_state, show

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_MOST_PARTS = 12


@dataclass(frozen=True, slots=True)
class Part:
    """An expression and its value in the state; ``parts`` are what that value comes from: of a sum what is not zero, of
    a conjunction that fails what fails. ``left_out``: how many more there are. ``compared``: of a comparison the values
    that it compares, as in ``2 < 2``."""

    text: str
    value: Value
    parts: tuple[Part, ...] = ()
    left_out: int = 0
    compared: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The same as JSON, nested."""
        return {
            "text": self.text,
            "value": self.value,
            "compared": self.compared,
            "parts": [p.to_json() for p in self.parts],
            "left_out": self.left_out,
        }


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A conjunct of a guard in one state; ``at`` is its line in the spec."""

    part: Part
    holds: bool
    at: str


@dataclass(frozen=True, slots=True)
class Enabling:
    """Whether ``call`` is enabled in ``state``, by each ``conjunct``.

    If it is, ``effect`` has the cells that it changes, from and to, and ``fault`` what is wrong with the step, if
    something is. ``choices``: of how many values of the choices that the question left open how many are enabled.
    """

    call: str
    state: Mapping[str, Value]
    conjuncts: tuple[Conjunct, ...]
    effect: Mapping[str, tuple[Value, Value]]
    fault: str | None
    choices: tuple[int, int] | None

    @property
    def enabled(self) -> bool:
        """Whether all conjuncts hold."""
        return all(c.holds for c in self.conjuncts)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "call": self.call,
            "enabled": self.enabled,
            "state": dict(self.state),
            "guards": [{"holds": c.holds, "at": c.at, **c.part.to_json()} for c in self.conjuncts],
            "changes": {name: {"from": old, "to": new} for name, (old, new) in self.effect.items()},
            "fault": self.fault,
            "choices": None if self.choices is None else {"enabled": self.choices[0], "of": self.choices[1]},
        }


def explain_call(machine: Machine, call: str, state: State) -> Enabling:
    """Why ``call``, as in ``allocate(app1, node2)``, is enabled in ``state`` or not.

    Values of its choices may be left out: then an enabled one is taken, or one with the most conjuncts that hold.
    QueryError where the machine has no such action or element.
    """
    semantics = Semantics(machine)
    instances, left_open = _instances(machine, semantics, call)
    enabled = [i for i in instances if semantics.is_enabled(i, state)]

    def closeness(instance: Instance) -> int:
        env = instance.environment()
        return sum(bool(semantics.evaluate(g.condition, state, env)) for g in instance.action.guards)

    chosen = enabled[0] if enabled else max(instances, key=closeness)
    teller = _Teller(machine, semantics, state)
    conjuncts = tuple(teller.conjuncts(chosen.action.guards, chosen.environment()))
    effect: dict[str, tuple[Value, Value]] = {}
    before, fault = named_state(machine, state), None
    if enabled:
        after = semantics.fire(chosen, state)
        if isinstance(after, Fault):
            fault = after.message
        else:
            effect = {n: (before[n], v) for n, v in named_state(machine, after).items() if v != before[n]}
    shown = semantics.call(chosen)
    return Enabling(shown, before, conjuncts, effect, fault, (len(enabled), len(instances)) if left_open else None)


def _instances(machine: Machine, semantics: Semantics, call: str) -> tuple[list[Instance], bool]:
    """The instances that ``call`` may mean, and whether choices were left open."""
    name, arguments = read_call(machine, call)
    (action,) = [a for a in machine.actions if a.name == name]
    needed, most = len(action.parameters), len(action.symbols)
    if not needed <= len(arguments) <= most or needed < len(arguments) < most:
        takes = ", ".join(s.name for s in action.parameters)
        takes += "".join(f", {s.name}" for s in action.choices) if action.choices else ""
        raise QueryError(f"{call!r}: {name} takes ({takes}), found {len(arguments)} arguments")
    for symbol, given in zip(action.symbols, arguments, strict=False):
        known = [machine.show(symbol.domain, v) for v in machine.values(symbol.domain)]
        if given not in known:
            few = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
            raise QueryError(f"{call!r}: {symbol.name} is one of {few}; found {given}")
    found = [
        i
        for i in semantics.instances
        if i.action is action and tuple(v for _, v in semantics.arguments(i))[: len(arguments)] == arguments
    ]
    return found, len(arguments) < most


class _Teller:
    """Tells what expressions come from in one state."""

    def __init__(self, machine: Machine, semantics: Semantics, state: State) -> None:
        self._machine: Final = machine
        self._semantics: Final = semantics
        self._state: Final = state
        self._wording: Final = Wording(machine)

    def conjuncts(self, guards: Sequence[Guard], env: Environment) -> Iterator[Conjunct]:
        """Each conjunct, those joined by & one by one."""
        for guard in guards:
            for condition in operands(guard.condition, "&"):
                part = self.part(condition, env)
                yield Conjunct(part, bool(part.value), str(guard.at))

    def part(self, expr: Expr, env: Environment) -> Part:
        """``expr`` with its value and what that comes from."""
        inside = [self.part(e, inner) for e, inner in self._below(expr, env)]
        shown = tuple(inside[:_MOST_PARTS])
        value = self._wording.value(expr, self._raw(expr, env))
        return Part(self._wording.text(expr, env), value, shown, len(inside) - len(shown), self._compared(expr, env))

    def _compared(self, expr: Expr, env: Environment) -> str | None:
        if not isinstance(expr, Op) or expr.op not in _COMPARISONS:
            return None
        values = [
            self._wording.text(x, env) if _is_plain(x) else show(self._wording.value(x, self._raw(x, env)))
            for x in expr.args
        ]
        return f"{values[0]} {expr.op} {values[1]}"

    def _raw(self, expr: Expr, env: Environment) -> int:
        return self._semantics.evaluate(expr, self._state, env)

    def _below(self, expr: Expr, env: Environment) -> list[tuple[Expr, Environment]]:
        """What the value of ``expr`` comes from: what is not plain to see, and of parts only those that decide."""
        match expr:
            case Op(op="&" | "|" as op, args=args):
                parts = [x for a in args for x in operands(a, op)]
                decides = int(op == "|")
                deciding = [p for p in parts if self._raw(p, env) == decides]
                return [(p, env) for p in deciding or parts]
            case Op(op="=>", args=(premise, conclusion)):
                return [(premise, env), *([(conclusion, env)] if self._raw(premise, env) else [])]
            case Op(op="+"):
                return [(a, env) for a in operands(expr, "+") if not _is_plain(a) and self._raw(a, env)]
            case Op(args=args):
                return [(a, env) for a in args if not _is_plain(a)]
            case Ite(condition=c, then=t, otherwise=e):
                taken = t if self._raw(c, env) else e
                varies = any(isinstance(x, Read) for x in walk(c))
                return [*([(c, env)] if varies else []), *([] if _is_plain(taken) else [(taken, env)])]
            case Quantified(kind=kind, body=body):
                return self._elements(kind, expr, body, env)
        return []

    def _elements(self, kind: str, expr: Quantified, body: Expr, env: Environment) -> list[tuple[Expr, Environment]]:
        ranges = (self._machine.values(s.domain) for s in expr.symbols)
        uids = [s.uid for s in expr.symbols]
        inner = [{**env, **dict(zip(uids, values, strict=True))} for values in itertools.product(*ranges)]
        values = [self._raw(body, e) for e in inner]
        match kind:
            case "all" | "any":
                decides = int(kind == "any")
                deciding = [e for e, v in zip(inner, values, strict=True) if v == decides]
                # What holds for all comes from nothing in particular.
                return [(body, e) for e in deciding or ([] if kind == "all" else inner)]
            case "sum" | "count":
                return [(body, e) for e, v in zip(inner, values, strict=True) if v]
            case _:
                best = self._raw(expr, env)
                return [(body, e) for e, v in zip(inner, values, strict=True) if v == best][:1]


def _is_plain(expr: Expr) -> bool:
    return isinstance(expr, (Const, Symbol))


__all__ = ["Conjunct", "Enabling", "Part", "explain_call"]
