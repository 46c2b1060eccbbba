"""A machine as a module of TLA+ for TLC and other tools: quantified, with the spec's own names."""

from model.export.tla.module import Module, tla

__all__ = ["Module", "tla"]
