"""What is left of an invariant is one: everything in it rests on something in it, and the goals are there."""

from __future__ import annotations

from collections.abc import Set

from few_examples import a_few
from hypothesis import given
from hypothesis import strategies as st

from model.prove.strengthen.shrink import Name, Shrinker

NAMES = tuple(range(7))


@st.composite
def proofs(draw: st.DrawFn) -> dict[Name, list[frozenset[Name]]]:
    """For each name what its step can rest on, each of which is enough."""
    supports = st.lists(st.frozensets(st.sampled_from(NAMES), max_size=3), min_size=1, max_size=3)
    return {name: draw(supports) for name in NAMES}


@a_few(60)
@given(proofs(), st.sampled_from(NAMES), st.integers(0, 12))
def test_what_is_left_is_closed(can: dict[Name, list[frozenset[Name]]], goal: int, work: int) -> None:
    asked: list[Name] = []

    def ask(name: Name, among: Set[Name]) -> frozenset[Name] | None:
        asked.append(name)
        return next((on for on in can[name] if on <= among | {name}), None)

    needs = {name: ways[0] for name, ways in can.items()}
    left = Shrinker(ask, lambda _: 1, lambda: len(asked) < work).shrunk([goal], needs)
    assert goal in left
    for name, on in left.items():
        assert on in can[name]
        assert on <= left.keys() | {name}


def test_the_longer_of_two_proofs_goes() -> None:
    """0 rests on 1, and so on 2 and 3, or on 4 alone."""
    can: dict[Name, list[frozenset[Name]]] = {
        0: [frozenset({1}), frozenset({4})],
        1: [frozenset({2, 3})],
        2: [frozenset()],
        3: [frozenset()],
        4: [frozenset()],
    }

    def ask(name: Name, among: Set[Name]) -> frozenset[Name] | None:
        return next((on for on in can[name] if on <= among), None)

    needs = {0: frozenset({1, 4}), **{name: can[name][0] for name in (1, 2, 3, 4)}}
    assert Shrinker(ask, lambda _: 1, lambda: True).shrunk([0], needs).keys() == {0, 4}
    assert Shrinker(ask, lambda _: 1, lambda: False).shrunk([0], needs).keys() == {0, 1, 2, 3, 4}
