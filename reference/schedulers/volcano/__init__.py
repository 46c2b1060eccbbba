"""Volcano's scheduler: queues, namespaces by weight, gangs, statements, preemption and network topology.

After pkg/scheduler of volcano-sh/volcano in August 2026, and after two designs of its past: "Namespace fair share" of
2019 and the predicate error cache as it was until 2024 (``Edition``). Start reading at ``scheduler.py`` (events), then
``session.py``, ``statement.py`` and ``actions/allocate.py``; each plugin is a file in ``plugins``.
"""

from reference.schedulers.volcano.api import (
    ROOT,
    HyperNode,
    Job,
    JobSpec,
    NetworkTopology,
    PodGroupPhase,
    Queue,
    Task,
    TaskSpec,
    TaskStatus,
    TopologyMode,
)
from reference.schedulers.volcano.batch import KNOWS, schedule
from reference.schedulers.volcano.options import Configuration, Edition, Options, PluginOption, Point, tiers
from reference.schedulers.volcano.scheduler import EventName, Record, Scheduler
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import Statement, Step, StepKind
from reference.schedulers.volcano.ties import Ties

__all__ = [
    "KNOWS",
    "ROOT",
    "Configuration",
    "Edition",
    "EventName",
    "HyperNode",
    "Job",
    "JobSpec",
    "NetworkTopology",
    "Options",
    "PluginOption",
    "PodGroupPhase",
    "Point",
    "Queue",
    "Record",
    "Scheduler",
    "Session",
    "Statement",
    "Step",
    "StepKind",
    "Task",
    "TaskSpec",
    "TaskStatus",
    "Ties",
    "TopologyMode",
    "schedule",
    "tiers",
]
