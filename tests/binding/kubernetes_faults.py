"""Faults of the Kubernetes reference, each with what is told of it, and how a test finds them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reference.schedulers.kubernetes import Edition as CodeEdition
from reference.schedulers.kubernetes import Options, Phase, Scheduler, TrackedPod, algorithm, postfilter
from reference.schedulers.kubernetes.algorithm import Algorithm, Code
from reference.schedulers.kubernetes.groups import Registry
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.queue import SchedulingQueue
from reference.schedulers.kubernetes.snapshot import Snapshot
from specs.walking import Divergence

Fault = Callable[[pytest.MonkeyPatch], None]


def assert_is_found(fault: Fault, message: str, patch: pytest.MonkeyPatch, runs: Callable[[], object]) -> None:
    """With the fault in the scheduler, ``runs`` come to a difference that is told so."""
    fault(patch)
    with pytest.raises(Divergence, match=message):
        runs()


def fault_name(value: object) -> str:
    """The id of a fault, and of its message none."""
    return "" if isinstance(value, str) else getattr(value, "__name__", str(value))


def binds_half_a_gang(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(algorithm, "placement_feasible", lambda least, remaining, scheduled: Code.SUCCESS)


def forgets_nothing_when_a_binding_fails(patch: pytest.MonkeyPatch) -> None:
    whole = Scheduler.bind_failed
    patch.setattr(Scheduler, "bind_failed", lambda self, name: (whole(self, name), self.queue.drop(name[:9]))[0])


def evicts_while_victims_leave(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(postfilter, "why_not_eligible", lambda registry, snapshot, tree: None)
    patch.setattr(postfilter, "units", all_units)


def all_units(registry: Registry, snapshot: Snapshot) -> list[postfilter.Victim]:
    """Also of those that were asked to leave already."""
    found: dict[str, list[TrackedPod]] = {}
    for tracked in registry.pods.values():
        if tracked.phase is Phase.BOUND:
            found.setdefault(tracked.pod.pod_group, []).append(tracked)
    return [postfilter.Victim(g, tuple(pods), registry.groups[g].priority, True) for g, pods in found.items()]


def backs_off_not_at_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SchedulingQueue, "back_off", lambda self, entry: self.activate(entry, entry.shape))


def overfills_nodes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(NodeInfo, "has_room", lambda self, spec: True)


def gate_is_open(patch: pytest.MonkeyPatch) -> None:
    start = Scheduler.__init__
    patch.setattr(
        Scheduler, "__init__", lambda self, options: start(self, Options(CodeEdition.SEED, backoff_initial=0))
    )


def condition_is_no_latch(patch: pytest.MonkeyPatch) -> None:
    tell = Scheduler._tell

    def forgetful(self: Scheduler, group: str, reason: object) -> None:
        self.conditions.pop(group, None)
        tell(self, group, reason)  # type: ignore[arg-type]

    patch.setattr(Scheduler, "_tell", forgetful)


FAULTS = [
    (binds_half_a_gang, "does not enable fail_pod"),
    (forgets_nothing_when_a_binding_fails, "spec BACKOFF, code OUTSIDE"),
    (evicts_while_victims_leave, "does not enable post_filter"),
    (backs_off_not_at_all, "spec BACKOFF, code ACTIVE"),
    (overfills_nodes, "does not enable place_pod"),
    (gate_is_open, "does not enable pre_enqueue"),
    (condition_is_no_latch, "spec SCHEDULED, code UNSCHEDULABLE"),
]


# ---- of hierarchies


def one_is_enough(patch: pytest.MonkeyPatch) -> None:
    whole = algorithm.placement_feasible
    patch.setattr(algorithm, "placement_feasible", lambda least, remaining, scheduled: whole(1, remaining, scheduled))


def the_first_domain_wins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Algorithm, "_score", lambda self, group, candidates: None)


def scheduled_pods_fix_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Snapshot, "scheduled_of", lambda self, group: {})


FAULTS_OF_HIERARCHIES = [
    (one_is_enough, "does not enable"),
    (the_first_domain_wins, "does not enable (place_child|decide_success)"),
    (scheduled_pods_fix_nothing, "does not enable"),
]
