"""Memory sizes as people write them on a command line."""

from __future__ import annotations

import re

import click

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(text: str) -> int:
    """``512M`` or ``4G`` in bytes (powers of 1024); a click error for anything else."""
    match = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None or int(match[1]) == 0:
        raise click.BadParameter(f"a size is a positive number with K, M, G or T behind it, found {text!r}")
    return int(match[1]) * _UNITS[match[2].upper()]
