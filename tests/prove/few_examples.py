"""A few random examples: what costs a solver's time for each."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings


def a_few(count: int) -> settings:
    """``count`` examples, the same ones in every run, however long each is drawn for."""
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
