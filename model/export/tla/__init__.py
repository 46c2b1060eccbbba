"""A machine as a module of TLA+ for TLC and other tools: quantified, with the spec's own names."""

from model.export.tla.module import Module, tla
from model.export.tla.names import is_module_name

__all__ = ["Module", "is_module_name", "tla"]
