"""What can be wrong with files that the user names for the engines. Light to import: the command line asks for it."""

from __future__ import annotations


class FileError(Exception):
    """A file or directory that cannot be used; the message says which and why."""


__all__ = ["FileError"]
