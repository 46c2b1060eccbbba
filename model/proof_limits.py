"""How long a proof may be to count as one, and how far one is looked for, where nothing else is asked for.

Apart from the prover, as the command line tells these without loading a solver.
"""

from __future__ import annotations

from typing import Final

MOST_ATOMS: Final = 200
"""An invariant with more comparisons is none that anybody reads."""
MOST_K: Final = 5
"""An induction over more steps has seen most of what there is to see: it does not tell why."""
LONGEST_K: Final = 50
"""No more steps can be asked for, nor be in a certificate."""
LENGTH: Final = 12
"""Steps of the runs that are searched for violations of what is not proved."""
SAMPLES: Final = 100_000
"""States that lemmas are learned from."""

__all__ = ["LENGTH", "LONGEST_K", "MOST_ATOMS", "MOST_K", "SAMPLES"]
