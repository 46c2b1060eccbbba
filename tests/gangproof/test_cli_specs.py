"""The command line on specs: traces, explain, export, simulate, mutants."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from command_line import answer

import gangproof
from gangproof.cli import run


@pytest.mark.parametrize(("form", "schema"), [("json", "trace"), ("itf", "itf")])
def test_only_the_trace(capsys: pytest.CaptureFixture[str], toy: str, form: str, schema: str) -> None:
    assert run(["check", toy, "leak=true", "--trace-format", form]) == 1
    out = capsys.readouterr()
    told = json.loads((files("gangproof") / "schemas" / f"{schema}.json").read_text())
    whole = json.loads(out.out)
    jsonschema.validate(whole, told, cls=jsonschema.Draft202012Validator)
    assert len(whole["trace" if form == "json" else "states"]) == 3
    assert out.err.startswith("VIOLATED: slots_suffice")


def test_a_trace_in_a_file(capsys: pytest.CaptureFixture[str], toy: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.mmd"
    assert run(["check", toy, "leak=true", "--trace-format", "mermaid", "--trace", str(file)]) == 1
    assert "VIOLATED: slots_suffice" in capsys.readouterr().out
    assert "sequenceDiagram" in file.read_text()
    assert run(["check", toy, "leak=true", "--trace", str(file), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["trace_note"] is None
    assert file.read_text().startswith("step  action")
    file.unlink()
    assert run(["check", toy, "--trace", str(file)]) == 0
    assert "nothing is violated" in capsys.readouterr().err
    assert not file.exists()


def test_explain_a_state_and_an_action_there(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(
        capsys,
        "explain",
        toy,
        "jobs=3",
        "slots=2",
        "--state",
        "running[job1] and running[job2]",
        "--action",
        "start(job3)",
    )
    assert status == 0
    assert parsed["state"]["verdict"] == "reached"
    assert [row["action"] for row in parsed["state"]["trace"]] == [None, "start", "start"]
    asked = parsed["action"]
    assert (asked["call"], asked["enabled"], asked["place"]) == ("start(job3)", False, "after step 2 of the run")
    assert [g["holds"] for g in asked["guards"]] == [True, False]
    assert asked["guards"][1]["compared"] == "2 < 2"
    status, parsed, _ = answer(
        capsys, "explain", toy, "leak=true", "--property", "slots_suffice", "--step", "1", "--action", "start(job2)"
    )
    assert (status, parsed["state"], parsed["action"]["enabled"]) == (0, None, True)
    assert parsed["action"]["changes"] == {"running[job2]": {"from": False, "to": True}}
    status, parsed, _ = answer(capsys, "explain", toy, "--action", "stop(job1)")
    assert (status, parsed["action"]["place"], parsed["action"]["enabled"]) == (0, "in the initial state", False)


def test_explain_what_is_out_of_reach_and_what_is_unknown(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    both = "all(running[j] for j in Job)"
    status, parsed, _ = answer(capsys, "explain", toy, "--state", both, "--action", "stop(job1)")
    assert (status, parsed["state"]["verdict"], parsed["action"]) == (4, "unreachable", None)
    assert parsed["state"]["how"] == "unreachable, in no state of all 3 states"
    status, parsed, _ = answer(capsys, "explain", toy, "--state", both, "--max-states", "2")
    assert (status, parsed["state"]["verdict"]) == (3, "unknown")


def test_explain_as_text_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--property", "no_starving_gangs", "--action", "allocate_placeholder(app1, node1)"]
    assert run(["explain", "yunikorn", "edition=seed", "queues=two_leaves", *asked]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "is NOT enabled after step 6" in lines[0]
    assert "         5 <= 4 is false" in lines
    assert max(map(len, lines)) <= 80
    assert run(["explain", "gang", "--state", "state[app1] == KILLED"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "REACHED after 3 steps: state[app1] == KILLED"
    assert max(map(len, lines)) <= 80


def test_export_the_life_cycle(capsys: pytest.CaptureFixture[str], toy: str, tmp_path: Path) -> None:
    assert run(["export", "gang", "--to", "mermaid"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["---", 'title: "state[app1]"']
    assert "  g0n0 --> g0n1 : submit" in lines
    file = tmp_path / "gang.dot"
    assert run(["export", toy, "--to", "dot", "--project", "running[job1]", "--loops", "-o", str(file)]) == 0
    assert capsys.readouterr().out == f"3 states and 4 steps are in {file}.\n"
    assert 'g0n0 -> g0n0 [label="start\\nstop"];' in file.read_text()


def test_check_with_mutants(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "check", toy)
    assert (status, parsed["vacuity"]) == (0, None)
    status, parsed, _ = answer(capsys, "check", toy, "--vacuity")
    assert (status, parsed["verdict"], parsed["vacuity"]["unbroken"]) == (0, "holds", [])
    assert {b["property"] for b in parsed["vacuity"]["broken"]} == {"slots_suffice", "deadlock_free"}
    # With a slot for each job nothing can break the claim.
    status, parsed, _ = answer(capsys, "check", toy, "slots=2", "--vacuity")
    assert (status, parsed["verdict"], parsed["vacuity"]["unbroken"]) == (4, "vacuous", ["slots_suffice"])
    assert run(["check", toy, "slots=2", "--vacuity"]) == 4
    text = capsys.readouterr().out
    assert "VACUOUS: says nothing: slots_suffice." in text
    assert "No mutant of any action breaks: slots_suffice." in text
    assert max(len(line) for line in text.splitlines() if "/" not in line) <= 80
    status, parsed, _ = answer(capsys, "check", toy, "--vacuity", "--time-limit", "0.000001")
    assert (status, parsed["verdict"]) == (3, "unknown")


def test_coverage_of_a_spec_that_does_little(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "check", toy, "jobs=1", "slots=0")
    assert status == 1
    coverage = parsed["coverage"]
    assert [b["action"] for b in coverage["blocked"]] == ["start", "stop"]
    assert [b["never_together"] for b in coverage["blocked"]] == [[[1]], [[0]]]
    assert coverage["values"][0]["never"] == ["true"]
    assert run(["check", toy, "jobs=1", "slots=0"]) == 1
    text = capsys.readouterr().out
    assert "start never fired, in 1 state." in text
    assert "Never true: running[j]." in text
    assert "Values never taken: running = true." in text


def test_simulate_never_says_that_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    status, parsed, _ = answer(capsys, "simulate", "gang", "--walks", "600", "--seed", "3")
    assert (status, parsed["verdict"], parsed["seed"], parsed["walks"], parsed["stopped"]) == (
        3,
        "unknown",
        3,
        600,
        None,
    )
    assert (parsed["distinct_states"], parsed["distinct_states_exact"]) == (144, True)
    assert {p["verdict"] for p in parsed["properties"] if p["kind"] != "sometimes"} == {"unknown"}
    assert sum(parsed["actions"].values()) == parsed["steps"]
    again = answer(capsys, "simulate", "gang", "--walks", "600", "--seed", "3")[1]
    for each in (parsed, again):
        del each["seconds"], each["compile_seconds"]
    assert again == parsed


def test_simulate_finds_a_violation(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "simulate", toy, "leak=true", "--steps", "9")
    assert (status, parsed["verdict"], parsed["trace_property"]) == (1, "violated", "slots_suffice")
    assert [row["action"] for row in parsed["trace"]] == [None, "start", "start"]


def test_simulate_as_text_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "yunikorn", "edition=seed", "queues=two_leaves"]) == 1
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "there may be a shorter one" in text
    assert "walks cannot judge it" in text
    assert run(["simulate", "gang", "--walks", "1", "--property", "every_app_finishes"]) == 3
    assert "no violation in 1 walk, seed 0" in capsys.readouterr().out.replace("\n  ", " ")


def test_the_property_that_is_asked_for_has_its_trace_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "gang", "--property", "every_app_finishes", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["trace_property"] == "every_app_finishes"
    assert answer["trace"]
    assert run(["simulate", "gang", "--walks", "3", "--property", "node_capacity", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["trace_property"] is None


def test_explaining_at_a_property_whose_budget_ran_out_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", "yunikorn", "edition=seed", "queues=two_leaves", "--property", "no_starving_gangs"]
    asked += ["--action", "submit(app1)", "--max-states", "10"]
    assert run(asked) == 3
    assert capsys.readouterr().out.startswith("UNKNOWN: no_starving_gangs: state budget of 10 ran out")
    assert run([*asked, "--json"]) == 3
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, json.loads((files("gangproof") / "schemas" / "explain.json").read_text()))
    assert answer["state"]["verdict"] == "unknown"


@pytest.mark.parametrize(
    "asked", [["export", "gang", "--to", "dot", "--project", "{}"], ["explain", "gang", "--state", "{} > 1"]]
)
def test_a_question_that_may_leave_64_bits_is_refused(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    product = "placeholders[app1, node1] * 4000000000 * 4000000000"
    assert run([each.format(product) for each in asked]) == 2
    error = capsys.readouterr().err
    assert "leaves 64 bits" in error
    assert "query.py" not in error


def test_a_built_machine_takes_the_options_of_the_explorer() -> None:
    machine = gangproof.machine("gang", apps=3)
    assert gangproof.check(machine, max_states=10).outcome.exit_status == 3
    reduced, whole = gangproof.check(machine, symmetry=True), gangproof.check(machine)
    assert reduced.coverage.distinct_states < whole.coverage.distinct_states
    assert gangproof.simulate(machine, walks=2, steps=3).steps == 3


def test_a_violating_step_whose_target_was_dropped(tmp_path: Path) -> None:
    """The budget ends just where the step goes: its end is no state that was kept."""
    spec = tmp_path / "steps.py"
    spec.write_text(
        "from model.language import Expr, Machine, after\n\n\n"
        "def steps() -> Machine:\n"
        "    m = Machine('steps')\n"
        "    x = m.scalar('x', range(100), init=0)\n\n"
        "    @m.action\n"
        "    def up() -> None:\n"
        "        x.next = (x + 1) % 100\n\n"
        "    @m.step\n"
        "    def not_fifty() -> Expr:\n"
        "        return after(x) != 50\n\n"
        "    return m\n"
    )
    for states in (49, 50, 51):
        assert run(["check", f"{spec}:steps", "--max-states", str(states)]) == (3 if states < 50 else 1)


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ("missing/trace.txt", "its directory does not exist"),
        (".", "is a directory"),
        ("spec.py", "would be overwritten"),
    ],
)
def test_a_trace_file_is_looked_at_before_the_search(
    trace: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.py"
    text = (Path(__file__).parents[2] / "specs" / "gang" / "machine.py").read_text()
    spec.write_text(text)
    assert run(["check", f"{spec}:gang", "--trace", str(tmp_path / trace)]) == 2
    said = capsys.readouterr()
    assert words in " ".join(said.err.split())
    assert said.out == ""
    assert spec.read_text() == text


def test_mutants_of_one_spec(capsys: pytest.CaptureFixture[str]) -> None:
    status, parsed, _ = answer(capsys, "mutants", "gang", "--workers", "1")
    assert status == 0
    assert [(m["name"], m["fate"], m["trace_length"]) for m in parsed["mutants"]] == [
        ("no_quota", "caught", 11),
        ("no_node_capacity", "caught", 5),
        ("runs_one_early", "caught", 2),
        ("placeholder_lost", "caught", 4),
        ("never_replaced", "caught", None),
    ]
    assert run(["mutants", "gang", "--mutant", "no_quota"]) == 0
    told = capsys.readouterr().out
    assert "gang apps=4 size=3 nodes=2 capacity=4 quota=7\n" in told
    assert "caught: quota_never_exceeded, violated after 11 steps" in told
    assert run(["mutants", "gang", "--list"]) == 0
    assert "quota_never_exceeded: the queue's quota" in capsys.readouterr().out


def test_a_mutant_that_survives_and_one_that_is_undecided(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from model.language.mutation import disabled
    from specs import registry
    from specs.gang import gang
    from specs.mutant import Mutant

    tame = Mutant("tame", "this breaks nothing of that name", "node_capacity", gang, (disabled("replace"),))
    monkeypatch.setattr(registry, "mutants", lambda _: [tame])
    monkeypatch.setattr("specs.trials.mutants", lambda _: [tame])
    assert run(["mutants", "gang"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "SURVIVES: node_capacity holds with the fault" in out
    assert run(["mutants", "gang", "--time-limit", "1e-9"]) == 3
    assert "UNKNOWN: tame" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gnag"], "no spec 'gnag' is shipped; there are gang, yunikorn"),
        (
            ["gang", "--mutant", "no_qouta"],
            "no mutant 'no_qouta' of gang; it has no_quota, no_node_capacity, runs_one_early",
        ),
        (["gang", "--reports"], "gang has no mutant of a report"),
        (["gang", "--list", "--json"], "--list is text"),
    ],
)
def test_mutants_that_there_are_not(capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert run(["mutants", *arguments]) == 2
    assert told in " ".join(capsys.readouterr().err.split())


LOOSE = """
from model.language import Machine, require, when

