"""A simulated YuniKorn stays within its spec, and its log says so: every event of a run on the virtual clock, read back
from the text of the log, is a step that the spec enables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import event as note
from hypothesis import given, settings
from hypothesis import strategies as st
from yunikorn_walk import Parameters, machine_for, parameters

from model.language import Machine
from reference.cluster import Cluster
from reference.schedulers.yunikorn import Options, Record
from reference.simulation import Job, Workload, simulate
from reference.simulation.log import lines
from reference.simulation.schedulers.yunikorn import YuniKornScheduler, record_of
from specs.yunikorn.binding import Follower, calls, subject_for
from specs.yunikorn.seed import Gate, Policy, Queues, Timers

SCOPES = st.sampled_from(
    [
        parameters(apps=3, size=2, nodes=2, capacity=2, quota=4, timers=Timers.FREE),
        parameters(
            apps=3, size=2, nodes=2, capacity=2, quota=3, timers=Timers.FREE, gate=Gate.NONE, queues=Queues.TWO_LEAVES
        ),
        parameters(
            apps=3, size=3, nodes=2, capacity=2, quota=5, timers=Timers.FREE, policy=Policy.STATEAWARE, gate=Gate.NONE
        ),
        parameters(
            apps=3, size=2, nodes=2, capacity=2, quota=3, timers=Timers.FREE, policy=Policy.FAIR, reject_fair=False
        ),
    ]
)
"""Few, as building a machine costs more than many runs."""


class Followed(YuniKornScheduler):
    """A scheduler whose every event is held against the spec at once, states too."""

    def __init__(self, machine: Machine, cluster: Cluster, options: Options, release_ms: int) -> None:
        super().__init__(
            cluster,
            release_ms=release_ms,
            waiting_ms=2_000,
            **{name: getattr(options, name) for name in ("sort_policy", "reject_fair", "gate", "node_order", "strict")},
        )
        self.follower = Follower(machine)
        self.seen: list[Record] = []

    def _note(self, record: Record, real: int = 0, why: str = "") -> None:
        self.seen.append(record)
        self.follower.follow(self.core, record)
        assert self.core.check_invariants() == []
        super()._note(record, real, why)


@settings(max_examples=12)
@given(SCOPES, st.lists(st.sampled_from((0, 300, 900)), min_size=3, max_size=3), st.sampled_from((0, 100)), st.data())
def test_a_simulated_run_is_a_run_of_the_spec(
    scope: Parameters, gaps: Sequence[int], release_ms: int, data: st.DataObject
) -> None:
    machine = machine_for(scope)
    subject = subject_for(machine)
    scheduler = Followed(machine, subject.cluster, subject.options, release_ms)
    jobs = []
    arrival = 0
    for app, gap in zip(subject.cluster.applications, gaps, strict=True):
        arrival += gap  # the spec's applications come in the order of their names
        jobs.append(Job(replace(app, placeholder_timeout_seconds=1), arrival, (data.draw(st.integers(1, 1_500)),)))
    run = simulate(subject.cluster, Workload(tuple(jobs)), scheduler)
    text = [json.loads(line) for line in lines({}, run.log)]
    told = [record_of(line) for line in text if line.get("by") == "yunikorn"]
    assert told == scheduler.seen[: len(told)]
    assert len(told) + 20 >= len(scheduler.seen)  # what comes after the last gang's end is not in the log
    for name in ("killed", "rejected", "waiting", "finished"):
        if getattr(run.metrics, name):
            note(name)
    assert any(calls(record) for record in told)
