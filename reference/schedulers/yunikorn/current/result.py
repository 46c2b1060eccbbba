"""What one scheduling cycle comes to."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from reference.schedulers.yunikorn.current.application import Request


class ResultType(enum.Enum):
    """How the request got its node."""

    ALLOCATED = "Allocated"
    ALLOCATED_RESERVED = "AllocatedReserved"
    REPLACED = "Replaced"
    RESERVED = "Reserved"
    """The node is kept for it; nothing is allocated, and the shim hears nothing."""


@dataclass(frozen=True, slots=True)
class Result:
    """``request`` goes to ``node``; behind its placeholder (``request.link``) where it is REPLACED."""

    type: ResultType
    request: Request
    node: str
