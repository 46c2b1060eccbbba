"""Exploration up to symmetry: exact orbits, same verdicts, concrete traces; and what is refused."""

from __future__ import annotations

import enum
import itertools
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from symmetry_agreement import check_symmetric_agreement, permuted

from model.explore import Exploration, explore
from model.explore.codegen.canon import network
from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.explore.search.limits import Limits
from model.explore.search.search import Search
from model.explore.symmetry import symmetry_of
from model.explore.symmetry.group import moves
from model.language import Expr, Machine, Sort, SpecError, all_, any_, count_, one_of, require, sum_
from model.semantics import Fault, Semantics
from model.strategies import machines
from model.verdict import Outcome
from specs.gang import gang
from specs.loading import load_spec

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

SLOW_TO_DRAW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
    HealthCheck.filter_too_much,
]


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Phase(enum.Enum):
    """Of an application."""

    IDLE = 0
    BUSY = 1
    DONE = 2


def test_many_arrangements_are_not_a_long_batch() -> None:
    """However many are tried of each successor, it is asked often whether to stop."""
    asked: list[int] = []

    def stop() -> bool:
        asked.append(sum(search.expanded))
        return False

    program = pack(gang(apps=6, size=1, nodes=6, capacity=1, quota=6), symmetry=True)
    assert program.canonical is not None
    assert len(program.canonical.moves) + 1 == math.factorial(6)
    search = Search(program, Native(program), Limits(), stop=stop)
    search.run()
    most = max(b - a for a, b in itertools.pairwise(asked))
    assert search.count == 210
    assert most * math.factorial(6) <= 1 << 14


# ---- the published counts, and the shipped specs


