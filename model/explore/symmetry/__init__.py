"""Symmetry: of states that differ only in the names of interchangeable elements one stands for all.

`classes` finds which elements may be exchanged and refuses a spec that tells them apart; `group` says how exchanging
them acts on cells and instances; `canonical` picks the state that stands for an orbit, and `codegen.canon` writes the
same as LLVM text, which the search applies to every state that it finds. What is found is one state of each orbit of
reachable states, exactly; distances stay what they are. Traces are told in concrete names: see `Lift`.
"""

from model.explore.symmetry.canonical import Canonical
from model.explore.symmetry.classes import symmetry_of
from model.explore.symmetry.group import Class, Symmetry
from model.explore.symmetry.lift import Lift, Run

__all__ = ["Canonical", "Class", "Lift", "Run", "Symmetry", "symmetry_of"]
