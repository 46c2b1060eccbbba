"""From the jobs and the meter of a run to its metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from reference.simulation.jobs import JobState, TrackedJob
from reference.simulation.meter import Meter
from reference.simulation.metrics import Metrics, QueueMetrics, Times, jain


def summarise(jobs: Sequence[TrackedJob], meter: Meter, window: tuple[int, int]) -> Metrics:
    """Every metric of ``jobs`` in ``window`` (ms)."""
    came = [job for job in jobs if job.state is not JobState.COMING]
    admitted = [job for job in came if job.started is not None]
    states = Counter(job.state for job in came)
    finishes = [job.ended for job in came if job.state is JobState.FINISHED and job.ended is not None]
    weight = sum(job.application.weight for job in came)
    end = window[1]
    utilisation, allocation = meter.utilisation(end)
    queues = tuple(
        _queue(name, [job for job in came if job.application.queue == name], meter, end)
        for name in sorted({job.application.queue for job in came})
    )
    return Metrics(
        submitted=len(came),
        admitted=len(admitted),
        finished=states[JobState.FINISHED],
        failed=states[JobState.FAILED],
        rejected=states[JobState.REJECTED],
        killed=states[JobState.KILLED],
        waiting=states[JobState.PENDING] + states[JobState.RUNNING],
        restarts=sum(job.attempt - 1 for job in came),
        admission_rate=Fraction(len(admitted), len(came)) if came else Fraction(0),
        weighted_admission_rate=Fraction(sum(job.application.weight for job in admitted), weight) if weight else None,
        wait=_waits(came),
        completion=Times.of(
            [job.ended - job.job.arrival for job in came if job.state is JobState.FINISHED and job.ended is not None]
        ),
        makespan=max(finishes) - window[0] if finishes else None,
        window=window,
        utilisation=utilisation,
        allocation=allocation,
        cost=meter.cost(end),
        node_hours=meter.node_hours(end),
        fragmentation=meter.fragmented(end),
        queues=queues,
        jain=jain([queue.dominant_share for queue in queues]),
    )


def _queue(name: str, jobs: Sequence[TrackedJob], meter: Meter, end: int) -> QueueMetrics:
    admitted = sum(job.started is not None for job in jobs)
    return QueueMetrics(name, len(jobs), admitted, meter.queue_share(name, end), _waits(jobs))


def _waits(jobs: Sequence[TrackedJob]) -> Times | None:
    return Times.of([job.started - job.job.arrival for job in jobs if job.started is not None])
