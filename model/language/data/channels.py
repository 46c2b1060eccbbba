"""Bounded channels of messages: what is sent waits until it is received, and the spec says in which order.

    to_core = m.channel("to_core", record(kind=Kind, app=App), capacity=3)                    # first in, first out
    to_core = m.channel("to_core", record(...), capacity=3, order=Order.ANY)                  # any order: a bag
    inbox = m.channel("inbox", record(...), capacity=2, over=Node)                            # one for each node
    to_core.send(kind=Kind.ASK, app=a)                     # in an action
    message = to_core.receive(kind=Kind.ASK)               # in an action: part of its guard; then message.app

A message into a full channel is a fault, with a trace (``to_core.length`` leaves its range); with ``blocking=True`` the
action that sends waits for room instead. With ``duplicates=True`` a message may stay in the channel when it is
received, to be received again; with ``lossy=True`` an action ``lose_to_core`` takes any message away. Equal contents
are equal states: a queue has nothing behind its last message, a bag counts messages of each content.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from model.language.data.bag import Bag
from model.language.data.base import Derived, Handle, Indices, at_top, elements_of, in_action
from model.language.data.fifo import Fifo
from model.language.data.records import RecordType, record_type
from model.language.data.store import Store
from model.language.errors import SpecError, where
from model.language.expressions import Expr, compare
from model.language.refused import NoPythonValue

if TYPE_CHECKING:
    from model.language.machine import Machine

I = TypeVar("I")  # noqa: E741


class Order(enum.Enum):
    """In which order messages are received."""

    FIFO = "fifo"
    ANY = "any"


class Message:
    """A received message: its fields by name. Fields over a sort are elements, and index variables."""

    def __init__(self, channel: str, of: RecordType, fields: dict[str, Any]) -> None:
        self._channel = channel
        self._type = of
        self._fields = fields

    def __repr__(self) -> str:
        return f"a message of {self._channel}"

    def __getattr__(self, field: str) -> Any:
        if field.startswith("_"):
            raise AttributeError(field)
        if field not in self._fields:
            self._type.unknown(repr(self), field)
        return self._fields[field]


class Channel(NoPythonValue, Handle):
    """A channel, or the one of an element. Conditions read the state before the step."""

    def __init__(self, store: Store, over: Indices) -> None:
        self._store = store
        self._over = over
        self._name = store.name + (f"[{', '.join(map(repr, over))}]" if over else "")

    def __repr__(self) -> str:
        return self._name

    @property
    def lose(self) -> Any:
        """The action by which a lossy channel loses a message, for fairness and ``any_enabled``."""
        return self._store.lose_action

    def send(self, **fields: Any) -> None:
        """Puts a message in, with a value for every field. Several in one action keep their order."""
        use = f"{self._name}.send()"
        current, of = in_action(use), self._store.type
        values = of.check(use, fields)
        missing = [f for f in of.fields if f not in values]
        if missing:
            raise SpecError(f"{use} needs a value for {', '.join(missing)}", where())
        self._store.pending(current, self._over).send(current, values)

    def receive(self, **fields: Any) -> Message:
        """Takes a message out: the action happens only if there is one with these ``fields``.

        The first message of a queue, any of a bag. Fields that are not given can be read from what is returned.
        """
        use = f"{self._name}.receive()"
        current, of = at_top(use), self._store.type
        given = of.check(use, fields)
        return Message(self._name, of, self._store.receive(current, self._over, given))

    def length(self) -> Expr:
        """How many messages it holds."""
        self._store.check_reads()
        return self._store.length_now(self._over)

    def is_empty(self) -> Expr:
        """Whether it holds none."""
        return compare("==", self.length(), 0)

    def is_full(self) -> Expr:
        """Whether it holds as many as it can."""
        return compare("==", self.length(), self._store.capacity)

    def count(self, **fields: Any) -> Expr:
        """How many messages it holds that have these ``fields``."""
        given = self._store.type.check(f"{self._name}.count()", fields)
        self._store.check_reads()
        return self._store.count(self._over, given)

    def has(self, **fields: Any) -> Expr:
        """Whether it holds a message with these ``fields``."""
        return compare(">", self.count(**fields), 0)

    def consistent(self) -> Expr:
        """What is true of its cells in every reachable state: an invariant for provers that do not explore."""
        return self._store.consistent(self._over)

    if not TYPE_CHECKING:

        def __contains__(self, _):
            raise SpecError(f"'in' has no meaning in a spec; write {self._name}.has(...)", where())

        def __len__(self):
            raise SpecError(f"len() is not known while the spec is read; write {self._name}.length()", where())

        def __iter__(self):
            raise SpecError(f"{self._name} has no messages while the spec is read; write {self._name}.count()", where())


class ChannelFamily(Derived, Generic[I]):
    """A channel for each element (or pair): ``inbox[n]``."""

    _hint = "; each of its channels is, by its element"

    def __init__(self, machine: Machine, name: str, store: Store) -> None:
        super().__init__(machine, name)
        self._store = store

    @property
    def lose(self) -> Any:
        """The action by which lossy channels lose a message."""
        return self._store.lose_action

    def __getitem__(self, index: I) -> Channel:
        given = index if isinstance(index, tuple) else (index,)
        return Channel(self._store, elements_of(f"{self.name}[...]", self._store.over, given))


def declare_channel(
    machine: Machine,
    name: str,
    fields: object,
    capacity: object,
    order: object,
    over: object,
    *,
    blocking: bool,
    duplicates: bool,
    lossy: bool,
) -> Any:
    """What ``m.channel(...)`` returns."""
    of = record_type(name, fields)
    if type(capacity) is not int or not 1 <= capacity <= Store.most:
        raise SpecError(f"{name}: capacity is a number from 1 to {Store.most}, found {capacity!r}", where())
    if not isinstance(order, Order):
        raise SpecError(f"{name}: order is Order.FIFO or Order.ANY, found {order!r}", where())
    for option, value in (("blocking", blocking), ("duplicates", duplicates), ("lossy", lossy)):
        if not isinstance(value, bool):
            raise SpecError(f"{name}: {option} is True or False, found {value!r}", where())
    kind = Fifo if order is Order.FIFO else Bag
    store = kind(machine, name, of, capacity, over, blocking=blocking, duplicates=duplicates)
    if lossy:
        store.lose_action = machine.environment_action(f"lose_{name}", f"{name} loses a message.", store.lose)
    return ChannelFamily(machine, name, store) if store.over else Channel(store, ())


__all__ = ["Channel", "ChannelFamily", "Message", "Order", "declare_channel"]
