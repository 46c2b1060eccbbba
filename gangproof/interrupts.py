"""Ctrl-C and SIGTERM during long work: the first one asks it to stop, so that it can leave a checkpoint."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While entered, the first of these ``signals`` sets ``asked``; a second one ends the process as usual."""

    def __init__(self, *signals: signal.Signals) -> None:
        self._signals = signals or _SIGNALS
        self.asked = False
        self._before: dict[int, Any] = {}

    def stop(self) -> bool:
        """Whether to stop."""
        return self.asked

    def __enter__(self) -> Interrupts:
        for number in self._signals:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:  # as nohup and some shells want it for work in the background
                self._before[number] = before
                signal.signal(number, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._restore()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self._restore()

    def _restore(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}
