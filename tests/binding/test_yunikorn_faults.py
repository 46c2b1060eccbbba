"""Faults put into the YuniKorn reference: walking through all its runs with the spec alongside finds each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from yunikorn_walk import Parameters, parameters, walk

from reference.schedulers.yunikorn import Core, cycle
from reference.schedulers.yunikorn.books import Books
from reference.schedulers.yunikorn.queues import Queues as CoreQueues
from reference.schedulers.yunikorn.state import Allocation, ApplicationState, TrackedApplication
from specs.walking import Divergence
from specs.yunikorn.seed import Gate, Queues

ONE = parameters(apps=1, size=2, nodes=1, capacity=2, quota=2)
TWO = parameters(apps=2, size=(1, 2), nodes=1, capacity=3, quota=2)
LEAVES = parameters(apps=2, size=1, nodes=1, capacity=2, quota=1, queues=Queues.TWO_LEAVES, gate=Gate.NONE)


@dataclass(frozen=True)
class FaultyCore:
    """``message``: what the first complaint says, of the spec (Divergence) or of the core's invariants."""

    given: Parameters
    put: Callable[[pytest.MonkeyPatch], None]
    complaint: type[AssertionError]
    message: str


def gate_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cycle, "stopped_by_gate", lambda core, app: None)


def order_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cycle, "ahead_of", lambda core, app: None)


def only_the_leaf_has_a_quota(patch: pytest.MonkeyPatch) -> None:
    def shortage(self: CoreQueues, leaf: str, *args: Any, **kwargs: Any) -> object:
        state = self.states[leaf]
        path, state.path = state.path, (state,)
        try:
            return whole(self, leaf, *args, **kwargs)
        finally:
            state.path = path

    whole = CoreQueues.shortage
    patch.setattr(CoreQueues, "shortage", shortage)


def confirmed_placeholder_stays(patch: pytest.MonkeyPatch) -> None:
    def drop(self: Books, app: TrackedApplication, pod: Allocation) -> None:
        dropped(self, app, pod)
        if pod.placeholder:
            app.placeholders[pod.key] = pod

    dropped = Books._drop
    patch.setattr(Books, "_drop", drop)


def queue_is_not_told_of_a_release(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CoreQueues, "give", lambda self, leaf, resources: None)


def running_application_times_out(patch: pytest.MonkeyPatch) -> None:
    def may_time_out(app: TrackedApplication) -> bool:
        alive = app.state in (ApplicationState.ACCEPTED, ApplicationState.RUNNING) and not app.being_killed
        return alive and bool(app.placeholders)

    patch.setattr(TrackedApplication, "may_time_out", property(may_time_out))


def whole_gang_times_out(patch: pytest.MonkeyPatch) -> None:
    def may_time_out(app: TrackedApplication) -> bool:
        return app.state is ApplicationState.ACCEPTED and not app.being_killed and bool(app.placeholders)

    patch.setattr(TrackedApplication, "may_time_out", property(may_time_out))


def completes_before_confirmations(patch: pytest.MonkeyPatch) -> None:
    """The document's other sentence: the transition can proceed once the release is requested."""

    def waiting_timeout(self: Core, name: str) -> object:
        record = timeout(self, name)
        self.applications[name].state = ApplicationState.COMPLETED
        return record

    timeout = Core.waiting_timeout
    patch.setattr(Core, "waiting_timeout", waiting_timeout)


def killed_before_confirmations(patch: pytest.MonkeyPatch) -> None:
    def placeholder_timeout(self: Core, name: str) -> object:
        record = timeout(self, name)
        self._end(self.applications[name], ApplicationState.KILLED)
        return record

    timeout = Core.placeholder_timeout
    patch.setattr(Core, "placeholder_timeout", placeholder_timeout)


def unschedulable_ask_is_lost(patch: pytest.MonkeyPatch) -> None:
    def place(self: Core, app: TrackedApplication, *args: Any) -> object:
        found = placed(self, app, *args)
        for key in [*app.unschedulable]:
            self._forget_ask(app, key)
        return found

    placed = Core._place_parked
    patch.setattr(Core, "_place_parked", place)


def parked_placeholder_is_not_marked(patch: pytest.MonkeyPatch) -> None:
    def start(self: Core, name: str, *args: Any) -> object:
        record = started(self, name, *args)
        self.applications[name].placeholders[record.placeholder].marked = False
        return record

    started = Core.start_replacement
    patch.setattr(Core, "start_replacement", start)


def waits_while_a_pod_runs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TrackedApplication, "is_idle", property(lambda app: not app.real_asks and not any(app.parked_asks())))


ALLOCATES = "the spec does not enable allocate_placeholder"
TIMES_OUT = "the spec does not enable placeholder_timeout"

FAULTS = {
    "Y8: the gate is ignored": FaultyCore(TWO, gate_ignored, Divergence, ALLOCATES),
    "Y7: the order of submission is ignored": FaultyCore(TWO, order_ignored, Divergence, ALLOCATES),
    "the parent's quota is not looked at": FaultyCore(LEAVES, only_the_leaf_has_a_quota, Divergence, ALLOCATES),
    "Y18: a placeholder stays after its release": FaultyCore(
        ONE, confirmed_placeholder_stays, Divergence, r"releasing\[app1, node1\]: spec 0, core 1"
    ),
    "Y18: the queue is not told of a release": FaultyCore(
        ONE, queue_is_not_told_of_a_release, AssertionError, "queue root.batch: used is .* but what is held makes it"
    ),
    "Y23: a timeout in Running": FaultyCore(ONE, running_application_times_out, Divergence, TIMES_OUT),
    "Y23: a timeout of a whole gang": FaultyCore(ONE, whole_gang_times_out, Divergence, TIMES_OUT),
    "Y26: Completed before the shim has confirmed": FaultyCore(
        ONE, completes_before_confirmations, Divergence, "spec WAITING, core COMPLETED"
    ),
    "Y26: Killed before the shim has confirmed": FaultyCore(
        ONE, killed_before_confirmations, Divergence, "spec ACCEPTED, core KILLED"
    ),
    "Y18: an unschedulable ask is lost": FaultyCore(
        ONE, unschedulable_ask_is_lost, Divergence, r"unschedulable: real_asks\[app1\]: spec 1, core 0"
    ),
    "Y16: an ask is parked, its placeholder not marked": FaultyCore(
        ONE, parked_placeholder_is_not_marked, Divergence, r"replacing\[app1, node1\]: spec 1, core 0"
    ),
    "Y20: Waiting while a pod runs": FaultyCore(ONE, waits_while_a_pod_runs, Divergence, "spec RUNNING, core WAITING"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    fault.put(monkeypatch)
    with pytest.raises(fault.complaint, match=fault.message) as found:
        walk(fault.given)
    assert type(found.value) is fault.complaint


@pytest.mark.parametrize("given", [ONE, TWO, LEAVES], ids=["one", "two", "leaves"])
def test_without_it_there_is_none(given: Parameters) -> None:
    walk(given)
