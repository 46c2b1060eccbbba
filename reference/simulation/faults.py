"""Failures by chance: when a pod of a gang fails, when a node breaks. All times come from named streams of the seed."""

from __future__ import annotations

import random

from reference.simulation.chance import exponential_ms, stream
from reference.simulation.jobs import TrackedJob
from reference.simulation.settings import Settings


class Faults:
    """Poisson failures of pods and nodes; never where the settings give no mean time between them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._nodes: dict[str, random.Random] = {}

    def first_failure(self, job: TrackedJob, now: int) -> tuple[int, int] | None:
        """When the first of the pods that start now fails, and which; None where all of them end before.

        Each pod draws its own time; the draws depend on job and attempt only, so they are the same under any policy.
        """
        mean = self._settings.pod_mtbf_ms
        if mean is None:
            return None
        draw = stream(self._settings.seed, "pods", job.name, job.attempt)
        found: list[tuple[int, int]] = []
        for group, duration in zip(job.application.task_groups, job.job.durations, strict=True):
            members = (pod for pod in job.pods.values() if pod.task_group == group.name and not pod.placeholder)
            for pod in members:
                after = exponential_ms(draw, mean)
                if after < duration:
                    found.append((now + after, pod.number))
        return min(found, default=None)

    def node_breaks(self, node: str, now: int) -> int | None:
        """When a node that is there from now on breaks; None for never."""
        mean = self._settings.node_mtbf_ms
        if mean is None:
            return None
        draw = self._nodes.get(node)
        if draw is None:
            draw = self._nodes[node] = stream(self._settings.seed, "nodes", node)
        return now + exponential_ms(draw, mean)
