"""Coscheduling at the Permit barrier, as the scheduler-plugins and Koordinator have it. README.md tells more."""

from specs.coscheduling.machine import coscheduling

__all__ = ["coscheduling"]
