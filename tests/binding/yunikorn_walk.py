"""Every run of a YuniKorn core in a small scope, with the spec alongside.

States of the core are told apart by all that decides what comes next; the keys of pods are not part of it, so pods that
differ in their keys only stand for each other.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from model.language import Machine
from model.semantics import State
from reference.schedulers.yunikorn import Core, Environment, Event, EventName
from specs.loading import build_spec
from specs.yunikorn import Edition
from specs.yunikorn.binding import Call, Follower, environment_for, subject_for
from specs.yunikorn.replayer import FIXED, fingerprint
from specs.yunikorn.snapshot import Snapshot

Parameters = tuple[tuple[str, object], ...]
"""Parameters of the spec, hashable: name and value, sorted by name."""


def parameters(**values: object) -> Parameters:
    return tuple(sorted(values.items()))


@functools.lru_cache(maxsize=64)
def machine_for(given: Parameters) -> Machine:
    """One machine per parameter set: building it costs as much as some hundred steps."""
    return build_spec("yunikorn", {"edition": Edition.SEED, **dict(given)})


def new_core(machine: Machine) -> Core:
    subject = subject_for(machine)
    return Core(subject.cluster, subject.options)


@dataclass
class Walk:
    """What a core showed of its spec.

    ``steps``: each step of the spec that was taken, with the state before it. ``resting``: states of the spec in which
    the core stops between two events; ``passed``: those that it only passes through.
    """

    machine: Machine
    pairs: int = 0
    events: int = 0
    resting: set[State] = field(default_factory=set)
    passed: set[State] = field(default_factory=set)
    steps: set[tuple[State, Call]] = field(default_factory=set)

    def never_taken(self) -> Iterator[tuple[State, Call]]:
        """Steps that the spec enables where the core rests, and that the core never takes there."""
        follower = Follower(self.machine)
        for state in sorted(self.resting):
            for call, _ in follower.ways(state):
                if (state, call) not in self.steps:
                    yield state, call

    def all_states(self) -> set[State]:
        """Every reachable state of the spec."""
        follower = Follower(self.machine)
        found, waiting = {follower.state}, [follower.state]
        while waiting:
            for _, after in follower.ways(waiting.pop()):
                if after not in found:
                    found.add(after)
                    waiting.append(after)
        return found


def walk(given: Parameters, cordons: int = 1) -> Walk:
    """Through every state of the core and its environment. Divergence, or AssertionError for a broken
    invariant, at the first fault."""
    machine = machine_for(given)
    environment = environment_for(machine, cordons)
    core, follower = new_core(machine), Follower(machine)
    result = Walk(machine, resting={follower.state})
    seen = {(fingerprint(core), follower.state)}
    waiting = [(core, follower)]
    while waiting:
        core, follower = waiting.pop()
        snapshot = Snapshot(core, FIXED)
        for event in _events(core, environment):
            if not follower.may_happen(core, event):
                continue
            result.events += 1
            after, alongside = snapshot.restore(), follower.fork()
            taken = alongside.follow(after, after.apply(event))
            state = follower.state
            for call in taken:
                result.steps.add((state, call))
                state = follower.after(state, call)
                result.passed.add(state)
            pair = (fingerprint(after), alongside.state)
            if pair not in seen:
                broken = after.check_invariants()
                assert not broken, f"{event}: {broken}"
                seen.add(pair)
                waiting.append((after, alongside))
                result.resting.add(alongside.state)
    result.pairs = len(seen)
    result.passed -= result.resting
    return result


def _events(core: Core, environment: Environment) -> Iterator[Event]:
    """What can happen, one event of those that only differ in the pod, where the pods are alike."""
    seen = set()
    for event in core.enabled_events(environment):
        parked = None
        if event.name is EventName.CONFIRM_RELEASE:
            parked = core.applications[event.application].placeholders[event.key].parked is not None
        kind = (event.name, event.application, event.task_group, event.node, parked)
        if kind not in seen:
            seen.add(kind)
            yield event
