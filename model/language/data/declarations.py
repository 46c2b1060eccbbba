"""What a `Machine` offers beyond plain variables: sets, elements, records, channels, timers and clocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from model.language.data.base import View
from model.language.data.channels import Channel, ChannelFamily, Order, declare_channel
from model.language.data.elements import ElementArray, ElementScalar, declare_element
from model.language.data.records import Record, RecordType, record_type
from model.language.data.sets import BoundedSet, SetFamily, declare_set
from model.language.data.timers import Timer, declare_clock
from model.language.errors import Location, SpecError, where
from model.language.expressions import Operand
from model.language.sorts import Sort

if TYPE_CHECKING:
    from model.language.machine import Machine

T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S", bound=Sort)


@dataclass(eq=False)
class DataDeclarations:
    """Base of `Machine`. ``views`` say how the cells of a construct are shown; timers must get a clock."""

    views: list[View] = field(default_factory=list, init=False)
    timers_without_clock: dict[str, Location] = field(default_factory=dict, init=False)

    @overload
    def set(self, name: str, of: type[S], over: None = None, *, full: bool = False) -> BoundedSet[S]: ...
    @overload
    def set(
        self, name: str, of: tuple[type[T], type[U]], over: None = None, *, full: bool = False
    ) -> BoundedSet[tuple[T, U]]: ...
    @overload
    def set(self, name: str, of: type[S], over: type[T], *, full: bool = False) -> SetFamily[T, S]: ...
    @overload
    def set(
        self, name: str, of: type[S], over: tuple[type[T], type[U]], *, full: bool = False
    ) -> SetFamily[tuple[T, U], S]: ...
    def set(self, name: str, of: Any, over: Any = None, *, full: bool = False) -> Any:
        """A set of elements of ``of`` (of pairs, for a pair of sorts), or one for each element of ``over``.

        Empty at the start, or ``full``.
        """
        return declare_set(self._machine, name, of, over, full)

    @overload
    def element(self, name: str, sort: type[S], over: None = None) -> ElementScalar[S]: ...
    @overload
    def element(self, name: str, sort: type[S], over: type[T]) -> ElementArray[T, S]: ...
    @overload
    def element(self, name: str, sort: type[S], over: tuple[type[T], type[U]]) -> ElementArray[tuple[T, U], S]: ...
    def element(self, name: str, sort: Any, over: Any = None) -> Any:
        """A variable that holds an element of ``sort`` or none, which it does at the start."""
        return declare_element(self._machine, name, sort, over)

    def record(self, name: str, index: Any, fields: RecordType, init: Mapping[str, Any]) -> Record:
        """A group of variables over ``index`` (a sort, several, or None), one for each of the ``fields``.

        ``init`` has the initial values of all fields but those over sorts, which hold none.
        """
        return Record(self._machine, name, index, record_type(name, fields), init)

    @overload
    def channel(
        self,
        name: str,
        message: RecordType,
        capacity: int,
        order: Order = Order.FIFO,
        over: None = None,
        *,
        blocking: bool = False,
        duplicates: bool = False,
        lossy: bool = False,
    ) -> Channel: ...
    @overload
    def channel(
        self,
        name: str,
        message: RecordType,
        capacity: int,
        order: Order = Order.FIFO,
        *,
        over: type[T],
        blocking: bool = False,
        duplicates: bool = False,
        lossy: bool = False,
    ) -> ChannelFamily[T]: ...
    @overload
    def channel(
        self,
        name: str,
        message: RecordType,
        capacity: int,
        order: Order = Order.FIFO,
        *,
        over: tuple[type[T], type[U]],
        blocking: bool = False,
        duplicates: bool = False,
        lossy: bool = False,
    ) -> ChannelFamily[tuple[T, U]]: ...
    def channel(
        self,
        name: str,
        message: RecordType,
        capacity: int,
        order: Order = Order.FIFO,
        over: Any = None,
        *,
        blocking: bool = False,
        duplicates: bool = False,
        lossy: bool = False,
    ) -> Any:
        """A channel of at most ``capacity`` messages, or one for each element of ``over``; see `data.channels`."""
        found = declare_channel(
            self._machine,
            name,
            message,
            capacity,
            order,
            over,
            blocking=blocking,
            duplicates=duplicates,
            lossy=lossy,
        )
        self._machine.reserve(name)
        return found

    @overload
    def timer(self, name: str, index: type[T], *, most: int, urgent: bool = True) -> Timer[T]: ...
    @overload
    def timer(self, name: str, index: None = None, *, most: int, urgent: bool = True) -> Timer[Any]: ...
    @overload
    def timer(self, name: str, index: tuple[type[T], type[U]], *, most: int, urgent: bool = True) -> Timer[T | U]: ...
    def timer(self, name: str, index: Any = None, *, most: int, urgent: bool = True) -> Timer[Any]:
        """A timer of at most ``most`` units, or one for each element of ``index``; see `data.timers`."""
        return Timer(self._machine, name, index, most, urgent)

    def clock(
        self, *timers: Timer[Any], name: str = "tick", unless: Callable[[], Operand] | None = None
    ) -> Callable[[], None]:
        """The action, called ``name``, by which a unit of time passes for ``timers``; not where ``unless`` holds."""
        return cast("Callable[[], None]", declare_clock(self._machine, timers, name, unless))

    @property
    def _machine(self) -> Machine:
        return cast("Machine", self)

    def environment_action(self, name: str, doc: str, body: Callable[[], None]) -> Callable[[], None]:
        """Declare an action that a construct brings along; it stands on the user's line that declares the construct."""
        at, machine = where(), self._machine
        if not name.isidentifier():
            raise SpecError(f"an action's name is a Python identifier, found {name!r}", at)

        def act() -> None:
            body()

        act.__doc__, act.__name__ = doc, name
        machine._check_new_action(name, at)
        machine._add_action(name, (), act, at)
        return act


__all__ = ["DataDeclarations"]
