"""INPUT of the commands that work on a cluster: a directory or files, and how to read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gangproof.output import warn
from reference.cluster import Cluster

F = TypeVar("F", bound=Callable[..., Any])


def cluster_input(command: F) -> F:
    """Adds INPUT... and ``--gang-seed`` to a command."""
    seed = click.option(
        "--gang-seed",
        type=int,
        default=1,
        show_default=True,
        help="For traces without gangs (openb): the seed that pods are grouped into gangs with.",
    )
    paths = click.argument("paths", nargs=-1, required=True, metavar="INPUT...")
    return paths(seed(command))


def read_cluster(paths: tuple[str, ...], gang_seed: int) -> tuple[Cluster, list[str]]:
    """The cluster of these files, and what was dropped or assumed, which is also told on stderr."""
    from reference.manifests import load

    result = load(paths, gang_seed=gang_seed)
    warnings = [str(w) for w in result.warnings]
    warn(warnings)
    return result.cluster, warnings
