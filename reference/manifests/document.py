"""A value in a user's file together with its path, so that whatever is wrong with it can be said with file, line and
field.

``Field`` is how the readers of this package look at files: they ask for a key or a type and either get it or raise a
``ManifestError`` that names the place. ``null`` counts as absent, as it does for Kubernetes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final, TypeVar

from reference.errors import InputError, InputWarning, shorten
from reference.manifests.json_text import JsonPositions, parse_json
from reference.manifests.position import Path, Position, Spot, Step, SyntaxProblem, path_text
from reference.manifests.yaml_text import parse_yaml

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


class ManifestError(InputError):
    """A manifest that cannot be used; says file, line, field, what was found and what was expected."""


class Document(ABC):
    """A parsed text that can say where its values stand."""

    file: str
    prefix: str = ""

    @abstractmethod
    def position(self, path: Path, of_key: bool = False) -> Position | None:
        """Where in the file the value at ``path`` (or its key) stands."""

    def spot(self, path: Path) -> Spot | None:
        """How the value at ``path`` was written, where that is known."""
        return None


class _Yaml(Document):
    def __init__(self, file: str, root: Spot, prefix: str) -> None:
        self.file, self.prefix, self._root = file, prefix, root

    def position(self, path: Path, of_key: bool = False) -> Position | None:
        if of_key and path:
            parent = self._root.find(path[:-1])
            spot = parent.keys.get(str(path[-1])) if parent else None
        else:
            spot = self._root.find(path)
        return spot.position if spot else None

    def spot(self, path: Path) -> Spot | None:
        return self._root.find(path)


class _Json(Document):
    def __init__(self, file: str, text: str) -> None:
        self.file, self._positions = file, JsonPositions(text)

    def position(self, path: Path, of_key: bool = False) -> Position | None:
        return self._positions.find(path, of_key)


class _Rows(Document):
    """One row of a table; its paths are column names."""

    def __init__(self, file: str, line: int) -> None:
        self.file, self._line = file, line

    def position(self, path: Path, of_key: bool = False) -> Position | None:
        return Position(self._line, 1)


class _Value(Document):
    """A value that is in memory already: its paths are known, its places are not."""

    file = ""

    def position(self, path: Path, of_key: bool = False) -> Position | None:
        return None


class _Embedded(Document):
    """A text inside a string of another document, such as queues.yaml inside its ConfigMap."""

    def __init__(self, host: Field, inner: Document) -> None:
        self.file, self._host, self._inner = host.document.file, host, inner
        self.prefix = host.where

    def position(self, path: Path, of_key: bool = False) -> Position | None:
        return embedded_position(self._host, self._inner.position(path, of_key))

    def spot(self, path: Path) -> Spot | None:
        return self._inner.spot(path)


@dataclass(frozen=True, slots=True)
class Field:
    """A value at ``path`` of ``document``: None, bool, int, Decimal, str, list or dict."""

    document: Document
    path: Path
    value: object

    @property
    def where(self) -> str:
        """The path as text."""
        return _joined(self.document.prefix, path_text(self.path))

    @property
    def location(self) -> str:
        """``file:line``, for messages about another place."""
        at = self.document.position(self.path)
        return f"{self.document.file}:{at.line}" if at else self.document.file

    def error(self, expected: str, found: str | None = None, *, of_key: bool = False) -> ManifestError:
        """The error to raise about this value; ``found`` is a description of it unless given."""
        at = self.document.position(self.path, of_key)
        line, column = (at.line, at.column) if at else (None, None)
        shown = describe(self.value) if found is None else found
        return ManifestError(shown, expected, self.document.file, line, column, self.where)

    def warning(self, text: str, *, of_key: bool = False) -> InputWarning:
        """A warning about this value."""
        at = self.document.position(self.path, of_key)
        return InputWarning(text, self.document.file, at.line if at else None, self.where)

    def child(self, step: Step, value: object) -> Field:
        """The field one step below."""
        return Field(self.document, (*self.path, step), value)

    def get(self, key: str) -> Field | None:
        """The member ``key`` of this mapping, or None where it is absent or null."""
        value = self.mapping().get(key)
        return None if value is None else self.child(key, value)

    def need(self, key: str, expected: str) -> Field:
        """The member ``key`` of this mapping, which must be there."""
        found = self.get(key)
        if found is None:
            missing = self.child(key, None)
            if key not in self.mapping():  # point at the mapping that lacks it
                at = self.document.position(self.path)
                line, column = (at.line, at.column) if at else (None, None)
                raise ManifestError("nothing", expected, self.document.file, line, column, missing.where)
            raise missing.error(expected)
        return found

    def optional(self, key: str, read: Callable[[Field], T], default: T) -> T:
        """What ``read`` makes of the member ``key``, ``default`` where it is absent or null."""
        member = self.get(key)
        return default if member is None else read(member)

    def choice(self, kind: type[E]) -> E:
        """The member of an enumeration whose value this is."""
        for each in kind:
            if each.value == self.value:
                return each
        raise self.error("one of " + ", ".join(str(each.value) for each in kind))

    def mapping(self, expected: str = "a mapping") -> dict[str, object]:
        """This value, which must be a mapping."""
        if not isinstance(self.value, dict):
            raise self.error(expected)
        return self.value

    def members(self, expected: str = "a mapping") -> Iterator[tuple[str, Field]]:
        """The members of this mapping that are not null, in file order."""
        for key, value in self.mapping(expected).items():
            if value is not None:
                yield key, self.child(key, value)

    def elements(self, expected: str = "a list") -> list[Field]:
        """The elements of this list."""
        if not isinstance(self.value, list):
            raise self.error(expected)
        return [self.child(i, value) for i, value in enumerate(self.value)]

    def list_of(self, key: str) -> list[Field]:
        """The elements of the member ``key``, none where it is absent."""
        member = self.get(key)
        return member.elements() if member else []

    def string(self, expected: str = "text") -> str:
        """This value, which must be text."""
        if not isinstance(self.value, str):
            raise self.error(expected)
        return self.value

    def name(self, expected: str = "a name") -> str:
        """This value, which must be text and not empty."""
        text = self.string(expected)
        if not text:
            raise self.error(expected, "an empty text")
        return text

    def string_map(self) -> dict[str, str]:
        """This mapping of text to text; null counts as the empty text."""
        return {key: "" if value is None else self.child(key, value).string() for key, value in self.mapping().items()}

    def boolean(self) -> bool:
        """This value, which must be true or false."""
        if not isinstance(self.value, bool):
            raise self.error("true or false")
        return self.value

    def integer(self, least: int, most: int, expected: str | None = None) -> int:
        """This value, which must be a whole number from ``least`` to ``most``."""
        if type(self.value) is not int or not least <= self.value <= most:
            raise self.error(expected or f"a whole number from {least} to {most}")
        return self.value

    def scalar(self, expected: str = "a value") -> str:
        """The text of this scalar as it was written, whatever its type (``1.50``, ``true``, ``abc``)."""
        if self.value is None or isinstance(self.value, (dict, list)):
            raise self.error(expected)
        if isinstance(self.value, str):
            return self.value
        spot = self.document.spot(self.path)
        if spot and spot.text is not None:
            return spot.text
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


def _joined(prefix: str, path: str) -> str:
    """A path below the place of its document: ``data["queues.yaml"].partitions``, ``document 2: spec``."""
    if not path or not prefix:
        return path or prefix.removesuffix(": ")
    return prefix + path if path.startswith("[") or prefix.endswith(": ") else f"{prefix}.{path}"


_LONGEST_TEXT: Final = 60


def describe(value: object) -> str:
    """A value in a few words, for messages."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | Decimal():
            return shorten(str(value), _LONGEST_TEXT)
        case str():
            return repr(shorten(value, _LONGEST_TEXT))
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "a mapping" if value else "an empty mapping"
        case _:
            return repr(value)


