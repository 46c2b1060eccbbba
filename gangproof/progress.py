"""A progress line for long work: on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.explore import Progress


class Bar:
    """States, rate, queue and memory on one line of stderr, a few times a second, wiped at the end."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._active = sys.stderr.isatty()
        self._written = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def update(self, progress: Progress) -> None:
        """Show ``progress`` if the last line is old enough."""
        rate = progress.states / max(progress.seconds, 1e-9)
        self.show(
            f"{progress.states:,} states  {rate:,.0f}/s  depth {progress.depth}  "
            f"queue {progress.queue:,}  {progress.memory_bytes / (1 << 20):,.0f} MB"
        )

    def show(self, line: str) -> None:
        """Show ``line`` if the last one is old enough."""
        now = time.monotonic()
        if not self._active or now - self._shown < 0.2:
            return
        self._shown = now
        self._written = True
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
