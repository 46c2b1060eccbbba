"""Checkpoints: a search as a file, from which it goes on as if it had not been interrupted.

What is kept is what cannot be computed again: the states, where levels and batches begin, what occurred first. Tables
are filled again when a checkpoint is read. The file:

    "gangproof checkpoint 1\\n"    what it is, and the version of its format
    8 bytes                       length of the header
    header                        JSON: whose search it is, sizes, first occurrences
    32 bytes                      SHA-256 of all before
    sections                      starts, parents and children of each shard; seen, fired; then the states
    32 bytes                      SHA-256 of the sections

It is written to a new file beside its final place, flushed to the disk and then renamed, so that under its name there
is always a whole one, whatever happens in between. It replaces nothing but a checkpoint of the same machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from model.errors import FileError
from model.explore.codegen import context as c
from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram
from model.explore.search.search import Found, Occurrence, Search
from model.explore.search.shard import Rows
from model.language.describe import describe

_NAME: Final = b"gangproof checkpoint "
_VERSION: Final = 1
_FIRST: Final = _NAME + b"%d\n" % _VERSION
_DIGEST: Final = 32
_PIECE: Final = 1 << 26
_LONGEST_HEADER: Final = 1 << 28


class CheckpointError(FileError):
    """A checkpoint that cannot be used, or not be written; the message says which and why."""


# ---- writing


def write(path: Path, search: Search) -> int:
    """Write ``search``, which dropped no states and is between two batches, to ``path``; the bytes written.

    OSError or CheckpointError if that cannot be done; then what was at ``path`` is still there.
    """
    check_target(path, search)
    target = Path(os.path.realpath(path))
    # Never a file that is there already: not one of the user's, not that of another run.
    part = target.with_name(f"{target.name}.{secrets.token_hex(6)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            size = _write(file, search)
            os.fsync(file.fileno())
        part.rename(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    with contextlib.suppress(OSError):  # a file system that cannot flush directories
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    return size


def check_target(path: Path, search: Search | None = None) -> None:
    """CheckpointError if a checkpoint must not be written to ``path``, for what is there already or for the place.

    What may be there is a checkpoint, of the same machine as ``search`` if that is given.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not target.parent.is_dir():
        raise CheckpointError(f"the checkpoint {path} cannot be written: there is no directory {target.parent}")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise CheckpointError(f"the checkpoint {path} cannot be written: no permission in {target.parent}")
    try:
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise CheckpointError(f"the checkpoint {path} cannot be written: this is not a regular file")
        if status.st_size:
            with target.open("rb") as file:
                _check_replaced(path, file, search)
    except FileNotFoundError:
        return
    except OSError as error:
        raise CheckpointError(f"the checkpoint {path} cannot be written: {error.strerror}") from None


def _check_replaced(path: Path, file: BinaryIO, search: Search | None) -> None:
    kept = "it is not overwritten, name another file"
    if file.read(len(_NAME)) != _NAME:
        raise CheckpointError(f"{path} exists and is not a checkpoint; {kept}")
    if search is None:
        return
    file.seek(0)
    try:
        other = _other(_read_header(path, file), search)
    except CheckpointError as error:
        raise CheckpointError(f"{error}; {kept}") from None
    if other is not None:
        raise CheckpointError(f"{path} {other}; {kept}")


def _write(file: BinaryIO, search: Search) -> int:
    header = json.dumps(_header(search), sort_keys=True).encode()
    head = _FIRST + len(header).to_bytes(8, "little") + header
    _put(file, head + hashlib.sha256(head).digest())
    digest, size = hashlib.sha256(), len(head) + 2 * _DIGEST
    for section in _sections(search):
        view = memoryview(section).cast("B")
        for first in range(0, len(view), _PIECE):
            piece = view[first : first + _PIECE]
            digest.update(piece)
            _put(file, piece)
        size += len(view)
    _put(file, digest.digest())
    return size


def _put(file: BinaryIO, data: bytes | memoryview) -> None:
    """All of ``data``: an unbuffered file may take less than it is given."""
    left = memoryview(data)
    while len(left):
        left = left[file.write(left) :]


def _header(search: Search) -> dict[str, Any]:
    return {
        **identity(search.program, search.native),
        "shards": search.native.shards,
        "counts": search.counts,
        "expanded": search.expanded,
        "bits": [s.bits for s in search.shards],
        "room": [s.capacity for s in search.shards],
        "rows": [len(rows) for rows in _rows(search)],
        "first": [[e, at.state.shard, at.state.number, at.instance] for e, at in sorted(search.first.items())],
    }


def identity(program: PackedProgram, native: Native) -> dict[str, Any]:
    """What a search must have in common with a checkpoint: the spec, its parameters, and their compiled form."""
    machine = program.machine
    parameters = {k: v if isinstance(v, bool | int) else repr(v) for k, v in machine.parameters.items()}
    return {
        "spec": machine.name,
        "parameters": parameters,
        "machine": hashlib.sha256(describe(machine).encode()).hexdigest(),
        "code": hashlib.sha256(f"{native.text}{sys.byteorder}".encode()).hexdigest(),
    }


def short_digest(program: PackedProgram, native: Native) -> str:
    """Eight letters that tell searches with different `identity` apart."""
    return hashlib.sha256(json.dumps(identity(program, native), sort_keys=True).encode()).hexdigest()[:8]


