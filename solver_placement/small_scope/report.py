"""The results as a page: counts, smallest witnesses, and what they decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from solver_placement.small_scope.world import Gang, Group, Machine, Member, World

RESULTS = Path(__file__).with_name("results.json")
"""What ``python -m solver_placement.small_scope`` wrote last."""

_HEAD = """# All small worlds

Where exactly does a policy miss a gang that could be placed? Every cluster and workload up to a size is enumerated, one
for each that only names tell apart, and what can be placed at all is found by trying everything
([truth.py](../solver_placement/small_scope/truth.py)). A policy goes by names and by age where nothing else tells two
nodes, pods or gangs apart, so each world is played under every order of its nodes, gangs, groups and pods. **always**:
it reaches the most gangs in every order; **sometimes**: in some orders only; **never**: in none. Counted are the worlds
in which some gang can be placed.

`make small-scope` writes this page and [the data](../solver_placement/small_scope/results.json), witnesses included,
anew; the tests play a sample of it again. YuniKorn, Volcano and Kubernetes are this project's reference schedulers.

"""


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The page of docs: ``rows`` as in ``results.json``."""
    parts = [_HEAD, "## What Kubernetes promises\n\n", *_promise(rows), "\n## Counts\n\n"]
    for row in rows:
        parts += _row(row)
    return "".join(parts)


_PROMISE = """The documentation of the PodGroup cycle expects a placement to be found, if there is one, for basic groups
of equal pods without dependencies between pods; it promises nothing for unequal pods, for dependencies, and for
hierarchies. In these worlds:

"""


_ENDS = """
So the expectation holds, also for equal pods in one domain of a topology key. It holds for more than is promised: equal
pods with anti-affinity to each other or with a spread constraint, and composites of equal groups. It ends with affinity
of equal pods to each other (the first pod fixes a domain that may be too small for the others: sometimes in every
order), with pods of two kinds, with selectors, with roles that mind each other, and with composites of groups that
differ, in pods or only in size.
"""


def _promise(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield _PROMISE
    yield "| scope | LeastAllocated (the default) | MostAllocated |\n|---|---|---|\n"
    for row in rows:
        told = [_verdict(row["policies"].get(name)) for name in _kubernetes(row)]
        if all(told):
            yield f"| {row['name']} | {told[0]} | {told[1]} |\n"
    yield _ENDS


def _kubernetes(row: Mapping[str, Any]) -> tuple[str, str]:
    plain = "kubernetes" in row["policies"]
    return "kubernetes" if plain else "kubernetes, LeastAllocated", "kubernetes, MostAllocated"


def _verdict(counts: Mapping[str, int] | None) -> str:
    if counts is None:
        return ""
    missed = counts["sometimes"] + counts["never"]
    everything = missed + counts["always"]
    if not missed:
        return f"found in all {everything:,}"
    never = f", {counts['never']:,} in every order" if counts["never"] else ""
    return f"missed in {missed:,} of {everything:,}{never}"


def _row(row: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {row['name'][0].upper()}{row['name'][1:]}\n\n"
    yield f"{row['about'][0].upper()}{row['about'][1:]}. {row['worlds']:,} worlds, {row['feasible']:,} feasible.\n\n"
    yield "| policy | always | sometimes | never |\n|---|---|---|---|\n"
    for name, counts in row["policies"].items():
        yield f"| {name} | {counts['always']:,} | {counts['sometimes']:,} | {counts['never']:,} |\n"
    witnesses: dict[str, list[str]] = {}
    for name, counts in row["policies"].items():
        for kind in ("sometimes", "never"):
            if (data := counts.get(f"witness_{kind}")) is not None:
                how = name if kind == "sometimes" else f"{name} (in every order)"
                witnesses.setdefault(words(World.of_json(data)), []).append(how)
    if witnesses:
        yield "\nSmallest that is missed, in the order that is told:\n\n"
        for told, names in witnesses.items():
            yield f"- {'; '.join(names)}: {told}\n"
    yield "\n"


def words(world: World) -> str:
    """A world in one line, nodes and pods in their order."""
    nodes = ", ".join(_machine(machine) for machine in world.machines)
    gangs = "; then ".join(_gang(gang) for gang in world.gangs)
    return f"nodes {nodes}; {gangs}" + (f"; maximum of all queues vcore {world.quota}" if world.quota else "")


def _amounts(units: Sequence[int]) -> str:
    return " x ".join(map(str, units))


def _machine(machine: Machine) -> str:
    labels = " ".join(filter(None, (machine.kind, machine.rack, machine.zone)))
    return f"{_amounts(machine.room)} ({labels})" if labels else _amounts(machine.room)


def _gang(gang: Gang) -> str:
    groups = " and ".join(_group(group) for group in gang.groups)
    if not gang.is_composite:
        return groups
    within = f" in one {gang.within}" if gang.within else ""
    return f"{gang.least} of the groups [{groups}]{within}"


def _group(group: Group) -> str:
    pods = ", ".join(_member(member) for member in group.members)
    least = f", minCount {group.least}" if group.least < len(group.members) else ""
    return f"pods {pods}{least}" + (f" in one {group.within}" if group.within else "")


def _member(member: Member) -> str:
    said = [f"on {member.kind}"] if member.kind else []
    said += [f"role {member.role}"] if member.role else []
    said += [f"near {role} by {key}" for key, role in member.near]
    said += [f"apart from {role} by {key}" for key, role in member.apart]
    said += [f"spread by {key}, skew {skew}" for key, skew in member.spread]
    return f"{_amounts(member.asks)} ({', '.join(said)})" if said else _amounts(member.asks)
