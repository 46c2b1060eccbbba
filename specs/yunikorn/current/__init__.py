"""YuniKorn's gang scheduling as its code has it today, as a state machine; README.md lists what it shows."""

from specs.yunikorn.current.machine import yunikorn_current
from specs.yunikorn.current.parameters import Recovery, Style
from specs.yunikorn.current.state import App, Core, Member, Node, Placeholder, Queue, Reason, Shim, State, Task, Timer
from specs.yunikorn.parameters import Queues, Timers

__all__ = [
    "App",
    "Core",
    "Member",
    "Node",
    "Placeholder",
    "Queue",
    "Queues",
    "Reason",
    "Recovery",
    "Shim",
    "State",
    "Style",
    "Task",
    "Timer",
    "Timers",
    "yunikorn_current",
]
