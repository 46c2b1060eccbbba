"""Ray's autoscaler v2, as releases 2.60 and 2.48 have it: which nodes to launch and terminate, and the loop that does
so.

Start reading at ``scheduler.py`` (the order of one decision), then ``node.py`` (how a node is filled and scored) and
``candidates.py`` (the index that finds the best node fast). The input is one ``SchedulingRequest``, in JSON or as
types. The loop around it is ``autoscaler.py``, its Reconciler in ``instance_manager``; ``script.py`` plays events on
it.
"""

from reference.schedulers.ray.arithmetic import DOUBLES, EXACT, Arithmetic
from reference.schedulers.ray.autoscaler import Autoscaler, Loop
from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig, ReconcileConfig
from reference.schedulers.ray.node import NodeStatus, SchedulingNode, Source, TerminationCause
from reference.schedulers.ray.read import load, load_files, read_problem
from reference.schedulers.ray.reply import SchedulingReply, reply_json
from reference.schedulers.ray.request import (
    GangResourceRequest,
    Instance,
    InstanceStatus,
    LabelConstraint,
    NodeKind,
    NodeTypeConfig,
    Operator,
    ResourceRequest,
    SchedulingRequest,
    Strategy,
)
from reference.schedulers.ray.scheduler import ResourceDemandScheduler, schedule

__all__ = [
    "DOUBLES",
    "EXACT",
    "Arithmetic",
    "Autoscaler",
    "AutoscalingConfig",
    "Edition",
    "GangResourceRequest",
    "Instance",
    "InstanceStatus",
    "LabelConstraint",
    "Loop",
    "NodeKind",
    "NodeStatus",
    "NodeTypeConfig",
    "Operator",
    "ReconcileConfig",
    "ResourceDemandScheduler",
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
