"""Ray's autoscaler v2 as a state machine. README.md lists its rules, actions and properties."""

from specs.ray.life_cycle import Status
from specs.ray.machine import ray
from specs.ray.parameters import Edition, Timers
from specs.ray.state import Instance, Loop, Node, Order

__all__ = ["Edition", "Instance", "Loop", "Node", "Order", "Status", "Timers", "ray"]
