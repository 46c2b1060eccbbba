"""Kueue's preemption for fair sharing as a state machine. README.md lists its rules, actions and properties."""

from specs.kueue.machine import kueue
from specs.kueue.shares import Strategy

__all__ = ["Strategy", "kueue"]
