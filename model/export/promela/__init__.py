"""A machine as a model for Spin, of which it stores exactly the machine's states."""

from model.export.promela.model import Model, promela

__all__ = ["Model", "promela"]
