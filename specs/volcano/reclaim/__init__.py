"""Volcano's reclaim as a state machine: a queue takes back what it deserves. The README.md of specs/volcano has it."""

from specs.volcano.reclaim.machine import volcano_reclaim
from specs.volcano.reclaim.state import Claims, Job, Needs, Node, Phase, Queue

__all__ = ["Claims", "Job", "Needs", "Node", "Phase", "Queue", "volcano_reclaim"]
