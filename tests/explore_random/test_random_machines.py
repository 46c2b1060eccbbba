"""The compiled explorer against the golden interpreter, on machines that Hypothesis writes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from random_agreement import check_agreement

from model.language import Machine
from model.language.describe import describe
from model.semantics import Explored, explore
from model.strategies import machines

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def explored_all(count: int, most_states: int, look: Callable[[Machine], Explored]) -> list[Explored]:
    """What ``look`` says of ``count`` machines.

    Hypothesis first tries the simplest example, and makes five variants of each one that it draws anew. For machines
    that differ more, this runs it many times for two examples.
    """
    found: dict[str, Explored] = {}
    for number in itertools.count():

        @seed(number)
        @settings(max_examples=2, deadline=None, suppress_health_check=SLOW_TO_DRAW, database=None, derandomize=False)
        @given(machines(most_states))
        def each(machine: Machine) -> None:
            text = describe(machine)
            if text not in found:
                found[text] = look(machine)

        each()
        if len(found) >= count:
            break
    return list(found.values())


def distribution(found: list[Explored]) -> dict[str, float]:
    """Shares of machines, and how often each kind of claim decides."""
    kinds = Counter(name.rstrip("0123456789") for each in found for name in each.violated)
    count = len(found)
    return {
        "machines": count,
        "over 20 states": sum(len(e.distance) > 20 for e in found) / count,
        "over 100 states": sum(len(e.distance) > 100 for e in found) / count,
        "something violated": sum(bool(e.violated) for e in found) / count,
        "a premise never true": sum(bool(e.unreached_premises) for e in found) / count,
        "an action never fires": sum(0 in e.fired.values() for e in found) / count,
        "a violation after two steps or more": sum(max(e.violated.values(), default=0) >= 2 for e in found) / count,
        **{f"{name} violated": n / count for name, n in sorted(kinds.items())},
    }


def show(found: list[Explored]) -> dict[str, float]:
    shares = distribution(found)
    print()
    for name, share in shares.items():
        print(f"  {name:<40}{share:6.0%}" if name != "machines" else f"  {share:.0f} random machines")
    sizes = sorted(len(e.distance) for e in found)
    print(f"  states: {', '.join(str(sizes[len(sizes) * i // 10]) for i in range(10))}, {sizes[-1]}")
    return shares


def test_the_explorer_agrees_and_the_machines_are_worth_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = explored_all(130, 500, check_agreement)
    with capsys.disabled():
        shares = show(found)
    assert shares["over 20 states"] >= 1 / 2
    assert shares["something violated"] >= 1 / 3
    assert shares["a violation after two steps or more"] >= 1 / 20
    assert any(e.reached for e in found)
    for name in ("always", "step", "possible", "deadlock_free", "values_in_range"):
        assert shares.get(f"{name} violated", 0) > 0, name


@pytest.mark.slow
def test_the_explorer_agrees_on_thousands(capsys: pytest.CaptureFixture[str]) -> None:
    found = explored_all(2_500, 600, check_agreement)
    with capsys.disabled():
        shares = show(found)
    assert shares["one_write_per_cell violated"] > 0


@settings(max_examples=30, phases=[Phase.generate], suppress_health_check=SLOW_TO_DRAW)
@given(machines(100))
def test_no_machine_is_larger_than_asked(machine: Machine) -> None:
    assert len(explore(machine).distance) <= 100
