"""Declaring `eventually` and `leads_to`: claims about what happens at last, in every fair run."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from model.language import checks
from model.language.errors import SpecError, where
from model.language.expressions import Quantified
from model.language.fairness import check_fairness
from model.language.properties import Property, PropertyKind
from model.language.tracing import Kind, record
from model.language.traps import check_code

if TYPE_CHECKING:
    from model.language.machine import Machine

F = TypeVar("F", bound=Callable[..., Any])


def declaration(machine: Machine, kind: PropertyKind, misplaced: object, fairness: object) -> Callable[[F], F]:
    """The decorator that declares a property of ``kind``, which assumes ``fairness``.

    SpecError for what is no fairness, and for what is ``misplaced``: the function itself, if the fairness is missing.
    """
    assumed = check_fairness(fairness if misplaced is None else misplaced, machine.actions, kind.value, where())

    def declare(body: F) -> F:
        function, at = checks.property_function(machine, body)
        name = function.__name__
        parameters = checks.parameters(machine, function, sys._getframe(1), at, "property")
        check_code(function, ())
        _, result = record(name, Kind.PROPERTY, function, parameters)
        trigger = None
        bound = frozenset(p.uid for p in parameters)
        if kind is PropertyKind.LEADS_TO:
            if not isinstance(result, tuple) or len(result) != 2:
                raise SpecError(f"{name} must return a pair, what comes first and what follows, found {result!r}", at)
            first, result = result
            trigger = checks.claim(machine, name, first, bound, at)
        expr = checks.claim(machine, name, result, bound, at)
        premises = () if trigger is None else (Quantified("any", parameters, trigger) if parameters else trigger,)
        doc = inspect.cleandoc(function.__doc__ or "")
        machine.properties.append(Property(name, doc, kind, expr, premises, at, parameters, trigger, assumed))
        return body

    return declare


__all__ = ["declaration"]
