"""Nodes, queues, gangs and placements: the vocabulary that schedulers, solver and judge share."""

from reference.cluster.cluster import Cluster, RunningPod
from reference.cluster.gang import Application, CompositeGroup, GangStyle, TaskGroup
from reference.cluster.neighbours import ALONE, Neighbours, PodAffinityTerm, SpreadConstraint
from reference.cluster.node import (
    ANYWHERE,
    Constraints,
    Node,
    Operator,
    Requirement,
    Taint,
    TaintEffect,
    Toleration,
)
from reference.cluster.node_type import NodeType
from reference.cluster.placement import Assignment, Placement
from reference.cluster.queue import Queue, QueueTree, SortPolicy
from reference.cluster.resources import MEMORY, NOTHING, PODS, VCORE, Resources, total
from reference.cluster.topology import Topology, TopologyConstraint

__all__ = [
    "ALONE",
    "ANYWHERE",
    "MEMORY",
    "NOTHING",
    "PODS",
    "VCORE",
    "Application",
    "Assignment",
    "Cluster",
    "CompositeGroup",
    "Constraints",
    "GangStyle",
    "Neighbours",
    "Node",
    "NodeType",
    "Operator",
    "Placement",
    "PodAffinityTerm",
    "Queue",
    "QueueTree",
    "Requirement",
    "Resources",
    "RunningPod",
    "SortPolicy",
    "SpreadConstraint",
    "Taint",
    "TaintEffect",
    "TaskGroup",
    "Toleration",
    "Topology",
    "TopologyConstraint",
    "total",
]
