"""Volcano's allocate action with namespace fair share as a state machine. README.md lists its rules, actions and
properties."""

from specs.volcano.machine import volcano
from specs.volcano.parameters import Edition, Layout
from specs.volcano.state import Job, Namespace, Phase, Queue, Quota, Session

__all__ = ["Edition", "Job", "Layout", "Namespace", "Phase", "Queue", "Quota", "Session", "volcano"]
