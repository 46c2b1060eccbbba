"""YuniKorn's gang scheduling as its code has it today, as a state machine; README.md lists what it shows."""

from specs.yunikorn_current.machine import yunikorn_current
from specs.yunikorn_current.parameters import Recovery, Style, Timers
from specs.yunikorn_current.state import App, Core, Member, Node, Placeholder, Queue, Reason, Shim, State, Task, Timer

__all__ = [
    "App",
    "Core",
    "Member",
    "Node",
    "Placeholder",
    "Queue",
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
