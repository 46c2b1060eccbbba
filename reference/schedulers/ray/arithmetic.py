"""How amounts of resources are counted.

Ray's core counts in ten-thousandths, its autoscaler in doubles, which drift: of a node with 0.6 CPU, two requests of
0.2 leave a little less than 0.2, and the third is refused. ``DOUBLES`` does as Ray does, bit for bit; ``EXACT``
counts in whole ten-thousandths. On whole numbers, halves and quarters the two agree. Everything but reading and the
score's value of a resource is written for both: it compares, adds and subtracts.
"""

# float: Ray's autoscaler decides with doubles, and this says what it decides; EXACT has none before the score

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

Amount = float
"""A double, or, counted exactly, an int of ten-thousandths."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A way to count; ``unit`` is the amount that is one CPU, one GPU or one byte."""

    name: str
    unit: int

    def amount(self, value: int | Decimal) -> Amount | None:
        """``value`` as it is counted here, None where it has a finer part than is counted."""
        if self.unit == 1:
            return float(value)
        scaled = value * self.unit
        return int(scaled) if scaled == int(scaled) else None

    def shown(self, amount: Amount) -> float:
        """The amount in its resource's own unit, for people and programs to read."""
        return amount / self.unit


DOUBLES: Final = Arithmetic("doubles", 1)
EXACT: Final = Arithmetic("exact", 10_000)
