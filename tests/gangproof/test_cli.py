"""The command line: exit statuses, JSON against the published schemas, and mistakes told in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import gangproof
from gangproof.cli import run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "spark-gangs"

TOY = """
from model.language import Expr, Machine, Sort, count_, require


class Job(Sort):
    "A job."


def toy(jobs: int = 2, slots: int = 1, leak: bool = False) -> Machine:
    "Jobs take slots."
    m = Machine("toy")
    m.sort(Job, jobs, symmetric=True)
    running = m.variable("running", Job, bool, init=False)

    @m.action
    def start(j: Job) -> None:
        require(~running[j], count_(running[k] for k in Job) < slots + leak)
        running[j] = True

    @m.action
    def stop(j: Job) -> None:
        require(running[j])
        running[j] = False

    @m.always
    def slots_suffice() -> Expr:
        return count_(running[j] for j in Job) <= slots

    return m
"""


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, str]:
    """Exit status, parsed JSON and stderr of a command with ``--json``, held against its schema."""
    status = run([*arguments, "--json"])
    out = capsys.readouterr()
    parsed = json.loads(out.out)
    schema = json.loads((files("gangproof") / "schemas" / f"{arguments[0]}.json").read_text())
    jsonschema.validate(parsed, schema, cls=jsonschema.Draft202012Validator)
    return status, parsed, out.err


@pytest.fixture
def toy(tmp_path: Path) -> str:
    (tmp_path / "my_spec.py").write_text(TOY)
    return f"{tmp_path / 'my_spec.py'}:toy"


def test_list_names_every_shipped_spec(capsys: pytest.CaptureFixture[str]) -> None:
    status, parsed, _ = answer(capsys, "list")
    assert status == 0
    names = {s["name"] for s in parsed["specs"]}
    assert {"gang", "yunikorn", "autoscaled_gang"} <= names
    assert all(s["actions"] and s["properties"] and s["mutants"] for s in parsed["specs"])


def test_list_as_text_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert max(map(len, lines)) <= 80


def test_check_counts_size_s_of_the_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    status, parsed, _ = answer(capsys, "check", "gang", "apps=4", "size=3", "nodes=2", "capacity=4", "quota=7")
    assert (status, parsed["verdict"]) == (0, "holds")
    assert (parsed["distinct_states"], parsed["transitions"], parsed["depth"]) == (90_428, 418_348, 32)


def test_check_of_a_users_spec(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "check", toy)
    assert (status, parsed["distinct_states"]) == (0, 3)
    status, parsed, _ = answer(capsys, "check", toy, "leak=true")
    assert (status, parsed["verdict"], parsed["trace_property"]) == (1, "violated", "slots_suffice")
    assert [row["action"] for row in parsed["trace"]] == [None, "start", "start"]


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
    assert run(["explain", "yunikorn", "queues=two_leaves", *asked]) == 0
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


def test_check_as_text_fits_80_columns(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    assert run(["check", toy, "leak=true"]) == 1
    text = capsys.readouterr().out
    assert "VIOLATED: slots_suffice, shortest trace 2 steps" in text.replace("\n ", "")
    assert max(len(line) for line in text.splitlines() if "/" not in line) <= 80


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
    assert run(["simulate", "yunikorn", "queues=two_leaves"]) == 1
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "there may be a shorter one" in text
    assert "walks cannot judge it" in text
    assert run(["simulate", "gang", "--walks", "1", "--property", "every_app_finishes"]) == 3
    assert "no violation in 1 walk, seed 0" in capsys.readouterr().out.replace("\n  ", " ")


def test_an_exhausted_budget_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    status, parsed, _ = answer(
        capsys, "check", "gang", "apps=4", "size=3", "capacity=4", "quota=7", "--max-states", "1000"
    )
    assert (status, parsed["verdict"], parsed["complete"]) == (3, "unknown", False)
    assert "1,000" in parsed["budget"]


def test_a_vacuous_spec_says_what_says_nothing(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "check", toy, "jobs=1", "slots=0")
    assert (status, parsed["verdict"]) in {(4, "vacuous"), (1, "violated")}  # nothing can start: a deadlock at once
    assert parsed["distinct_states"] == 1


def test_a_built_in_property_can_be_shown(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    assert run(["check", toy, "jobs=1", "slots=0", "--property", "deadlock_free"]) == 1
    assert "This run violates deadlock_free" in capsys.readouterr().out
    assert run(["check", toy, "--property", "values_in_range"]) == 0
    assert "values_in_range: there is no trace" in capsys.readouterr().out


def test_a_goal_that_is_never_reached_is_told_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "unreached.py"
    goal = "    @m.sometimes\n    def all_run() -> Expr:\n        return count_(running[j] for j in Job) == 2\n\n"
    spec.write_text(TOY.replace("    return m", goal + "    return m"))
    assert run(["check", f"{spec}:toy"]) == 4
    text = capsys.readouterr().out
    assert "VACUOUS: never reached: all_run." in text
    assert "says nothing" not in text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check", "no_such_spec"], "no_such_spec"),
        (["check", "gang", "sizes=3"], "sizes"),
        (["check", "gang", "size=three"], "three"),
        (["check", "gang", "size"], "size"),
        (["check", "yunikorn", "policy=lifo"], "lifo"),
        (["check", "missing.py:toy"], "missing.py"),
        (["check", "gang", "--max-memory", "lots"], "lots"),
        (["check", "gang", "--max-states", "0"], "0"),
        (["check", "gang", "--property", "nonsense"], "nonsense"),
        (["simulate", "gang", "--walks", "0"], "0"),
        (["simulate", "gang", "--steps", "1e3"], "1e3"),
        (["simulate", "gang", "--seed", "-1"], "-1"),
        (["simulate", "gang", "--property", "nonsense"], "nonsense"),
        (["simulate", "no_such_spec"], "no_such_spec"),
        (["check", "gang", "--trace-format", "svg"], "svg"),
        (["check", "gang", "--trace-format", "itf", "--json"], "--trace FILE"),
        (["check", "yunikorn", "queues=two_leaves", "--trace", "no/such/dir/trace.txt"], "no/such/dir"),
        (["explain", "gang"], "--state EXPR, --action CALL"),
        (["explain", "gang", "--state", "state[app9] == NEW"], "no element of App is named app9"),
        (["explain", "gang", "--state", "state[app1] = NEW"], "cannot be read"),
        (["explain", "gang", "--state", "state[app1]"], "expected a condition"),
        (["explain", "gang", "--action", "allocate(app1)"], "takes (a, n)"),
        (["explain", "gang", "--action", "submit(app1)", "--step", "3"], "--step goes with"),
        (["explain", "gang", "--action", "submit(app1)", "--property", "nonsense"], "nonsense"),
        (["explain", "gang", "--action", "submit(app1)", "--property", "node_capacity"], "node_capacity has no trace"),
        (["explain", "gang", "--state", "state[app1] == NEW", "--property", "node_capacity"], "without --state"),
        (
            ["explain", "gang", "--state", "state[app1] == PENDING", "--action", "submit(app1)", "--step", "9"],
            "at most 1",
        ),
        (["export", "gang"], "--to"),
        (["export", "gang", "--to", "tla"], "'tla' is not one of 'dot', 'mermaid'"),
        (["export", "gang", "--to", "dot", "--project", "nonsense"], "nothing named nonsense"),
        (["export", "gang", "--to", "dot", "--project", "state[app1]; reals"], "cannot be read"),
        (["export", "gang", "--to", "dot", "-o", "no/such/dir/gang.dot"], "no/such/dir"),
        (["schedule", "no/such/directory"], "no/such/directory"),
        (["schedule", "--policy", "lifo", str(EXAMPLE)], "lifo"),
        (["place", "--method", "guess", str(EXAMPLE)], "guess"),
        (["review", str(EXAMPLE), "-o", "no/such/dir/report.html"], "no/such/dir"),
        (["compare"], "INPUT"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_a_users_mistake_is_one_message_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert told in err
    assert "Traceback" not in err


def test_a_mistake_in_a_users_spec_names_its_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "broken.py"
    spec.write_text(TOY.replace("require(~running[j],", "require(~running[j] and"))
    assert run(["check", f"{spec}:toy"]) == 2
    line = next(i for i, text in enumerate(spec.read_text().splitlines(), 1) if " and" in text)
    assert f"broken.py:{line}" in capsys.readouterr().err


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from gangproof.cli import run; run(['--help']); "
        "print([m for m in ('numba', 'llvmlite', 'ortools', 'z3', 'numpy', 'rich', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "check" in done.stdout


def test_every_schema_is_a_schema() -> None:
    schemas = [f for f in (files("gangproof") / "schemas").iterdir() if f.name.endswith(".json")]
    assert {f.name.removesuffix(".json") for f in schemas} >= {
        "list",
        "check",
        "simulate",
        "schedule",
        "place",
        "compare",
        "review",
    }
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(json.loads(schema.read_text()))


def test_schedule_and_place_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    status, greedy, _ = answer(capsys, "schedule", str(EXAMPLE))
    assert status == 0
    status, best, _ = answer(capsys, "place", str(EXAMPLE))
    assert (status, best["status"], best["gap"]) == (0, "OPTIMAL", 0)
    assert best["admitted_gangs"] > greedy["admitted_gangs"]
    for answered in (greedy, best):
        assert answered["admitted_gangs"] == len(answered["admitted"])
        assert answered["admitted_gangs"] + len(answered["pending"]) == 3


def test_compare_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    status, parsed, _ = answer(capsys, "compare", str(EXAMPLE))
    assert status == 0
    (policy,) = parsed["policies"]
    assert policy["gap"] > 0
    assert parsed["witness"] is not None


def test_placements_as_text_fit_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("schedule", "place", "compare"):
        assert run([command, str(EXAMPLE)]) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_the_property_that_is_asked_for_has_its_trace_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "gang", "--property", "every_app_finishes", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["trace_property"] == "every_app_finishes"
    assert answer["trace"]
    assert run(["simulate", "gang", "--walks", "3", "--property", "node_capacity", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["trace_property"] is None


def test_explaining_at_a_property_whose_budget_ran_out_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", "yunikorn", "queues=two_leaves", "--property", "no_starving_gangs"]
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


@pytest.mark.parametrize("arguments", [["check", "gang"], ["simulate", "gang"], ["schedule", str(EXAMPLE)]])
def test_what_solves_placements_is_loaded_only_where_one_is_solved(arguments: list[str]) -> None:
    """OR-Tools and what it imports take longer to load than a small spec to check."""
    code = (
        f"import sys; from gangproof.cli import run; run({arguments}); print('ortools' in sys.modules, file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr.split()[-1] == "False"
