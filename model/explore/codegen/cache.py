"""Compiled code kept between runs: what takes seconds to compile well is loaded the next time.

A file holds the object code of one LLVM text for one processor and one version of LLVM, after its own digest, so what
was cut off or changed is not loaded. Only files of the user are: code is run. Nothing depends on the cache; where it
cannot be written, every run compiles anew, and says so.

It lies in GANGPROOF_CACHE, else in gangproof/ below XDG_CACHE_HOME or ~/.cache; GANGPROOF_CACHE= turns it off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST = hashlib.sha256().digest_size
_MOST_BYTES = 256 << 20
_SUFFIX = ".o"


def directory() -> Path | None:
    """Where compiled code is kept; None if nowhere."""
    named = os.environ.get("GANGPROOF_CACHE")
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "gangproof"
    except RuntimeError:  # the user has no home
        return None


def load(key: str) -> bytes | None:
    """The code kept under ``key``, if it is there, whole, and the user's own."""
    where = directory()
    if where is None:
        return None
    try:
        with (where / (key + _SUFFIX)).open("rb") as file:
            if os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            whole = file.read()
    except OSError:
        return None
    digest, code = whole[:_DIGEST], whole[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def keep(key: str, code: bytes) -> str | None:
    """Keep ``code`` under ``key``; where all take too much, the oldest go. The answer: what went wrong, in words."""
    where = directory()
    if where is None:
        return None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Renamed when whole: another process may be reading.
        handle, name = tempfile.mkstemp(dir=where, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            Path(name).replace(where / (key + _SUFFIX))
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise
        _thin_out(where)
    except OSError as error:
        return f"compiled code cannot be kept in {where}, so the next run compiles anew: {error.strerror or error}"
    return None


def _thin_out(where: Path) -> None:
    """Delete the files written longest ago until the rest take no more than _MOST_BYTES."""
    files = []
    for path in where.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process thins out as well
            status = path.stat()
            files.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= _MOST_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size


__all__ = ["directory", "keep", "load"]
