"""What ``kubectl get pods,podgroups,events -o json`` tells of PodGroups: which pod was bound to which node, and when
the condition PodGroupInitiallyScheduled became what it is.

The objects of a file, lists of them, or the objects that ``--watch`` writes one after the other. A pod's group is in
its spec; pods of none are left out, as is all that is not about scheduling. Times have whole seconds (events of
events.k8s.io microseconds): records of one time may have happened in any order. Everything but bindings is unobserved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from model.conform import Log, Pattern, Record
from model.conform.stream import values
from model.errors import FileError
from model.language import Machine

_ASSIGNED: Final = re.compile(r"Successfully assigned (?P<pod>\S+) to (?P<node>\S+)")
_CONDITION: Final = "PodGroupInitiallyScheduled"
_REASONS: Final = {"Scheduled": "SCHEDULED", "Unschedulable": "UNSCHEDULABLE", "SchedulerError": "SCHEDULER_ERROR"}


def looks_like(text: str) -> bool:
    """Whether ``text``, a piece of a file, has such objects."""
    return re.search(r'"kind": *"(Event|Pod|PodGroup)"', text) is not None


def read(machine: Machine, lines: Iterable[str], name: str) -> Log:
    """The log in ``lines``; ``name`` is what messages call the file. FileError where nothing tells of a group."""
    objects = list(_objects("".join(lines), name))
    groups = {_named(pod): _group(pod) for _, pod in objects if pod["kind"] == "Pod"}
    told: dict[tuple[str, str], Record] = {}
    for where, each in objects:
        if each["kind"] == "Event":
            found = _bound(each, groups, f"{name}: {where}")
        elif each["kind"] == "PodGroup":
            found = _scheduled(each, f"{name}: {where}")
        else:
            continue
        for at, record in found:
            told.setdefault((at, str(record)), record)
    if not told:
        raise FileError(
            f"{name}: nothing tells of a group; expected PodGroups with the condition {_CONDITION}, "
            "or pods of groups and their events with the reason Scheduled"
        )
    silent = tuple(Pattern(a.name) for a in machine.actions if a.name != "bind")
    return Log(tuple(record for _, record in sorted(told.items(), key=lambda pair: pair[0])), silent)


def _objects(text: str, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each object with a kind, of lists their items, and where it is."""
    number = 0
    for whole in values(text, name):
        items = whole.get("items", [whole]) if isinstance(whole, dict) else whole
        for each in items if isinstance(items, list) else [items]:
            number += 1
            if not isinstance(each, dict) or not isinstance(each.get("kind"), str):
                raise FileError(f"{name}: object {number}: found no kind, expected an object of Kubernetes")
            if not isinstance(each.get("metadata", {}), dict):
                raise FileError(f"{name}: object {number}: metadata: expected an object")
            yield f"object {number}", each


def _named(each: Mapping[str, Any]) -> str:
    metadata = each.get("metadata", {})
    return f"{metadata.get('namespace', 'default')}/{metadata.get('name', '')}"


def _group(pod: Mapping[str, Any]) -> str | None:
    spec = pod.get("spec")
    group = spec.get("schedulingGroup") if isinstance(spec, dict) else None
    name = group.get("podGroupName") if isinstance(group, dict) else None
    return f"{_named(pod).partition('/')[0]}/{name}" if isinstance(name, str) else None


def _bound(event: Mapping[str, Any], groups: Mapping[str, str | None], where: str) -> Iterator[tuple[str, Record]]:
    found = _ASSIGNED.search(str(event.get("message", ""))) if event.get("reason") == "Scheduled" else None
    if found is None:
        return
    if found["pod"] not in groups:
        raise FileError(f"{where}: {found['pod']} is bound, and the file does not have the pod, which says its group")
    group = groups[found["pod"]]
    if group is not None:
        times = (event.get(key) for key in ("eventTime", "firstTimestamp", "lastTimestamp"))
        at = _time(next((t for t in times if t), None), where)
        pattern = Pattern("bind", {"g": (group,), "n": (found["node"],)})
        yield at, Record(where.rpartition(": ")[2], (pattern,), time=at, told=f"{found[0]}, of {group}")


def _scheduled(group: Mapping[str, Any], where: str) -> Iterator[tuple[str, Record]]:
    status = group.get("status")
    conditions = status.get("conditions", []) if isinstance(status, dict) else []
    for each in conditions if isinstance(conditions, list) else []:
        if isinstance(each, dict) and each.get("type") == _CONDITION:
            reason = each.get("reason")
            if not isinstance(reason, str) or reason not in _REASONS:
                raise FileError(f"{where}: {_CONDITION}: reason is {reason!r}, expected one of {', '.join(_REASONS)}")
            at = _time(each.get("lastTransitionTime"), where)
            name = _named(group)
            told = f"{_CONDITION} of {name} is {each.get('status')}, {reason}"
            yield (
                at,
                Record(where.rpartition(": ")[2], state={f"condition[{name}]": _REASONS[reason]}, time=at, told=told),
            )


def _time(told: object, where: str) -> str:
    """A time such that texts are ordered as times are."""
    try:
        return datetime.fromisoformat(str(told)).isoformat(timespec="microseconds")
    except ValueError:
        raise FileError(f"{where}: found {told!r}, expected a time, as in 2026-01-31T12:00:00Z") from None


__all__ = ["looks_like", "read"]
