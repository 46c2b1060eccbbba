"""Runs of the spec of today's YuniKorn, made by the reference: the other direction of ``binding.py`` beside this file.

Predicates, which the spec leaves out, have the core choose what the spec chooses: for one cycle they refuse every other
pod and node. Among placeholders upstream goes through a map, so any of them may be the first. What the core does in one
event the spec may take apart: a removal in up to four steps, that of a node pod by pod, the placeholders that are given
up because they are too small one by one. The core has then done all of it, or none yet, and the two are compared when
the spec has come as far; what the spec has the core do in between is excused.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from model.language import Machine
from model.trace import NamedState, Value
from reference.cluster import Constraints, Node, Resources
from reference.schedulers.yunikorn.current import (
    AddApplication,
    Allocation,
    Limit,
    Partition,
    PartitionOptions,
    QueueConfig,
    Request,
)
from specs.replaying import Excused
from specs.walking import Call, Divergence
from specs.yunikorn.current import state as spec
from specs.yunikorn.current.binding import CYCLE, REMOVAL, UNIT, Subject, call_of
from specs.yunikorn.snapshot import Snapshot

NODE: Final = ("remove_placeholder_of_node", "remove_real_pod_of_node", "unpark_real_pod_of_node", "node_removed")
"""The removal of a node, after its first step."""
FIXED: Final = frozenset(
    (AddApplication, Allocation, Constraints, Limit, Node, PartitionOptions, QueueConfig, Resources, spec.Core)
)
"""What no partition changes."""

ONE_EVENT: Final = "removal in one event"
GIVEN_UP: Final = "given up together"
FINDING: Final = "wrong books"
LEFT_OUT: Final = "left out"


@dataclass(frozen=True, eq=False)
class Made:
    """A partition after some steps of the spec.

    ``removed``: what the spec has removed of a node that goes, in its order; ``given_up``: placeholders that the core
    has given up, and the spec has yet to.
    """

    subject: Subject
    removed: tuple[Call, ...] = ()
    given_up: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def copy(self) -> Subject:
        """The partition, to go on with."""
        return self._snapshot.restore()

    @functools.cached_property
    def _snapshot(self) -> Snapshot[Subject]:
        return Snapshot(self.subject, FIXED)


class Replayer:
    """Makes a machine's steps with a partition."""

    code = "core"
    excuses: ClassVar[Mapping[str, str]] = {
        ONE_EVENT: "the core handles the removal of a pod, or of a node, in one event, and nothing else meanwhile",
        GIVEN_UP: "one cycle gives up all placeholders that are too small, before it does anything else",
        FINDING: "the books of the code go wrong here, which is a finding; those of the reference do not",
        LEFT_OUT: "the reference has no restart, no autoscaler, and no time between a timer and its handler",
    }
    left_out: ClassVar[tuple[str, ...]] = ("restart", "tell_autoscaler", "placeholder_timer_expires")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def start(self) -> Made:
        """A partition with its nodes, to which nothing has happened."""
        return Made(Subject(self.machine))

    def perform(self, subject: Made, call: Call, before: NamedState, after: NamedState) -> Made | Excused:
        """The partition after the step. Divergence if the core does something else."""
        name = call[0]
        if name in self.left_out:
            return Excused(LEFT_OUT)
        if name in REMOVAL:
            return subject
        if name in NODE:
            return _node_step(subject, call)
        if name == "cancel_smaller_placeholder" and call[1] in subject.given_up:
            return replace(subject, given_up=subject.given_up - {call[1]})
        if not subject.subject.is_followed(call):
            return Excused(FINDING)
        made = subject.copy()
        if name in CYCLE:
            if _is_removing(before):
                return Excused(ONE_EVENT)
            return Excused(GIVEN_UP) if subject.given_up else _cycle(made, call)
        if not made.tell(call, before):
            return subject
        made.listen()
        if _is_removing(before):
            return Excused(ONE_EVENT)
        return Excused(GIVEN_UP) if subject.given_up else Made(made)

    def observed(self, subject: Made, shown: NamedState) -> Mapping[str, Value]:
        """What the partition shows, as far as the spec has come: of a removal that is under way, nothing."""
        if _is_removing(shown):
            return {}
        seen = subject.subject.observed(shown)
        return {
            cell: value for cell, value in seen.items() if cell not in {f"mark[{a}, {p}]" for a, p in subject.given_up}
        }

    def key(self, subject: Made) -> Hashable:
        """All that decides what the core does next, but for the names of real pods."""
        return subject.removed, subject.given_up, fingerprint(subject.subject)


