"""What Python decides without asking the operands, found in the bytecode of a body before it runs.

``state[a] is State.NEW`` is False and ``total == 3`` (where ``total`` is a function that was not called) is False,
whatever the state; ``state = State.NEW`` (where ``state`` is a variable of the machine) only sets a local name. No
operator of an expression can catch these, and each would make a spec that says something else than it seems to say.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType

from model.language.data.base import Handle
from model.language.errors import Location, SpecError, is_language
from model.language.expressions import Expr
from model.language.variables import Table, VariableBase

_TRUTH = {
    *(f"POP_JUMP_{way}_IF_{truth}" for way in ("FORWARD", "BACKWARD") for truth in ("TRUE", "FALSE")),
    *("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP", "UNARY_NOT"),
}
_NAMES = {"LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_CLASSDEREF"}


def check_code(body: FunctionType, variables: Collection[str]) -> None:
    """SpecError for a trap in ``body`` or in a helper that it names; ``variables`` are names that hold variables."""
    for name, instruction in _assignments(body.__code__):
        if name in variables:
            raise SpecError(
                f"{name} is a variable of the machine, and this only sets a Python name; write {name}[...] = ... "
                f"or, for a single cell, {name}.next = ...",
                _location(instruction, body.__code__),
            )
    for code, values in _codes(body, set(), None):
        _Code(code, values, is_body=code is body.__code__).check()


@functools.lru_cache(maxsize=1_000)
def _instructions(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


@functools.lru_cache(maxsize=1_000)
def _names(code: CodeType) -> tuple[str, ...]:
    """The names that ``code`` and what is nested in it use and do not set up themselves: they may hold anything."""
    nested = [name for c in code.co_consts if isinstance(c, CodeType) for name in _names(c)]
    return tuple(dict.fromkeys([*code.co_names, *code.co_freevars, *nested]))


@functools.lru_cache(maxsize=1_000)
def _folder(file: str) -> Path:
    return Path(file).parent


def _codes(
    function: FunctionType, seen: set[CodeType], bound: object
) -> Iterator[tuple[CodeType, Mapping[str, object]]]:
    """The code of ``function``, of what is nested in it and of the helpers it names, with what their names hold.

    ``bound`` is the object whose method ``function`` is, or None.
    """
    if function.__code__ in seen or is_language(function.__code__):
        return
    values = {n: function.__globals__[n] for n in _names(function.__code__) if n in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # the name has no value yet
            values.pop(name, None)
    folder = _folder(function.__code__.co_filename)
    todo = [(function.__code__, values)]
    while todo:
        code, around = todo.pop()
        seen.add(code)
        visible = {name: value for name, value in around.items() if name not in {*code.co_varnames, *code.co_cellvars}}
        if code is function.__code__ and bound is not None and code.co_argcount:
            visible[code.co_varnames[0]] = bound
        yield code, visible
        todo += [(c, visible) for c in code.co_consts if isinstance(c, CodeType)]
        for helper, owner in _helpers(_instructions(code), visible):
            if _folder(helper.__code__.co_filename) == folder:
                yield from _codes(helper, seen, owner)


def _helpers(
    instructions: list[dis.Instruction], values: Mapping[str, object]
) -> Iterator[tuple[FunctionType, object]]:
    """The functions that are named, and the object that each is a method of."""
    for i, each in enumerate(instructions):
        if each.opname in _NAMES:
            owner, held = None, values.get(each.argval)
            while i + 1 < len(instructions) and instructions[i + 1].opname in ("LOAD_ATTR", "LOAD_METHOD"):
                i += 1
                owner, held = held, inspect.getattr_static(held, instructions[i].argval, None)
            if isinstance(held, FunctionType):
                yield held, owner


def _assignments(code: CodeType) -> Iterator[tuple[str, dis.Instruction]]:
    """Plain assignments to local names; the targets of loops and ``with`` are not meant."""
    for before, each in itertools.pairwise(_instructions(code)):
        if each.opname in ("STORE_FAST", "STORE_DEREF") and before.opname != "FOR_ITER":
            yield each.argval, each


class _Code:
    """The instructions of one function, and what the names in it hold as far as that is known."""

    def __init__(self, code: CodeType, values: Mapping[str, object], is_body: bool) -> None:
        self.code = code
        self.values = values
        self.is_body = is_body
        self.instructions = _instructions(code)
        self.parameters = code.co_varnames[: code.co_argcount]

    def check(self) -> None:
        """SpecError for the first trap."""
        for i, each in enumerate(self.instructions):
            if each.opname == "IS_OP":
                right = _operand(self.instructions, i)
                left = _operand(self.instructions, right.start)
                if self._is_of_the_state(left, right) or self._is_of_the_state(right, left):
                    at = _location(each, self.code)
                    raise SpecError("'is' compares Python objects, not values of the state; use == or !=", at)
            elif (each.opname == "COMPARE_OP" and each.argval in ("==", "!=")) or each.opname == "CONTAINS_OP":
                right = _operand(self.instructions, i)
                self._check_called(_operand(self.instructions, right.start), each)
                self._check_called(right, each)
            elif each.opname in _TRUTH:
                self._check_called(_operand(self.instructions, i), each)

    def _check_called(self, operand: range, use: dis.Instruction) -> None:
        held, length = self._held(operand)
        if length == len(operand) and isinstance(held, FunctionType) and not hasattr(held, "__gangproof_action__"):
            name = self.instructions[operand.stop - 1].argval
            message = f"{name} is a function: what is meant is what it returns, {name}(...)"
            raise SpecError(message, _location(use, self.code))

    def _is_of_the_state(self, operand: range, other: range) -> bool:
        """Whether ``operand`` may be a value of the state or an element, and ``other`` is not None."""
        last, against = self.instructions[operand.stop - 1], self.instructions[other.start]
        constant = len(other) == 1 and against.opname == "LOAD_CONST"
        held, length = self._held(operand)
        if isinstance(held, Handle):  # node[p] is None
            return True
        if constant and against.argval is None:
            return False
        if length == len(operand) and isinstance(held, (Expr, VariableBase, Table)):
            return True
        if last.opname == "BINARY_SUBSCR":
            return not _is_plain(held)
        if len(operand) == 1 and last.opname in ("LOAD_FAST", "LOAD_DEREF") and held is None:
            loops = self._set_by("FOR_ITER", last.argval)
            if self._set_by("BINARY_SUBSCR", last.argval) or (loops and self.code.co_name == "<genexpr>"):
                return True
            both = against.opname == "LOAD_FAST" and len(other) == 1 and against.argval in self.parameters
            return last.argval in self.parameters and (self.is_body or both)
        return constant and last.opname in ("CALL", "BINARY_OP", "COMPARE_OP", "UNARY_INVERT")

    def _held(self, operand: range) -> tuple[object, int]:
        """What ``name.attribute...`` at the start of ``operand`` holds, and how many instructions that takes."""
        first = self.instructions[operand.start]
        if first.opname not in _NAMES:
            return None, 0
        held, length = self.values.get(first.argval), 1
        while length < len(operand) and self.instructions[operand.start + length].opname == "LOAD_ATTR":
            held = inspect.getattr_static(held, self.instructions[operand.start + length].argval, None)
            length += 1
        return held, length

    def _set_by(self, operation: str, name: str) -> bool:
        """Whether the local ``name`` is set from the result of ``operation`` somewhere."""
        return any(
            store.opname in ("STORE_FAST", "STORE_DEREF") and store.argval == name and value.opname == operation
            for value, store in itertools.pairwise(self.instructions)
        )


def _operand(instructions: list[dis.Instruction], stop: int) -> range:
    """The instructions that push the value on top of the stack just before ``stop``."""
    height, i = 0, stop
    while i > 0 and height < 1:
        i -= 1
        each = instructions[i]
        if each.opcode not in dis.hasjrel and each.opcode not in dis.hasjabs:
            height += dis.stack_effect(each.opcode, each.arg if each.opcode >= dis.HAVE_ARGUMENT else None)
    return range(i, stop)


def _is_plain(held: object) -> bool:
    """Whether ``held``, of which a subscript is taken, is a container of plain Python values."""
    items = held.values() if isinstance(held, dict) else held if isinstance(held, (list, tuple)) else None
    return items is not None and not any(isinstance(each, (Expr, VariableBase, Table)) for each in items)


def _location(instruction: dis.Instruction, code: CodeType) -> Location:
    found = instruction.positions.lineno if instruction.positions is not None else None
    return Location(code.co_filename, code.co_firstlineno if found is None else found)
