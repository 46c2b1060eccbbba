"""Which package may import which, and nothing that is not declared.

model <- specs           specs/<system>/binding.py and replayer.py, or those of an edition, also import reference
reference <- solver_placement
gangproof imports all; examples, notebooks, bench and tests import any, and no package imports them
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sources import PACKAGES, ROOT, imported, modules

# A tracer would take more time here than the tests do, which read the project and run nothing of it.
pytestmark = pytest.mark.no_cover

MAY_IMPORT = {
    "model": {"model"},
    "specs": {"specs", "model"},
    "reference": {"reference"},
    "solver_placement": {"solver_placement", "reference"},
    "gangproof": set(PACKAGES),
}
EDITIONS = {("seed",), ("current",)}
NEVER_IMPORTED = {"tests", "examples", "notebooks", "bench"}


def allowed(path: Path) -> set[str]:
    """The project's packages that the module at this path may import."""
    names = MAY_IMPORT[path.parts[0]]
    below = path.parts[2:-1]
    if (
        path.parts[0] == "specs"
        and len(path.parts) > 2
        and path.name in ("binding.py", "replayer.py")
        and (not below or below in EDITIONS)
    ):
        return names | {"reference"}
    return names


def violations(root: Path) -> Iterator[str]:
    for path, text in modules(root, *PACKAGES):
        for line, name in imported(path, text):
            top = name.split(".")[0]
            if top in {*PACKAGES, *NEVER_IMPORTED} - allowed(path):
                yield f"{path}:{line} imports {name}"


# Each part of the explorer may import those before it.
PARTS = ["symmetry", "codegen", "search", "traces", "liveness", "coverage", "walks"]


def upwards(root: Path) -> Iterator[str]:
    """Imports between folders of the explorer that go against the order of its parts."""
    for path, text in modules(root, "model"):
        if path.parts[1] != "explore" or path.parts[2] not in PARTS:
            continue
        below = PARTS[: PARTS.index(path.parts[2]) + 1]
        for line, name in imported(path, text):
            parts = name.split(".")
            if parts[:2] == ["model", "explore"] and len(parts) > 2 and parts[2] in PARTS and parts[2] not in below:
                yield f"{path}:{line} imports {name}"


# What engines share knows none of them.
BELOW_ENGINES = {"language": {"language"}, "lowering": {"language", "lowering"}}
ENGINES = {"explore", "prove", "explain", "export"}


def into_engines(root: Path) -> Iterator[str]:
    """Imports from the language, and from what lowers it, of what is built on them."""
    for path, text in modules(root, "model"):
        if path.parts[1] not in BELOW_ENGINES:
            continue
        beyond = (ENGINES | set(BELOW_ENGINES)) - BELOW_ENGINES[path.parts[1]]
        for line, name in imported(path, text):
            parts = name.split(".")
            if parts[0] == "model" and len(parts) > 1 and parts[1] in beyond:
                yield f"{path}:{line} imports {name}"


def test_language_and_lowering_know_no_engine() -> None:
    assert list(into_engines(ROOT)) == []


