"""Memory of the search: arrays that grow without being copied, and how much may be had.

An array is an anonymous mapping. Room that nothing was written to costs no memory, so an array may be given plenty,
and addresses far beyond its size so that it need not move; what is accounted is what is used. Large arrays ask for huge
pages: random access to a table of many megabytes spends much of its time in looking up small ones.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

_HUGE = 2 << 20
_LARGE = 4 << 20
_BEYOND = 16
_MAP_FIXED = 0x10  # Linux, BSD and macOS alike
_SHARE = 0.8
# Linux: do not reserve swap for pages that may never be written. Python 3.11 does not name it.
_NO_RESERVE = 0x4000 if hasattr(mmap, "MADV_HUGEPAGE") else 0
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_CGROUP_USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")


class Array:
    """Zeroed memory of ``size`` bytes that can be made larger, in place up to ``reserved`` bytes if those can be had.

    Existing contents stay; addresses change only where there was no reserve. What lies in small pages when an array
    moves stays in small pages, so a reserve also makes a growing array faster.
    """

    def __init__(self, size: int, reserved: int = 0) -> None:
        self._size = max(size, mmap.PAGESIZE)
        self._map = _reserve(reserved, self._size) or _mapped(self._size)
        # Huge pages lie at multiples of their size.
        self._first = -_address(self._map) % _HUGE if len(self._map) >= self._size + _HUGE else 0
        _ask_for_huge_pages(self._map, self._first, self._size)

    @property
    def size(self) -> int:
        """Bytes."""
        return self._size

    @property
    def reserved(self) -> int:
        """Bytes up to which it grows in place."""
        return len(self._map) - self._first

    @property
    def address(self) -> int:
        """Where it starts; valid until `grow`."""
        return _address(self._map) + self._first

    def view(self, count: int) -> NDArray[np.uint64]:
        """The first ``count`` words of 64 bits. `grow` fails while a view is alive, unless it grows in place."""
        return np.frombuffer(self._map, np.uint64, count, self._first)

    def replace(self, first: int, last: int, file: int) -> None:
        """Let the bytes from ``first`` to ``last``, multiples of a page, be those of an open file at the same place:
        read only, and read when they are looked at. MemoryError if that is not possible.

        It can then grow in place only.
        """
        place = self.address + first
        flags = mmap.MAP_SHARED | _MAP_FIXED
        if _libc().mmap(place, last - first, mmap.PROT_READ, flags, file, first) != place:
            raise MemoryError(f"a file could not be mapped: {os.strerror(ctypes.get_errno())}")
        self.expect(first, last, in_order=False)

    def expect(self, first: int, last: int, in_order: bool) -> None:
        """Whether the bytes from ``first`` to ``last`` will be read one after the other, or here and there."""
        if last > first:
            advice = mmap.MADV_NORMAL if in_order else mmap.MADV_RANDOM
            self._map.madvise(advice, self._first + first, last - first)

    def grow(self, size: int) -> None:
        """Make it ``size`` bytes. MemoryError if they cannot be had."""
        if size > self.reserved:
            try:
                self._map.resize(self._first + size)
            except SystemError:
                # No mremap on this system.
                larger = _mapped(self._first + size)
                larger[: len(self._map)] = self._map[:]
                self._map = larger
            except (OSError, ValueError) as error:
                raise MemoryError(f"{size} bytes could not be mapped: {error}") from error
        self._size = size
        _ask_for_huge_pages(self._map, self._first, size)


@functools.cache
def _libc() -> ctypes.CDLL:
    """The C library's mmap: Python's cannot be told a place."""
    library = ctypes.CDLL(None, use_errno=True)
    word, number = ctypes.c_size_t, ctypes.c_int
    library.mmap.argtypes = [word, word, number, number, number, ctypes.c_int64]
    library.mmap.restype = word
    return library


def _address(where: mmap.mmap) -> int:
    return int(np.frombuffer(where, np.uint8).ctypes.data)


def _mapped(size: int) -> mmap.mmap:
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        return mmap.mmap(-1, size, flags=flags)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"{size} bytes could not be mapped: {error}") from error


def _reserve(wanted: int, least: int) -> mmap.mmap | None:
    """Addresses for ``wanted`` bytes, or for as many as can be had; None if those are not more than ``least``."""
    if not _NO_RESERVE or _addresses_count():
        return None
    while wanted > least + _HUGE:
        try:
            return _mapped(wanted + _HUGE)
        except MemoryError:
            # A limit on the addresses of a process.
            wanted //= 4
    return None


@functools.cache
def _addresses_count() -> bool:
    """Whether addresses are charged like memory on this system, so that none may be reserved."""
    try:
        return Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2"
    except OSError:
        return True


def _ask_for_huge_pages(where: mmap.mmap, first: int, size: int) -> None:
    if size >= _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            where.madvise(mmap.MADV_HUGEPAGE, first, size // mmap.PAGESIZE * mmap.PAGESIZE)
        except OSError:
            # A kernel without them: slower, not wrong.
            return


def reserve(beyond: bool = False) -> int:
    """Bytes that one growing array may ever take: all memory there is, or ``beyond`` that many times more."""
    return int(psutil.virtual_memory().total) * (_BEYOND if beyond else 1)


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


__all__ = ["Array", "available_memory", "default_budget", "reserve"]
