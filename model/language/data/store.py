"""How a channel holds its messages, and the writes of one action to it, which are put together at the action's end."""

from __future__ import annotations

import enum
import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from model.language.data.base import (
    TRUE,
    CellValues,
    Holder,
    Indices,
    Shown,
    View,
    before,
    both,
    either,
    fresh,
    is_true,
    number,
    quantified,
    read,
    sorts_of,
    total,
    variable_over,
    write,
)
from model.language.data.records import RecordType
from model.language.data.shown import Plain
from model.language.errors import Location, SpecError, standing_at, where
from model.language.expressions import Const, Expr, Symbol, arithmetic, compare, logic
from model.language.statements import choose
from model.language.tracing import OPEN, Guard, Kind, Recording
from model.language.types import BOOL, INT, SortType, domain_type
from model.language.variables import VariableBase
from model.language.walking import conjunction, substitute

if TYPE_CHECKING:
    from model.language.machine import Machine


class Delivery(enum.Enum):
    """What a channel with duplicates does with a message that is received."""

    TAKEN = 0
    KEPT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """One ``send()``: the values, under which loops and conditions, and the line."""

    values: Mapping[str, Expr]
    loops: Indices
    condition: Expr
    at: Location


@dataclass(slots=True, eq=False)
class Taken:
    """A message that leaves: which (in the store's own terms), where ``condition`` holds, and the line."""

    what: Any
    condition: Expr
    at: Location


@dataclass(slots=True, eq=False)
class Traffic:
    """What one action does to one channel. ``over``: the elements that name the channel."""

    store: Store
    over: Indices
    loops: Indices
    sent: list[Sent] = field(default_factory=list)
    taken: Taken | None = None

    def send(self, current: Recording, values: Mapping[str, Expr]) -> None:
        """Note a ``send()``."""
        loops = tuple(s for s in current.loops if not any(s is mine for mine in self.loops))
        if loops and self.store.ordered:
            raise SpecError(
                f"{self.store.name}.send() inside a for statement over {type(loops[0]).__name__}: in which order the "
                "messages are sent is not said; use order=Order.ANY, or a channel for each element",
                where(),
            )
        self.sent.append(Sent(values, loops, conjunction(tuple(current.conditions)), where()))

    def take(self, what: Any, condition: Expr) -> None:
        """Note that a message leaves; one in a step."""
        if self.taken is not None:
            raise SpecError(
                f"{self.store.name} is received from at line {self.taken.at.line} and here again; an action receives "
                "one message of a channel",
                where(),
            )
        self.taken = Taken(what, condition, where())

    def settle(self, recording: Recording) -> None:
        """Record the guard and the writes."""
        store = self.store
        others = [
            t for t in recording.pending.values() if isinstance(t, Traffic) and t.store is store and t is not self
        ]
        if store.blocking and self.sent:
            with standing_at(self.sent[0].at):
                recording.guards.append(Guard(quantified("all", self.loops, self._has_room(others)), where()))
        if store.ordered and others:
            self._assign_length(recording)
        else:
            self._add_to_length(recording)
        with standing_at(self._at):
            store.settle(recording, self)

    @property
    def _at(self) -> Location:
        return (self.sent[0] if self.taken is None else self.taken).at

    def _add_to_length(self, recording: Recording) -> None:
        store = self.store
        if self.taken is not None:
            with standing_at(self.taken.at):
                condition = self.taken.condition
                write(recording, store.length, self.over, Const(-1), adds=True, binders=self.loops, condition=condition)
        for sent in self.sent:
            with standing_at(sent.at):
                binders = (*self.loops, *sent.loops)
                amount = store.amount(sent.values)
                write(recording, store.length, self.over, amount, adds=True, binders=binders, condition=sent.condition)

    def _assign_length(self, recording: Recording) -> None:
        """If the action writes this very queue by another name, two values for its length are the fault that is told:
        in which order the messages come is not said."""
        conditions = [s.condition for s in self.sent]
        value = arithmetic("+", before(self.store.length, self.over), total([number(c) for c in conditions]))
        if self.taken is not None:
            conditions.append(self.taken.condition)
            value = arithmetic("-", value, number(self.taken.condition))
        with standing_at(self._at):
            write(recording, self.store.length, self.over, value, binders=self.loops, condition=either(conditions))

    def _has_room(self, others: Sequence[Traffic]) -> Expr:
        """Whether all that is sent fits, once what is received is out; nothing sent fits always.

        What ``others`` do to the same store counts where their elements name the same channel.
        """
        every = (self, *others)
        sent = total([each for traffic in every for each in traffic._sent_to(self)])
        after = arithmetic("+", before(self.store.length, self.over), sent)
        for each in every:
            if each.taken is not None:
                after = arithmetic("-", after, number(both([*each._names(self, {}), each.taken.condition])))
        fits = compare("<=", after, self.store.capacity)
        if any(is_true(s.condition) for s in self.sent):
            return fits
        any_sent = either([quantified("any", s.loops, s.condition) for s in self.sent])
        return logic("=>", any_sent, fits)

    def _sent_to(self, target: Traffic) -> list[Expr]:
        """For each ``send()`` how many messages it puts into the channel of ``target``."""
        if target is self:
            return [quantified("sum", s.loops, number(s.condition)) for s in self.sent]
        result = []
        for sent in self.sent:
            bound = (*self.loops, *sent.loops)
            new = fresh(tuple(each.type.sort for each in bound if isinstance(each.type, SortType)))
            by: dict[int, Expr] = {old.uid: each for old, each in zip(bound, new, strict=True)}
            condition = both([*self._names(target, by), substitute(sent.condition, by)])
            result.append(quantified("sum", new, number(condition)))
        return result

    def _names(self, target: Traffic, by: dict[int, Expr]) -> list[Expr]:
        """That the elements, with symbols replaced, name the channel of ``target``."""
        pairs = zip(self.over, target.over, strict=True)
        return [compare("==", by.get(mine.uid, mine), its) for mine, its in pairs if mine is not its or mine.uid in by]


