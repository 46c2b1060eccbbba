"""INPUT of the commands that work on a cluster: a directory or files, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from gangproof.output import warn
from reference.cluster import Cluster
from reference.cluster.features import Feature, reduce_to

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


def read_cluster(
    paths: tuple[str, ...], gang_seed: int, engines: Mapping[str, frozenset[Feature]], shared_gpus: bool = False
) -> tuple[Cluster, list[str]]:
    """The cluster of these files, and what was dropped or assumed, which is also told on stderr.

    ``engines`` is who will work on it, and what each of them knows beyond plain gangs: a rule that one of them does not
    know is made smaller for all, so that they answer the same question.
    """
    from reference.manifests import load

    result = load(paths, gang_seed=gang_seed, shared_gpus=shared_gpus)
    cluster, warnings = result.cluster, [str(w) for w in result.warnings]
    for who, known in engines.items():
        cluster, reduced = reduce_to(cluster, known, who)
        warnings += reduced
    warn(warnings)
    return cluster, warnings


def known_to(*names: str) -> dict[str, frozenset[Feature]]:
    """What these reference schedulers know."""
    from reference.schedulers import KNOWS

    return {name: KNOWS.get(name, frozenset()) for name in names}


def solver(*, launches: bool = False, objectives: Iterable[str] = ()) -> dict[str, frozenset[Feature]]:
    """What the solver knows; with ``launches`` also of node types, and what these ``objectives`` read."""
    from solver_placement.solve import KNOWS, KNOWS_LAUNCHES, READS

    known = KNOWS_LAUNCHES if launches else KNOWS
    return {"the solver": known | {READS[name] for name in objectives if name in READS}}
