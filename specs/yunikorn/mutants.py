"""Faults of the yunikorn spec: those of the design's edition, and the museum of today's."""

from __future__ import annotations

from typing import Final

from specs.yunikorn.current.mutants import MUTANTS as CURRENT
from specs.yunikorn.seed.mutants import MUTANTS as SEED

MUTANTS: Final = (*SEED, *CURRENT)
