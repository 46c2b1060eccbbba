"""Timers that count down, and the clock that moves them: discrete time, without a number that grows.

    timeout = m.timer("timeout", App, most=3)       # timeout.start(a), timeout.stop(a), timeout.running(a)
    tick = m.clock(timeout)                         # declares the action tick: one unit of time passes

    @m.action
    def on_timeout(a: App) -> None:
        timeout.expire(a)                           # happens only where the timer of a has expired; it is off then

A timer is off, or has some units left, or has expired. An urgent timer that has expired stops the clock until it is
handled or stopped: what is due happens in time. A lazy one (``urgent=False``) does not: what is due happens at some
time. The clock stands still where no timer runs, so that waiting for nothing is a deadlock and not a step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from model.language.data.base import (
    CellValues,
    Derived,
    Indices,
    Shown,
    View,
    at_top,
    before,
    either,
    elements_of,
    fresh,
    in_action,
    negation,
    quantified,
    read,
    sorts_of,
    variable_over,
    write,
)
from model.language.errors import SpecError, where
from model.language.expressions import Const, Expr, Operand, boolean, compare, integer, ite
from model.language.tracing import Guard
from model.language.types import LARGEST

if TYPE_CHECKING:
    from model.language.machine import Machine

I = TypeVar("I")  # noqa: E741

OFF = -1
EXPIRED = 0


class Timer(Derived, Generic[I]):
    """A timer, or one for each element. Its variable holds the units left, 0 for expired, -1 for off."""

    _hint = "; ask running(), expired() or left()"

    def __init__(self, machine: Machine, name: str, index: object, most: object, urgent: object) -> None:
        super().__init__(machine, name)
        if type(most) is not int or not 1 <= most <= LARGEST:
            raise SpecError(f"{name}: most is a number of units, at least 1, found {most!r}", where())
        if not isinstance(urgent, bool):
            raise SpecError(f"{name}: urgent is True or False, found {urgent!r}", where())
        self.sorts = sorts_of(machine, name, index, 2)
        self.most = most
        self.urgent = urgent
        domain = range(OFF, most + 1)
        self.variable = variable_over(machine, name, self.sorts, domain, OFF)
        machine.views.append(View((self.variable,), self.show))
        machine.timers_without_clock[name] = self.at

    def _indices(self, elements: tuple[I, ...], use: str) -> Indices:
        return elements_of(f"{self.name}.{use}()", self.sorts, elements)

    # ---- conditions

    def running(self, *elements: I) -> Expr:
        """Whether it is started, and has units left."""
        return compare(">", read(self.variable, self._indices(elements, "running")), EXPIRED)

    def expired(self, *elements: I) -> Expr:
        """Whether its time is over, and nobody has handled it."""
        return compare("==", read(self.variable, self._indices(elements, "expired")), EXPIRED)

    def off(self, *elements: I) -> Expr:
        """Whether it is neither running nor expired."""
        return compare("==", read(self.variable, self._indices(elements, "off")), OFF)

    def left(self, *elements: I) -> Expr:
        """Units left; 0 where it does not run."""
        value = read(self.variable, self._indices(elements, "left"))
        return ite(compare(">", value, EXPIRED), value, 0)

    # ---- in an action

    def start(self, *elements: I, units: Operand | None = None) -> None:
        """From now it has ``units`` left, ``most`` by default; also where it runs. With 0 it has expired.

        More than ``most``, or less than 0, is a fault.
        """
        indices = self._indices(elements, "start")
        value = integer(self.most if units is None else units, f"{self.name}.start()")
        if isinstance(value, Const):
            if not EXPIRED <= value.raw <= self.most:
                raise SpecError(f"{self.name}: units lie within 0..{self.most}, found {value.raw}", where())
        else:  # -1 would be a timer that is off
            value = ite(compare("<", value, EXPIRED), OFF - 1, value)
        self.variable._write(indices, value)

    def stop(self, *elements: I) -> None:
        """It is off after the step, whatever it was."""
        self.variable._write(self._indices(elements, "stop"), OFF)

    def expire(self, *elements: I) -> None:
        """The action happens only where the timer has expired, and switches it off."""
        current = at_top(f"{self.name}.expire()")
        current.guards.append(Guard(self.expired(*elements), where()))
        self.stop(*elements)

    # ---- showing

    def show(self, values: CellValues) -> Shown:
        """``off``, ``2 left``, ``expired``."""
        names = [self.machine.sorts[s].names for s in self.sorts]
        shown = {}
        for index in itertools.product(*(range(len(n)) for n in names)):
            label = ", ".join(n[i] for n, i in zip(names, index, strict=True))
            value = values[self.name, index]
            words = {OFF: "off", EXPIRED: "expired"}
            shown[f"{self.name}[{label}]" if label else self.name] = words.get(value, f"{value} left")
        return shown


def declare_clock(machine: Machine, timers: tuple[Any, ...], name: str, unless: Callable[[], Operand] | None) -> Any:
    """What ``m.clock(...)`` returns: the action by which a unit of time passes."""
    if not timers:
        raise SpecError(f"clock {name} needs the timers that it moves, as in m.clock(timeout)", where())
    for timer in timers:
        if not isinstance(timer, Timer) or timer.machine is not machine:
            raise SpecError(f"clock {name} takes timers of this machine, found {timer!r}", where())
        if timer.name not in machine.timers_without_clock:
            raise SpecError(f"clock {name}: timer {timer.name} has a clock already", where())
        del machine.timers_without_clock[timer.name]

    def tick() -> None:
        current = in_action(name)
        running, urgent = [], []
        for timer in timers:
            symbols = fresh(timer.sorts)
            running.append(quantified("any", symbols, timer.running(*symbols)))
            if timer.urgent:
                symbols = fresh(timer.sorts)
                urgent.append(quantified("all", symbols, negation(timer.expired(*symbols))))
        conditions = [either(running), *urgent]
        if unless is not None:
            conditions.append(negation(boolean(unless(), f"clock {name}'s unless")))
        current.guards.extend(Guard(c, where()) for c in conditions)
        for timer in timers:
            symbols = fresh(timer.sorts)
            condition = compare(">", before(timer.variable, symbols), EXPIRED)
            write(current, timer.variable, symbols, Const(-1), adds=True, binders=symbols, condition=condition)

    doc = f"A unit of time passes: {', '.join(t.name for t in timers)} count down."
    return machine.environment_action(name, doc, tick)


__all__ = ["EXPIRED", "OFF", "Timer", "declare_clock"]
