"""The enum classes of a machine, which targets declare."""

from __future__ import annotations

import enum
from typing import Any

from model.language import Machine
from model.language.types import EnumType, domain_type
from model.language.walking import walk


def enums_of(machine: Machine) -> list[type[enum.Enum]]:
    """The enum classes that variables and symbols range over."""
    domains: list[Any] = [v.domain for v in machine.variables]
    for action in machine.actions:
        domains += [s.domain for s in action.symbols]
        domains += [s.domain for g in action.guards for e in walk(g.condition) for s in getattr(e, "symbols", ())]
    for claim in (*machine.properties, *machine.terminals, *machine.initial_constraints):
        parts = [claim.condition, *(() if claim.trigger is None else (claim.trigger,))]
        domains += [s.domain for p in parts for e in walk(p) for s in getattr(e, "symbols", ())]
    kinds = [domain_type(d) for d in domains]
    return list(dict.fromkeys(k.cls for k in kinds if isinstance(k, EnumType)))
