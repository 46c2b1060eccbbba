"""kube-scheduler with the PodGroup scheduling cycle: an event machine, and a batch run over it.

Start reading at ``scheduler.py`` (events), then ``algorithm.py`` (what a cycle tries) and ``findnode.py`` (one pod, one
node). ``api.py`` has the objects.
"""

from reference.cluster.neighbours import PodAffinityTerm
from reference.schedulers.kubernetes.algorithm import Code, Result, placement_feasible
from reference.schedulers.kubernetes.api import (
    CompositePodGroup,
    Condition,
    DisruptionMode,
    Pod,
    PodAffinity,
    PodGroup,
    PodSpec,
    PreemptionPolicy,
    PreferredSchedulingTerm,
    Reason,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
    WhenUnsatisfiable,
)
from reference.schedulers.kubernetes.batch import KNOWS, schedule
from reference.schedulers.kubernetes.events import EventName, Outcome, Record
from reference.schedulers.kubernetes.groups import Phase, TrackedPod
from reference.schedulers.kubernetes.options import DEFAULT_WEIGHTS, Edition, Options, Plugin, ScoringStrategy
from reference.schedulers.kubernetes.queue import Place
from reference.schedulers.kubernetes.scheduler import Scheduler

__all__ = [
    "DEFAULT_WEIGHTS",
    "KNOWS",
    "Code",
    "CompositePodGroup",
    "Condition",
    "DisruptionMode",
    "Edition",
    "EventName",
    "Options",
    "Outcome",
    "Phase",
    "Place",
    "Plugin",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodGroup",
    "PodSpec",
    "PreemptionPolicy",
    "PreferredSchedulingTerm",
    "Reason",
    "Record",
    "Result",
    "Scheduler",
    "ScoringStrategy",
    "TopologySpreadConstraint",
    "TrackedPod",
    "WeightedPodAffinityTerm",
    "WhenUnsatisfiable",
    "placement_feasible",
    "schedule",
]
