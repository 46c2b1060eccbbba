"""Sizes and times as people write them on a command line."""

from __future__ import annotations

import math
import re
from typing import Any

import click

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(text: str) -> int:
    """``512M`` or ``4G`` in bytes (powers of 1024); a click error for anything else."""
    match = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None or int(match[1]) == 0:
        raise click.BadParameter(f"a size is a positive number with K, M, G or T behind it, found {text!r}")
    return int(match[1]) * _UNITS[match[2].upper()]


class Seconds(click.FloatRange):
    """A positive, finite number of seconds: ``nan`` and ``inf`` would be no limit at all."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return seconds
