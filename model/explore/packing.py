"""A ground program with its states packed into words, and reduced to one of each orbit where that is asked for."""

from __future__ import annotations

from dataclasses import dataclass, fields

from model.explore.layout import Layout, layout_of
from model.explore.symmetry.canonical import Canonical
from model.explore.symmetry.classes import symmetry_of
from model.language import Machine
from model.lowering.lower import Program, lower


@dataclass(frozen=True, slots=True)
class PackedProgram(Program):
    """``layout``: where each cell lies. With ``canonical`` one state of each orbit is explored; nothing is then said of
    liveness, and ``live`` is empty."""

    layout: Layout
    canonical: Canonical | None = None


def pack(machine: Machine, *, symmetry: bool = False) -> PackedProgram:
    """The ground program of ``machine``, to be reduced by its ``symmetry``.

    SpecError where it is too large, may leave 64 bits, or tells apart what it calls symmetric.
    """
    layout = layout_of(machine.finish())
    program = lower(machine)
    ground = {each.name: getattr(program, each.name) for each in fields(program)}
    if not symmetry:
        return PackedProgram(**ground, layout=layout)
    return PackedProgram(
        **(ground | {"live": ()}), layout=layout, canonical=Canonical(machine, layout, symmetry_of(machine))
    )


__all__ = ["PackedProgram", "pack"]
