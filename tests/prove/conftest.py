"""The certificate of `gang`, once for all tests."""

from __future__ import annotations

import pytest
from certificates import written

from model.language import Machine
from specs.loading import load_spec


@pytest.fixture(scope="session")
def gang() -> Machine:
    """The shipped spec."""
    return load_spec("gang", [])


@pytest.fixture(scope="session")
def text(gang: Machine) -> str:
    """Its certificate."""
    return written(gang)