def loose(top: int = 3, idle: bool = False):
    m = Machine("loose")
    x = m.scalar("x", range(4), init=0)
    @m.action
    def up():
        require(x < top)
        x.next += 1
    if idle:
        @m.action
        def rest():
            with when(x > 3):
                x.next = 0
    @m.terminal
    def at_the_top():
        return x == top
    return m
"""


@pytest.mark.parametrize(
    ("given", "strict", "said"),
    [
        ((), 0, "HOLDS"),
        (("top=2",), 4, "VACUOUS: values never taken of x."),
        (("idle=true",), 4, "VACUOUS: steps that change nothing by rest."),
        (("top=2", "idle=true"), 4, "VACUOUS: values never taken of x; steps that change nothing by rest."),
    ],
)
def test_strict_counts_what_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: tuple[str, ...], strict: int, said: str
) -> None:
    spec = tmp_path / "loose.py"
    spec.write_text(LOOSE)
    assert run(["check", f"{spec}:loose", *given]) == 0
    capsys.readouterr()
    assert run(["check", f"{spec}:loose", *given, "--strict"]) == strict
    assert said in " ".join(capsys.readouterr().out.split())
    status, parsed, _ = answer(capsys, "check", f"{spec}:loose", *given, "--strict")
    assert (status, parsed["verdict"]) == (strict, "vacuous" if strict else "holds")


def test_strict_is_undecided_where_time_ran_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "gang", "--strict", "--max-states", "10"]) == 3
    assert "UNKNOWN" in capsys.readouterr().out


def test_prove_for_every_depth(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "prove", toy)
    assert (status, parsed["verdict"]) == (0, "holds")
    suffice = next(p for p in parsed["properties"] if p["name"] == "slots_suffice")
    assert (suffice["verdict"], suffice["k"]) == ("holds", 1)
    assert parsed["left_out"] == []
    assert run(["prove", toy]) == 0
    assert "HOLDS: 4 properties of states and steps, in runs of any length." in capsys.readouterr().out


def test_prove_finds_a_violation_and_its_shortest_trace(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "prove", toy, "leak=true")
    assert (status, parsed["verdict"], parsed["trace_property"]) == (1, "violated", "slots_suffice")
    assert [row["action"] for row in parsed["trace"]] == [None, "start", "start"]
    assert run(["prove", toy, "leak=true", "--property", "slots_suffice"]) == 1
    assert "slots_suffice, shortest trace 2 steps" in capsys.readouterr().out


def test_prove_without_time_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    status, parsed, _ = answer(capsys, "prove", "gang", "--time-limit", "0.001")
    assert (status, parsed["verdict"], parsed["length"]) == (3, "unknown", -1)
    assert run(["prove", "gang", "--no-strengthen", "--k", "1", "--length", "1"]) == 3
    assert "What blocks no_partial_gang_runs at k = 1" in capsys.readouterr().out


def test_what_cannot_be_proved_is_refused(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    assert run(["prove", toy, "--property", "nothing"]) == 2
    assert "has no property 'nothing'" in capsys.readouterr().err
    assert run(["prove", "yunikorn", "--property", "every_application_can_end"]) == 2
    assert "is about runs, which `check` decides" in capsys.readouterr().err
