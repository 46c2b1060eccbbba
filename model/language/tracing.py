"""What is being read right now: the open action or property, its loops, quantifiers and conditions.

A body runs once, on symbols, and leaves data behind. Everything it calls (variables, sorts, ``require``) reports to the
one `Recording` that is open. Nothing here survives the end of the body.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from model.language.errors import Location, SpecError, explained, raised_at, where
from model.language.expressions import Expr, Symbol
from model.language.walking import conjunction

if TYPE_CHECKING:
    from model.language.variables import VariableBase


class Kind(enum.Enum):
    """What a body may do: an action writes; a property only reads; a step property also reads the state after."""

    ACTION = "action"
    PROPERTY = "property"
    STEP = "step property"

    @property
    def with_article(self) -> str:
        """An action, a property."""
        return f"an {self.value}" if self is Kind.ACTION else f"a {self.value}"


@dataclass(frozen=True, slots=True)
class Guard:
    """One conjunct of an action's guard, and its line."""

    condition: Expr
    at: Location


@dataclass(frozen=True, slots=True)
class Update:
    """A write: ``variable[indices] = value`` or, with ``adds``, ``+= value``; for all values of ``binders``; where
    ``condition`` (of the open ``when`` blocks) holds."""

    variable: VariableBase
    indices: tuple[Expr, ...]
    adds: bool
    value: Expr
    binders: tuple[Symbol, ...]
    condition: Expr
    at: Location


@dataclass(slots=True)
class Quantifier:
    """A quantifier that is consuming its generator: the generator's frame, and the symbols bound so far."""

    frame: FrameType
    symbols: list[Symbol] = field(default_factory=list)


class Pending(Protocol):
    """Writes of one body that depend on each other, such as several messages sent into one channel."""

    def settle(self, recording: Recording) -> None:
        """Record them: the body is at its end."""


@dataclass(slots=True)
class Recording:
    """One body being read."""

    name: str
    kind: Kind
    arguments: tuple[Symbol, ...] = ()
    guards: list[Guard] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    choices: list[Symbol] = field(default_factory=list)
    loops: list[Symbol] = field(default_factory=list)
    conditions: list[Expr] = field(default_factory=list)
    left_early: Location | None = None
    unentered: dict[int, tuple[object, Location]] = field(default_factory=dict)
    late_reads: dict[int, tuple[Expr, SpecError]] = field(default_factory=dict)
    pending: dict[object, Pending] = field(default_factory=dict)

    def note_read(self, read: Expr, variable: VariableBase) -> None:
        """Remember a read of a variable that this body wrote before; ``+=`` takes its own read back."""
        written = next((u for u in self.updates if u.variable is variable), None)
        if written is not None:
            how = "" if variable.sorts else f" (old = {variable.name}.now)"
            message = (
                f"{variable.name} is read after it was written at line {written.at.line}; reads see the state before "
                f"the step, so read it first{how}, or write it with +="
            )
            self.late_reads[id(read)] = (read, SpecError(message, where()))

    def take_back_read(self, read: Expr) -> None:
        """The read belongs to a ``+=``."""
        self.late_reads.pop(id(read), None)

    def write(self, variable: VariableBase, indices: tuple[Expr, ...], adds: bool, value: Expr) -> None:
        """Record a write."""
        condition = conjunction(tuple(self.conditions))
        self.updates.append(Update(variable, indices, adds, value, tuple(self.loops), condition, where()))

    def finish(self) -> None:
        """Put together what waits for the end of the body; raise what can only be seen there."""
        for each in self.pending.values():
            each.settle(self)
        if self.left_early is not None:
            raise SpecError(f"{self.name}: a for statement over a sort was left early (break, return)", self.left_early)
        for _, at in self.unentered.values():
            raise SpecError(f"{self.name}: when() without 'with' does nothing; write 'with when(...):'", at)
        for _, error in self.late_reads.values():
            raise error


class _Open:
    """The recording and the quantifiers that are open; a stack would hide mistakes, bodies do not nest."""

    recording: Recording | None = None
    quantifiers: list[Quantifier]

    def __init__(self) -> None:
        self.quantifiers = []


OPEN = _Open()


def record(name: str, kind: Kind, body: Any, arguments: tuple[Symbol, ...]) -> tuple[Recording, object]:
    """Run ``body`` on ``arguments``; what it recorded, and what it returned. Whatever it raises becomes a SpecError."""
    recording = Recording(name, kind, arguments)
    OPEN.recording = recording
    try:
        result = body(*arguments)
        recording.finish()
    except SpecError:
        raise
    except Exception as error:
        raise SpecError(f"{name}: {explained(error)}", raised_at(error.__traceback__)) from error
    finally:
        OPEN.recording = None
        OPEN.quantifiers.clear()
    return recording, result


def closed(use: str) -> None:
    """SpecError, naming ``use``, if a body is being read: declarations do not nest."""
    if OPEN.recording is not None:
        raise SpecError(f"{use} is declared inside {OPEN.recording.name}; declare it before", where())


def recording(use: str, *kinds: Kind) -> Recording:
    """The open recording, which must be one of ``kinds``; else SpecError that names ``use``."""
    current = OPEN.recording
    if current is None or current.kind not in kinds:
        found = "outside of any action and property" if current is None else f"in {current.kind.with_article}"
        allowed = " or ".join(k.with_article for k in kinds)
        raise SpecError(f"{use} belongs in {allowed}, found it {found}", where())
    return current
