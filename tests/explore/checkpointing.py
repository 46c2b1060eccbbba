"""Searches that are interrupted, and what it means that two ended alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from model.explore import Exploration, Saving
from model.language import Machine
from specs.loading import load_spec

SMALL = {"apps": 3, "size": 2, "nodes": 2, "capacity": 2, "quota": 4}


def after(calls: int) -> Callable[[], bool]:
    """Asks to stop from the ``calls``-th question on."""
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked >= calls

    return stop


def interrupted(machine: Machine, path: Path, calls: int, threads: int = 1, **more: object) -> Exploration:
    saving = Saving(path)
    return Exploration(machine, threads=threads, stop=after(calls), saving=saving, **more)  # type: ignore[arg-type]


def assert_same(one: Exploration, other: Exploration) -> None:
    """States in the same order, depths, counts, verdicts and traces."""
    a, b = one.verdict, other.verdict
    assert (one.states == other.states).all()
    assert (one.distances == other.distances).all()
    assert a.properties == b.properties
    for p, q in zip(a.properties, b.properties, strict=True):
        assert (p.trace and p.trace.to_json()) == (q.trace and q.trace.to_json())
    for name in ("distinct_states", "transitions", "depth", "actions", "complete", "budget"):
        assert getattr(a.coverage, name) == getattr(b.coverage, name), name


def sized(**parameters: int) -> Machine:
    given = {"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7, **parameters}
    return load_spec("gang", tuple(f"{k}={v}" for k, v in given.items()))


def resume(path: Path, **parameters: int) -> Exploration:
    return Exploration(sized(**parameters), resume=path)
