"""YuniKorn's gang scheduling design as a state machine. README.md lists its rules, actions and properties."""

from specs.yunikorn.parameters import Queues, Timers
from specs.yunikorn.seed.machine import yunikorn_seed
from specs.yunikorn.seed.parameters import Gate, Policy
from specs.yunikorn.seed.state import App, AppState, Node

__all__ = ["App", "AppState", "Gate", "Node", "Policy", "Queues", "Timers", "yunikorn_seed"]
