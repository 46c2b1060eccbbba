"""Runs scenarios against the reference schedulers that can read them."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import reference.schedulers
from reference.errors import InputError
from reference.manifests.document import Field
from reference.manifests.position import steps_of
from reference.scenarios.files import Scenario

Run = Callable[[Mapping[str, object]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a scenario comes to: each difference between what it expects and what the reference does, in one line."""

    scenario: Scenario
    differences: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the reference does all that the scenario expects."""
        return not self.differences


def systems() -> tuple[str, ...]:
    """The reference schedulers that run scenarios, sorted."""
    packages = (m.name for m in pkgutil.iter_modules(reference.schedulers.__path__) if m.ispkg)
    return tuple(sorted(name for name in packages if importlib.util.find_spec(_module(name)) is not None))


def run(scenario: Scenario) -> Outcome:
    """The scenario against its system's reference.

    Raises InputError with file, line and path where the scenario is not one that the system can read.
    """
    run_it: Run = importlib.import_module(_module(scenario.system)).run
    try:
        return Outcome(scenario, run_it(scenario.content))
    except InputError as error:
        raise _placed(error, scenario.field) from None


def _module(system: str) -> str:
    return f"reference.schedulers.{system}.scenario"


def _placed(error: InputError, scenario: Field) -> InputError:
    """The same mistake with its place in the file; ``where`` is a path below the scenario."""
    path = (*scenario.path, *steps_of(error.where))
    at = scenario.document.position(path) or scenario.document.position(scenario.path)
    where = Field(scenario.document, path, None).where
    line, column = (at.line, at.column) if at else (None, None)
    return InputError(error.found, error.expected, scenario.document.file, line, column, where)
