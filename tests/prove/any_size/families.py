"""Random machines as families: the same machine with other numbers of elements."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from model.language import Machine
from model.prove.any_size.effects import uniform_start
from model.prove.any_size.family import resized
from model.prove.any_size.terms import Unreadable
from model.strategies import machines


def is_family(machine: Machine) -> bool:
    """Whether it can be had at any size: no tables, no order, and all elements start alike."""
    if machine.tables or any(d.ordered for d in machine.sorts.values()):
        return False
    try:
        for variable in machine.variables:
            variable.initial = uniform_start(machine, variable)
    except Unreadable:
        return False
    return True


def families(most_states: int = 200) -> st.SearchStrategy[Machine]:
    """Random machines that can be had at any size."""
    return machines(most_states).filter(is_family)


def at_size(machine: Machine) -> Callable[..., Machine]:
    """The spec function of ``machine``: ``size`` elements of each sort."""

    def build(size: int = 2) -> Machine:
        return resized(machine, {sort.__name__: size for sort in machine.sorts})

    return build
