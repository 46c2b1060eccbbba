"""Logs as JSON lines: the format that any system can write.

The first line may be a header: ``{"unobserved": ["allocate", {"action": "release", "args": {"node": "node1"}}],
"names": {"App": {"job-7": "app1"}}, "ties": "any"}``. With ``ties`` "any", neighbouring lines of one time may have
happened in any order; without it, or with "file", in that of the file. Every other line is a record:

    {"action": "allocate", "args": {"a": "job-7", "n": ["node1", "node2"]}, "time": 12.5}
    {"action": ["launch_failed", "request_given_up"], "args": {"i": "i-04"}}
    {"action": "submit", "args": {"a": "job-7"}, "state": {"state[job-7]": "PENDING"}}
    {"state": {"state[job-7]": "RUNNING"}}
    {"gap": true}        {"forget": ["i-04"]}        {"end": true}

With ``observed`` in the header, a list of variables, the log tells of changes: each record has the ``state`` of cells
of these variables, and no action.

``args`` may name some of the parameters, and for each one value or several; ``state`` is what was seen afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from model.conform.log import Log, Pattern, Record
from model.conform.stream import no_half_characters, whole_number
from model.errors import FileError

_HEADER: Final = {"unobserved", "observed", "names", "ties"}
_RECORD: Final = {"action", "args", "state", "time", "gap", "forget", "end"}
_MOST_CHARACTERS: Final = 1 << 20


def read_log(path: Path) -> Log:
    """The log in the file ``path``. FileError with the line for what is none."""
    try:
        with path.open(encoding="utf-8") as lines:
            return parse_log(lines, str(path))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file in UTF-8: {error.reason} at byte {error.start}") from None


def parse_log(lines: Iterable[str], name: str) -> Log:
    """The same from its ``lines``; ``name`` is what messages call the file."""
    header: Mapping[str, Any] = {}
    records: list[Record] = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            told = _object(text)
            if not records and not header and told.keys() & _HEADER:
                header = _known(told, _HEADER, "a header")
                _check_header(header)
            else:
                records.append(_record(told, f"line {number}", header.get("ties") == "any"))
                if header.get("observed") and records[-1].patterns:
                    raise ValueError("a log of changes (observed) tells of no action")
        except ValueError as error:
            raise FileError(f"{name}: line {number}: {error}") from None
    unobserved = tuple(_pattern(each) for each in header.get("unobserved", ()))
    return Log(tuple(records), unobserved, header.get("names", {}), tuple(header.get("observed", ())))


def _object(text: str) -> Mapping[str, Any]:
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"{len(text):,} characters, expected at most {_MOST_CHARACTERS:,}")
    try:
        told = json.loads(text, parse_constant=_no_constant, parse_int=whole_number, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    if not isinstance(told, dict):
        raise ValueError(f"found {_short(told)}, expected an object")
    no_half_characters(text)
    return told


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these; of a key that stands twice nobody can tell which value is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(k for k in found if keys.count(k) > 1)!r} stands twice in one object")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _known(told: Mapping[str, Any], keys: set[str], what: str) -> Mapping[str, Any]:
    unknown = sorted(told.keys() - keys)
    if unknown:
        raise ValueError(f"{what} has no {unknown[0]!r}; expected {', '.join(sorted(keys))}")
    return told


def _check_header(header: Mapping[str, Any]) -> None:
    if header.get("ties", "file") not in ("any", "file"):
        raise ValueError(f"ties: found {_short(header['ties'])}, expected 'any' or 'file'")
    unobserved = header.get("unobserved", [])
    if not isinstance(unobserved, list):
        raise ValueError(f"unobserved: found {_short(unobserved)}, expected a list of actions")
    for each in unobserved:
        _pattern(each)
    observed = header.get("observed", [])
    if not isinstance(observed, list) or not _texts(observed):
        raise ValueError(f"observed: found {_short(observed)}, expected a list of variables")
    if observed and (unobserved or header.get("ties") == "any"):
        raise ValueError("a log of changes (observed) has no unobserved actions and no ties")
    names = header.get("names", {})
    if not isinstance(names, dict) or not all(isinstance(v, dict) and _texts(v.values()) for v in names.values()):
        raise ValueError(f"names: found {_short(names)}, expected an object: sort to an object: name to element")


def _pattern(told: Any) -> Pattern:
    if isinstance(told, str):
        return Pattern(told)
    if not isinstance(told, dict) or not isinstance(told.get("action"), str) or told.keys() - {"action", "args"}:
        raise ValueError(f"unobserved: found {_short(told)}, expected an action's name, or an object: action, args")
    return Pattern(told["action"], _arguments(told.get("args", {})))


def _record(told: Mapping[str, Any], where: str, ties: bool) -> Record:
    told = _known(told, _RECORD, "a record")
    actions = told.get("action", [])
    actions = [actions] if isinstance(actions, str) else actions
    if not isinstance(actions, list) or not _texts(actions) or ("action" in told and not actions):
        raise ValueError(f"action: found {_short(told['action'])}, expected an action's name, or a list of them")
    if "args" in told and not actions:
        raise ValueError("args without an action")
    arguments = _arguments(told.get("args", {}))
    state = told.get("state", {})
    if not isinstance(state, dict):
        raise ValueError(f"state: found {_short(state)}, expected an object: cell to value")
    forget = told.get("forget", [])
    if not isinstance(forget, list) or not _texts(forget):
        raise ValueError(f"forget: found {_short(forget)}, expected a list of names")
    for key in ("gap", "end"):
        if not isinstance(told.get(key, True), bool):
            raise ValueError(f"{key}: found {_short(told[key])}, expected true")
    record = Record(
        where,
        tuple(Pattern(a, arguments) for a in actions),
        state,
        _time(told.get("time")) if ties else None,
        told.get("gap", False),
        tuple(forget),
        told.get("end", False),
    )
    if sum((bool(actions or state), record.gap, bool(forget), record.end)) != 1:
        raise ValueError("expected one of: action and state, gap, forget, end")
    return record


def _time(told: Any) -> str | None:
    if told is None:
        return None
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        raise ValueError(f"time: found {_short(told)}, expected a number or a text")
    return str(int(told) if isinstance(told, float) and told.is_integer() else told)  # 1.0 is the time 1


def _arguments(told: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(told, dict):
        raise ValueError(f"args: found {_short(told)}, expected an object: parameter to value")
    return {name: _values(name, value) for name, value in told.items() if value is not None}


def _values(name: str, told: Any) -> tuple[str, ...]:
    values = told if isinstance(told, list) else [told]
    if not values or not all(isinstance(v, str | int) for v in values):
        raise ValueError(f"args: {name}: found {_short(told)}, expected a value, or a list of those that it may be")
    return tuple(str(v).lower() if isinstance(v, bool) else str(v) for v in values)


def _texts(values: Iterable[object]) -> bool:
    return all(isinstance(v, str) for v in values)


def _short(told: object) -> str:
    text = json.dumps(told, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


__all__ = ["parse_log", "read_log"]
