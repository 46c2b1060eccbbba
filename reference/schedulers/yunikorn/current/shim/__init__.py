"""YuniKorn's shim for Kubernetes: task groups become placeholder pods, and pods become asks of the core."""

from reference.schedulers.yunikorn.current.shim.pods import PlaceholderManager, Pods
from reference.schedulers.yunikorn.current.shim.shim import Shim
from reference.schedulers.yunikorn.current.shim.states import ShimEvent, ShimState, TaskEvent, TaskState
from reference.schedulers.yunikorn.current.shim.task import ShimApplication, Task

__all__ = [
    "PlaceholderManager",
    "Pods",
    "Shim",
    "ShimApplication",
    "ShimEvent",
    "ShimState",
    "Task",
    "TaskEvent",
    "TaskState",
]
