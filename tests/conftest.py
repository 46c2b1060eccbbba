"""What all tests share: Hypothesis profiles and the place of large data sets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# How long an example takes depends on the machine's load, not on the code: no deadline, no check for slow generation.
# Derandomized, so that a run that was green is green again; `thorough` looks for what is new.
settings.register_profile(
    "default", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), derandomize=False, max_examples=1000)
# What is compiled is compiled here, whatever earlier runs have left; tests of the cache name a directory of their own.
os.environ["GANGPROOF_CACHE"] = ""
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Random tests are not traced: they take the same lines hundreds of times, at nearly twice the time."""
    for item in items:
        if getattr(getattr(item, "function", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.no_cover)


def pytest_report_header() -> str:
    """Name the profile: it decides how much a green run says."""
    return f"hypothesis profile: {os.environ.get('HYPOTHESIS_PROFILE', 'default')}"


@pytest.fixture(scope="session")
def large_data() -> Path:
    """The directory of data sets too large for the repository; the test is skipped where there is none.

    It is named by GANGPROOF_DATA, else it is looked for beside the checkout. A GANGPROOF_DATA that names no directory
    is an error, not a skip.
    """
    named = os.environ.get("GANGPROOF_DATA")
    if named is not None:
        if not Path(named).is_dir():
            pytest.fail(f"GANGPROOF_DATA is {named!r}, which is not a directory")
        return Path(named)
    beside = ROOT.parent / "shared" / "data"
    if not beside.is_dir():
        pytest.skip("no large data sets here; set GANGPROOF_DATA to their directory")
    return beside
