"""Every run of the composite spec, made by the reference."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

from model.language import Machine
from specs.composite.binding import Subject
from specs.kubernetes.replayer import CycleReplayer, Rerun
from specs.walking import Call


class CompositeReplayer(CycleReplayer[Subject]):
    """That a composite below the root failed the scheduler does not tell; what it places next shows it."""

    excuses: ClassVar[Mapping[str, str]] = {
        "by_name": "ties between blocks or racks are free in the spec; the scheduler takes the first by name",
        "gate_at_once": "PreEnqueue is a step of the spec; the scheduler has let in at once a root that may enter",
    }
    steps: ClassVar[frozenset[str]] = frozenset(
        ("try_block", "place_child", "fail_child", "revert_group", "revert_block", "accept_block")
    )
    ends: ClassVar[frozenset[str]] = frozenset(("decide_success", "decide_unschedulable"))
    free: ClassVar[Mapping[str, str]] = dict.fromkeys(("try_block", "place_child", "decide_success"), "by_name")
    hidden: ClassVar[frozenset[str]] = frozenset(("outcome", "judged", "proposed"))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, Subject(machine), {"queue": ("reach_quorum", ())})

    def told(self, cycle: tuple[Call, ...], calls: Sequence[Call]) -> tuple[Call, ...]:
        """Without rollbacks of composites."""
        return tuple(call for call in cycle if call[0] != "revert_group")

    def key(self, subject: Rerun[Subject]) -> Hashable:
        """All pods of a child are alike, and there is one root."""
        return subject.is_late


__all__ = ["CompositeReplayer"]
