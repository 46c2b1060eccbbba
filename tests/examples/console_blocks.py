"""Shell sessions in Markdown: run them, compare, and write them anew.

In a fenced ``console`` block a line that starts with ``$ `` is a command; the lines up to the next one are what it
prints, standard output and errors together. A fenced ``python NAME.py`` block is a file that stands there from then on,
and ``python NAME.py FUNCTION`` takes the place of that function in it. All blocks of a document run in order, in one
shell and one empty directory with the repository's ``examples`` beside it.

``python tests/examples/console_blocks.py README.md`` writes what the commands print now into the document.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 240

_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "=#= gangproof: end of command =#="
# What a clock or an allocator decides, not the input.
_VOLATILE = (
    (re.compile(r"\b\d+\.\d+ s\b"), "0.00 s"),
    (re.compile(r"\b\d+ bytes a state"), "0 bytes a state"),
    # the column of seconds in the table of `compare`
    (re.compile(r"(?<= %) \d+\.\d+\b"), " 0.00"),
)


@dataclass(frozen=True)
class Command:
    """A command line, and what the document says it prints."""

    line: str
    printed: str


@dataclass(frozen=True)
class File:
    """A file that the reader is told to write."""

    name: str
    text: str


def blocks(document: str) -> list[Command | File]:
    """The commands and files of a document, in order."""
    found: list[Command | File] = []
    texts: dict[str, str] = {}
    for block in _BLOCK.finditer(document):
        match block["info"].split():
            case ["console"]:
                found += _commands(block["body"])
            case ["python", name, *function]:
                texts[name] = replaced(texts[name], function[0], block["body"]) if function else block["body"]
                found.append(File(name, texts[name]))
    return found


def replaced(source: str, function: str, instead: str) -> str:
    """``source`` with the lines of one function, decorators included, replaced. ValueError where there is not one."""
    found = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef) and n.name == function]
    if len(found) != 1:
        raise ValueError(f"expected one function {function}, found {len(found)}")
    first = min([found[0].lineno, *(d.lineno for d in found[0].decorator_list)])
    lines = source.splitlines(keepends=True)
    return "".join([*lines[: first - 1], instead, *lines[found[0].end_lineno :]])


def _commands(body: str) -> list[Command]:
    before, *parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"a console block begins with a command, found {before!r}")
    return [Command(line, printed) for line, _, printed in (part.partition("\n") for part in parts)]


def steady(text: str) -> str:
    """``text`` without what differs from run to run. A longer time can move a line break: those compare as spaces."""
    text = re.sub(r"\s+", " ", text).strip()
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text


def run(steps: list[Command | File]) -> list[str]:
    """What each command prints; files are written on the way. TimeoutExpired past ``SECONDS`` in all."""
    script = [f"ln -s {ROOT / 'examples'} examples"]
    with tempfile.TemporaryDirectory() as directory:
        for number, step in enumerate(steps):
            if isinstance(step, File):
                kept = Path(directory, f".file{number}")
                kept.write_text(step.text, encoding="utf-8")
                script.append(f"cp {kept.name} {step.name}")
            else:
                # the exit status survives the mark, so that `echo $?` tells it
                script.append(f"{step.line}\nstatus=$?; printf '\\n%s\\n' '{_MARK}'; (exit $status)")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("COV_", "COVERAGE"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=directory,
            env=environment | {"PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "TERM": "dumb"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    # the reader's directory has another name
    *printed, rest = done.stdout.replace(f"{directory}/", "").split(f"\n{_MARK}\n")
    commands = [step for step in steps if isinstance(step, Command)]
    if len(printed) != len(commands) or rest.strip():
        raise RuntimeError(f"the shell stopped early:\n{done.stdout}")
    return printed


def renewed(document: str) -> str:
    """The document with what its commands print now."""
    answers = iter(run(blocks(document)))

    def anew(block: re.Match[str]) -> str:
        if block["info"].strip() != "console":
            return block[0]
        lines = [f"$ {command.line}\n{_ended(next(answers))}" for command in _commands(block["body"])]
        return "```console\n" + "".join(lines) + "```"

    return _BLOCK.sub(anew, document)


def _ended(text: str) -> str:
    text = "\n".join(line.rstrip() for line in text.rstrip().splitlines())
    return text + "\n" if text else ""


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
