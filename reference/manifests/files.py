"""Finds and reads the files that a user names: directories, compressed files, encodings, sizes."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from reference.manifests.document import ManifestError
from reference.manifests.position import position_of

SUFFIXES: Final = (".yaml", ".yml", ".json", ".csv", ".yaml.gz", ".yml.gz", ".json.gz", ".csv.gz")
MAX_BYTES: Final = {"yaml": 32 * 2**20, "json": 512 * 2**20, "csv": 512 * 2**20}


def find_files(paths: Sequence[Path | str]) -> list[tuple[Path, bool]]:
    """The files that ``paths`` name, each once, and whether it was named itself or found in a directory.

    Directories are searched to any depth, hidden entries left out, in sorted order. Raises ManifestError.
    """
    found: dict[Path, tuple[Path, bool]] = {}
    for path in map(Path, paths):
        try:
            if path.is_dir():
                inside = sorted(_walk(path))
                if not inside:
                    raise ManifestError("no manifests", f"files named *{', *'.join(SUFFIXES[:4])}", str(path))
                for each in inside:
                    found.setdefault(each.resolve(), (each, False))
            elif path.exists():
                found[path.resolve()] = (path, True)
            else:
                raise ManifestError("no such file or directory", "a file or a directory with manifests", str(path))
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from None
    if not found:
        raise ManifestError("no files", "at least one file or directory")
    return list(found.values())


def _walk(directory: Path) -> list[Path]:
    found: list[Path] = []

    def refuse(error: OSError) -> None:
        raise error

    for parent, folders, files in os.walk(directory, onerror=refuse):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        found += [Path(parent, f) for f in files if not f.startswith(".") and f.lower().endswith(SUFFIXES)]
    return found


def format_of(path: Path, text: str) -> str:
    """``json``, ``yaml`` or ``csv``, from the file's name or, where that says nothing, its first character."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    known = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".csv": "csv"}
    return known.get(suffix) or ("json" if text.lstrip()[:1] == "{" else "yaml")


def read_text(path: Path) -> str:
    """The text of a file, decompressed, decoded and with Unix line ends. Raises ManifestError."""
    try:
        limit = max(MAX_BYTES.values())
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stream:
            data = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None
    text = decode(data, str(path))
    largest = MAX_BYTES[format_of(path, text[:1000])]
    if len(data) > largest:
        hint = "; JSON may be larger: kubectl get ... -o json" if largest < limit else ""
        raise ManifestError("a larger file", f"at most {largest // 2**20} MiB{hint}", str(path))
    if not text.strip():
        raise ManifestError("an empty file", "a manifest", str(path))
    return text


def decode(data: bytes, file: str) -> str:
    """UTF-8 with or without a byte order mark."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ManifestError("UTF-16", "UTF-8 text (in PowerShell: | Out-File -Encoding utf8)", file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = position_of(data[: error.start].decode("utf-8", "replace"), error.start)
        raise ManifestError(f"the byte {data[error.start]:#04x}", "UTF-8 text", file, at.line) from None
    return text.replace("\r\n", "\n") if "\r" in text else text


def _unreadable(path: Path, error: Exception) -> ManifestError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ManifestError(f"that it cannot be read ({reason})", "a readable file", str(path))
