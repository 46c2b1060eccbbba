"""What README.md shows is what the commands print, and its tutorial's spec is one that works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console_blocks import ROOT, Command, File, blocks, renewed, replaced, run, steady

README = ROOT / "README.md"


@pytest.fixture(scope="module")
def steps() -> list[Command | File]:
    return blocks(README.read_text(encoding="utf-8"))


def test_every_command_prints_what_the_readme_shows(steps: list[Command | File]) -> None:
    commands = [step for step in steps if isinstance(step, Command)]
    assert len(commands) >= 10
    for command, printed in zip(commands, run(steps), strict=True):
        assert steady(printed) == steady(command.printed), f"$ {command.line}\n{printed}"


# What the text around the outputs builds on; outputs written anew must still say it.
PROMISED = {
    "gangproof compare examples/spark-gangs": "No placement has more weight than 2",
    "gangproof check yunikorn edition=seed |": "HOLDS: every property",
    "gangproof check yunikorn edition=seed queues=two_leaves >": "1",
    "sed -n '/^This run/,$p' answer.txt": "This run violates no_starving_gangs",
    "gangproof check yunikorn edition=seed queues=two_leaves gate=reserves": "HOLDS: every property",
    "gangproof check yunikorn edition=seed policy=fair reject_fair=false": "VIOLATED: no_starving_gangs",
    "gangproof review examples/spark-gangs": "no_starving_gangs is violated",
    "gangproof check my_spec.py:toy slots=2 |": "HOLDS: every property",
    "gangproof check wrong.py:wrong": "error: wrong.py:15: done[j]: an expression has no truth value",
}


@pytest.mark.parametrize("beginning", PROMISED)
def test_outputs_say_what_the_text_builds_on(steps: list[Command | File], beginning: str) -> None:
    (command,) = [s for s in steps if isinstance(s, Command) and s.line.startswith(beginning)]
    assert PROMISED[beginning] in steady(command.printed)


def test_lines_fit_a_terminal(steps: list[Command | File]) -> None:
    lines = [line for step in steps if isinstance(step, Command) for line in step.printed.splitlines()]
    # a message of an error is one line, for programs that collect them
    assert [line for line in lines if len(line) > 80 and not line.startswith("error: ")] == []


def test_links_and_paths_exist() -> None:
    text = README.read_text(encoding="utf-8")
    links = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert links
    assert [target for target in links if not (ROOT / target).exists()] == []


# ---- the reader of console blocks itself

DOCUMENT = """
```python a.py
def answer():
    return 6 * 9

print(answer())
```
text
```python a.py answer
def answer():
    return 6 * 7
```
```console
$ python a.py
42
$ false
$ echo $?
1
$ ls examples | grep spark; echo "took 1.25 s" >&2
spark-gangs
took 3.50 s
```
"""


def test_blocks_run_in_order_in_one_shell() -> None:
    steps = blocks(DOCUMENT)
    assert steps[1] == File("a.py", "def answer():\n    return 6 * 7\n\nprint(answer())\n")
    printed = run(steps)
    wanted = [step.printed for step in steps if isinstance(step, Command)]
    assert list(map(steady, printed)) == list(map(steady, wanted))
    assert printed[3] == "spark-gangs\ntook 1.25 s\n"


def test_another_output_is_seen(tmp_path: Path) -> None:
    wrong = DOCUMENT.replace("42\n", "41\n")
    printed = run(blocks(wrong))
    wanted = [step.printed for step in blocks(wrong) if isinstance(step, Command)]
    assert [steady(a) == steady(b) for a, b in zip(printed, wanted, strict=True)] == [False, True, True, True]
    assert renewed(wrong) == DOCUMENT.replace("3.50", "1.25")


def test_a_replacement_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="one function finish, found 0"):
        replaced("def answer():\n    pass\n", "finish", "")


def test_a_block_that_begins_with_output_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with a command"):
        blocks("```console\noutput\n```\n")
