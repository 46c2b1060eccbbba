"""Faults of the ray spec: the museum of real reports, and seeded ones, at least one for each property."""

from __future__ import annotations

from typing import Final

from specs.mutant import Mutant
from specs.ray.museum import MUSEUM
from specs.ray.seeded import SEEDED

MUTANTS: Final[tuple[Mutant, ...]] = (*MUSEUM, *SEEDED)
