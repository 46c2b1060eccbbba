"""The exceptions that mean: the user can mend this. Their message is the whole answer."""

from __future__ import annotations

import click

from model.errors import FileError, GraphTooLarge, QueryError
from model.language import SpecError
from reference.errors import InputError
from solver_placement.problem import ProblemTooLarge
from specs.loading import SpecLoadError

USER_MISTAKES: tuple[type[Exception], ...] = (
    FileError,
    GraphTooLarge,
    InputError,
    ProblemTooLarge,
    QueryError,
    SpecError,
    SpecLoadError,
)


def known_policy(name: str) -> None:
    """A click error for a policy that no reference scheduler has."""
    from reference.schedulers import POLICIES

    if name not in POLICIES:
        raise click.BadParameter(f"--policy is one of {', '.join(POLICIES)}, found {name!r}")