@pytest.mark.parametrize(
    ("sizes", "orbits", "depth"),
    [
        ({"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7}, 2_520, 32),
        ({"apps": 5, "size": 3, "nodes": 2, "capacity": 4, "quota": 8}, 6_791, 40),
        ({"apps": 5, "size": 2, "nodes": 3, "capacity": 4, "quota": 8}, 16_633, 30),
    ],
)
def test_orbits_of_gang(sizes: dict[str, int], orbits: int, depth: int) -> None:
    verdict = explore(gang(**sizes), symmetry=True)
    assert verdict.outcome is Outcome.HOLDS
    assert (verdict.coverage.distinct_states, verdict.coverage.depth) == (orbits, depth)


@pytest.mark.parametrize(
    ("spec", "parameters"),
    [
        ("gang", []),
        ("gang", ["apps=3", "nodes=2"]),
        ("gang", ["apps=1", "nodes=3"]),
        ("yunikorn", ["edition=seed", "apps=1"]),
        pytest.param("autoscaled_gang", ["apps=1"], marks=pytest.mark.slow),
        ("autoscaled_gang", ["vanish=true", "size=1", "capacity=1", "instances=1", "spare_rows=1"]),
    ],
)
def test_shipped_specs(spec: str, parameters: list[str]) -> None:
    check_symmetric_agreement(load_spec(spec, parameters))


def test_a_counterexample_is_told_in_concrete_names() -> None:
    machine = load_spec("gang", ["apps=3", "size=2", "nodes=2", "capacity=2", "quota=3"])
    broken = replace(machine.actions[1], guards=machine.actions[1].guards[:2])
    machine.actions[1] = broken
    plain, reduced = explore(machine), explore(machine, symmetry=True)
    name = "quota_never_exceeded"
    assert plain[name].outcome is reduced[name].outcome is Outcome.VIOLATED
    trace, shortest = reduced[name].trace, plain[name].trace
    assert trace is not None
    assert shortest is not None
    assert len(trace) == len(shortest)
    assert Semantics(machine).replay(trace) is None


# ---- random machines


@st.composite
def symmetric_machines(draw: st.DrawFn) -> Machine:
    """Random machines all of whose sorts without an order are symmetric."""
    machine = draw(machines(300))
    for sort, declared in machine.sorts.items():
        machine.sorts[sort] = replace(declared, symmetric=not declared.ordered)
    try:
        symmetry_of(machine)
    except SpecError:
        assume(False)
    return machine


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(symmetric_machines())
def test_random_machines(machine: Machine) -> None:
    check_symmetric_agreement(machine)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(symmetric_machines(), st.data())
def test_exchanging_elements_commutes_with_every_step(machine: Machine, data: st.DataObject) -> None:
    """What the gate lets through is symmetric: the successors of an exchanged state are the exchanged successors."""
    exploration = Exploration(machine, symmetry=True)
    canonical = exploration.program.canonical
    assert canonical is not None
    semantics = Semantics(machine)
    states = exploration.states
    state = tuple(int(v) for v in states[data.draw(st.integers(0, len(states) - 1))])
    by = {}
    for c in canonical.symmetry.classes:
        image = by.setdefault(c.sort, list(range(machine.sorts[c.sort].size)))
        for place, element in zip(c.elements, data.draw(st.permutations(c.elements)), strict=True):
            image[place] = element

    def after(start: tuple[int, ...]) -> list[tuple[str, object]]:
        found = []
        for instance in semantics.instances:
            if semantics.is_enabled(instance, start):
                result = semantics.fire(instance, start)
                found.append((instance.action.name, result.kind if isinstance(result, Fault) else result))
        return found

    exchanged = [
        (name, permuted(canonical, result, by) if isinstance(result, tuple) else result)
        for name, result in after(state)
    ]
    assert sorted(map(repr, after(permuted(canonical, state, by)))) == sorted(map(repr, exchanged))
    assert canonical.of(permuted(canonical, state, by))[0] == canonical.of(state)[0]


# ---- wide states, several classes, variables over pairs of one sort


def wide(elements: int, fields: int, values: int, steps: int = 3) -> Machine:
    """Elements with ``fields`` numbers each; every step sets one of them, anywhere."""
    m = Machine("wide")
    m.sort(App, elements, symmetric=True)
    held = [m.variable(f"field{i}", App, range(values), init=0) for i in range(fields)]
    used = m.scalar("used", range(steps + 1), init=0)

    def declare(i: int) -> None:
        variable = held[i]

        def put(a: App) -> None:
            require(used < steps, variable[a] == 0)
            variable[a] = values - 1 - i
            used.next = used + 1

        put.__name__ = f"put{i}"
        m.action(put)

    for i in range(fields):
        declare(i)

    @m.terminal
    def full() -> Expr:
        return used == steps

    return m


@pytest.mark.parametrize(("fields", "values", "words"), [(2, 8, 1), (3, 1 << 10, 2), (3, 1 << 20, 4), (4, 1 << 30, 8)])
def test_states_of_many_words(fields: int, values: int, words: int) -> None:
    machine = wide(4, fields, values)
    assert Exploration(machine, symmetry=True).program.layout.words == words
    check_symmetric_agreement(machine)


@pytest.mark.parametrize("elements", range(2, 9))
def test_numbers_of_equal_elements_are_multisets(elements: int) -> None:
    """k of n elements chosen one by one, all alike: with one field of two values only how many are set is left."""
    machine = wide(elements, 1, 2, steps=elements)
    assert explore(machine, symmetry=True).coverage.distinct_states == elements + 1
    assert explore(machine).coverage.distinct_states == 2**elements


def linked(size: int, with_table: bool = False) -> Machine:
    """Applications that may each wait for another: a variable over pairs of one sort, which cannot be sorted."""
    m = Machine("linked")
    m.sort(App, size, symmetric=True)
    if with_table:
        weight = m.constant("weight", App, [1, 2, 1, 2][:size])
    waits = m.variable("waits", (App, App), bool, init=False)

    @m.action
    def wait(a: App, b: App) -> None:
        require(a != b, ~waits[a, b], ~waits[b, a])
        if with_table:
            require(weight[a] <= weight[b])
        waits[a, b] = True

    @m.terminal
    def all_linked() -> Expr:
        return all_((a == b) | waits[a, b] | waits[b, a] | True for a in App for b in App)

    @m.always
    def no_two_wait_for_each_other() -> Expr:
        return all_(~(waits[a, b] & waits[b, a]) for a in App for b in App)

    @m.always
    def few_waits() -> Expr:
        return sum_(count_(waits[a, b] for a in App) for b in App) < size

    return m


@pytest.mark.parametrize(("size", "graphs"), [(2, 2), (3, 7), (4, 42)])
def test_pairs_of_one_sort(size: int, graphs: int) -> None:
    """Oriented graphs without names: 2, 7, 42 (OEIS A001174)."""
    check_symmetric_agreement(linked(size))
    assert explore(linked(size), symmetry=True).coverage.distinct_states == graphs


def test_elements_with_other_constants_are_not_exchanged() -> None:
    machine = linked(4, with_table=True)
    assert symmetry_of(machine).describe(machine) == "2 App (app1, app3) x 2 App (app2, app4)"
    check_symmetric_agreement(machine)


def test_one_asymmetric_start_and_many() -> None:
    m = Machine("starts")
    m.sort(App, 3, symmetric=True)
    phase = m.variable("phase", App, Phase, init=[Phase.DONE, Phase.IDLE, Phase.IDLE])

    @m.action
    def begin(a: App) -> None:
        require(phase[a] == Phase.IDLE)
        phase[a] = Phase.BUSY

    @m.terminal
    def over() -> Expr:
        return all_(phase[a] != Phase.IDLE for a in App)

    @m.always
    def one_busy() -> Expr:
        return count_(phase[a] == Phase.BUSY for a in App) <= 1

    check_symmetric_agreement(m)
    assert explore(m, symmetry=True).coverage.distinct_states == 3


# ---- its parts


@pytest.mark.parametrize("size", range(1, 10))
def test_the_network_sorts(size: int) -> None:
    """What sorts all rows of zeros and ones sorts everything."""
    for row in itertools.product((0, 1), repeat=size):
        new = list(row)
        for a, b in network(size):
            assert a < b
            new[a], new[b] = min(new[a], new[b]), max(new[a], new[b])
        assert new == sorted(row)


@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (4,), (5,), (2, 2), (3, 2), (2, 3, 2), (4, 3)])
def test_moves_lead_through_all_arrangements(sizes: tuple[int, ...]) -> None:
    rows = [list(range(n)) for n in sizes]
    seen = {tuple(map(tuple, rows))}
    for row, place in moves(sizes):
        rows[row][place], rows[row][place + 1] = rows[row][place + 1], rows[row][place]
        seen.add(tuple(map(tuple, rows)))
    assert len(seen) == math.prod(map(math.factorial, sizes)) == len(moves(sizes)) + 1


