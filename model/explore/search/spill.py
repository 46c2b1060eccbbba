"""States that memory has no room for: the oldest ones are moved to files, where compiled code still finds them.

Each shard has a file, which has no name and so ends with the process. What was moved lies in the file at the same place
as in the array of states, and is mapped there instead of memory: nothing else has to know. Old states are compared with
rarely, and never written to. What is read again is in the system's cache, which takes it back when it needs memory.

It costs a write of every state that is moved, and a read of some kilobytes, from the cache or from the disk, for each
comparison with one.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from model.errors import FileError
from model.explore.search.shard import Shard

_PIECE: Final = 1 << 24


class SpillError(FileError):
    """States cannot be moved to the directory that was named; the message says why."""


class Spill:
    """Moves the states of ``shards`` shards to files in ``directory``. SpillError if they cannot be made there."""

    def __init__(self, directory: Path, shards: int) -> None:
        self.directory: Final = directory
        self.problem: str | None = None
        self._moved: Final = [0] * shards
        try:
            # Without names: nothing is left behind, whatever ends the process.
            self._files: Final = [
                tempfile.TemporaryFile(dir=directory, buffering=0)  # noqa: SIM115 - open as long as states are there
                for _ in range(shards)
            ]
        except OSError as error:
            raise SpillError(f"states cannot be moved to {directory}: {error.strerror}") from None

    @property
    def bytes(self) -> int:
        """What was moved, in bytes."""
        return sum(self._moved)

    def bytes_of(self, shard: int) -> int:
        """What was moved of one shard."""
        return self._moved[shard]

    def move(self, shards: Sequence[Shard]) -> int:
        """Move the older half of the states that are in memory; bytes moved. 0, and ``problem`` says why, where the
        disk does not take them."""
        total = 0
        for number, shard in enumerate(shards):
            first = self._moved[number]
            size = (shard.count * shard.row_bytes - first) // 2 // mmap.PAGESIZE * mmap.PAGESIZE
            if size <= 0 or self.problem is not None:
                continue
            try:
                self._write(number, shard, first, first + size)
                shard.rows.replace(first, first + size, self._files[number].fileno())
            except (OSError, MemoryError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                self.problem = f"states could not be moved to {self.directory}: {reason}"
                continue
            self._moved[number] += size
            total += size
        return total

    def _write(self, number: int, shard: Shard, first: int, last: int) -> None:
        view = shard.rows.view(last // 8).view(np.uint8).data
        descriptor = self._files[number].fileno()
        while first < last:
            first += os.pwrite(descriptor, view[first : min(last, first + _PIECE)], first)

    def expect(self, shards: Sequence[Shard], in_order: bool) -> None:
        """Whether what was moved will be read in order, or here and there."""
        for moved, shard in zip(self._moved, shards, strict=True):
            shard.rows.expect(0, moved, in_order)


__all__ = ["Spill", "SpillError"]
