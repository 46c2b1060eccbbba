"""Kubernetes CompositePodGroup scheduling as a state machine. README.md lists its rules, actions and properties."""

from specs.composite.machine import composite

__all__ = ["composite"]
