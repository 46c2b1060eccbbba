"""What each queue deserves, by proportion's water-filling, in exact fractions.

Upstream shares out what remains by weight, caps each queue at its request and its real capability, raises it to its
guarantee, and repeats with what is left, in floats, until less than a tenth of a unit remains. Each resource is shared
on its own. After the first round every queue has its guarantee, and what is given from then on goes by weight to those
that are not capped: so the loop's limit is reached exactly, in as many rounds as there are caps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Claim:
    """A queue's claim: what ``real_capability`` does not list is unlimited."""

    weight: int
    request: Mapping[str, int]
    real_capability: Mapping[str, int]
    guarantee: Mapping[str, int]


def deserved_shares(total: Mapping[str, int], claims: Sequence[Claim]) -> list[dict[str, Fraction]]:
    """What each claim deserves of ``total``, by resource. Each weight is at least 1."""
    shares: list[dict[str, Fraction]] = [{} for _ in claims]
    for name, amount in total.items():
        for share, value in zip(shares, _one_resource(name, amount, claims), strict=True):
            share[name] = value
    return shares


def _one_resource(name: str, total: int, claims: Sequence[Claim]) -> list[Fraction]:
    caps = [min(c.request.get(name, 0), c.real_capability.get(name, total)) for c in claims]
    floors = [c.guarantee.get(name, 0) for c in claims]
    share = [Fraction(0)] * len(claims)
    remaining = Fraction(total)
    sharing = list(range(len(claims)))  # in the first round all, also those that ask for nothing of this
    while sharing and remaining > 0:
        everyone = sum(claims[i].weight for i in sharing)
        before = sum(share)
        for i in sharing:
            more = share[i] + remaining * claims[i].weight / everyone
            share[i] = max(min(more, Fraction(caps[i])), Fraction(floors[i]))
        remaining = max(remaining - (sum(share) - before), Fraction(0))
        sharing = [i for i, cap in enumerate(caps) if share[i] < cap]
    return share
