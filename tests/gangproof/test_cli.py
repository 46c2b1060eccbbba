"""The command line: exit statuses, JSON against the published schemas, and mistakes told in one line."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from command_line import EXAMPLE, TOY, answer

from gangproof.cli import run


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


def test_check_as_text_fits_80_columns(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    assert run(["check", toy, "leak=true"]) == 1
    text = capsys.readouterr().out
    assert "VIOLATED: slots_suffice, shortest trace 2 steps" in text.replace("\n ", "")
    assert max(len(line) for line in text.splitlines() if "/" not in line) <= 80


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
        (["check", "yunikorn", "edition=seed", "policy=lifo"], "lifo"),
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
        (["check", "yunikorn", "edition=seed", "queues=two_leaves", "--trace", "no/such/dir/trace.txt"], "no/such/dir"),
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
        (["export", "gang", "--to", "alloy"], "'alloy' is not one of 'dot', 'mermaid'"),
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
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")


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


def test_output_that_is_not_buffered_is_whole_or_an_error(tmp_path: Path) -> None:
    """A raw file takes of a write what fits, and says nothing of the rest."""
    command = f"ulimit -f 1; exec {shlex.quote(sys.executable)} -m gangproof check gang --json > out.json"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(EXAMPLE.parents[1])}
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "the output cannot be written" in done.stderr


def test_every_schema_is_a_schema() -> None:
    schemas = [f for f in (files("gangproof") / "schemas").iterdir() if f.name.endswith(".json")]
    assert {f.name.removesuffix(".json") for f in schemas} >= {
        "list",
        "check",
        "simulate",
        "simulate_cluster",
        "prove",
        "verify-certificate",
        "schedule",
        "place",
        "scenario",
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


@pytest.mark.parametrize("arguments", [["check", "gang"], ["simulate", "gang"], ["schedule", str(EXAMPLE)]])
def test_what_solves_placements_is_loaded_only_where_one_is_solved(arguments: list[str]) -> None:
    """OR-Tools and what it imports take longer to load than a small spec to check."""
    code = (
        f"import sys; from gangproof.cli import run; run({arguments}); print('ortools' in sys.modules, file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr.split()[-1] == "False"
