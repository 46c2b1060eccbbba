"""What `bench/specs.py` prints is of every shipped spec, in every edition, and it has something large for each."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from specs.editions import editions
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
def test_every_edition_of_every_spec_is_measured(spec: str, bench: ModuleType) -> None:
    machines = [load_spec(spec, scope.split()) for scope in ("", *bench.SCOPES.get(spec, ()))]
    measured = {str(getattr(each.parameters.get("edition", ""), "value", "")) for each in machines}
    assert measured >= set(editions(spec_function(spec)))
    assert all(load_spec(spec, scope.split()) for scope in bench.LARGE[spec])


def test_nothing_else_is(bench: ModuleType) -> None:
    assert {*bench.SCOPES, *bench.LARGE} <= set(SHIPPED)
