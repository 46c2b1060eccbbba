"""What the parameters of both editions of the yunikorn spec can be."""

from __future__ import annotations

import enum


class Edition(enum.Enum):
    """Which YuniKorn."""

    SEED = "seed"
    """The design document of 2020/21."""
    CURRENT = "current"
    """The code of 2026."""


class Queues(enum.Enum):
    """The leaf queues. Applications take turns: the first, third, ... go to the first leaf."""

    ONE_LEAF = "one_leaf"
    """One leaf queue."""
    TWO_LEAVES = "two_leaves"
    """Two leaf queues under one parent."""


class Timers(enum.Enum):
    """When the placeholder timeout may fire. The timer of Waiting, or Completing, applications is always there; without
    it none completes."""

    OFF = "off"
    """Never."""
    SLOW = "slow"
    """Only while no message is on its way, or waits for its confirmation: timers run for minutes, messages for
    milliseconds."""
    FREE = "free"
    """At any time."""
