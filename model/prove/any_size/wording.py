"""Claims about all elements, and what blocks them, in the words of the spec."""

from __future__ import annotations

from typing import Final

import z3

from model.language import Const, Expr, Ite, Machine, Op, Quantified, Read, Sort
from model.language.types import BOOL, EnumType
from model.language.walking import children
from model.prove.any_size.ground import Ground
from model.prove.any_size.terms import replaced
from model.prove.arithmetic import Formula

_MOST_VALUES = 40


def claim_text(symbols: tuple[Sort, ...], body: Expr) -> str:
    """``for all a in App: state[a] == PENDING implies sum(reals[a, n] for n in Node) == 0``."""
    names = {s.uid: s.name for s in symbols}
    outer = ", ".join(f"{names[s.uid]} in {type(s).__name__}" for s in symbols)
    text = _bare(body)
    return f"for all {outer}: {text}" if symbols else text


def _bare(expr: Expr) -> str:
    text = expression_text(expr)
    return text[1:-1] if isinstance(expr, Op) and len(expr.args) == 2 else text


def expression_text(expr: Expr) -> str:
    """``expr`` as people read it, operators in parentheses."""
    match expr:
        case Const() if isinstance(expr.type, EnumType):
            return expr.type.members[expr.raw].name
        case Const():
            return str(expr.value).lower() if expr.type == BOOL else str(expr.value)
        case Read(variable=variable, indices=indices):
            inside = ", ".join(map(expression_text, indices))
            return f"{variable.label}[{inside}]" if indices else variable.label
        case Op(op="=>", args=(left, right)):
            return f"({_bare(left)} implies {_bare(right)})"
        case Op(op="~", args=(arg,)):
            return f"~{expression_text(arg)}"
        case Op(op=op, args=(left, right)):
            chained = op in ("+", "&", "|") and isinstance(left, Op) and left.op == op
            return f"({_bare(left) if chained else expression_text(left)} {op} {expression_text(right)})"
        case Ite(condition=c, then=t, otherwise=e):
            return f"({_bare(c)} ? {_bare(t)} : {_bare(e)})"
        case Quantified(kind=kind, symbols=symbols, body=body):
            over = " ".join(f"for {s.name} in {getattr(s.domain, '__name__', s.domain)}" for s in symbols)
            return f"{kind}({_bare(body)} {over})"
    return repr(expr)


def atoms_in(expr: Expr) -> int:
    """How many comparisons, and boolean cells, a condition has."""
    if isinstance(expr, Op) and expr.op in ("&", "|", "=>", "~"):
        return sum(map(atoms_in, expr.args))
    if isinstance(expr, Quantified) and expr.type == BOOL:
        return atoms_in(expr.body)
    return sum(map(atoms_in, children(expr))) if isinstance(expr, Ite) and expr.type == BOOL else 1


class _Named:
    """Names for what a model says that elements are: equal ones have one name."""

    def __init__(self, model: z3.ModelRef, ground: Ground) -> None:
        self._names: Final[dict[str, str]] = {}
        for sort, found in ground.elements.items():
            known: dict[str, str] = {}
            for element, _ in found:
                value = str(model.eval(element, model_completion=True))
                known.setdefault(value, f"{sort.__name__.lower()}{len(known) + 1}")
            self._names.update(known)
        self._model: Final = model

    def of(self, element: Formula) -> str:
        """The name of an element."""
        value = str(self._model.eval(element, model_completion=True))
        return self._names.get(value, value)


def state_of(model: z3.ModelRef, ground: Ground, machine: Machine) -> dict[str, int | bool | str]:
    """What the solver says of cells and counters that were looked at, as far as they are not too many."""
    named = _Named(model, ground)
    found: dict[str, int | bool | str] = {}
    for term, read in ground.reads.values():
        inside = ", ".join(named.of(term.arg(i)) for i in range(term.num_args()))
        value = model.eval(term, model_completion=True)
        raw = int(z3.is_true(value)) if read.type == BOOL else value.as_long()
        name = f"{read.variable.label}[{inside}]" if inside else read.variable.label
        found[name] = _shown(machine, read, raw)
    counters: dict[str, int | bool | str] = {}
    for term, expr, env in ground.counters.values():
        by: dict[int, Expr] = {}
        for sort in ground.elements:
            by.update({uid: sort(named.of(e)) for uid, e in env.items() if e.sort().name() == sort.__name__})
        counters[_bare(replaced(expr, by))] = model.eval(term, model_completion=True).as_long()
    return dict([*found.items(), *counters.items()][:_MOST_VALUES])


def _shown(machine: Machine, read: Read, raw: int) -> int | bool | str:
    if read.type == BOOL:
        return bool(raw)
    return machine.show(read.variable.domain, raw) if isinstance(read.type, EnumType) else raw


__all__ = ["atoms_in", "claim_text", "expression_text", "state_of"]
