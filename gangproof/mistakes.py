"""The exceptions that mean: the user can mend this. Their message is the whole answer."""

from __future__ import annotations

import click

from model.errors import FileError, GraphTooLarge, QueryError
from model.language import Machine, SpecError
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


def known_property(machine: Machine, name: str) -> None:
    """A click error where ``machine`` has no property ``name``, built-in ones included."""
    from model.language.properties import BUILT_IN

    names = [*(p.name for p in machine.properties), *BUILT_IN]
    if name not in names:
        raise click.BadParameter(f"{machine.name} has no property {name!r}; it has {', '.join(names)}")


def known_policy(name: str) -> None:
    """A click error for a policy that no reference scheduler has."""
    from reference.schedulers import POLICIES

    if name not in POLICIES:
        raise click.BadParameter(f"--policy is one of {', '.join(POLICIES)}, found {name!r}")
