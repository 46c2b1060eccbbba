"""Discrete-event simulation: arrivals, durations, failures, nodes that come and go, autoscaling, over any scheduler.

Start reading at ``engine.py`` (what happens at an instant), then ``scheduler.py`` (what a scheduler has to be) and
``metrics.py`` (what a run comes to, exactly). ``schedulers/`` adapts schedulers, ``traces/`` reads traces.
"""

from reference.simulation.engine import Run, simulate
from reference.simulation.metrics import Metrics
from reference.simulation.scheduler import OnlineScheduler
from reference.simulation.schedulers import POLICIES, make
from reference.simulation.settings import AutoscalerSettings, NodeTypeSettings, Settings
from reference.simulation.workload import Job, NodeChange, PodFailure, Workload

__all__ = [
    "POLICIES",
    "AutoscalerSettings",
    "Job",
    "Metrics",
    "NodeChange",
    "NodeTypeSettings",
    "OnlineScheduler",
    "PodFailure",
    "Run",
    "Settings",
    "Workload",
    "make",
    "simulate",
]
