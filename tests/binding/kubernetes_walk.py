"""Runs of the Kubernetes reference in a small scope, with the spec alongside."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from random import Random

from model.language import Machine
from model.semantics import State
from specs.kubernetes.binding import INTERNAL, Follower, Subject
from specs.loading import build_spec
from specs.walking import Call

Parameters = tuple[tuple[str, object], ...]
"""Parameters of the spec, hashable: name and value, sorted by name."""


def given(**values: object) -> Parameters:
    return tuple(sorted(values.items()))


@functools.lru_cache(maxsize=32)
def machine_for(parameters: Parameters) -> Machine:
    return build_spec("kubernetes", dict(parameters))


def offers_differ(subject: Subject, follower: Follower) -> set[Call]:
    """What the world around the scheduler may do and the spec does not enable, or the other way round; but for what the
    binding leaves out, and for roots that are tied in activeQ, of which the scheduler takes one."""
    offered = {call for call in subject.events() if call[0] != "decide"}
    enabled = follower.enabled()
    external = {call for call in enabled if call[0] not in INTERNAL}
    left_out = ("pop", "reject_invalid", "create_misfit")
    missing = {call for call in external - offered if call[0] not in left_out}
    waiting = set() if subject.scheduler.running else {call for call in enabled if call[0] in INTERNAL}
    return (offered - external) | missing | waiting


def run(parameters: Parameters, draw: Random, steps: int, thrift: float = 0.25) -> list[Call]:
    """A random run; the actions of the spec that it took. Divergence, or AssertionError, at the first difference.

    ``thrift``: how willing gangs are to finish, compared with everything else: while they run they can be preempted.
    """
    machine = machine_for(parameters)
    subject, follower = Subject(machine), Follower(machine)
    taken: list[Call] = []
    for number in range(steps):
        events = subject.events()
        if not events:
            break
        lasting = [event for event in events if event[0] != "finish"]
        event = draw.choice(lasting if lasting and draw.random() > thrift else events)
        taken += follower.follow(subject, event, subject.apply(event))
        if number % 4 == 0:
            assert offers_differ(subject, follower) == set()
    return taken


def play(parameters: Parameters, events: str, subject: Subject | None = None) -> list[Call]:
    """The events that a text names, one after the other; the actions of the spec that they were. AssertionError where
    one of them may not happen."""
    machine = machine_for(parameters)
    subject, follower = subject or Subject(machine), Follower(machine)
    taken: list[Call] = []
    for name, arguments in re.findall(r"(\w+)\((.*?)\)", events):
        event = (name, tuple(filter(None, arguments.split(","))))
        assert event in subject.events(), f"{event} may not happen now"
        taken += follower.follow(subject, event, subject.apply(event))
    return taken


@dataclass
class Walk:
    """Every run in a scope: the states of the spec in which the scheduler rests, and the actions taken."""

    resting: set[State] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    pairs: int = 0


def walk(parameters: Parameters) -> Walk:
    """Through every state of the scheduler and its world. Divergence or AssertionError at the first difference."""
    machine = machine_for(parameters)
    first = Subject(machine), Follower(machine)
    result = Walk()
    seen = {_fingerprint(*first)}
    waiting = [first]
    while waiting:
        subject, follower = waiting.pop()
        result.resting.add(follower.state)
        assert offers_differ(subject, follower) == set()
        for event in subject.events():
            after = subject.copy()
            alongside = copy.copy(follower)
            result.taken |= {name for name, _ in alongside.follow(after, event, after.apply(event))}
            pair = _fingerprint(after, alongside)
            if pair not in seen:
                seen.add(pair)
                waiting.append((after, alongside))
    result.pairs = len(seen)
    return result


def _fingerprint(subject: Subject, follower: Follower) -> Hashable:
    """All that decides what comes next."""
    return follower.state, subject.key()
