"""The judge's rules on one gang: which of its groups have to be whole, and which pods in one domain; and on devices.

Part of ``reference.validate``, with its rule: nothing is shared with schedulers and solver but the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reference.cluster import Application, CompositeGroup, Node, TaskGroup, TopologyConstraint

Fault = tuple[str, str]
"""Where, and what was found and expected."""


def no_pod(app: Application, placed: Mapping[str, int]) -> Iterator[Fault]:
    """The groups of a gang that is not admitted and yet has pods."""
    for group in app.task_groups:
        if found := placed[group.name]:
            yield _partial(app, group.name, f"{found} of {_wanted(group)} pods", "not admitted", "0")


def whole_gang(app: Application, placed: Mapping[str, int]) -> Iterator[Fault]:
    """What an admitted gang with ``placed`` pods of each group lacks, or has too many of."""
    inside = {child for composite in app.composites for child in composite.children}
    for group in app.task_groups:
        found = placed[group.name]
        least, most = group.min_member, group.min_member if group.size is None else group.size
        if not least <= found <= most and not (found == 0 and group.name in inside):
            yield _partial(app, group.name, f"{found} of {_wanted(group)} pods", "admitted", _wanted(group))
    whole = {group.name for group in app.task_groups if placed[group.name] >= group.min_member}
    # children before parents: a composite is known to be whole or not when its own parent asks
    waiting = {each.name: each for each in app.composites}
    while ready := [each for each in waiting.values() if not waiting.keys() & set(each.children)]:
        for each in ready:
            there = sum(child in whole for child in each.children)
            if there >= each.min_children:
                whole.add(each.name)
            elif each.name not in inside or any(placed[name] for name in groups_below(app, each)):
                shown = f"{there} of {len(each.children)} groups are whole and pods"
                yield _partial(app, each.name, shown, "admitted", f"{each.min_children} whole groups")
            del waiting[each.name]
    total = sum(placed.values())
    if app.min_members is not None and total < app.min_members:
        yield app.name, f"{total} pods are placed; the gang is admitted, expected at least {app.min_members}"


def _partial(app: Application, name: str, found: str, kind: str, wanted: str) -> Fault:
    return f"{app.name}/{name}", f"{found} are placed; the gang is {kind}, expected {wanted}"


def _wanted(group: TaskGroup) -> str:
    elastic = group.size is not None and group.size > group.min_member
    return f"{group.min_member} to {group.size}" if elastic else str(group.min_member)


def groups_below(app: Application, composite: CompositeGroup) -> list[str]:
    """The task groups in a composite, at any depth."""
    inner = {each.name: each for each in app.composites}
    found: list[str] = []
    waiting = list(composite.children)
    while waiting:
        name = waiting.pop()
        if name in inner:
            waiting += inner[name].children
        else:
            found.append(name)
    return sorted(found)


def apart(constraint: TopologyConstraint, used: Sequence[Node]) -> str | None:
    """Why the nodes ``used`` are not in one domain, or None."""
    key = ", ".join(constraint.keys)
    first: tuple[str, tuple[str, ...]] | None = None
    for node in used:
        name, labels = node.name, node.labels
        missing = [each for each in constraint.keys if each not in labels]
        if missing:
            return f"pods have to be in one domain of {key}; node {name!r} has no label {missing[0]}"
        domain = tuple(labels[each] for each in constraint.keys)
        if first is None:
            first = (name, domain)
        elif domain != first[1]:
            both = f"{'/'.join(first[1])} (node {first[0]!r}) and {'/'.join(domain)} (node {name!r})"
            return f"pods have to be in one domain of {key}; they are in {both}"
    return None


def shares_fit(shares: Sequence[int], devices: list[int]) -> bool:
    """Whether ``shares``, largest first, fit on devices with so much free each: every way is tried."""
    if not shares:
        return True
    if sum(shares) > sum(devices):
        return False
    tried: set[int] = set()
    for i, free in enumerate(devices):
        if free >= shares[0] and free not in tried:
            tried.add(free)
            devices[i] -= shares[0]
            fits = shares_fit(shares[1:], devices)
            devices[i] += shares[0]
            if fits:
                return True
    return False
