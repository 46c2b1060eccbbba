"""Traces in ITF that come back, from here and from other tools: runs of the spec, or the first step that is none."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import itf_py
import jsonschema
import pytest

from gangproof.cli import run
from model.errors import FileError
from model.explore import explore
from model.export.itf import itf
from model.language import Machine
from model.replay import replay_itf
from model.semantics import Fault, Semantics, State
from model.trace import Trace
from specs.gang import gang
from specs.loading import load_spec

CHANNELS = str(Path(__file__).resolve().parents[2] / "examples" / "async-interface" / "interface.py")


def a_run(machine: Machine, steps: int = 6) -> tuple[list[State], Trace]:
    """Always the last enabled step that changes something."""
    s = Semantics(machine)
    state = s.initial_states()[-1]
    states, taken = [state], []
    for _ in range(steps):
        news = [(i, n) for i in s.instances if s.is_enabled(i, state) and not isinstance(n := s.fire(i, state), Fault)]
        changing = [(i, n) for i, n in news if n != state]
        if not changing:
            break
        instance, state = changing[-1]
        states.append(state)
        taken.append((instance, state))
    from model.trace import Step, named_state

    run_ = tuple(Step(i.action.name, s.arguments(i), named_state(machine, n)) for i, n in taken)
    return states, Trace(named_state(machine, states[0]), run_)


def in_raw_variables(machine: Machine, states: Sequence[State]) -> dict[str, Any]:
    """As a tool tells a run of the exported module: variable by variable, without actions."""

    def value(domain: Any, raw: int) -> Any:
        if isinstance(domain, range):
            return {"#bigint": str(raw)}
        return bool(raw) if domain is bool else machine.show(domain, raw)

    told = []
    for state in states:
        whole: dict[str, Any] = {}
        for cell, raw in zip(machine.cells(), state, strict=True):
            v = cell.variable
            names = [machine.sorts[s].names[i] for s, i in zip(v.sorts, cell.indices, strict=True)]
            if not names:
                whole[v.name] = value(v.domain, raw)
            else:
                key = names[0] if len(names) == 1 else {"#tup": names}
                whole.setdefault(v.name, {"#map": []})["#map"].append([key, value(v.domain, raw)])
        told.append(whole)
    return {"vars": [v.name for v in machine.variables], "states": told}


MACHINES = [("gang", []), ("yunikorn", []), ("composite", []), ("ray", []), (CHANNELS, [])]


@pytest.mark.parametrize(("spec", "given"), MACHINES)
def test_a_run_comes_back(spec: str, given: list[str]) -> None:
    machine = load_spec(spec, given)
    states, trace = a_run(machine)
    assert len(trace) > 2
    whole = json.loads(json.dumps(itf(machine, trace)))
    found = replay_itf(machine, whole)
    assert (found.problem, found.step, found.trace) == (None, None, trace)
    # without actions, in the words of traces and variable by variable: some actions lead there
    for state in whole["states"]:
        state["#meta"].pop("action", None)
        state["#meta"].pop("arguments", None)
    for told in (whole, json.loads(json.dumps(in_raw_variables(machine, states)))):
        found = replay_itf(machine, told)
        assert found.problem is None
        assert found.trace is not None
        assert Semantics(machine).replay(found.trace) is None
        assert [s.state for s in found.trace.steps] == [s.state for s in trace.steps]


def test_the_first_step_that_is_none() -> None:
    machine = gang()
    states, trace = a_run(machine)
    whole = itf(machine, trace)
    edited = copy.deepcopy(whole)
    edited["states"][3]["#meta"]["action"] = "finish"
    found = replay_itf(machine, edited)
    assert found.step == 3
    assert found.problem is not None
    assert "finish" in found.problem
    assert found.trace == Trace(trace.initial, trace.steps[:2])
    edited = copy.deepcopy(whole)
    edited["states"][2] = {**edited["states"][1], "#meta": edited["states"][2]["#meta"]}
    assert replay_itf(machine, edited).step == 2
    skipped = in_raw_variables(machine, [states[0], *states[2:]])
    found = replay_itf(machine, skipped)
    assert (found.step, found.problem) == (1, "step 1: no action leads from the state before to this one")
    late = replay_itf(machine, in_raw_variables(machine, states[1:]))
    assert (late.step, late.trace) == (0, None)


def test_a_loop_and_a_fault() -> None:
    machine = load_spec("kueue", [])
    lasso = next((p.trace for p in explore(machine).properties if p.trace is not None and p.trace.loop_start), None)
    for trace in (lasso,) if lasso else ():
        assert replay_itf(machine, itf(machine, trace)).problem is None
    machine = gang()
    states, _ = a_run(machine, 2)
    told = in_raw_variables(machine, [*states, states[0]])
    told["loop"] = 0
    found = replay_itf(machine, told)
    assert found.step == 3
    told = in_raw_variables(machine, states)
    told["loop"] = len(states) - 1
    assert replay_itf(machine, told).problem is None


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        ([], "not a trace in ITF"),
        ({"states": []}, "not a trace in ITF"),
        ({"vars": ["state"], "states": [{"state": 1}]}, "this is no trace of gang"),
        ({"vars": ["state", "placeholders", "reals"], "states": [{"state": {"#map": []}}]}, "not a trace of gang"),
        ({"vars": [], "states": [{"#meta": {}}, {"#meta": {"action": "submit"}}]}, "not a trace"),
    ],
)
def test_what_is_no_trace_of_the_spec(whole: object, said: str) -> None:
    with pytest.raises(FileError, match=said):
        replay_itf(gang(), whole)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    machine = gang()
    _, trace = a_run(machine)
    file = tmp_path / "run.itf.json"
    file.write_text(json.dumps(itf(machine, trace)))
    assert run(["replay", "gang", "--trace", str(file)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("A RUN of gang: 6 steps\nstep  action")
    assert run(["replay", "gang", "size=1", "--trace", str(file), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, json.loads((files("gangproof") / "schemas" / "replay.json").read_text()))
    assert (answer["verdict"], answer["first_wrong_step"]) == ("no run", len(answer["trace"]))
    edited = itf(machine, trace)
    edited["states"][1]["#meta"] |= {"action": "timeout", "arguments": {"a": "app1"}}
    file.write_text(json.dumps(edited))
    assert run(["replay", "gang", "--trace", str(file)]) == 1
    out = capsys.readouterr().out
    said = "NO RUN of gang: step 1: timeout(app1) is not enabled"
    assert out.startswith(f"{said}\n\ntimeout(app1) is NOT enabled after step 0")
    assert "FAILS  state[app1] == PENDING" in out
    assert run(["replay", "coscheduling", "--trace", str(file)]) == 2
    assert "no trace of coscheduling" in capsys.readouterr().err
    file.write_text("{")
    assert run(["replay", "gang", "--trace", str(file)]) == 2
    assert f"error: {file}: not a file of JSON" in capsys.readouterr().err
    file.write_text("[" * 100_000)
    assert run(["replay", "gang", "--trace", str(file)]) == 2
    assert "its JSON is nested too deeply" in capsys.readouterr().err


@pytest.mark.parametrize(("spec", "given"), MACHINES)
def test_itf_py_reads_it(spec: str, given: list[str]) -> None:
    """What another reader of the format has read, and written, is the same run."""
    machine = load_spec(spec, given)
    _, trace = a_run(machine)
    read = itf_py.trace_from_json(json.loads(json.dumps(itf(machine, trace))))
    assert len(read.states) == len(trace) + 1
    again = json.loads(json.dumps(itf_py.trace_to_json(read)))
    assert replay_itf(machine, again).problem is None
