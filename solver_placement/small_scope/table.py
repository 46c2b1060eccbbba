"""Counting: of the worlds in which more can be placed than nothing, in how many does a policy reach the most?

Each world is played under every order of its nodes, gangs, groups and pods. A policy reaches the most always, in some
orders only, or never; the smallest world of the last two kinds is the witness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from solver_placement.small_scope.play import Play
from solver_placement.small_scope.scopes import Scope
from solver_placement.small_scope.truth import most_gangs
from solver_placement.small_scope.world import World


@dataclass
class Counts:
    """How many worlds of a scope end how, for one policy; the first of each kind of failure, in an order that fails."""

    always: int = 0
    sometimes: int = 0
    never: int = 0
    witness_sometimes: World | None = None
    witness_never: World | None = None


@dataclass
class Row:
    """One scope: all worlds, those in which some gang can be placed, and what each policy does with these."""

    name: str
    about: str
    worlds: int = 0
    feasible: int = 0
    policies: dict[str, Counts] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain data; witnesses stand once for all policies that share them."""
        return {
            "name": self.name,
            "about": self.about,
            "worlds": self.worlds,
            "feasible": self.feasible,
            "policies": {
                name: {
                    "always": c.always,
                    "sometimes": c.sometimes,
                    "never": c.never,
                    **({"witness_sometimes": c.witness_sometimes.to_json()} if c.witness_sometimes else {}),
                    **({"witness_never": c.witness_never.to_json()} if c.witness_never else {}),
                }
                for name, c in self.policies.items()
            },
        }


def count(scope: Scope, worlds: Iterable[World] | None = None) -> Row:
    """The row of ``scope``, or of some of its worlds."""
    row = Row(scope.name, scope.about, policies={name: Counts() for name in scope.plays})
    for world in scope.worlds() if worlds is None else worlds:
        row.worlds += 1
        most = most_gangs(world)
        if most:
            row.feasible += 1
            _play(world, most, scope.plays, row.policies)
    return row


def _play(world: World, most: int, plays: Mapping[str, Play], counts: Mapping[str, Counts]) -> None:
    arrangements = list(world.arrangements())
    for name, play in plays.items():
        reached, failed = outcome(play, arrangements, most)
        each = counts[name]
        if failed is None:
            each.always += 1
        elif reached:
            each.sometimes += 1
            each.witness_sometimes = each.witness_sometimes or failed
        else:
            each.never += 1
            each.witness_never = each.witness_never or failed


def outcome(play: Play, arrangements: Iterable[World], most: int) -> tuple[bool, World | None]:
    """Whether some order reaches ``most``, and the first that does not."""
    reached, failed = False, None
    for world in arrangements:
        if play(world) < most:
            failed = failed or world
        else:
            reached = True
        if reached and failed is not None:
            break
    return reached, failed
