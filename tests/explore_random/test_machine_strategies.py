"""The strategy of random machines: they are well-formed, they cover the language, and they shrink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings

from model.language import Const, Expr, Ite, Lookup, Machine, Op, Quantified
from model.language.describe import describe
from model.language.walking import walk
from model.strategies import machines

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

FAST = settings(
    max_examples=400,
    phases=[Phase.generate, Phase.shrink],
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def expressions(machine: Machine) -> Iterator[Expr]:
    for action in machine.actions:
        yield from (g.condition for g in action.guards)
        for update in action.updates:
            yield from (update.condition, update.value)
    yield from (p.condition for p in (*machine.properties, *machine.terminals, *machine.initial_constraints))


def features(machine: Machine) -> set[str]:
    """What of the language a machine uses."""
    found = {f"{d.size} elements" for d in machine.sorts.values()}
    found |= {"ordered" for d in machine.sorts.values() if d.ordered}
    found |= {"symmetric" for d in machine.sorts.values() if d.symmetric}
    found |= {f"over {len(v.sorts)} sorts" for v in machine.variables}
    found |= {"table" for _ in machine.tables} | {"initially" for _ in machine.initial_constraints}
    choices = [c for v in machine.variables for _, c in machine.initial_choices(v)]
    found |= {"one_of" for c in choices if len(c.values) > 1}
    found |= {p.kind.value for p in machine.properties} | {"premise" for p in machine.properties if p.premises}
    for action in machine.actions:
        found |= {f"{len(action.parameters)} parameters"} | {"choose" for _ in action.choices}
        for update in action.updates:
            found |= {"+=" if update.adds else "="} | {"for" for _ in update.binders}
            found |= set() if isinstance(update.condition, Const) else {"when"}
    for expr in expressions(machine):
        for part in walk(expr):
            match part:
                case Op(op=op):
                    found.add(op)
                case Quantified(kind=kind):
                    found.add(f"{kind}_")
                case Ite():
                    found.add("ite")
                case Lookup():
                    found.add("lookup")
    return found


EXPECTED = {
    *("1 elements", "2 elements", "3 elements", "ordered", "symmetric", "over 0 sorts", "over 1 sorts", "over 2 sorts"),
    *("table", "lookup", "one_of", "initially", "always", "step", "sometimes", "possible", "premise"),
    *("0 parameters", "1 parameters", "2 parameters", "choose", "+=", "=", "for", "when", "ite"),
    *("sum_", "count_", "min_", "max_", "all_", "any_"),
    *("+", "-", "*", "//", "%", "==", "!=", "<", "<=", ">", ">=", "&", "|", "~", "=>"),
}


def test_random_machines_cover_the_language() -> None:
    counts = Counter[str]()
    for number in range(60):

        @seed(number)
        @settings(FAST, max_examples=3, derandomize=False, phases=[Phase.generate])
        @given(machines())
        def each(machine: Machine) -> None:
            counts.update(features(machine.finish()))

        each()
    assert set(counts) >= EXPECTED, EXPECTED - set(counts)


def test_the_simplest_machine() -> None:
    machine = find(machines(), lambda _: True, settings=FAST)
    assert len(machine.sorts) == len(machine.variables) == len(machine.actions) == 1
    assert len(machine.cells()) == 1
    # it prints as a spec
    assert repr(machine).strip() == describe(machine).strip()
    assert "def random_machine() -> Machine:" in repr(machine)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("choose", lambda m: any(a.choices for a in m.actions)),
        pytest.param("for", lambda m: any(u.binders for a in m.actions for u in a.updates), marks=pytest.mark.slow),
        pytest.param("step", lambda m: any(p.kind.value == "step" for p in m.properties), marks=pytest.mark.slow),
    ],
)
def test_they_shrink(name: str, wanted: Callable[[Machine], bool]) -> None:
    machine = find(machines(), wanted, settings=FAST)
    assert name in features(machine)
    assert len(machine.actions) + len(machine.variables) + len(machine.properties) <= 5, describe(machine)
    assert len(describe(machine).splitlines()) <= 45, describe(machine)
