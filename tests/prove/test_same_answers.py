"""The same question has the same answer, whatever the process proved before."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import pytest
import z3
from certificates import lights

from model.language import Machine, Sort
from model.proof import Claimed, Method
from model.prove import prove, prove_any_size
from model.prove.arithmetic import Formula
from model.prove.solving import Deadline, ask
from specs.gang import gang

pytestmark = pytest.mark.no_cover


def told(claimed: Sequence[Claimed]) -> list[object]:
    """All of the answer but the time that it took."""
    return [(c.verdict, c.k, c.helped_by, c.lemmas) for c in claimed]


@pytest.mark.parametrize(
    ("method", "build"), [(Method.INDUCTION, gang), (Method.SPACER, lights)], ids=["induction", "spacer"]
)
def test_a_second_proof_is_the_first(method: Method, build: Callable[[], Machine]) -> None:
    """Between both other terms are made, which z3 numbers as well."""
    first = prove(build(), method=method)
    kept = [z3.BitVec(f"other {n}", 8) + n for n in range(50)]
    prove(lights())
    assert told(prove(build(), method=method).claimed) == told(first.claimed)
    assert any(c.lemmas for c in first.claimed)
    assert kept


def test_a_second_proof_for_any_size_asks_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question, to the letter: symbols that were made before have no part in the names of unknowns."""
    asked: list[str] = []

    def listen(solver: z3.Solver, deadline: Deadline, assumptions: Sequence[Formula] = ()) -> z3.ModelRef | None:
        text = "\n".join([solver.sexpr(), *(a.sexpr() for a in assumptions)])
        asked.append(hashlib.sha256(text.encode()).hexdigest())
        return ask(solver, deadline, assumptions)

    for module in ("any_size.obligations", "solving"):
        monkeypatch.setattr(f"model.prove.{module}.ask", listen)

    def answer() -> tuple[list[object], list[str]]:
        asked.clear()
        proof = prove_any_size(gang, {"apps": 1, "nodes": 1}, properties=("node_capacity",), samples=10)
        return told(proof.claimed), list(asked)

    first = answer()
    assert first[1]
    _ = [Sort(f"other{n}") for n in range(7)]
    assert answer() == first
