"""Gang reservation in its smallest form: the benchmark model, the same in every tool."""

from specs.gang.machine import gang

__all__ = ["gang"]
