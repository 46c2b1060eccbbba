"""An interpreter of the Promela that is exported, which knows nothing of the machines that it was made from."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

State = dict[str, Any]
Value = Callable[[State], int]
_TOKEN = re.compile(r"\s*(->|&&|\|\||[=!<>]=|[A-Za-z_]\w*|\d+|[-+*/%<>!=()\[\]{},:;])")
_FAULTS = ("values_in_range", "one_write_per_cell")
_LEVELS = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]


def _truncated(a: int, b: int) -> int:
    """Division as C does it."""
    return abs(a) // b * (1 if a >= 0 else -1)


_MEANING: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _truncated,
    "%": lambda a, b: a - _truncated(a, b) * b,
}


@dataclass
class Option:
    """A ``d_step``: its guard, then assignments (name, index, value) and assertions (of a variable)."""

    guard: Value
    statements: list[tuple[str, Value | None, Value] | str]


@dataclass
class Ran:
    """States that are stored, and the least length of a way to each failing assertion, by what it asserts."""

    states: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    stuck: int | None = None


class Reader:
    """Reads a model."""

    def __init__(self, text: str) -> None:
        self.numbers: dict[str, int] = {}
        self.macros: dict[str, list[int]] = {}
        plain = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
        for name, args, body in re.findall(r"^#define (\w+)(\([^)]*\))? (.*)$", plain, re.MULTILINE):
            if args:
                self.macros[name] = [int(n) for n in re.findall(r"\* (\d+)", body)]
            else:
                self.numbers[name] = int(body)
        plain = re.sub(r"^#define.*$", "", plain, flags=re.MULTILINE)
        self.tokens = _TOKEN.findall(plain)
        self.at = 0
        self.start: State = {}
        while self.tokens[self.at] in ("bool", "byte", "short", "int"):
            self._declaration()
        for word in ("active", "proctype", "machine", "(", ")", "{"):
            self._expect(word)
        self.starts: list[Option] = []
        if self.tokens[self.at] == "if":
            self.starts = self._options("if", "fi")
            self._expect(";")
        self.options = self._options("do", "od")
        self._expect("}")
        assert self.at == len(self.tokens)

    def _next(self) -> str:
        self.at += 1
        return str(self.tokens[self.at - 1])

    def _expect(self, word: str) -> None:
        found = self._next()
        assert found == word, f"{found} where {word} belongs, after {self.tokens[self.at - 9 : self.at]}"

    def _accept(self, word: str) -> bool:
        if self.tokens[self.at] == word:
            self.at += 1
            return True
        return False

    def _declaration(self) -> None:
        self._next()
        name = self._next()
        size = None
        if self._accept("["):
            size = int(self._next())
            self._expect("]")
        values = [0]
        if self._accept("="):
            if self._accept("{"):
                values = [self._expression()({})]
                while self._accept(","):
                    values.append(self._expression()({}))
                self._expect("}")
            else:
                values = [self._expression()({})]
        self._expect(";")
        self.start[name] = values[0] if size is None else tuple(values * size if len(values) == 1 else values)

    def _options(self, opening: str, closing: str) -> list[Option]:
        self._expect(opening)
        found = []
        while not self._accept(closing):
            for word in (":", ":", "d_step", "{"):
                self._expect(word)
            found.append(self._option())
        return found

    def _option(self) -> Option:
        guard: Value = lambda _: 1
        statements: list[tuple[str, Value | None, Value] | str] = []
        first = True
        while not self._accept("}"):
            begins = self.at
            if self._accept("skip"):
                pass
            elif self._accept("assert"):
                self._expect("(")
                statements.append(self._next())
                self._expect(")")
            elif (target := self._target()) is not None and self._accept("="):
                statements.append((*target, self._expression()))
            else:
                assert first, f"an expression that may block at {self.tokens[begins : begins + 9]}"
                self.at = begins
                guard = self._expression()
            first = False
            if not self._accept(";") and not self._accept("->"):
                assert self.tokens[self.at] == "}", self.tokens[self.at - 9 : self.at + 1]
        return Option(guard, statements)

    def _target(self) -> tuple[str, Value | None] | None:
        name = self._next()
        if name in self.macros:
            return f"{name}_", self._macro(name)
        if name not in self.start:
            return None
        if not self._accept("["):
            return name, None
        index = self._expression()
        self._expect("]")
        return name, index

    def _macro(self, name: str) -> Value:
        """The index of an array of two or three indices."""
        self._expect("(")
        indices = [self._expression()]
        while self._accept(","):
            indices.append(self._expression())
        self._expect(")")
        sizes = self.macros[name]

        def index(state: State) -> int:
            found = indices[0](state)
            for size, each in zip(sizes, indices[1:], strict=True):
                found = found * size + each(state)
            return found

        return index

    def _expression(self, level: int = 0) -> Value:
        if level == len(_LEVELS):
            return self._unary()
        left = self._expression(level + 1)
        while self.tokens[self.at] in _LEVELS[level]:
            meaning, before, right = _MEANING[self._next()], left, self._expression(level + 1)
            left = lambda s, m=meaning, a=before, b=right: m(a(s), b(s))  # type: ignore[misc]
        return left

    def _unary(self) -> Value:
        if self._accept("!"):
            inside = self._unary()
            return lambda s: int(not inside(s))
        if self._accept("-"):
            inside = self._unary()
            return lambda s: -inside(s)
        if self._accept("("):
            first = self._expression()
            if self._accept("->"):
                then = self._expression()
                self._expect(":")
                otherwise = self._expression()
                self._expect(")")
                return lambda s: then(s) if first(s) else otherwise(s)
            self._expect(")")
            return first
        return self._atom()

    def _atom(self) -> Value:
        begins = self.at
        word = self._next()
        if word.isdigit() or word in ("true", "false") or word in self.numbers:
            value = int(word) if word.isdigit() else self.numbers.get(word, int(word == "true"))
            return lambda _: value
        self.at = begins
        target = self._target()
        assert target is not None, f"{word} is not declared"
        name, index = target
        return (lambda s: s[name]) if index is None else (lambda s: s[name][index(s)])


def _take(option: Option, state: State) -> tuple[State, list[str]]:
    """The state after, and the assertions that fail on the way; a fault ends it."""
    new, failed = dict(state), []
    for statement in option.statements:
        if isinstance(statement, str):
            if not new[statement]:
                failed.append(statement.removeprefix("holds_"))
                new[statement] = 1
                if failed[-1] in _FAULTS:
                    break
            continue
        name, index, value = statement
        if index is None:
            new[name] = value(new)
        else:
            cells = list(new[name])
            cells[index(new)] = value(new)
            new[name] = tuple(cells)
    return new, failed


def explored(text: str) -> Ran:
    """All states of a model, breadth first."""
    reader, ran = Reader(text), Ran()
    starts = [_take(option, reader.start)[0] for option in reader.starts] or [reader.start]
    distance: dict[tuple[Any, ...], int] = {}
    queue: deque[State] = deque()

    def visit(state: State, length: int) -> None:
        if (key := tuple(state.values())) not in distance:
            distance[key] = length
            queue.append(state)

    for state in starts:
        visit(state, 0)
    while queue:
        state = queue.popleft()
        length = distance[tuple(state.values())]
        can = [option for option in reader.options if option.guard(state)]
        if not can and ran.stuck is None:
            ran.stuck = length
        for option in can:
            new, failed = _take(option, state)
            for name in failed:
                ran.failed.setdefault(name, length + 1)
            if not any(name in _FAULTS for name in failed):
                visit(new, length + 1)
    ran.states = len(distance)
    return ran


__all__ = ["Ran", "Reader", "explored"]
