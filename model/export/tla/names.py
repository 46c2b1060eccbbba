"""Names that TLA+ can read: those of the spec wherever it can."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from model.export.enums import enums_of
from model.language import Machine, Sort, SpecError, Symbol, Table, VariableBase
from model.language.types import SortType

_WORDS = """
    ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS CORROLARY DEF DEFINE DEFS DOMAIN ELSE ENABLED EXCEPT
    EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF
    PROPOSITION PROVE QED RECURSIVE SF_ STATE STRONG SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE
    VARIABLE VARIABLES WEAK WF_ WITH WITNESS ACTION TRUE FALSE BOOLEAN STRING
    Int Nat Cardinality IsFiniteSet
    Seq Len Append Head Tail SubSeq SelectSeq BoundedSeq SortSeq Permutations Print PrintT Assert JavaTime TLCGet TLCSet
    ToString Any RandomElement
    SPECIFICATION INVARIANT INVARIANTS PROPERTY PROPERTIES CONSTRAINT CONSTRAINTS SYMMETRY VIEW INIT NEXT ALIAS
    CHECK_DEADLOCK POSTCONDITION ACTION_CONSTRAINT ACTION_CONSTRAINTS
"""
_RESERVED = frozenset(_WORDS.split())
_IDENTIFIER = re.compile(r"(?!WF_|SF_)[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*")

Names = Mapping[int, str]
"""What symbols in scope are called, by uid."""


class Naming:
    """One name for everything at the top of a module. What the spec names comes first; ours make way."""

    def __init__(self, machine: Machine, module: str | None) -> None:
        self.machine = machine
        self._taken: set[str] = {*_RESERVED, *([module] if module else [])}
        self.variables = self._each(machine.variables, lambda v: v.name)
        self.sorts = self._each(machine.sorts, lambda s: s.__name__)
        self.actions = self._each(machine.actions, lambda a: a.name)
        claims = [*machine.properties, *machine.terminals, *machine.initial_constraints]
        self.properties = self._each(claims, lambda p: p.name)
        self.tables = self._each(machine.tables, lambda t: t.name)
        self.enums = self._each(enums_of(machine), lambda e: e.__name__)
        words = re.split(r"\W|_", machine.name)
        self.module = module or self.fresh("".join(w[:1].upper() + w[1:] for w in words if w))

    def _each(self, things: Iterable[Any], name: Any) -> dict[int, str]:
        return {id(each): self.fresh(name(each)) for each in things}

    def fresh(self, name: str) -> str:
        """``name`` or, where that is taken or not TLA+, one like it; it is taken then."""
        found = _free(name, self._taken)
        self._taken.add(found)
        return found

    def bind(self, symbols: Iterable[Symbol], names: Names) -> dict[int, str]:
        """``names`` and, for ``symbols``, names that mean nothing else here: TLA+ lets none hide another."""
        inner = dict(names)
        for symbol in symbols:
            inner[symbol.uid] = self.local(symbol.name, inner)
        return inner

    def local(self, name: str, names: Names) -> str:
        """A name like ``name`` that nothing in scope has."""
        return _free(name, {*self._taken, *names.values()})

    def of(self, thing: VariableBase | Table[Any]) -> str:
        """The name of a variable or a table."""
        return self.variables[id(thing)] if isinstance(thing, VariableBase) else self.tables[id(thing)]

    def domain(self, domain: object) -> str:
        """The set of a domain's values."""
        if isinstance(domain, range):
            return f"{integer(domain.start)}..{integer(domain.stop - 1)}"
        if domain is bool:
            return "BOOLEAN"
        return self.sorts[id(domain)] if id(domain) in self.sorts else self.enums[id(domain)]

    def value(self, domain: Any, raw: int) -> str:
        """``raw`` of ``domain``: a number, TRUE or FALSE, or the name in quotes."""
        if isinstance(domain, range):
            return integer(raw)
        return ("FALSE", "TRUE")[raw] if domain is bool else quoted(self.machine.show(domain, raw))


def is_identifier(name: str) -> bool:
    """Whether ``name`` can stand in a module as it is."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_module_name(name: str) -> bool:
    """Whether a module may be called ``name``."""
    return is_identifier(name) and name not in _RESERVED


def quoted(text: str) -> str:
    """``text`` as a string of TLA+. SpecError where it is not ASCII, which TLC does not read."""
    if not text.isascii():
        raise SpecError(f"TLA+ is written in ASCII: the name {text!r} cannot stand in it", None)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def integer(value: int) -> str:
    """A number; a negative one in parentheses."""
    return str(value) if value >= 0 else f"({value})"


def sort_of(symbol: Symbol) -> type[Sort] | None:
    """The sort that ``symbol`` is an element of, if it is."""
    return symbol.type.sort if isinstance(symbol.type, SortType) else None


def _free(name: str, taken: set[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    plain = plain if is_identifier(plain) else f"v{plain}"
    return next(n for n in itertools.chain([plain], (f"{plain}_{i}" for i in itertools.count(2))) if n not in taken)
