"""What `bench/specs.py` prints is of every shipped spec, in every edition, and it has something large for each."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from specs.editions import default_edition, editions
from specs.loading import load_spec
from specs.registry import SHIPPED, spec_function

FILE = Path(__file__).resolve().parents[2] / "bench" / "specs.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_specs", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("spec", SHIPPED)
def test_scopes_make_sense_and_name_every_edition(spec: str, bench: ModuleType) -> None:
    function, scopes = spec_function(spec), ("", *bench.SCOPES.get(spec, ()), *bench.LARGE[spec])
    for scope in scopes:
        load_spec(spec, scope.split())
    named = {
        value for scope in scopes for name, _, value in (w.partition("=") for w in scope.split()) if name == "edition"
    }
    named |= {default_edition(function)} - {""}
    assert named == set(editions(function))


def test_nothing_else_is(bench: ModuleType) -> None:
    assert {*bench.SCOPES, *bench.LARGE} <= set(SHIPPED)
