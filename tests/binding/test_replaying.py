"""Runs of a spec that code makes: every one of them, the excuses that it needs, and the first that fails."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import ClassVar

import pytest

from model.language import Machine, Sort, require
from model.trace import NamedState, Value
from specs.replaying import Excused, replay
from specs.walking import Call, Divergence


class Cup(Sort):
    """A cup."""


def cups(least: int = 0) -> Machine:
    """Two cups that are filled and emptied; ``least``: what is in a cup that may be emptied, and one more."""
    m = Machine("cups", doc="Cups")
    m.sort(Cup, 2)
    full = m.variable("full", Cup, range(-1, 3), init=0)

    @m.action
    def fill(c: Cup) -> None:
        """One more."""
        require(full[c] < 2)
        full[c] += 1

    @m.action
    def empty(c: Cup) -> None:
        """One less."""
        require(full[c] > least)
        full[c] -= 1

    return m


class Cups:
    """Code that fills its cups in order, and empties any."""

    code = "table"
    excuses: ClassVar[Mapping[str, str]] = {"order": "fills the first cup that has room"}
    spills = False

    def start(self) -> tuple[int, int]:
        return (0, 0)

    def perform(
        self, subject: tuple[int, int], call: Call, before: NamedState, after: NamedState
    ) -> tuple[int, int] | Excused:
        name, (cup,) = call
        which = ("cup1", "cup2").index(cup)
        if name == "fill" and which == 1 and subject[0] < 2:
            return Excused("order")
        if name == "empty" and subject[which] == 0:
            raise Divergence(f"{cup} is empty")
        by = -1 if name == "empty" else 0 if self.spills and subject == (1, 0) else 1
        return (subject[0] + by, subject[1]) if which == 0 else (subject[0], subject[1] + by)

    def observed(self, subject: tuple[int, int], shown: NamedState) -> Mapping[str, Value]:
        return {"full[cup1]": subject[0], "full[cup2]": subject[1]}

    def key(self, subject: tuple[int, int]) -> Hashable:
        return subject


class Spilling(Cups):
    spills = True


class OnCall(Cups):
    excuses: ClassVar[Mapping[str, str]] = {**Cups.excuses, "closed": "closed on Mondays"}


class Undeclared(Cups):
    excuses: ClassVar[Mapping[str, str]] = {"closed": "closed on Mondays"}


def test_all_runs_up_to_the_depth_are_made() -> None:
    done = replay(cups(), Cups(), 3)
    # (0 0) (1 0) (2 0) (2 1)
    assert (done.pairs, done.depth) == (4, 3)
    assert done.made == {"fill": 3, "empty": 2}
    assert done.excused == {"order": 2}
    assert not done.unused
    assert not done.never_made


def test_no_step_at_depth_nothing() -> None:
    done = replay(cups(), Cups(), 0)
    assert (done.pairs, done.made, done.unused) == (1, {}, {"order"})
    with pytest.raises(ValueError, match="depth -1: expected 0 or more"):
        replay(cups(), Cups(), -1)


def test_an_excuse_that_no_step_needs_is_told() -> None:
    assert replay(cups(), OnCall(), 4).unused == {"closed"}


class Closed(Cups):
    """Does nothing at all."""

    def perform(self, subject: tuple[int, int], call: Call, before: NamedState, after: NamedState) -> Excused:
        return Excused("order")


def test_what_is_only_excused_is_never_made() -> None:
    done = replay(cups(), Closed(), 2)
    assert (done.pairs, done.never_made) == (1, {"fill"})


def test_a_reason_has_to_be_declared() -> None:
    with pytest.raises(ValueError, match="order: no excuse of that name is declared, only closed"):
        replay(cups(), Undeclared(), 1)


def test_the_shortest_run_that_the_code_cannot_make() -> None:
    with pytest.raises(Divergence, match=r"^empty\(cup1\): cup1 is empty$"):
        replay(cups(least=-1), Cups(), 3)


def test_the_shortest_run_after_which_the_code_shows_something_else() -> None:
    with pytest.raises(Divergence, match=r"^fill\(cup1\); fill\(cup1\): full\[cup1\]: spec 2, table 1$"):
        replay(cups(), Spilling(), 3)


class Bottomless(Cups):
    """Gives what there is not."""

    def perform(
        self, subject: tuple[int, int], call: Call, before: NamedState, after: NamedState
    ) -> tuple[int, int] | Excused:
        by = 1 if call[0] == "fill" else -1
        return (subject[0] + by, subject[1]) if call[1] == ("cup1",) else Excused("order")


def test_a_faulty_step_of_the_spec_is_told_with_its_run() -> None:
    with pytest.raises(Divergence, match=r"^empty\(cup1\); empty\(cup1\): full\[cup1\] becomes -2, outside -1..2$"):
        replay(cups(least=-2), Bottomless(), 2)
