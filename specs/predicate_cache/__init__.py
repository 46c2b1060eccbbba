"""Volcano's cache of predicate errors as a state machine. README.md lists its rules, actions and properties."""

from specs.predicate_cache.machine import predicate_cache
from specs.predicate_cache.parameters import Annotation, Constraint, Edition, First, Workload
from specs.predicate_cache.state import Checked, Job, Node, Phase, Replica, TaskGroup

__all__ = [
    "Annotation",
    "Checked",
    "Constraint",
    "Edition",
    "First",
    "Job",
    "Node",
    "Phase",
    "Replica",
    "TaskGroup",
    "Workload",
    "predicate_cache",
]
