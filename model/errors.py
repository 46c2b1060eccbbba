"""Mistakes and limits that are told to whoever asks about a machine; those of a spec's text are `SpecError`.

Light to import: the command line asks for it.
"""

from __future__ import annotations


class FileError(Exception):
    """A file or directory that cannot be used; the message says which and why."""


class QueryError(Exception):
    """What is asked cannot be: the text, and what in it has no meaning for this spec."""


class GraphTooLarge(Exception):
    """The graph has more states or nodes than it may; says how many, and what to do."""


__all__ = ["FileError", "GraphTooLarge", "QueryError"]
