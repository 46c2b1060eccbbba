"""Memory of the search: arrays that grow without being copied, and how much may be had.

An array is an anonymous mapping. Room that nothing was written to costs no memory, so an array may be given plenty;
what is accounted is what is used. Large arrays ask for huge pages: random access to a table of many megabytes spends
much of its time in looking up small ones.
"""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

_HUGE = 4 << 20
_SHARE = 0.8
# Linux: do not reserve swap for pages that may never be written. Python 3.11 does not name it.
_NO_RESERVE = 0x4000 if hasattr(mmap, "MADV_HUGEPAGE") else 0
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_CGROUP_USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")


class Array:
    """Zeroed memory of ``size`` bytes that can be made larger; existing contents stay, addresses change."""

    def __init__(self, size: int) -> None:
        self._map = _mapped(size)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self._map)

    @property
    def address(self) -> int:
        """Where it starts; valid until `grow`."""
        return int(np.frombuffer(self._map, np.uint8).ctypes.data)

    def view(self, count: int) -> NDArray[np.uint64]:
        """The first ``count`` words of 64 bits. `grow` fails while a view is alive."""
        return np.frombuffer(self._map, np.uint64, count)

    def grow(self, size: int) -> None:
        """Make it ``size`` bytes. MemoryError if they cannot be had."""
        try:
            self._map.resize(size)
        except SystemError:
            # No mremap on this system.
            larger = _mapped(size)
            larger[: len(self._map)] = self._map[:]
            self._map = larger
        except OSError as error:
            raise MemoryError(f"{size} bytes could not be mapped: {error}") from error
        _ask_for_huge_pages(self._map)


def _mapped(size: int) -> mmap.mmap:
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        found = mmap.mmap(-1, max(size, mmap.PAGESIZE), flags=flags)
    except OSError as error:
        raise MemoryError(f"{size} bytes could not be mapped: {error}") from error
    _ask_for_huge_pages(found)
    return found


def _ask_for_huge_pages(where: mmap.mmap) -> None:
    if len(where) >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            where.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            # A kernel without them: slower, not wrong.
            return


def available_memory() -> int:
    """Bytes that this process may take: what the machine has left, or its control group if that is less."""
    free = int(psutil.virtual_memory().available)
    for limit, used in zip(_CGROUP_LIMITS, _CGROUP_USED, strict=True):
        try:
            most, now = Path(limit).read_text().strip(), Path(used).read_text().strip()
        except OSError:
            continue
        if most.isdigit() and now.isdigit():
            free = min(free, max(0, int(most) - int(now)))
    return free


def default_budget() -> int:
    """The share of what is available that an exploration takes when no budget is given."""
    return int(available_memory() * _SHARE)


__all__ = ["Array", "available_memory", "default_budget"]
