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
from collections.abc import Collection, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from model.language.errors import Location, SpecError, is_language
from model.language.expressions import Expr
from model.language.variables import Table, VariableBase

_NAMES = {"LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_CLASSDEREF"}


def check_code(body: FunctionType, variables: Collection[str]) -> None:
    """SpecError for a trap in ``body`` or in a helper that it names; ``variables`` are the machine's names."""
    for name, instruction in _assignments(body.__code__):
        if name in variables:
            at = Location(body.__code__.co_filename, _line(instruction, body.__code__))
            raise SpecError(
                f"{name} is a variable of the machine, and this only sets a Python name; write {name}[...] = ... "
                f"or, for a single cell, {name}.next = ...",
                at,
            )
    for code, values in _codes(body, set()):
        _check_comparisons(code, values, code.co_varnames[: code.co_argcount] if code is body.__code__ else ())


@functools.lru_cache(maxsize=1_000)
def _instructions(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def _codes(function: FunctionType, seen: set[CodeType]) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """The code of ``function``, of what is nested in it and of the helpers it names, with what their names hold."""
    if function.__code__ in seen or is_language(function.__code__):
        return
    values = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # the name has no value yet
            values.pop(name, None)
    folder = Path(function.__code__.co_filename).parent
    todo = [function.__code__]
    while todo:
        code = todo.pop()
        seen.add(code)
        own = {*code.co_varnames, *code.co_cellvars}
        values = {name: value for name, value in values.items() if name not in own}
        yield code, values
        todo += [c for c in code.co_consts if isinstance(c, CodeType)]
        for name in (*code.co_names, *code.co_freevars):
            helper = values.get(name)
            if isinstance(helper, FunctionType) and Path(helper.__code__.co_filename).parent == folder:
                yield from _codes(helper, seen)


def _assignments(code: CodeType) -> Iterator[tuple[str, dis.Instruction]]:
    """Plain assignments to local names; the targets of loops and ``with`` are not meant."""
    before = None
    for each in _instructions(code):
        if each.opname in ("STORE_FAST", "STORE_DEREF") and before is not None and before.opname != "FOR_ITER":
            yield each.argval, each
        before = each


def _check_comparisons(code: CodeType, values: dict[str, Any], parameters: Collection[str]) -> None:
    instructions = _instructions(code)
    for i, each in enumerate(instructions):
        equality = each.opname == "COMPARE_OP" and each.argval in ("==", "!=")
        if not equality and each.opname != "IS_OP":
            continue
        right = _operand(instructions, i)
        left = _operand(instructions, right.start)
        at = Location(code.co_filename, _line(each, code))
        for operand, other in ((left, right), (right, left)):
            last = instructions[operand.stop - 1]
            held, path = _held(instructions, operand, values)
            whole = len(operand) == path
            if equality:
                if whole and isinstance(held, FunctionType):
                    raise SpecError(f"{last.argval} is a function: compare what it returns, {last.argval}(...)", at)
                continue
            if _is_none(instructions, other):
                continue
            a_symbol = len(operand) == 1 and last.opname == "LOAD_FAST" and last.argval in parameters
            a_read = (last.opname == "BINARY_SUBSCR" and not _is_plain(held)) or (
                last.opname == "LOAD_FAST" and len(operand) == 1 and _holds_read(instructions, last.argval)
            )
            if a_symbol or a_read or (whole and isinstance(held, (Expr, VariableBase, Table))):
                raise SpecError("'is' compares Python objects, not values of the state; use == or !=", at)


def _operand(instructions: list[dis.Instruction], stop: int) -> range:
    """The instructions that push the value on top of the stack just before ``stop``."""
    height, i = 0, stop
    while i > 0 and height < 1:
        i -= 1
        each = instructions[i]
        if each.opcode not in dis.hasjrel and each.opcode not in dis.hasjabs:
            height += dis.stack_effect(each.opcode, each.arg if each.opcode >= dis.HAVE_ARGUMENT else None)
    return range(i, stop)


def _is_none(instructions: list[dis.Instruction], operand: range) -> bool:
    first = instructions[operand.start]
    return len(operand) == 1 and first.opname == "LOAD_CONST" and first.argval is None


def _held(instructions: list[dis.Instruction], operand: range, values: dict[str, Any]) -> tuple[object, int]:
    """What ``name.attribute...`` at the start of ``operand`` holds, and how many instructions that takes."""
    first = instructions[operand.start]
    if first.opname not in _NAMES:
        return None, 0
    held, length = values.get(first.argval), 1
    while length < len(operand) and instructions[operand.start + length].opname == "LOAD_ATTR":
        held = inspect.getattr_static(held, instructions[operand.start + length].argval, None)
        length += 1
    return held, length


def _is_plain(held: object) -> bool:
    """Whether ``held``, of which a subscript is taken, is a container of plain Python values."""
    items = held.values() if isinstance(held, dict) else held if isinstance(held, (list, tuple)) else None
    return items is not None and not any(isinstance(each, (Expr, VariableBase, Table)) for each in items)


def _holds_read(instructions: list[dis.Instruction], name: str) -> bool:
    """Whether the local ``name`` is set from a subscript somewhere."""
    return any(
        store.opname == "STORE_FAST" and store.argval == name and value.opname == "BINARY_SUBSCR"
        for value, store in itertools.pairwise(instructions)
    )


def _line(instruction: dis.Instruction, code: CodeType) -> int:
    found = instruction.positions.lineno if instruction.positions is not None else None
    return found if found is not None else code.co_firstlineno
