"""The tables of a spec's README that say what is found in which scope, and what is found there."""

from __future__ import annotations

import re

from model import semantics
from model.explore import explore
from model.language import Machine
from model.verdict import Outcome, Verdict
from specs.loading import load_spec

_ROW = re.compile(
    r"^\| (?P<parameters>\(default\)|[a-z_]+=\S+(?: [a-z_]+=\S+)*) \| (?P<states>[\d,]+) \| (?P<transitions>[\d,]+) "
    r"\| (?P<depth>\d+) \| (?P<answer>.+) \|$",
    re.MULTILINE,
)


def rows(readme: str) -> dict[str, re.Match[str]]:
    """The rows by their parameters."""
    return {row["parameters"]: row for row in _ROW.finditer(readme)}


def load(spec: str, parameters: str, *more: str) -> Machine:
    """The spec in the scope that a row names, with ``more`` that the whole table has."""
    return load_spec(spec, [*more, *([] if parameters == "(default)" else parameters.split())])


def violated(verdict: Verdict) -> dict[str, int]:
    """The violated properties, with the length of their traces."""
    return {p.name: len(p.trace or ()) for p in verdict.properties if p.outcome is Outcome.VIOLATED}


def vacuous(verdict: Verdict) -> list[str]:
    """The properties that say nothing."""
    return [p.name for p in verdict.properties if p.outcome is Outcome.VACUOUS]


def answer(verdict: Verdict) -> str:
    """The last column."""
    words = ", ".join(f"{name} {steps}" for name, steps in violated(verdict).items())
    return f"violated: {words}" if words else verdict.outcome.value


def found(verdict: Verdict) -> list[str]:
    """What a row says after the parameters."""
    c = verdict.coverage
    return [f"{c.distinct_states:,}", f"{c.transitions:,}", str(c.depth), answer(verdict)]


def told(row: re.Match[str]) -> list[str]:
    """The same, as the row has it."""
    return [row[name] for name in ("states", "transitions", "depth", "answer")]


def assert_same_counts(machine: Machine) -> tuple[semantics.Explored, Verdict]:
    """The golden interpreter and the explorer count the same; what each found."""
    slow, fast = semantics.explore(machine), explore(machine)
    c = fast.coverage
    assert (len(slow.distance), slow.transitions, slow.depth) == (c.distinct_states, c.transitions, c.depth)
    assert slow.fired == dict(c.actions)
    return slow, fast