def _is_removing(shown: NamedState) -> bool:
    """Whether the spec has begun a removal that the core does at once."""
    return any(value for cell, value in shown.items() if cell.startswith(("due_", "leaving[")))


def _node_step(subject: Made, call: Call) -> Made:
    """One step of the removal of a node: with the last one the core removes it, in the order in which the spec has."""
    removed = (*subject.removed, call)
    if call[0] != "node_removed":
        return replace(subject, removed=removed)
    made = subject.copy()
    (node,) = call[1]
    on_it = made.partition.on_node[node]
    ordered = [_taken(list(on_it.values()), step, removed[:i]) for i, step in enumerate(removed[:-1])]
    if len(ordered) != len(on_it):
        raise Divergence(f"the core has {len(on_it)} pods on {node}")
    made.partition.on_node[node] = {request.id: request for request in ordered}
    made.partition.remove_node(node)
    made.listen()
    return Made(made)


def _taken(on_it: list[Request], step: Call, earlier: tuple[Call, ...]) -> Request:
    """What of a node's pods the spec takes off it in ``step``."""
    name, (a, *rest) = step
    if name == "remove_placeholder_of_node":
        found = [r for r in on_it if r.placeholder and r.id == (a, f"{a}/{rest[0]}")]
    elif name == "unpark_real_pod_of_node":
        found = [r for r in on_it if r.link is not None and r.link.key == f"{a}/{rest[0]}"]
    else:
        alike = [r for r in on_it if not r.placeholder and r.link is None and r.application == a]
        found = alike[earlier.count(step) :]
    if not found:
        raise Divergence(f"the core has none of {name}({', '.join(step[1])})")
    return found[0]


# --- the scheduling cycle ---


def _cycle(made: Subject, call: Call) -> Made | Excused:
    """One cycle, in which predicates let through what ``call`` chooses."""
    partition = made.partition
    _lets_through(partition, call)
    result = partition.schedule()
    partition.predicates = None
    cancelled = frozenset(made.listen())
    if call[0] == "cancel_smaller_placeholder":
        if call[1] not in cancelled:
            raise Divergence("the core does not give it up")
        return Made(made, given_up=cancelled - {(call[1][0], call[1][1])})
    if cancelled:
        return Excused(GIVEN_UP)
    if result is None:
        raise Divergence("the core finds nothing to do")
    found = call_of(result)
    if found != call:
        raise Divergence(f"the core does {found[0]}({', '.join(found[1])})")
    return Made(made)


def _lets_through(partition: Partition, call: Call) -> None:
    name, (a, *rest) = call
    node = rest[-1]

    def chosen(request: Request, where: str) -> bool:
        if name == "cancel_smaller_placeholder" or request.application != a or where != node:
            return False
        return request.key == f"{a}/{rest[0]}" if name == "allocate_placeholder" else not request.placeholder

    partition.predicates = chosen
    partition.epoch += 1
    if name.startswith("replace_"):
        app = partition.applications[a]
        first = f"{a}/{rest[0]}"
        app.allocations = dict(sorted(app.allocations.items(), key=lambda item: item[0] != first))


# --- what tells two subjects apart ---


def fingerprint(subject: Subject) -> Hashable:
    """All of a partition that decides what it does next, but for the order of what is alike."""
    partition = subject.partition
    applications = tuple(
        (
            a,
            app.state,
            partition.applications.get(a) is app,
            app.state_timer is None,
            app.placeholder_timer is None,
            app.given_up,
            tuple(sorted((group, d.count, d.timed_out, d.replaced) for group, d in app.placeholder_data.items())),
            tuple(sorted(map(_request, app.requests.values()))),
            tuple(sorted(map(_request, app.allocations.values()))),
        )
        for a, app in sorted(subject.applications.items())
    )
    nodes = tuple(sorted((n, partition.used_on(n).amount(UNIT)) for n in partition.nodes.index))
    queues = tuple((q.running, tuple(sorted(q.allocating_accepted)), q.allocated) for q in partition.queues.values())
    return applications, nodes, queues, tuple(sorted(subject.marks.items()))


def _request(request: Request) -> tuple[object, ...]:
    """A request; a real pod has no name."""
    link = request.link
    return (
        request.key if request.placeholder else "",
        request.node,
        request.allocated,
        request.released,
        request.preempted,
        "" if link is None else link.key if link.placeholder else link.node,
    )
