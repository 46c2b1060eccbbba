"""Kubernetes PodGroup scheduling as a state machine. README.md lists its rules, actions and properties."""

from specs.kubernetes.machine import kubernetes
from specs.kubernetes.parameters import Cycle, Edition
from specs.kubernetes.state import Condition, Misfit, Node, PodGroup, Queue

__all__ = ["Condition", "Cycle", "Edition", "Misfit", "Node", "PodGroup", "Queue", "kubernetes"]
