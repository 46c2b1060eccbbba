"""Steps without a state after them: what a step makes of an expression, written over the state before.

A step of an instance gives the cells that it writes the values of expressions; put those in the place of the cells, and
what is said of the state after is said of the state before. What no written cell is read by stays as it is, so an
instance matters to a lemma only if it writes what the lemma reads.
"""

from __future__ import annotations

from typing import Final

from model.lowering.ground import Node
from model.lowering.lower import Program
from model.prove.claims import Claim


class Steps:
    """The steps of ``program``.

    Expressions made here may have wider intervals than those that the program has, and words were measured by the
    program's. Nothing is lost: each is looked at only beside its instance's guard, and there is no fault, so that it is
    what an expression of the program is in the state after.
    """

    def __init__(self, program: Program) -> None:
        self._graph: Final = program.graph
        self._written: Final = [{w.cell: w.value for w in i.writes} for i in program.instances]
        self._reads: Final[dict[int, int]] = {}
        self._after: Final[list[dict[int, Node]]] = [{} for _ in program.instances]
        no, both = self._graph.no, self._graph.both
        self._enabled: Final = [both(i.conjuncts) for i in program.instances]
        self._sound: Final = [both([*i.conjuncts, no(i.write_fault), no(i.range_fault)]) for i in program.instances]
        self._writes: Final = [sum(1 << cell for cell in written) for written in self._written]

    def into(self, bad: Node) -> list[Node]:
        """When there is a step into a state in which ``bad`` holds from one in which it does not, an instance each:
        those that write nothing that ``bad`` reads are left out."""
        reads = self._cells_of(bad)
        places = [place for place, writes in enumerate(self._writes) if writes & reads]
        return [self._graph.both([self._sound[place], self._put(place, bad)]) for place in places]

    def violating(self, claim: Claim) -> list[Node]:
        """When there is a step that violates ``claim``, which is about steps, an instance each."""
        guards = self._enabled if claim.leads_nowhere else self._sound
        return [self._graph.both([guards[place], violated]) for place, violated in claim.steps]

    def _cells_of(self, node: Node) -> int:
        """The cells that ``node`` reads, as bits; those of the state after are not among them."""
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [a for a in top.args if a.number not in self._reads]
            if missing:
                stack += missing
                continue
            found = 1 << top.value if top.op == "cell" else 0
            for each in top.args:
                found |= self._reads[each.number]
            self._reads[top.number] = found
            stack.pop()
        return self._reads[node.number]

    def _put(self, place: int, node: Node) -> Node:
        """``node`` with what the instance writes in the place of cells."""
        written, writes, known = self._written[place], self._writes[place], self._after[place]
        stack = [node]
        while stack:
            top = stack[-1]
            missing: list[Node] = []
            if top.op == "cell":
                known[top.number] = written.get(top.value, top)
            elif not self._cells_of(top) & writes:
                known[top.number] = top
            elif missing := [a for a in top.args if a.number not in known]:
                stack += missing
            else:
                known[top.number] = self._graph.rebuild(top, [known[a.number] for a in top.args])
            if not missing:
                stack.pop()
        return known[node.number]


__all__ = ["Steps"]
