"""When a search is written to its checkpoint: on request, now and then, and before a budget makes it lose states."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from model.explore.search.checkpoint import CheckpointError, check_target, short_digest, write
from model.explore.search.search import Search


class Saving:
    """Keeps a checkpoint of a search at ``path``.

    ``required``: CheckpointError at the start if nothing can be written there; else that is told once the search turns
    out to be more than one batch. ``own_name``: the search's name is put into that of ``path``, so that it differs for
    different parameters and options; then ``path`` is known from the start of the search on.
    ``every``: also write it whenever so many seconds have passed since the last time. ``always``: also where a budget
    runs out, so that the search can go on with a larger one; else only where it is interrupted. What goes wrong is told
    to ``warn`` and kept in ``warnings``; the search goes on. ``written`` are the bytes of the last one, None if there
    is none.
    """

    def __init__(
        self,
        path: Path,
        *,
        required: bool = True,
        own_name: bool = False,
        every: float | None = None,
        always: bool = True,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self.path = path
        self._required: Final = required
        self._own_name: Final = own_name
        self._unusable: str | None = None
        self.warnings: Final[list[str]] = []
        self.written: int | None = None
        self._every: Final = every
        self._always: Final = always
        self._warn: Final = warn
        self._last = time.perf_counter()
        self._at: tuple[int, ...] | None = None

    def at_start(self, search: Search) -> None:
        """``search`` is about to begin."""
        if self._own_name:
            digest = short_digest(search.program, search.native)
            self.path = self.path.with_name(f"{self.path.stem}-{digest}{self.path.suffix}")
        try:
            check_target(self.path, search)
        except CheckpointError as error:
            if self._required:
                raise
            self._unusable = f"{error}; an interruption will leave none"

    def before_losing(self, search: Search) -> None:
        """From now on ``search`` may drop states; this is the last moment from which it can go on."""
        if self._always:
            self._save(search)

    def now_and_then(self, search: Search) -> None:
        """``search`` is between two batches."""
        if self._unusable is not None and self._warn is not None:
            self._warn(self._unusable)
        self._unusable = None
        if self._every is not None and time.perf_counter() - self._last >= self._every:
            self._save(search)

    def at_end(self, search: Search, interrupted: bool) -> None:
        """``search`` has ended or was ended."""
        if interrupted or (self._always and search.budget is not None):
            self._save(search)

    def _save(self, search: Search) -> None:
        if not search.can_go_on or search.expanded + search.counts == self._at:
            return
        try:
            self.written = write(self.path, search)
            self._at = search.expanded + search.counts
        except (OSError, CheckpointError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            kept = "" if self.written is None else "; the one before is still there"
            text = str(error) if isinstance(error, CheckpointError) else f"no checkpoint in {self.path}: {reason}"
            self.warnings.append(text + kept)
            if self._warn is not None:
                self._warn(text + kept)
        self._last = time.perf_counter()


__all__ = ["Saving"]
