"""Traces: files that say which jobs come when, and for how long they have work."""

from reference.simulation.traces.generate import GeneratorSettings, generate
from reference.simulation.traces.read import Trace, read_trace

__all__ = ["GeneratorSettings", "Trace", "generate", "read_trace"]
