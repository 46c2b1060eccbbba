"""Traces in the Informal Trace Format of Apalache (its ADR 015), which Quint and other tools read as well.

A variable that is indexed is a map from element names, or from pairs of them; integers are written as ``#bigint``, enum
members as strings. What the format has no place for stands where it lets tools keep their own: the action and its
arguments in the ``#meta`` of the state after the step. So a trace can be read back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.language import Machine
from model.trace import Step, Trace, Value

_FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def itf(machine: Machine, trace: Trace, about: str = "") -> dict[str, Any]:
    """``trace`` as a JSON object in ITF. ``loop`` is the state that the last state, which equals it, goes on from.

    A faulty step has no state after it; its ``#meta`` says ``fault``, and the state before is repeated.
    """
    states = [_state(trace.initial, {"index": 0})]
    for number, step in enumerate(trace.steps, 1):
        meta: dict[str, Any] = {"index": number, "action": step.action, "arguments": dict(step.arguments)}
        if step.fault is not None:
            meta["fault"] = step.fault
        states.append(_state(step.state, meta))
    types = {name: _type(indices, value) for name, indices, value in map(_split, trace.initial.items())}
    whole: dict[str, Any] = {
        "#meta": {
            "format": "ITF",
            "format-description": _FORMAT,
            "source": machine.name,
            "parameters": dict(machine.parameters),
            "description": about or f"a run of {machine.name}",
            "varTypes": types,
        },
        "vars": list(types),
        "states": states,
    }
    if trace.loop_start is not None:
        whole["loop"] = trace.loop_start
    return whole


def _split(cell: tuple[str, Value]) -> tuple[str, list[str], Value]:
    """``placeholders[app1, node2]`` as variable and indices; element names hold neither commas nor brackets."""
    name, _, inside = cell[0].removesuffix("]").partition("[")
    return name, inside.split(", ") if inside else [], cell[1]


def _type(indices: list[str], value: Value) -> str:
    """The type in Apalache's notation."""
    kind = "Bool" if isinstance(value, bool) else "Int" if isinstance(value, int) else "Str"
    if len(indices) > 1:
        return f"<<{', '.join('Str' for _ in indices)}>> -> {kind}"
    return f"Str -> {kind}" if indices else kind


def _state(state: Mapping[str, Value], meta: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"#meta": meta}
    for name, indices, value in map(_split, state.items()):
        if not indices:
            found[name] = _value(value)
        else:
            key = indices[0] if len(indices) == 1 else {"#tup": indices}
            found.setdefault(name, {"#map": []})["#map"].append([key, _value(value)])
    return found


def _value(value: Value) -> Any:
    return value if isinstance(value, (bool, str)) else {"#bigint": str(value)}


def trace_of_itf(whole: Mapping[str, Any]) -> Trace:
    """The trace that `itf` wrote. ValueError names what is missing or of another kind."""
    try:
        states = [(s["#meta"], _cells(whole["vars"], s)) for s in whole["states"]]
        steps = [
            Step(meta["action"], tuple(meta["arguments"].items()), cells, meta.get("fault"))
            for meta, cells in states[1:]
        ]
        return Trace(states[0][1], tuple(steps), whole.get("loop"))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"not a trace that was written here: {type(error).__name__}: {error}") from error


def _cells(variables: list[str], state: Mapping[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name in variables:
        value = state[name]
        if isinstance(value, dict) and "#map" in value:
            for key, each in value["#map"]:
                names = key["#tup"] if isinstance(key, dict) else [key]
                found[f"{name}[{', '.join(names)}]"] = _plain(each)
        else:
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Value:
    if isinstance(value, dict):
        return int(value["#bigint"])
    if isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a value is a boolean, an integer or a string, found {value!r}")


__all__ = ["itf", "trace_of_itf"]
