"""Copies of running code: any number of them from one, with what never changes shared between all."""

from __future__ import annotations

import io
import pickle
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Snapshot(Generic[T]):
    """``value`` to go on from, any number of times. Objects of a type in ``fixed`` are shared, all others copied."""

    def __init__(self, value: T, fixed: frozenset[type]) -> None:
        self._shared: list[object] = []
        self._fixed = fixed
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.persistent_id = self._share  # type: ignore[method-assign]
        pickler.dump(value)
        self._bytes = buffer.getvalue()

    def restore(self) -> T:
        """A copy."""
        unpickler = pickle.Unpickler(io.BytesIO(self._bytes))
        unpickler.persistent_load = self._shared.__getitem__  # type: ignore[method-assign]
        copied: Any = unpickler.load()
        return copied  # type: ignore[no-any-return]

    def _share(self, value: object) -> int | None:
        if type(value) not in self._fixed:
            return None
        self._shared.append(value)
        return len(self._shared) - 1
