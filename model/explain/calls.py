"""Calls of actions as text: ``allocate(app1, node2)``."""

from __future__ import annotations

import ast

from model.errors import QueryError
from model.language import Machine
from model.query import parsed


def read_call(machine: Machine, text: str) -> tuple[str, tuple[str, ...]]:
    """``allocate(app1, node2)`` as the action's name and its arguments as people write them.

    QueryError where the machine has no such action, or the text is no call.
    """
    tree = parsed(text)
    name, arguments = (tree.func, tree.args) if isinstance(tree, ast.Call) else (tree, [])
    if not isinstance(name, ast.Name) or (isinstance(tree, ast.Call) and tree.keywords):
        raise QueryError(f"{text!r}: expected an action with its arguments, as in allocate(app1, node2)")
    if all(a.name != name.id for a in machine.actions):
        known = ", ".join(a.name for a in machine.actions)
        raise QueryError(f"{text!r}: {machine.name} has no action {name.id}; it has {known}")
    return name.id, tuple(_word(text, a) for a in arguments)


def _word(text: str, node: ast.expr) -> str:
    match node:
        case ast.Name(id=word):
            return word
        case ast.Constant(value=bool() as value):
            return str(value).lower()
        case ast.Constant(value=str() | int() as value):
            return str(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return str(-value)
        case ast.Attribute(attr=member):
            return member
    raise QueryError(f"{text!r}: an argument is an element, a member, a number, true or false")


__all__ = ["read_call"]
