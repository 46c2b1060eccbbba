"""Which runs a liveness property speaks of: those that are fair to the actions that it names.

A run may stop at any moment and stay in its state forever, unless a fairness forbids it: a spec says what can happen,
fairness says what must. Without any fairness no progress can be claimed, as in TLA+.

    weak(finish)                  finish, with some arguments, is taken again and again, unless it is disabled again
                                  and again
    strong(finish)                finish is taken again and again if it is enabled again and again
    weak(each(finish))            the same for every combination of arguments separately: no application is passed over
    strong(each(allocate, "a"))   for every a separately, with some n
    m.progress()                  some action is taken as long as any is enabled: a run stops only where it must

Weak fairness is for what stays enabled until it happens (a timer, a worker that comes to its task); strong fairness for
what others can disable in between (a place on a node that somebody else may take). A step that changes nothing counts
neither as enabled nor as taken, and neither does a faulty one, which has no state after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model.language.errors import Location, SpecError, where
from model.language.expressions import Symbol

if TYPE_CHECKING:
    from model.language.machine import Action


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Each:
    """An action with parameters of which every combination of values is meant separately; see `each`."""

    action: Action
    parameters: tuple[Symbol, ...]

    def __repr__(self) -> str:
        some = self.parameters if len(self.parameters) < len(self.action.parameters) else ()
        names = [self.action.name, *(f'"{p.name}"' for p in some)]
        return f"each({', '.join(names)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fairness:
    """What runs are assumed to do about any of ``actions``, for each combination of values of ``apart`` separately.

    ``apart`` are parameters of the only action. ``strong``: taken infinitely often if enabled infinitely often; else
    (weak): if enabled from some point on.
    """

    strong: bool
    actions: tuple[Action, ...]
    apart: tuple[Symbol, ...]
    at: Location
    progress: bool = False

    def __repr__(self) -> str:
        if self.progress:
            return f"progress of {', '.join(a.name for a in self.actions)}"
        inside = repr(Each(self.actions[0], self.apart)) if self.apart else self.actions[0].name
        return f"{'strong' if self.strong else 'weak'}({inside})"


def weak(action: Callable[..., Any] | Action | Each) -> Fairness:
    """An action that stays enabled is taken at last. See the module for ``each``."""
    return _fairness("weak()", False, action)


def strong(action: Callable[..., Any] | Action | Each) -> Fairness:
    """An action that is enabled again and again is taken again and again. See the module for ``each``."""
    return _fairness("strong()", True, action)


def each(action: Callable[..., Any] | Action, *parameters: str) -> Each:
    """Every combination of the action's arguments separately; with ``parameters``, of those only, the rest being any.

    The outcome of a ``choose()`` is never meant separately.
    """
    found = _declared("each()", action)
    if not found.parameters:
        raise SpecError(f"each({found.name}): {found.name} has no parameters; leave each() out", where())
    by_name = {p.name: p for p in found.parameters}
    for name in parameters:
        if name not in by_name or parameters.count(name) > 1:
            raise SpecError(
                f"each({found.name}, ...) takes names of parameters of {found.name}, each once "
                f"({', '.join(map(repr, by_name))}), found {name!r}",
                where(),
            )
    kept = [p for p in found.parameters if not parameters or p.name in parameters]
    return Each(found, tuple(kept))


def _fairness(use: str, is_strong: bool, action: object) -> Fairness:
    if isinstance(action, Each):
        return Fairness(is_strong, (action.action,), action.parameters, where())
    return Fairness(is_strong, (_declared(use, action),), (), where())


def _declared(use: str, function: object) -> Action:
    from model.language.machine import Action

    found = function if isinstance(function, Action) else getattr(function, "__gangproof_action__", None)
    if not isinstance(found, Action):
        raise SpecError(f"{use} takes an action, declared by @m.action before, found {function!r}", where())
    return found


def check_fairness(given: object, actions: Sequence[Action], use: str, at: Location) -> tuple[Fairness, ...]:
    """``given`` as the fairness of a property, of a machine with ``actions``. SpecError that names ``use``."""
    example = f"@m.{use}(fairness=[weak(finish)])"
    if given is None or callable(given):
        raise SpecError(
            f"@m.{use} names the fairness that it assumes, as in {example}; fairness=[] assumes none: then a run may "
            "stop anywhere",
            at,
        )
    if not isinstance(given, (list, tuple)):
        raise SpecError(f"@m.{use}: fairness is a list, as in {example}, found {given!r}", at)
    for one in given:
        if not isinstance(one, Fairness):
            raise SpecError(f"@m.{use}: fairness is made by weak(), strong() or m.progress(), found {one!r}", at)
        if not all(any(a is mine for mine in actions) for a in one.actions):
            raise SpecError(f"@m.{use}: {one} belongs to another machine", one.at)
    return tuple(given)


__all__ = ["Each", "Fairness", "check_fairness", "each", "strong", "weak"]
