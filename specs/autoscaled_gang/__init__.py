"""A gang queue over nodes that are cloud instances: applications, placeholders and instances in one machine."""

from specs.autoscaled_gang.machine import AppState, Policy, autoscaled_gang

__all__ = ["AppState", "Policy", "autoscaled_gang"]