class Store(ABC):
    """The variables of a channel, or of a channel for each element of ``over``."""

    most: ClassVar = 64
    ordered: ClassVar[bool]

    def __init__(
        self,
        machine: Machine,
        name: str,
        of: RecordType,
        capacity: int,
        over: object,
        *,
        blocking: bool,
        duplicates: bool,
    ) -> None:
        self.machine = machine
        self.name = name
        self.type = of
        self.capacity = capacity
        self.over = sorts_of(machine, name, over, 2)
        self.blocking = blocking
        self.duplicates = duplicates
        self.lose_action: Any = None
        self.at = where()
        self.length = self.variable("length", (), range(capacity + 1), 0, "length")
        self.declare()
        words = {self.length.name: f"len({self.name})", **self.words()}
        machine.views.append(
            View(
                tuple(self.variables()),
                self.show,
                words,
                Holder(name, self.over, True, lambda at: before(self.length, at)),
            )
        )

    def variable(self, name: str, sorts: tuple[Any, ...], domain: Any, init: Any, label: str) -> VariableBase:
        """A new variable for each channel of the store, and for each element of ``sorts``."""
        every = (*self.over, *sorts)
        return variable_over(self.machine, f"{self.name}_{name}", every, domain, init, f"{self.name}.{label}")

    def pending(self, current: Recording, over: Indices) -> Traffic:
        """What the action that is being read does to the channel of ``over``."""
        key = (id(self), tuple(id(s) for s in over))
        loops = tuple(s for s in current.loops if any(s is o for o in over))
        found = current.pending.setdefault(key, Traffic(self, over, loops))
        assert isinstance(found, Traffic)
        return found

    def check_reads(self) -> None:
        """SpecError if the action that is being read has sent into the store before: reads come first."""
        current = OPEN.recording
        if current is None or current.kind is not Kind.ACTION:
            return
        for each in current.pending.values():
            if isinstance(each, Traffic) and each.store is self and each.sent:
                raise SpecError(
                    f"{self.name} is read after it was written at line {each.sent[0].at.line}; reads see the state "
                    "before the step, so read it first",
                    where(),
                )

    def length_now(self, over: Indices) -> Expr:
        """The number of messages before the step."""
        return read(self.length, over)

    def removal(self) -> Expr:
        """Whether a message that is received leaves the channel."""
        if not self.duplicates:
            return TRUE
        return compare("==", choose(Delivery, "delivery"), Delivery.TAKEN)

    def choose_over(self) -> Indices:
        """A channel of the store, any of them."""
        return tuple(choose(sort, sort.__name__.lower()) for sort in self.over)

    def amount(self, values: Mapping[str, Expr]) -> Expr:
        """What a ``send()`` adds to the length."""
        return Const(1)

    # ---- showing

    def show(self, values: CellValues) -> Shown:
        """Every channel as one value."""
        names = [self.machine.sorts[s].names for s in self.over]
        return {
            self.name + (f"[{', '.join(n[i] for n, i in zip(names, at, strict=True))}]" if at else ""): self.text(
                at, values
            )
            for at in itertools.product(*(range(len(n)) for n in names))
        }

    # ---- what the two kinds do differently

    @abstractmethod
    def declare(self) -> None:
        """Declare the variables beside ``length``."""

    def words(self) -> dict[str, str]:
        """What people call the variables, by name; others have their labels."""
        return {}

    @abstractmethod
    def variables(self) -> list[VariableBase]:
        """All variables."""

    @abstractmethod
    def receive(self, current: Recording, over: Indices, given: dict[str, Expr]) -> dict[str, Any]:
        """Add the guard for a message with the fields ``given``, note that it leaves; the values of all fields."""

    @abstractmethod
    def settle(self, recording: Recording, traffic: Traffic) -> None:
        """Record the writes beside those of ``length``."""

    @abstractmethod
    def count(self, over: Indices, given: dict[str, Expr]) -> Expr:
        """How many messages have the fields ``given``."""

    @abstractmethod
    def lose(self) -> None:
        """The body of the action that loses a message."""

    @abstractmethod
    def consistent(self, over: Indices) -> Expr:
        """The invariant of the variables."""

    @abstractmethod
    def text(self, index: tuple[int, ...], values: CellValues) -> str:
        """What the channel at ``index`` holds, as people read it."""


def guard(current: Recording, condition: Expr) -> None:
    """A conjunct of the action's guard."""
    current.guards.append(Guard(condition, where()))


def plain_value(machine: Machine, domain: Any, raw: int) -> Plain:
    """``raw`` of ``domain``: a number or a truth value as such, else its name."""
    kind = domain_type(domain)
    if kind == BOOL:
        return bool(raw)
    return raw if kind == INT else machine.show(domain, raw)


def as_symbol(value: Expr) -> Symbol:
    """A field over a sort, which was checked to be an element."""
    assert isinstance(value, Symbol)
    return value


__all__ = ["Delivery", "Sent", "Store", "Taken", "Traffic", "as_symbol", "guard", "plain_value"]