def yaml_fields(text: str, file: str) -> list[Field]:
    """The documents of a YAML text. Raises ManifestError."""
    try:
        documents = parse_yaml(text)
    except SyntaxProblem as problem:
        raise _syntax_error(problem, file) from None
    several = len(documents) > 1
    return [
        Field(_Yaml(file, spot, f"document {number}: " if several else ""), (), value)
        for number, (value, spot) in enumerate(documents, 1)
    ]


def json_field(text: str, file: str) -> Field:
    """The value of a JSON text. Raises ManifestError."""
    try:
        return Field(_Json(file, text), (), parse_json(text))
    except SyntaxProblem as problem:
        raise _syntax_error(_located(problem, text), file) from None


def value_field(value: object) -> Field:
    """A value that was parsed elsewhere; errors about it name the path, and whoever parsed it adds file and line."""
    return Field(_Value(), (), value)


def row_field(file: str, line: int, row: dict[str, str]) -> Field:
    """A row of a table, at ``line`` of its file."""
    return Field(_Rows(file, line), (), row)


def embedded_json(host: Field) -> Field:
    """The JSON text that ``host`` holds, read as a document of its own. Raises ManifestError."""
    text = host.string()
    try:
        return Field(_Embedded(host, _Json("", text)), (), parse_json(text))
    except SyntaxProblem as problem:
        raise _embedded_error(host, problem) from None


def embedded_yaml(host: Field, text: str | None = None) -> list[Field]:
    """The YAML text that ``host`` holds (or ``text``, decoded from it), read as documents of their own."""
    inner = host.string() if text is None else text
    try:
        documents = parse_yaml(inner)
    except SyntaxProblem as problem:
        raise _embedded_error(host, problem) from None
    return [Field(_Embedded(host, _Yaml("", spot, "")), (), value) for value, spot in documents]


def embedded_position(host: Field, inner: Position | None) -> Position | None:
    """Where in the file a position inside a string of it stands: exact in a block scalar, else the string's own."""
    outer = host.document.position(host.path)
    spot = host.document.spot(host.path)
    if outer is None or inner is None or spot is None or spot.indent is None:
        return outer
    return Position(outer.line + inner.line, inner.column + spot.indent)


def _embedded_error(host: Field, problem: SyntaxProblem) -> ManifestError:
    at = embedded_position(host, problem.at)
    inside = f" at line {problem.at.line}, column {problem.at.column} of this text" if problem.at else ""
    line, column = (at.line, at.column) if at else (None, None)
    return ManifestError(problem.found + inside, problem.expected, host.document.file, line, column, host.where)


def _syntax_error(problem: SyntaxProblem, file: str) -> ManifestError:
    line, column = (problem.at.line, problem.at.column) if problem.at else (None, None)
    return ManifestError(problem.found, problem.expected, file, line, column)


def _located(problem: SyntaxProblem, text: str) -> SyntaxProblem:
    """The same problem with a position, where reading the text as YAML stumbles over it too."""
    if problem.at is None and len(text) < 2**24:
        try:
            parse_yaml(text)
        except SyntaxProblem as same:
            if same.found.split(" in one")[0] == problem.found.split(" in one")[0]:
                return SyntaxProblem(problem.found, same.expected, same.at)
    return problem
