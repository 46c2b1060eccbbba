"""Random times without a float: exponential gaps by von Neumann's comparison of uniform integers.

Every stream has a name, and is seeded by the run's seed and that name. So what one stream draws (the failures of one
gang, say) does not hang on how often another was asked, and two policies meet the same arrivals and the same weather.
"""

from __future__ import annotations

import random

_BITS = 64


def stream(seed: int, *name: object) -> random.Random:
    """The stream of that name: the same on every machine (Python seeds by SHA-512 of the text)."""
    return random.Random("/".join(map(str, (seed, *name))))


def exponential_ms(draw: random.Random, mean_ms: int) -> int:
    """A whole number of milliseconds, at least 1, exponentially distributed around ``mean_ms`` (at least 1).

    Von Neumann, "Various techniques used in connection with random digits" (1951): let u1 > u2 > ... > un be the
    longest falling run of uniform draws; u1 is kept where n is odd, else one is added and it starts again. What is
    kept, plus how often it started again, has the exponential distribution with mean 1.
    """
    whole = 0
    while True:
        first = last = draw.getrandbits(_BITS)
        falling = 1
        while (another := draw.getrandbits(_BITS)) < last:
            last = another
            falling += 1
        if falling % 2:
            return max(1, (mean_ms * ((whole << _BITS) + first)) >> _BITS)
        whole += 1