def _rows(search: Search) -> tuple[Rows, Rows, Rows]:
    return search.starts, search.parents, search.children


def _sections(search: Search) -> Iterator[Any]:
    for rows in _rows(search):
        if len(rows):
            yield from rows.columns
    for shard in search.shards:
        yield from (shard.block.seen, shard.block.fired)
    for shard in search.shards:
        if shard.count:
            yield shard.states


# ---- reading


def read(path: Path, search: Search) -> None:
    """Take what is in the file ``path`` over into ``search``, which has not begun. CheckpointError if it is not a whole
    checkpoint of the same machine, or if the budgets of ``search`` do not allow for what is in it."""
    try:
        with path.open("rb") as file:
            header = _read_header(path, file)
            other = _other(header, search)
            if other is not None:
                raise CheckpointError(f"{path} {other}")
            _check_size(path, header, search, file)
            _restore(path, file, header, search)
    except OSError as error:
        raise CheckpointError(f"the checkpoint {path} cannot be read: {error.strerror}") from None


def _read_header(path: Path, file: BinaryIO) -> dict[str, Any]:
    first = file.readline(len(_FIRST) + 20)
    if not first.startswith(_NAME):
        raise CheckpointError(f"{path} is not a checkpoint of gangproof")
    if first != _FIRST:
        version = first[len(_NAME) :].strip().decode(errors="replace")
        raise CheckpointError(f"{path} has format {version}; this version of gangproof reads format {_VERSION}")
    size = file.read(8)
    length = int.from_bytes(size, "little")
    header, digest = file.read(min(length, _LONGEST_HEADER)), file.read(_DIGEST)
    if hashlib.sha256(first + size + header).digest() != digest:
        raise CheckpointError(f"{path} is damaged: its header was cut off or changed")
    found: dict[str, Any] = json.loads(header)
    return found


def _other(header: dict[str, Any], search: Search) -> str | None:
    """In which way a checkpoint is not one of ``search``, after its name; None if it is."""
    mine = identity(search.program, search.native)
    if (header["spec"], header["parameters"]) != (mine["spec"], mine["parameters"]):
        return f"is a checkpoint of {_named(header)}, not of {_named(mine)}"
    if header["machine"] != mine["machine"]:
        return f"is stale: the spec {mine['spec']} has changed since it was written"
    if (header["code"], header["shards"]) != (mine["code"], search.native.shards):
        return "was written with other options that change what is explored, or by another version of gangproof"
    return None


def _named(of: dict[str, Any]) -> str:
    return " ".join([of["spec"], *(f"{k}={v}" for k, v in of["parameters"].items())])


def _check_size(path: Path, header: dict[str, Any], search: Search, file: BinaryIO) -> None:
    rows, shards = 8 * sum(header["rows"]), int(header["shards"])
    fixed = sum(s.block.seen.nbytes + s.block.fired.nbytes for s in search.shards)
    states = 8 * search.program.layout.words * sum(header["counts"])
    expected = file.tell() + rows * shards + fixed + states + _DIGEST
    found = os.fstat(file.fileno()).st_size
    if found != expected:
        raise CheckpointError(f"{path} is damaged: it has {found:,} bytes instead of {expected:,}")
    if search.limits.states is not None and sum(header["counts"]) > search.limits.states:
        raise CheckpointError(
            f"{path} has {sum(header['counts']):,} states, more than the state budget of {search.limits.states:,}"
        )


def _restore(path: Path, file: BinaryIO, header: dict[str, Any], search: Search) -> None:
    digest = hashlib.sha256()

    def fill(array: NDArray[Any]) -> None:
        view = array.reshape(-1).view(np.uint8).data
        while len(view):
            got = file.readinto(view[:_PIECE])  # type: ignore[attr-defined]
            if not got:
                raise CheckpointError(f"{path} is damaged: it ends too early")
            digest.update(view[:got])
            view = view[got:]

    for rows, length in zip(_rows(search), header["rows"], strict=True):
        for column in rows.columns if length else ():
            values = np.empty(length, np.int64)
            fill(values)
            del column[:]
            column.frombytes(values.tobytes())
    for shard in search.shards:
        fill(shard.block.seen)
        fill(shard.block.fired)
    try:
        search.growth.allow(header["bits"], header["room"], header["counts"])
        for number, (shard, count) in enumerate(zip(search.shards, header["counts"], strict=True)):
            piece = max(1, _PIECE // shard.row_bytes)
            for first in range(0, count, piece):
                last = min(count, first + piece)
                words = shard.row_bytes // 8
                fill(shard.rows.view(last * words)[first * words :])
                shard.block.words[c.COUNT] = last
                search.growth.relieve()
            shard.block.words[c.NEXT] = header["expanded"][number]
        if file.read(_DIGEST) != digest.digest():
            raise CheckpointError(f"{path} is damaged: its contents were changed")
        search.growth.refill()
    except MemoryError:
        raise CheckpointError(
            f"{path} has {sum(header['counts']):,} states; there is not enough memory for them"
        ) from None
    for event, number, state, instance in header["first"]:
        search.first[event] = Occurrence(Found(number, state), instance)
    search.resumed = True


__all__ = ["CheckpointError", "check_target", "identity", "read", "short_digest", "write"]
