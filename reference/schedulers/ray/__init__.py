"""Ray autoscaler v2's ResourceDemandScheduler, as releases 2.60 and 2.48 have it: which nodes to launch and terminate.

Start reading at ``scheduler.py`` (the order of one decision), then ``node.py`` (how a node is filled and scored) and
``candidates.py`` (the index that finds the best node fast). The input is one ``SchedulingRequest``, in JSON or as
types.
"""

from reference.schedulers.ray.arithmetic import DOUBLES, EXACT, Arithmetic
from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.node import NodeStatus, SchedulingNode, Source, TerminationCause
from reference.schedulers.ray.read import load, load_files, read_problem
from reference.schedulers.ray.reply import SchedulingReply, reply_json
from reference.schedulers.ray.request import (
    GangResourceRequest,
    Instance,
    InstanceStatus,
    LabelConstraint,
    NodeTypeConfig,
    Operator,
    ResourceRequest,
    SchedulingRequest,
    Strategy,
)
from reference.schedulers.ray.scheduler import schedule

__all__ = [
    "DOUBLES",
    "EXACT",
    "Arithmetic",
    "Edition",
    "GangResourceRequest",
    "Instance",
    "InstanceStatus",
    "LabelConstraint",
    "NodeStatus",
    "NodeTypeConfig",
    "Operator",
    "ResourceRequest",
    "SchedulingNode",
    "SchedulingReply",
    "SchedulingRequest",
    "Source",
    "Strategy",
    "TerminationCause",
    "load",
    "load_files",
    "read_problem",
    "reply_json",
    "schedule",
]
