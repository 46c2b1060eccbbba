"""The instance manager: the table of instances, who may change it how, and who is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance, ReconcileError
from reference.schedulers.ray.instance_manager.life_cycle import STARTS, transitions
from reference.schedulers.ray.request import InstanceStatus, NodeKind


class Subscriber(Protocol):
    """Acts on what has become of instances."""

    def notify(self, events: Sequence[InstanceUpdateEvent], now_ms: int) -> None:
        """Called after the table has changed, with all events of one change. What it raises ends the loop."""


class InstanceManager:
    """Instances in the order in which they were made. ``version`` counts changes."""

    def __init__(self, edition: Edition) -> None:
        self.version = 0
        self._edition = edition
        self._subscribers: list[Subscriber] = []
        self._instances: dict[str, ManagedInstance] = {}
        self._made = 0

    @property
    def instances(self) -> tuple[ManagedInstance, ...]:
        """All of them, those that are over too."""
        return tuple(self._instances.values())

    def get(self, instance: str) -> ManagedInstance | None:
        """The instance of that id."""
        return self._instances.get(instance)

    def subscribe(self, subscriber: Subscriber) -> None:
        """From now on ``subscriber`` is told, after those before it."""
        self._subscribers.append(subscriber)

    def put(self, instance: ManagedInstance) -> None:
        """Sets an instance as it is, whatever it was; nobody is told."""
        self._instances[instance.id] = instance

    def new_id(self) -> str:
        """An id that no instance has: i1, i2 and so on."""
        while True:
            self._made += 1
            if (name := f"i{self._made}") not in self._instances:
                return name

    def update(self, events: Sequence[InstanceUpdateEvent], now_ms: int) -> None:
        """All of ``events``, or none where one is not allowed: ReconcileError. Of two about one instance the last
        counts, though subscribers hear of both."""
        if not events:
            return
        last = {event.instance: event for event in events}
        changed = [self._changed(event, now_ms) for event in last.values()]
        self._instances.update((instance.id, instance) for instance in changed)
        self.version += 1
        for subscriber in self._subscribers:
            subscriber.notify(events, now_ms)

    def _changed(self, event: InstanceUpdateEvent, now_ms: int) -> ManagedInstance:
        status, there = event.status, self._instances.get(event.instance)
        if there is None:
            if not event.upsert:
                raise ReconcileError(f"there is no instance {event.instance!r} to become {status.value}")
            if status not in STARTS:
                raise ReconcileError(f"no instance begins as {status.value}")
            there = ManagedInstance(event.instance, event.type, ((status, now_ms),))
        elif status in transitions(self._edition).get(there.status, frozenset()):
            there = replace(there, history=(*there.history, (status, now_ms)))
        else:
            raise ReconcileError(f"{there.status.value} does not lead to {status.value}: {there.id}")
        return _with_what_belongs_to_it(there, event)


def _with_what_belongs_to_it(instance: ManagedInstance, event: InstanceUpdateEvent) -> ManagedInstance:
    match event.status:
        case InstanceStatus.ALLOCATED:
            if not event.cloud_instance or not event.type or event.kind is NodeKind.UNMANAGED:
                raise ReconcileError("ALLOCATED needs a cloud instance, its type, and whether it is the head")
            return replace(
                instance,
                cloud_instance=event.cloud_instance,
                kind=event.kind,
                type=event.type,
                node_id=event.node_id,
            )
        case InstanceStatus.RAY_RUNNING:
            if not event.node_id:
                raise ReconcileError("RAY_RUNNING needs a Ray node")
            return replace(instance, node_id=event.node_id)
        case InstanceStatus.REQUESTED:
            if not event.launch_request or not event.type:
                raise ReconcileError("REQUESTED needs a launch request and a type")
            return replace(instance, launch_request=event.launch_request, type=event.type)
        case InstanceStatus.TERMINATING if not event.cloud_instance:
            raise ReconcileError("TERMINATING needs a cloud instance")
    return instance
