"""The atoms that lemmas are made of: values of cells first, then what the spec itself asks of a state, and how the
numbers that it speaks of compare."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from model.lowering.ground import Node, parts
from model.lowering.lower import Program
from model.prove.claims import Claim

_MOST_VALUES = 12
_MOST_TERMS = 60
_MOST_LEAVES = 12
"""An atom that reads more cells is no lemma that anybody would read."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Boolean expressions over one state, each but once and never beside its negation; the first ``plain`` speak of
    one cell each, or are sums that are equal."""

    atoms: list[Node]
    plain: int


def vocabulary(program: Program, claims: Iterable[Claim], sums: Iterable[Node] = ()) -> Vocabulary:
    """Cells and their values; ``sums``, of any size; conditions in guards, updates and claims; comparisons of numbers
    that are compared."""
    graph = program.graph
    found: dict[int, Node] = {}

    def add(node: Node) -> None:
        if node.op == "not":
            node = node.args[0]
        if node.op != "const":
            found.setdefault(node.number, node)

    for node in [*_cells(program), *sums]:
        add(node)
    plain = len(found)
    parts = [n for n in _parts(program, claims) if _leaves(n) <= _MOST_LEAVES]
    for node in parts:
        if node.boolean:
            add(node)
    terms = _terms(parts)
    for a, b in itertools.combinations(terms, 2):
        if a.low <= b.high and b.low <= a.high and _leaves(a) + _leaves(b) <= _MOST_LEAVES:
            add(graph.equal(a, b))
            add(graph.less(a, b))
            add(graph.less(b, a))
    for term in terms:
        for value in _values(term.low, term.high):
            add(graph.less(term, graph.const(value + 1)))
    return Vocabulary(list(found.values()), plain)


def _cells(program: Program) -> Iterable[Node]:
    """What a cell may equal, and how a number compares with constants."""
    graph, machine = program.graph, program.machine
    for number, cell in enumerate(machine.cells()):
        domain = cell.variable.domain
        values = machine.values(domain)
        read = graph.cell(number, values, domain is bool)
        if read.boolean:
            yield read
            continue
        for value in _values(values.start, values.stop - 1):
            yield graph.equal(read, graph.const(value))
            if isinstance(domain, range):
                yield graph.less(read, graph.const(value + 1))


def _terms(parts: Iterable[Node]) -> list[Node]:
    """The numbers that are compared with numbers: not the members of an enum, which only equal."""
    found: dict[int, Node] = {}
    for node in parts:
        if node.op == "<" or (node.op == "==" and node.args[0].op not in ("cell", "ite")):
            found.update((a.number, a) for a in node.args if a.op != "const")
    return [found[number] for number in sorted(found)][:_MOST_TERMS]


def _values(low: int, high: int) -> Iterable[int]:
    """All of them where they are few, else those at the ends."""
    if high - low < _MOST_VALUES:
        return range(low, high + 1)
    half = _MOST_VALUES // 2
    return [*range(low, low + half), *range(high - half + 1, high + 1)]


def _parts(program: Program, claims: Iterable[Claim]) -> Iterable[Node]:
    """Every expression over one state that the machine and ``claims`` have in them, in order of building."""
    roots: list[Node] = [program.terminal]
    for instance in program.instances:
        roots += [*instance.conjuncts, *(w.value for w in instance.writes)]
        roots += [instance.range_fault, instance.write_fault]
    for claim in claims:
        roots += [node for node in (claim.state, *(n for _, n in claim.steps)) if node is not None]
    later: set[int] = set()
    for node in parts(roots):
        if node.op == "next" or any(a.number in later for a in node.args):
            later.add(node.number)
        else:
            yield node


def _leaves(node: Node, most: int = _MOST_LEAVES) -> int:
    """How many cells it reads, one that is read twice counted twice; more than ``most`` is not counted further."""
    if node.op in ("cell", "const"):
        return int(node.op == "cell")
    count = 0
    for each in node.args:
        count += _leaves(each, most - count)
        if count > most:
            break
    return count


__all__ = ["Vocabulary", "vocabulary"]
