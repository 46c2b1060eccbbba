"""What is shipped, by name. A system's module is loaded when its spec is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from model.language import Machine

if TYPE_CHECKING:
    from specs.mutant import Mutant
    from specs.slicing import Slice

SpecFunction = Callable[..., Machine]

SHIPPED: Final = MappingProxyType(
    {
        "gang": "specs.gang",
        "yunikorn": "specs.yunikorn",
        "autoscaled_gang": "specs.autoscaled_gang",
        "kubernetes": "specs.kubernetes",
        "composite": "specs.composite",
        "coscheduling": "specs.coscheduling",
        "kueue": "specs.kueue",
        "volcano": "specs.volcano",
        "volcano_reclaim": "specs.volcano.reclaim",
        "predicate_cache": "specs.predicate_cache",
        "ray": "specs.ray",
    }
)
"""Name of a spec to its package; the spec function has the same name."""

SLICED: Final = ("yunikorn", "kubernetes", "volcano")
"""Specs that have a slice, for proofs about any size: in the package ``slice`` of theirs. It is no spec of its own."""


def spec_function(name: str) -> SpecFunction:
    """The function that builds the shipped spec ``name``. KeyError if there is none."""
    return cast(SpecFunction, getattr(importlib.import_module(SHIPPED[name]), name))


def mutants(name: str) -> Sequence[Mutant]:
    """The mutants of the shipped spec ``name``."""
    return cast("Sequence[Mutant]", importlib.import_module(SHIPPED[name] + ".mutants").MUTANTS)


def slice_of(name: str) -> Slice:
    """The slice of the shipped spec ``name``, which is one of `SLICED`."""
    return cast("Slice", importlib.import_module(SHIPPED[name] + ".slice").SLICE)
