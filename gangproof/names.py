"""Names that are given on the command line: a click error where nothing has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from model.language import Machine


def known_property(machine: Machine, name: str) -> None:
    """A click error where ``machine`` has no property ``name``, built-in ones included."""
    from model.language.properties import BUILT_IN

    names = [*(p.name for p in machine.properties), *BUILT_IN]
    if name not in names:
        raise click.BadParameter(f"{machine.name} has no property {name!r}; it has {', '.join(names)}")


def known_policy(name: str, *more: str, option: str = "--policy") -> None:
    """A click error for a policy that neither a scheduler of clusters has nor ``more`` names, given to ``option``."""
    from reference.schedulers import POLICIES

    known = list(dict.fromkeys((*POLICIES, *more)))
    if name not in known:
        raise click.BadParameter(f"{option} is one of {', '.join(known)}, found {name!r}")
