"""Amounts as a reader writes them, for reasons and messages; never read back."""

from __future__ import annotations

from typing import Final

from reference.cluster import MEMORY, VCORE

_BYTES: Final = (MEMORY, "ephemeral-storage")
_BINARY: Final = (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


def show(name: str, amount: int) -> str:
    """``amount`` of resource ``name``: cores and GPUs with up to three decimals, bytes in the largest whole unit."""
    if name == VCORE or name == "gpu" or name.endswith("/gpu"):
        sign, (whole, part) = "-" if amount < 0 else "", divmod(abs(amount), 1000)
        return f"{sign}{whole}" + (f".{part:03}".rstrip("0") if part else "")
    if name in _BYTES or name.startswith("hugepages-"):
        for suffix, size in _BINARY:
            if amount and amount % size == 0:
                return f"{amount // size}{suffix}"
    return str(amount)