# ---- what is refused, or not said


def test_a_spec_without_symmetry_is_refused() -> None:
    m = Machine("plain")
    m.sort(App, 2)
    m.scalar("clock", range(2), init=0)
    with pytest.raises(SpecError, match=r"plain declares no sort symmetric=True \(App\): there is nothing to reduce"):
        symmetry_of(m)


def test_a_single_element_is_refused() -> None:
    with pytest.raises(
        SpecError, match=r"wide has no two elements to exchange: App has 1\. There is nothing to reduce"
    ):
        symmetry_of(wide(1, 1, 2))


def test_all_different_elements_are_refused() -> None:
    machine = linked(2, with_table=True)
    with pytest.raises(SpecError, match="those of App differ in weight"):
        symmetry_of(machine)


def test_too_many_permutations_are_refused() -> None:
    with pytest.raises(
        SpecError, match=r"40,320 permutations of 8 App would be tried for each state; at most 5,040 are"
    ):
        symmetry_of(linked(8))


def test_a_spec_that_tells_elements_apart_is_refused_with_its_line() -> None:
    """The language compares only ordered elements; here the sort is called symmetric afterwards."""
    m = Machine("first")
    m.sort(App, 2, ordered=True)
    phase = m.variable("phase", App, Phase, init=Phase.IDLE)

    @m.action
    def begin(a: App) -> None:
        require(all_((phase[b] != Phase.IDLE) | ~(b < a) for b in App))  # this line
        phase[a] = Phase.BUSY

    m.sorts[App] = replace(m.sorts[App], ordered=False, symmetric=True)
    with pytest.raises(SpecError, match=r"action begin breaks the symmetry of App: .*b < a") as caught:
        symmetry_of(m)
    assert caught.value.at is not None
    line = Path(__file__).read_text().splitlines()[caught.value.at.line - 1]
    assert line.endswith("# this line")


def test_a_fault_is_told_of_the_cell_that_the_trace_shows() -> None:
    m = Machine("counts")
    m.sort(App, 3, symmetric=True)
    x = m.variable("x", App, range(3), init=0)

    @m.action
    def up(a: App) -> None:
        x[a] += 1

    found = explore(m, symmetry=True)["values_in_range"]
    assert found.trace is not None
    assert found.trace.steps[-1].fault is not None
    assert found.how.endswith(found.trace.steps[-1].fault)


def test_liveness_is_unknown_up_to_symmetry() -> None:
    m = Machine("lively")
    m.sort(App, 2, symmetric=True)
    phase = m.variable("phase", App, Phase, init=Phase.IDLE)

    @m.action
    def end(a: App) -> None:
        require(phase[a] == Phase.IDLE)
        phase[a] = Phase.DONE

    @m.terminal
    def over() -> Expr:
        return all_(phase[a] == Phase.DONE for a in App)

    @m.eventually(fairness=[])
    def one_ends() -> Expr:
        return any_(phase[a] == Phase.DONE for a in App)

    verdict = explore(m, symmetry=True)
    assert verdict["one_ends"].outcome is Outcome.UNKNOWN
    assert "without --symmetry" in verdict["one_ends"].how
    assert verdict.outcome is Outcome.UNKNOWN


def test_a_trace_starts_in_the_first_of_many_initial_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^16 initial states, of which 17 are canonical: they are not gone through one by one, nor for each trace."""
    machine = Machine("wide")
    machine.sort(Node, 16, symmetric=True)
    up = machine.variable("up", Node, bool, init=one_of(False, True))

    @machine.action
    def start(n: Node) -> None:
        require(~up[n])
        up[n] = True

    @machine.always
    def not_3() -> Expr:
        return count_(up[n] for n in Node) != 3

    @machine.always
    def not_5() -> Expr:
        return count_(up[n] for n in Node) != 5

    @machine.terminal
    def full() -> Expr:
        return all_(up[n] for n in Node)

    expected = {}
    for most in (3, 5):
        states = Semantics(machine).initial_states()
        expected[most] = next(state for state in states if sum(state) == most)

    def never(self: Semantics) -> None:
        raise AssertionError("in plain Python")

    monkeypatch.setattr(Semantics, "initial_states", never)
    verdict = explore(machine, symmetry=True)
    assert verdict.coverage.distinct_states == 17
    for most in (3, 5):
        trace = verdict[f"not_{most}"].trace
        assert trace is not None
        assert len(trace) == 0
        assert tuple(trace.last.values()) == tuple(map(bool, expected[most]))
