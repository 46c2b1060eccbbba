"""YuniKorn's gang scheduling design as a state machine. README.md lists its rules, actions and properties."""

from specs.yunikorn.machine import yunikorn
from specs.yunikorn.parameters import Gate, Policy, Queues, Timers
from specs.yunikorn.state import App, AppState, Node

__all__ = ["App", "AppState", "Gate", "Node", "Policy", "Queues", "Timers", "yunikorn"]
