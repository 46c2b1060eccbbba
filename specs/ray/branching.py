"""A world of Ray's autoscaler that branches: copies of it go their own ways, and every loop that may come is tried."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from specs.ray.binding import NEVER_S, PAUSE_MS, Ran, World, tries
from specs.ray.life_cycle import Status
from specs.ray.state import Node, Order

_TIME_OUTS: Final = {
    Status.REQUESTED: "request_status_timeout_s",
    Status.ALLOCATED: "allocate_status_timeout_s",
    Status.RAY_INSTALLING: "ray_install_status_timeout_s",
    Status.TERMINATING: "terminating_status_timeout_s",
    Status.RAY_STOP_REQUESTED: "ray_stop_requested_status_timeout_s",
}


class BranchingWorld(World):
    """A world, and how it tells one of its copies from another."""

    def copy(self) -> BranchingWorld:
        """The same again, that goes its own way."""
        return copy.deepcopy(self, {id(kept): kept for kept in (self.names, self.phases, self.config)})

    def with_rows(self, row: Mapping[str, str]) -> BranchingWorld:
        """The same world, in which instances are other rows."""
        same = copy.copy(self)
        same.row = {**self.row, **row}
        return same

    def loops(self) -> Iterator[tuple[BranchingWorld, Ran]]:
        """Every loop that may come now, on a copy each: which idle nodes were idle for long, which instances have
        booted where that matters, and, for each state, since when a row has to be in it to be stuck, as if the time out
        had been set so."""
        idle = [row for instance, row in self.row.items() if self.shown_node(self.managed(instance)) is Node.IDLE]
        for long, booted, stuck in itertools.product(subsets(idle), subsets(self._booting()), self._time_outs()):
            world = self.copy()
            for name in self._booting():
                world.cloud.instances[name] = replace(world.cloud.instances[name], is_running=name in booted)
            yield world, world.loop(stuck=stuck, idle=long)

    def _booting(self) -> list[str]:
        """Instances of the cloud on which Ray is still to be installed."""
        if self.config.disable_node_updaters:
            return []
        further = {e.cloud_instance for e in self.instances.values() if self.status(e.id) is not Status.ALLOCATED}
        return [name for name in self.cloud.instances if name not in further | {"head"}]

    def _time_outs(self) -> Iterator[Mapping[str, float]]:
        """By their names in the configuration, in seconds."""
        now, there = self.now_ms + PAUSE_MS, [self.since(instance) for instance in self.instances]
        choices = []
        for status, name in _TIME_OUTS.items():
            ages = {now - since for each, since in there if each is status}
            may = getattr(self.config.reconcile, name) < NEVER_S
            choices.append([(name, NEVER_S), *((name, (age - 0.5) / 1000) for age in ages if may)])
        return (dict(chosen) for chosen in itertools.product(*choices))

    def status(self, instance: str, ahead: int = 0) -> Status | None:
        """Where an instance is, or was so many changes ago."""
        history = self.managed(instance).history
        return Status[history[-1 - ahead][0].value] if ahead < len(history) else None

    def since(self, instance: str, ahead: int = 0) -> tuple[Status, int]:
        """The same of an instance that there was, and when that began, in milliseconds."""
        status, at = self.managed(instance).history[-1 - ahead]
        return Status[status.value], at

    def moves(self, instance: str, ahead: int = 0) -> Iterator[tuple[Status, int, Status]]:
        """What an instance has gone through in the last loop but for so many changes: from, since when, and to."""
        history = self.managed(instance).history
        for (was, since), (to, at) in itertools.pairwise(history[: len(history) - ahead]):
            if at == self.now_ms:
                yield Status[was.value], since, Status[to.value]

    def key(self) -> Hashable:
        """Equal for worlds that nothing tells apart that will happen: of times, only which is before which."""
        there = list(self.instances.values())
        times = {each.id: tuple(each.times(each.status)) for each in there}
        order = sorted({at for each in times.values() for at in each})
        launches = [each.launch_request for each in there] + [request for _, request in self.orders.values()]
        requests = list(dict.fromkeys(launches))
        rows = []
        for each in there:
            waits = self.status(each.id) in (
                Status.QUEUED,
                Status.REQUESTED,
            )  # of these all times count, of others the last
            since = tuple(order.index(at) for at in (times[each.id] if waits else times[each.id][-1:]))
            asked, request = self.orders.get(each.id, (Order.NONE, ""))
            named = requests.index(each.launch_request) if waits else 0, requests.index(request) if request else 0
            rows.append((self.row[each.id], each.status, tries(each), since, asked, named, self.shown_node(each)))
        return tuple(rows), self.pending, self.constraint, len(self.cloud.instances)


def subsets(things: Sequence[str]) -> list[tuple[str, ...]]:
    """All of them, from the empty one on."""
    return [each for n in range(len(things) + 1) for each in itertools.combinations(things, n)]
