"""Is a certificate one of this spec, and are its lemmas with the claims inductive?

The certificate is written anew, from the spec and the lemmas of the file; a file that says anything else is refused.
Then cvc5 answers the checks, in a process that knows nothing of how the claims were proved.
"""

from __future__ import annotations

import enum
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.language import Machine
from model.lowering.lower import Program, lower
from model.prove.certificate import run_cvc5
from model.prove.certificate.read import Certified
from model.prove.certificate.syntax import one_line
from model.prove.certificate.write import Part, certificate, text_of
from model.prove.claims import claims
from model.prove.solving import Deadline
from model.verdict import typed


class Answer(enum.Enum):
    """What a certificate is worth."""

    VERIFIED = "verified"
    REFUSED = "refused"
    UNKNOWN = "unknown"

    @property
    def exit_status(self) -> int:
        """Of the command line."""
        return {Answer.VERIFIED: 0, Answer.REFUSED: 1, Answer.UNKNOWN: 3}[self]


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer about one file. ``problem``: the check that failed and why, or what the time ran out at. ``passed``:
    the checks that the solver answered as it should, of ``checks``."""

    certified: Certified
    answer: Answer
    problem: str | None
    lemmas: int
    checks: int
    passed: int
    solver: str | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The JSON of ``gangproof verify-certificate``."""
        return {
            "file": str(self.certified.path),
            "spec": self.certified.spec,
            "parameters": list(self.certified.parameters),
            "verdict": self.answer.value,
            "problem": self.problem,
            "claims": list(self.certified.claims),
            "k": self.certified.k,
            "lemmas": self.lemmas,
            "checks": self.checks,
            "passed": self.passed,
            "solver": self.solver,
            "seconds": round(self.seconds, 3),
        }


def check_certificate(certified: Certified, machine: Machine, time_limit: float | None = None) -> Checked:
    """Whether the file certifies its claims of ``machine``. ``time_limit`` in seconds: UNKNOWN when it runs out.
    FileError for a lemma that is no formula."""
    deadline = Deadline(time_limit)

    def answer(
        answer: Answer, problem: str | None, lemmas: int, checks: int, passed: int, solver: str | None
    ) -> Checked:
        return Checked(certified, answer, problem, lemmas, checks, passed, solver, deadline.spent)

    program = lower(machine)
    other = _of_another(certified, program)
    if other is not None:
        return answer(Answer.REFUSED, other, 0, 0, 0, None)
    invariant = certified.invariant(machine)
    expected = certificate(program, invariant)
    names = [part.check for part in expected if part.check is not None]
    count, lemmas = len(names), len(invariant.lemmas)
    differs = _difference(certified, expected)
    if differs is not None:
        return answer(Answer.REFUSED, differs, lemmas, count, 0, None)
    solved = solve(expected, deadline)
    return answer(solved.answer, solved.problem, lemmas, count, solved.passed, solved.solver)


@dataclass(frozen=True, slots=True)
class Solved:
    """What cvc5 says of the checks of one certificate, up to the first that fails."""

    answer: Answer
    problem: str | None
    passed: int
    solver: str | None


def solve(commands: Sequence[Part], deadline: Deadline) -> Solved:
    """Have cvc5 answer the checks among ``commands``, in a process of its own."""
    passed = 0
    with _Solver(text_of(commands)).started() as solver:
        for name in [part.check for part in commands if part.check is not None]:
            try:
                found = solver.line(deadline)
            except _NoAnswer as error:
                problem = f"cvc5 {error} at the check: {name}; after {deadline.spent:.1f} s"
                return Solved(Answer.UNKNOWN, problem, passed, solver.version)
            if found == "sat":
                return Solved(Answer.REFUSED, f"this check fails: {name}", passed, solver.version)
            if found != "unsat":
                raise RuntimeError(f"cvc5 answers {found!r} to the check: {name}")
            passed += 1
        return Solved(Answer.VERIFIED, None, passed, solver.version)


def _of_another(certified: Certified, program: Program) -> str | None:
    """How what the file names differs from the machine."""
    machine = program.machine
    if certified.spec != machine.name:
        return f"it is of the spec {certified.spec}, not of {machine.name}"
    expected = tuple(f"{name}={typed(value)}" for name, value in machine.parameters.items())
    if certified.parameters != expected:
        wrong = [p for p in certified.parameters if p not in expected] or ["nothing"]
        missing = [p for p in expected if p not in certified.parameters] or ["nothing"]
        return f"it is of other parameters: {' '.join(wrong)} where {' '.join(missing)} is expected"
    known = [c.name for c in claims(program) if not c.is_goal]
    for name in certified.claims:
        if name not in known or certified.claims.count(name) > 1:
            return f"it claims {name}, which {machine.name} does not claim of states and steps, or claims once"
    return None if certified.claims else "it claims nothing"


def _difference(certified: Certified, expected: Sequence[Part]) -> str | None:
    """The first command of the file that is not what it must be."""
    for part, command in zip(expected, certified.commands, strict=False):
        if part.expr != command.expr:
            return (
                f"{certified.path}:{command.line}: this is not {part.what} of {certified.spec}: "
                f"expected {_short(one_line(part.expr))}, found {_short(one_line(command.expr))}"
            )
    there, all_ = len(certified.commands), len(expected)
    if there < all_:
        return f"{certified.path}: it ends before {expected[there].what}"
    if there > all_:
        command = certified.commands[all_]
        return f"{certified.path}:{command.line}: nothing may follow the checks, found {_short(one_line(command.expr))}"
    return None


def _short(text: str, most: int = 100) -> str:
    return text if len(text) <= most else f"{text[: most - 4]} ..."


class _Solver:
    """cvc5 in a process of its own, which reads ``text``."""

    def __init__(self, text: str) -> None:
        self._text: Final = text
        self._lines: Final[queue.SimpleQueue[str | None]] = queue.SimpleQueue()
        self._process: subprocess.Popen[str]
        self.version: str | None = None

    @contextmanager
    def started(self) -> Iterator[_Solver]:
        """The solver while it runs; it does not outlive this."""
        script = Path(run_cvc5.__file__)
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        threads = [threading.Thread(target=each, daemon=True) for each in (self._feed, self._listen)]
        try:
            for thread in threads:
                thread.start()
            yield self
        finally:
            self._process.kill()
            self._process.wait()
            for thread in threads:
                thread.join()
            assert self._process.stdout is not None
            self._process.stdout.close()

    def _feed(self) -> None:
        assert self._process.stdin is not None
        # If it has ended, what it answered tells.
        with suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(self._text)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def line(self, deadline: Deadline) -> str:
        """The next answer. `_NoAnswer` when the time is over, or something ended the process; RuntimeError if it ends
        by itself."""
        if self.version is None:
            self.version = f"cvc5 {self._next(deadline)}"
        found = self._next(deadline)
        if found == "unknown":
            raise _NoAnswer("gave up")
        return found

    def _next(self, deadline: Deadline) -> str:
        try:
            found = self._lines.get(timeout=deadline.left)
        except queue.Empty:
            raise _NoAnswer("had no answer when the time limit ran out") from None
        if found is None:
            status = self._process.wait()
            if status < 0:
                raise _NoAnswer(f"was ended by signal {-status}")
            raise RuntimeError(f"cvc5 ended with status {status} before it had answered every check")
        return found


class _NoAnswer(Exception):
    """Why the solver does not tell."""


__all__ = ["Answer", "Checked", "Solved", "check_certificate", "solve"]
