"""The actions of a session, by name, run in the order of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from reference.schedulers.volcano.actions.allocate import allocate
from reference.schedulers.volcano.actions.backfill import backfill
from reference.schedulers.volcano.actions.enqueue import enqueue
from reference.schedulers.volcano.actions.preempt import preempt
from reference.schedulers.volcano.actions.reclaim import reclaim
from reference.schedulers.volcano.session import Session

ACTIONS: Final[Mapping[str, Callable[[Session], None]]] = MappingProxyType(
    {"enqueue": enqueue, "allocate": allocate, "backfill": backfill, "preempt": preempt, "reclaim": reclaim}
)

__all__ = ["ACTIONS"]
