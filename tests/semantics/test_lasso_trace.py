"""Traces without end: as a table, as JSON, and how replay judges them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gangproof.verdict_text import verdict_text
from model.explore import explore
from model.language import Expr, Machine, Sort, any_, each, require, strong, weak
from model.semantics import Semantics
from model.semantics_liveness import refutes
from model.trace import Trace


class Job(Sort):
    """A job."""


def shop() -> Machine:
    """Jobs wait, run on the only machine, and wait again or are done; the first to come may starve."""
    m = Machine("shop")
    m.sort(Job, 2)
    runs = m.variable("runs", Job, bool, init=False)
    ran = m.variable("ran", Job, bool, init=False)
    opened = m.scalar("open", bool, init=False)

    @m.action
    def begin() -> None:
        require(~opened)
        opened.next = True

    @m.action
    def start(j: Job) -> None:
        require(opened, ~any_(runs[k] for k in Job))
        runs[j] = True
        ran[j] = True

    @m.action
    def stop(j: Job) -> None:
        require(runs[j])
        runs[j] = False

    @m.leads_to(fairness=[weak(each(start)), weak(each(stop))])
    def every_job_runs_once_open(j: Job) -> tuple[Expr, Expr]:
        """Jobs that wait in an open shop run at last."""
        return opened, ran[j]

    @m.leads_to(fairness=[strong(each(start)), weak(each(stop))])
    def strong_is_enough(j: Job) -> tuple[Expr, Expr]:
        return opened, ran[j]

    @m.eventually(fairness=[])
    def it_opens() -> Expr:
        return opened

    return m


ROUND = """\
step  action         what changed
----  -------------  -----------------------------------------------------------
   0  initial state  runs = false; ran = false; open = false
   1  begin()        open: false -> true
   2  start(job2)    runs[job2]: false -> true
                     ran[job2]: false -> true
      --- the loop:
   3  stop(job2)     runs[job2]: true -> false
   4  start(job2)    runs[job2]: false -> true
      --- back to step 2, and round again forever"""

STAYS = """\
step  action         what changed
----  -------------  -----------------------------------------------------------
   0  initial state  runs = false; ran = false; open = false
      --- and stays so forever"""


def test_table_and_json() -> None:
    machine = shop()
    verdict = explore(machine)
    assert verdict["strong_is_enough"].trace is None
    found = verdict["every_job_runs_once_open"]
    assert found.how == "a fair run for j = job1 goes round 2 steps forever, after 2 steps"
    assert found.trace is not None
    stays = verdict["it_opens"]
    assert found.trace.table() == ROUND
    assert stays.how == "a fair run stays forever in a state reached after 0 steps"
    assert stays.trace is not None
    assert stays.trace.table() == STAYS
    data = verdict.to_json()
    assert (data["trace_property"], data["loop_start"], len(data["trace"])) == ("it_opens", 0, 1)
    assert json.loads(json.dumps(data)) == data
    assert {p["name"]: p["trace_length"] for p in data["properties"]}["every_job_runs_once_open"] == len(found.trace)
    text = verdict_text(machine, verdict, shown="every_job_runs_once_open")
    assert "violates every_job_runs_once_open: Jobs that wait in an open shop run at last." in " ".join(text.split())
    assert text.count("--- the loop:") == 1


def lasso() -> tuple[Semantics, Machine, Trace]:
    machine = shop()
    trace = explore(machine)["every_job_runs_once_open"].trace
    assert trace is not None
    return Semantics(machine), machine, trace


def test_replay() -> None:
    semantics, machine, trace = lasso()
    starves, enough, opens = machine.properties
    assert semantics.replay(trace) is None
    assert refutes(semantics, starves, trace) is None
    assert trace.loop_start is not None
    problem = semantics.replay(replace(trace, loop_start=0))
    assert problem == "the loop does not close: the last state is not the one after step 0"
    assert refutes(semantics, starves, replace(trace, loop_start=None)) == "the trace has no loop"
    assert refutes(semantics, enough, trace) == "the loop is not fair: strong fairness of start(job1)"
    assert refutes(semantics, opens, trace) == "what is claimed happens on this run"
    still = Trace(trace.initial, trace.steps[:1], 1)  # the shop is open and empty
    assert semantics.replay(still) is None
    assert refutes(semantics, starves, still) == "the loop is not fair: weak fairness of start(job1)"


def test_replay_of_a_step_that_does_not_happen() -> None:
    semantics, machine, trace = lasso()
    wrong = replace(trace, steps=(trace.steps[1], *trace.steps[1:]))
    assert refutes(semantics, machine.properties[0], wrong) == "step 1: start(job2) is not enabled"


@pytest.mark.parametrize("start", [5, -1])
def test_a_loop_that_starts_nowhere(start: int) -> None:
    semantics, _, trace = lasso()
    problem = semantics.replay(replace(trace, loop_start=start))
    assert problem == f"the loop starts after step {start}, and the trace has {len(trace)} steps"
