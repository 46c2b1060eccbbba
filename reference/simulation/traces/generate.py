"""A workload made of a seed: the gangs of a cluster come again and again, at random times, with random work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.cluster import Cluster
from reference.errors import InputError
from reference.simulation.chance import exponential_ms, stream
from reference.simulation.workload import Job, Workload


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """``jobs``: how many come, None for each gang of the cluster once. Times between arrivals, and durations of task
    groups, are exponentially distributed around these means (ms)."""

    jobs: int | None = None
    interarrival_ms: int = 60_000
    duration_ms: int = 600_000


def generate(cluster: Cluster, settings: GeneratorSettings, seed: int) -> Workload:
    """Jobs whose gangs are drawn from those of ``cluster``, or, where ``settings.jobs`` is None, are those, in order of
    submission. Arrivals are a Poisson process; the first comes at time 0. InputError where the cluster has no gang."""
    gangs = sorted(cluster.applications, key=lambda app: (app.submitted, app.name))
    if not gangs:
        raise InputError("no gang", "gangs that wait in the cluster, or a trace", where="trace")
    choice, gaps, work = (stream(seed, name) for name in ("gangs", "arrivals", "durations"))
    count = len(gangs) if settings.jobs is None else settings.jobs
    digits = len(str(count))
    jobs: list[Job] = []
    arrival = 0
    for number in range(count):
        if settings.jobs is None:
            gang = replace(gangs[number], submitted=number)
        else:
            gang = gangs[choice.randrange(len(gangs))]
            gang = replace(gang, name=f"{gang.name}-{number + 1:0{digits}}", submitted=number)
        durations = tuple(exponential_ms(work, settings.duration_ms) for _ in gang.task_groups)
        jobs.append(Job(gang, arrival, durations))
        arrival += exponential_ms(gaps, settings.interarrival_ms)
    return Workload(tuple(jobs))
