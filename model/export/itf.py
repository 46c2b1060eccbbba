"""Traces in the Informal Trace Format of Apalache (its ADR 015), which Quint and other tools read as well.

A variable that is indexed is a map from element names, or from pairs of them; integers are written as ``#bigint``, enum
members as strings. Sets are sets; the fields of a record are a record; a channel is a list of records, or, where it has
no order, a map from records to how many there are. What the format has no place for stands where it lets tools keep
their own, in ``#meta``: the action and its arguments in that of the state after the step; and what a value says besides
its parts, by cells, as ``besides``. So a trace can be read back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model.language import Machine
from model.language.data.shown import BagText, Compound, Message, QueueText, SetText
from model.trace import NamedState, Step, Trace, Value

_UNKNOWN = "?"  # becomes a type variable
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
    types = _types([trace.initial, *(s.state for s in trace.steps)])
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


def _split(cell: str) -> tuple[str, str, list[str]]:
    """``pod.phase[app1, node2]`` as variable, field and indices; element names hold neither commas nor brackets."""
    label, _, inside = cell.removesuffix("]").partition("[")
    name, _, field = label.partition(".")
    return name, field, inside.split(", ") if inside else []


def _types(states: Sequence[NamedState]) -> dict[str, str]:
    """The type of each variable in Apalache's notation."""
    fields: dict[str, dict[str, str]] = {}
    indices: dict[str, int] = {}
    for cell in states[0]:
        name, field, at = _split(cell)
        indices[name] = len(at)
        # What a set or a channel holds is known once it holds something.
        found = [_type(s[cell]) for s in states]
        known = next((t for t in found if _UNKNOWN not in t), found[0])
        if _UNKNOWN in fields.setdefault(name, {}).get(field, _UNKNOWN):
            fields[name][field] = known
    whole = {name: _over(indices[name], each.get("") or _record_type(each)) for name, each in fields.items()}
    return {name: kind.replace(_UNKNOWN, "a") for name, kind in whole.items()}


def _over(indices: int, kind: str) -> str:
    if indices > 1:
        return f"<<{', '.join(['Str'] * indices)}>> -> {kind}"
    return f"Str -> {kind}" if indices else kind


def _type(value: Value) -> str:
    match value:
        case SetText(elements=elements):
            pairs = [e for e in elements if not isinstance(e, str)]
            of = f"<<{', '.join('Str' for _ in pairs[0])}>>" if pairs else "Str" if elements else _UNKNOWN
            return f"Set({of})"
        case QueueText(messages=messages):
            return f"Seq({_message_type(messages)})"
        case BagText(counts=counts):
            return f"({_message_type([m for m, _ in counts])} -> Int)"
        case bool():
            return "Bool"
    return "Int" if isinstance(value, int) else "Str"


def _message_type(messages: Sequence[Message]) -> str:
    return _record_type({f: _type(v) for f, v in messages[0].items()}) if messages else _UNKNOWN


def _record_type(fields: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{name}: {kind}" for name, kind in fields.items()) + " }"


def _state(state: NamedState, meta: dict[str, Any]) -> dict[str, Any]:
    besides = {cell: value.besides for cell, value in state.items() if isinstance(value, Compound) and value.besides}
    found: dict[str, Any] = {"#meta": meta | ({"besides": besides} if besides else {})}
    records: dict[tuple[str, ...], dict[str, Any]] = {}
    for cell, value in state.items():
        name, field, indices = _split(cell)
        shown = _value(value)
        if field:
            known = records.setdefault((name, *indices), {})
            known[field] = shown
            if len(known) > 1:
                continue
            shown = known
        if not indices:
            found[name] = shown
        else:
            key = indices[0] if len(indices) == 1 else {"#tup": indices}
            found.setdefault(name, {"#map": []})["#map"].append([key, shown])
    return found


def _value(value: Value) -> Any:
    match value:
        case SetText(elements=elements):
            return {"#set": [e if isinstance(e, str) else {"#tup": list(e)} for e in elements]}
        case QueueText(messages=messages):
            return list(map(_record, messages))
        case BagText(counts=counts):
            return {"#map": [[_record(m), _value(n)] for m, n in counts]}
    return value if isinstance(value, (bool, str)) else {"#bigint": str(value)}


def _record(message: Message) -> dict[str, Any]:
    return {name: _value(value) for name, value in message.items()}


def trace_of_itf(whole: Mapping[str, Any]) -> Trace:
    """The trace that `itf` wrote. ValueError names what is missing or of another kind."""
    try:
        states = [(s["#meta"], cells_of(whole["vars"], s)) for s in whole["states"]]
        steps = [
            Step(meta["action"], tuple(meta["arguments"].items()), cells, meta.get("fault"))
            for meta, cells in states[1:]
        ]
        return Trace(states[0][1], tuple(steps), whole.get("loop"))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"not a trace that was written here: {type(error).__name__}: {error}") from error


def cells_of(variables: Sequence[str], state: Mapping[str, Any]) -> dict[str, Value]:
    """The cells of one state, as in a `NamedState`."""
    found: dict[str, Value] = {}
    for name in variables:
        value = state[name]
        if isinstance(value, dict) and _is_indexed(value.get("#map")):
            for key, each in value["#map"]:
                names = key["#tup"] if isinstance(key, dict) else [key]
                found |= _fields(name, f"[{', '.join(names)}]", each)
        else:
            found |= _fields(name, "", value)
    for cell, besides in state.get("#meta", {}).get("besides", {}).items():
        match found[cell]:
            case QueueText(messages=messages):
                found[cell] = QueueText(messages, besides)
            case BagText(counts=counts):
                found[cell] = BagText(counts, besides)
    return found


def _fields(name: str, at: str, value: Any) -> dict[str, Value]:
    """The cell, or those of a record's fields."""
    if isinstance(value, dict) and not any(key.startswith("#") for key in value):
        return {f"{name}.{field}{at}": plain_value(each) for field, each in value.items()}
    return {f"{name}{at}": plain_value(value)}


def _is_indexed(pairs: Any) -> bool:
    """Whether these are cells, by elements; a bag is a map too, by messages, or one without any."""
    return bool(pairs) and (isinstance(pairs[0][0], str) or "#tup" in pairs[0][0])


def _message(fields: Mapping[str, Any]) -> Message:
    return {name: plain_value(value) for name, value in fields.items()}


def plain_value(value: Any) -> Value:
    """A value of ITF; TypeError for what no cell holds."""
    if isinstance(value, list):
        return QueueText(map(_message, value))
    if isinstance(value, dict):
        if "#set" in value:
            return SetText(e if isinstance(e, str) else tuple(e["#tup"]) for e in value["#set"])
        if "#map" in value:
            return BagText((_message(m), int(n["#bigint"])) for m, n in value["#map"])
        return int(value["#bigint"])
    if isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a value is a boolean, an integer or a string, found {value!r}")


__all__ = ["cells_of", "itf", "plain_value", "trace_of_itf"]
