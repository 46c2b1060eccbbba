"""Which elements of a machine may be exchanged, and the gate: a spec that tells them apart is refused, with the place.

A spec says nothing of single elements; it speaks of all or of some. So exchanging elements of a sort changes nothing
unless something orders or computes with them, or a table gives them different constants. The first is refused; the
second splits the sort into classes of equal elements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from model.explore.symmetry.group import Class, Symmetry
from model.language import Expr, Machine, Op, PropertyKind, Sort, SpecError
from model.language.types import SortType, Type, domain_type
from model.language.walking import walk

MOST_PERMUTATIONS = 5_040
"""So many are tried for each state, at most."""

_EQUALITY = ("==", "!=")


def symmetry_of(machine: Machine) -> Symmetry:
    """The symmetry of ``machine``. SpecError if it has none, tells apart what it calls symmetric, or has too much."""
    sorts = [s for s, declared in machine.sorts.items() if declared.symmetric]
    if not sorts:
        names = ", ".join(s.__name__ for s in machine.sorts) or "it has no sorts"
        at = next((declared.at for declared in machine.sorts.values()), machine.variables[0].at)
        raise SpecError(f"{machine.name} declares no sort symmetric=True ({names}): there is nothing to reduce", at)
    _check(machine, sorts)
    classes = [c for s in sorts for c in _classes(machine, s)]
    if not classes:
        raise SpecError(
            f"{machine.name} has no two elements to exchange: "
            + "; ".join(_why_none(machine, s) for s in sorts)
            + ". There is nothing to reduce",
            machine.sorts[sorts[0]].at,
        )
    return _arranged(machine, classes)


def _check(machine: Machine, sorts: Sequence[type[Sort]]) -> None:
    """Refuse what tells elements of ``sorts`` apart."""
    symmetric: dict[Type, str] = {SortType(s): s.__name__ for s in sorts}
    for variable in machine.variables:
        kind = domain_type(variable.domain)
        if kind in symmetric:
            raise SpecError(
                f"{variable.name} holds {kind}, which is symmetric: such variables are not reduced yet",
                variable.at,
            )
    for whose, expr in _expressions(machine):
        for each in walk(expr):
            if isinstance(each, Op) and each.op not in _EQUALITY:
                for name in [symmetric[arg.type] for arg in each.args if arg.type in symmetric]:
                    raise SpecError(
                        f"{whose} breaks the symmetry of {name}: {each!r} does more than compare its elements "
                        "for equality. Declare the sort without symmetric=True, or check without --symmetry",
                        each.at,
                    )


def _expressions(machine: Machine) -> Iterator[tuple[str, Expr]]:
    """Everything that a step or a claim is made of, with whose it is."""
    for action in machine.actions:
        whose = f"action {action.name}"
        for guard in action.guards:
            yield whose, guard.condition
        for update in action.updates:
            yield whose, update.condition
            yield whose, update.value
            yield from ((whose, index) for index in update.indices)
    for p in (*machine.properties, *machine.terminals):
        if not p.kind.is_liveness:
            yield f"{'terminal' if p.kind is PropertyKind.TERMINAL else 'property'} {p.name}", p.condition


def _classes(machine: Machine, sort: type[Sort]) -> list[Class]:
    return [Class(sort, tuple(g)) for g in alike(machine, sort) if len(g) > 1]


def alike(machine: Machine, sort: type[Sort]) -> list[list[int]]:
    """The elements of a symmetric ``sort`` by what the tables say of them, in order."""
    groups: list[list[int]] = []
    for element in range(machine.sorts[sort].size):
        like = next((g for g in groups if not _differing(machine, sort, g[0], element)), None)
        if like is None:
            groups.append([element])
        else:
            like.append(element)
    return groups


def _differing(machine: Machine, sort: type[Sort], one: int, other: int) -> str:
    """The name of a table that changes when ``one`` and ``other`` are exchanged, or nothing."""
    exchange = {one: other, other: one}
    for table in machine.tables:
        if sort in table.sorts:
            for position, value in table.values.items():
                image = tuple(
                    exchange.get(e, e) if s is sort else e for s, e in zip(table.sorts, position, strict=True)
                )
                if table.values[image] != value:
                    return table.name
    return ""


def _why_none(machine: Machine, sort: type[Sort]) -> str:
    size = machine.sorts[sort].size
    if size < 2:
        return f"{sort.__name__} has {size}"
    tables = {_differing(machine, sort, a, b) for a, b in itertools.combinations(range(size), 2)}
    return f"those of {sort.__name__} differ in {', '.join(sorted(tables))}"


def _arranged(machine: Machine, classes: Sequence[Class]) -> Symmetry:
    """``classes`` shared out such that the fewest permutations are tried."""
    sorts = list(dict.fromkeys(c.sort for c in classes))

    def order(chosen: Sequence[type[Sort]]) -> int:
        return math.prod(c.order for c in classes if c.sort in chosen)

    best = max(
        (s for n in range(len(sorts) + 1) for s in itertools.combinations(sorts, n) if _independent(machine, s)),
        key=order,
    )
    found = Symmetry(
        tuple(c for c in classes if c.sort in best),
        tuple(c for c in classes if c.sort not in best),
    )
    tried = math.prod(c.order for c in found.permuted)
    if tried > MOST_PERMUTATIONS:
        whose = Symmetry((), found.permuted).describe(machine)
        raise SpecError(
            f"{machine.name}: {tried:,} permutations of {whose} would be tried for each state; "
            f"at most {MOST_PERMUTATIONS:,} are. Declare one of these sorts without symmetric=True",
            machine.sorts[found.permuted[-1].sort].at,
        )
    return found


def _independent(machine: Machine, sorts: Sequence[type[Sort]]) -> bool:
    """Whether no variable speaks of two elements of ``sorts``."""
    return all(sum(s in sorts for s in v.sorts) <= 1 for v in machine.variables)


__all__ = ["MOST_PERMUTATIONS", "alike", "symmetry_of"]
