"""Names of a log within the values that it tells, and records that say nothing."""

from __future__ import annotations

import enum
import json
from collections.abc import Sequence

import pytest

from model.conform import Conformance, Ending, conform
from model.conform.jsonl import parse_log
from model.errors import FileError
from model.language import Machine, Sort, record, require


class Job(Sort):
    """A job."""


class Printer(Sort):
    """A printer."""


class Phase(enum.Enum):
    """Where a job is."""

    NEW = 0
    ON = 1


def press() -> Machine:
    """Jobs wait, and are printed."""
    m = Machine("press")
    m.sort(Job, 3, symmetric=True)
    m.sort(Printer, 2, symmetric=True)
    phase = m.variable("phase", Job, Phase, init=Phase.NEW)
    holder = m.element("holder", Job, over=Printer)
    waiting = m.set("waiting", Job)
    line = m.channel("line", record(job=Job), capacity=2, blocking=True)

    @m.action
    def queue(j: Job) -> None:
        require(phase[j] == Phase.NEW, ~waiting.contains(j))
        waiting.add(j)
        line.send(job=j)

    @m.action
    def start(j: Job, p: Printer) -> None:
        line.receive(job=j)
        require(holder[p].is_none())
        holder[p] = j
        phase[j] = Phase.ON
        waiting.discard(j)

    return m


def follow(*lines: object) -> Conformance:
    return conform(press(), parse_log(list(map(json.dumps, lines)), "log"))


def queued(name: str) -> dict[str, object]:
    return {"action": "queue", "args": {"j": name}}


@pytest.mark.parametrize(
    ("lines", "ending"),
    [
        # a name that comes in a value first
        ([{"unobserved": ["queue", "start"]}, {"state": {"holder[x]": "a"}}], Ending.CONFORMS),
        ([{"unobserved": ["queue"]}, {"state": {"waiting": ["a"]}}, queued("a")], Ending.DIVERGES),
        ([queued("a"), {"state": {"waiting": ["b"]}}], Ending.DIVERGES),
        # an element's own name in a value is no other name's
        ([queued("a"), {"state": {"waiting": ["job1"]}}], Ending.DIVERGES),
        ([queued("job1"), {"state": {"waiting": ["job1"]}}], Ending.CONFORMS),
        # a name that is a value of something else, or a name of another sort
        ([queued("NEW"), {"state": {"phase[NEW]": "NEW"}}], Ending.CONFORMS),
        (
            [queued("x"), {"action": "start", "args": {"j": "x", "p": "x"}, "state": {"holder[x]": "x"}}],
            Ending.CONFORMS,
        ),
        # numbers as names
        ([{**queued("7"), "state": {"waiting": [7]}}], Ending.CONFORMS),
        ([{"unobserved": ["queue", "start"]}, {"state": {"holder[x]": 7}}], Ending.CONFORMS),
        # none, and messages
        ([{"state": {"holder[x]": "none", "waiting": []}}], Ending.CONFORMS),
        ([{**queued("a"), "state": {"line": [{"job": "a"}]}}], Ending.CONFORMS),
        ([queued("a"), {**queued("b"), "state": {"line": [{"job": "b"}, {"job": "a"}]}}], Ending.DIVERGES),
    ],
)
def test_names_in_values(lines: Sequence[object], ending: Ending) -> None:
    assert follow(*lines).ending is ending


@pytest.mark.parametrize(
    ("lines", "ending"),
    [
        ([{"state": {"phase[a]": None}}], Ending.VACUOUS),
        ([{"observed": ["phase"]}, {"state": {"phase[a]": None}}], Ending.VACUOUS),
        ([{"state": {"phase[a]": None}}, {"state": {"phase[a]": "NEW"}}], Ending.CONFORMS),
    ],
)
def test_a_value_that_nobody_knows_says_nothing(lines: Sequence[object], ending: Ending) -> None:
    assert follow(*lines).ending is ending


@pytest.mark.parametrize("alone", [{"gap": True}, {"forget": ["b"]}])
@pytest.mark.parametrize("times", [(1, 1.0), ("1", 1)])
def test_records_of_one_time_before_one_that_stands_alone(alone: dict[str, object], times: Sequence[object]) -> None:
    start = {"action": "start", "args": {"j": "a"}, "time": times[0]}
    found = follow({"ties": "any"}, start, {**queued("a"), "time": times[1]}, {**alone, "time": 1})
    assert found.ending is Ending.CONFORMS


def test_one_cell_told_twice() -> None:
    with pytest.raises(FileError, match="told twice, and not alike"):
        follow({**queued("a"), "state": {"phase[a]": "ON", "phase[ a]": "NEW"}})


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"waiting": 5}, "line 1: waiting is 5, expected a list of its elements"),
        ({"waiting": [None]}, "line 1: waiting has None, expected Job by name"),
        ({"line": {"job": "a"}}, "line 1: line is .*, expected a list of its messages"),
        ({"holder[x]": True}, "line 1: holder is True, expected a Job by name"),
    ],
)
def test_values_of_another_kind(state: dict[str, object], expected: str) -> None:
    with pytest.raises(FileError, match=expected):
        follow({"state": state})
