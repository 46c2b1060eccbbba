"""What Python's own names do in a ``for`` statement over a sort and in a ``when`` block.

Both bodies run once while the spec is read, whatever the size of the sort and whatever the condition. A name that such
a body sets, and that is read afterwards (or, in a loop, at the start of the next round), would have one value where the
author means many: it is an error. A name that only serves inside the block is fine.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from model.language.errors import is_language

_UNCONDITIONAL = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
_ENDS = {"RETURN_VALUE", "RAISE_VARARGS", "RERAISE"}
_LOADS = {"LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF"}
_STORES = {"STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF"}
_ABSENT = object()


class Names:
    """The Python names that a block can see, with what they hold when it starts."""

    def __init__(self, frame: FrameType, stop: CodeType) -> None:
        """``frame`` runs the block; ``stop`` is the function that reads bodies: its caller declares the action."""
        self.frame = frame
        self.frames = list(_user_frames(frame, stop))
        self.before = [_contents(f.f_locals) for f in self.frames]
        self.globals = _contents(frame.f_globals)

    def changed(self, *, new_ones: bool) -> str | None:
        """A name that the block set and that is read after it; None if there is none.

        ``new_ones``: also names that the block gave their first value. Names of outer functions, and lists, dicts, sets
        and objects whose contents the block changed, count as read.
        """
        own = {*self.frame.f_code.co_varnames, *self.frame.f_code.co_cellvars}
        for frame, before in zip(self.frames, self.before, strict=True):
            for name, (value, inside) in _contents(frame.f_locals).items():
                if frame is self.frame and name not in own:
                    continue
                old, old_inside = before.get(name, (_ABSENT, None))
                if old is value and old_inside != inside:
                    return name
                if old is value or (old is _ABSENT and not new_ones):
                    continue
                if frame is not self.frame or is_read(frame.f_code, frame.f_lasti, name):
                    return name
        for name, (value, inside) in _contents(self.frame.f_globals).items():
            old, old_inside = self.globals.get(name, (_ABSENT, None))
            if old is not value or old_inside != inside:
                return name
        return None


def _user_frames(frame: FrameType, stop: CodeType) -> Iterator[FrameType]:
    """``frame`` and the user's frames around it, up to the function that declares the action."""
    passed = False
    current: FrameType | None = frame
    while current is not None:
        if current.f_code is stop:
            passed = True
        if not is_language(current.f_code):
            yield current
            if passed:
                return
        current = current.f_back


def _contents(names: dict[str, Any]) -> dict[str, tuple[object, object]]:
    """For each name its value, and the identities of what a container or an object of the user's holds."""
    return {name: (value, _inside(value)) for name, value in names.items() if not name.startswith("__")}


def _inside(value: object) -> object:
    if isinstance(value, list):
        return tuple(map(id, value))
    if isinstance(value, dict):
        return tuple((id(k), id(v)) for k, v in value.items())
    if isinstance(value, set):
        return len(value)
    kind = type(value)
    if kind.__module__.startswith("model.language") or kind.__module__ == "builtins" or isinstance(value, type):
        return None
    attributes = getattr(value, "__dict__", None)
    return tuple((k, id(v)) for k, v in attributes.items()) if type(attributes) is dict else None


def is_read(code: CodeType, offset: int, name: str) -> bool:
    """Whether some path from the instruction at ``offset`` (bytes) loads ``name`` before it stores it.

    A name that a nested function captures counts as read: the function may be called on the way.
    """
    nested = [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name != "<genexpr>"]
    if name in code.co_cellvars and any(name in c.co_freevars for c in nested):
        return True
    instructions = list(dis.get_instructions(code))
    index = {each.offset: i for i, each in enumerate(instructions)}
    todo = _after(instructions, index, index[offset])
    seen: set[int] = set()
    while todo:
        i = todo.pop()
        if i in seen or i >= len(instructions):
            continue
        seen.add(i)
        each = instructions[i]
        if each.argval == name and each.opname in _LOADS:
            return True
        if not (each.argval == name and each.opname in _STORES):
            todo += _after(instructions, index, i)
    return False


def _after(instructions: list[dis.Instruction], index: dict[int, int], i: int) -> list[int]:
    each = instructions[i]
    if each.opname in _ENDS:
        return []
    target = [index[each.argval]] if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs else []
    return target if each.opname in _UNCONDITIONAL else [i + 1, *target]