@pytest.mark.parametrize(
    ("path", "name", "found"),
    [
        ("model/language/a.py", "model.lowering.lower", 1),
        ("model/lowering/a.py", "model.explore.layout", 1),
        ("model/lowering/a.py", "model.language", 0),
        ("model/prove/a.py", "model.explore", 0),
    ],
)
def test_an_import_of_an_engine_from_below_is_caught(path: str, name: str, found: int, tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(f"import {name}\n")
    assert len(list(into_engines(tmp_path))) == found


def test_parts_of_the_explorer_import_those_before_them() -> None:
    assert list(upwards(ROOT)) == []


@pytest.mark.parametrize(
    ("path", "name", "found"),
    [
        ("model/explore/search/a.py", "model.explore.walks.stepper", 1),
        ("model/explore/walks/a.py", "model.explore.search.search", 0),
        ("model/explore/search/a.py", "model.explore.layout", 0),
        ("model/explore/a.py", "model.explore.walks.stepper", 0),
    ],
)
def test_an_import_of_a_later_part_is_caught(path: str, name: str, found: int, tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(f"import {name}\n")
    assert len(list(upwards(tmp_path))) == found


def test_packages_keep_the_import_rules() -> None:
    assert list(violations(ROOT)) == []


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("model/a.py", "import reference", "model/a.py:1 imports reference"),
        (
            "model/explore/a.py",
            "def f():\n    from reference.cluster import Node",
            "model/explore/a.py:2 imports reference.cluster",
        ),
        ("model/a.py", "import specs.gang as g", "model/a.py:1 imports specs.gang"),
        (
            "model/a.py",
            "from importlib import import_module\nimport_module('reference')",
            "model/a.py:2 imports reference",
        ),
        (
            "model/a.py",
            "import importlib\nimportlib.import_module('gangproof.cli')",
            "model/a.py:2 imports gangproof.cli",
        ),
        ("model/sub/a.py", "from ...reference import x", "model/sub/a.py:1 imports reference"),
        ("model/sub/a.py", "from .. import explore\nfrom ..explore import x", None),
        ("reference/a.py", "from model import Machine", "reference/a.py:1 imports model"),
        ("reference/a.py", "import solver_placement", "reference/a.py:1 imports solver_placement"),
        ("reference/a.py", "import os, gangproof", "reference/a.py:1 imports gangproof"),
        ("specs/gang.py", "import reference", "specs/gang.py:1 imports reference"),
        ("specs/binding.py", "import reference", "specs/binding.py:1 imports reference"),
        ("specs/yunikorn/deep/binding.py", "import reference", "specs/yunikorn/deep/binding.py:1 imports reference"),
        ("specs/yunikorn/machine.py", "if x:\n  import reference", "specs/yunikorn/machine.py:2 imports reference"),
        ("specs/yunikorn/binding.py", "import reference\nimport model", None),
        ("specs/yunikorn/current/replayer.py", "import reference\nimport model", None),
        ("specs/replayer.py", "import reference", "specs/replayer.py:1 imports reference"),
        (
            "specs/yunikorn/binding.py",
            "import solver_placement",
            "specs/yunikorn/binding.py:1 imports solver_placement",
        ),
        ("solver_placement/a.py", "import reference, model", "solver_placement/a.py:1 imports model"),
        ("solver_placement/a.py", "from reference.cluster import Node\nfrom . import b", None),
        ("gangproof/a.py", "import model, specs, reference, solver_placement", None),
        ("gangproof/a.py", "from tests.house import sources", "gangproof/a.py:1 imports tests.house"),
        ("model/a.py", "import references_elsewhere, modelling", None),
    ],
)
def test_the_rules_catch_a_made_up_violation(tmp_path: Path, path: str, source: str, found: str | None) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    assert list(violations(tmp_path)) == ([found] if found else [])


def requirements(extra: str | None = None) -> list[Requirement]:
    """What pyproject.toml asks for at run time, or under an extra."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    return [
        Requirement(line) for line in (project["optional-dependencies"][extra] if extra else project["dependencies"])
    ]


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [re.fullmatch(r"([A-Za-z0-9._-]+)==(\S+)", line) for line in lines if line and not line.startswith("#")]
    assert all(pins), "every line of requirements.lock is NAME==VERSION"
    return {canonicalize_name(pin[1]): pin[2] for pin in pins if pin}


def test_packages_import_only_declared_dependencies() -> None:
    declared = {canonicalize_name(requirement.name) for requirement in requirements()}
    owners = packages_distributions()
    undeclared = [
        f"{path}:{line} imports {name}"
        for path, text in modules(ROOT, *PACKAGES)
        if path.parent.name != "findings"  # scripts that show a finding on the real program, where that is installed
        for line, name in imported(path, text)
        if (top := name.split(".")[0]) not in sys.stdlib_module_names
        and top not in PACKAGES
        and not declared & {canonicalize_name(owner) for owner in owners.get(top, [])}
    ]
    assert undeclared == []


@pytest.mark.parametrize("extra", [None, "dev"])
def test_the_lock_pins_every_declared_dependency_within_its_range(extra: str | None) -> None:
    pins = locked()
    outside = [
        f"{requirement}: locked {pins.get(canonicalize_name(requirement.name))}"
        for requirement in requirements(extra)
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]
    assert outside == []


def test_what_runs_here_is_what_is_locked() -> None:
    assert {name: version(name) for name in locked()} == locked()


def test_importing_the_small_packages_pulls_in_no_engine() -> None:
    """`reference` is plain Python: importing it must not load a compiler or a solver."""
    script = (
        "import sys, reference.cluster; print([m for m in ('numba', 'llvmlite', 'ortools', 'z3') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
