"""The face of gangproof: the command line (`gangproof.cli`), the HTML review (`gangproof.review`), and this module.

    import gangproof

    verdict = gangproof.check("gang", apps=4, size=3, capacity=4, quota=7)
    cluster = gangproof.load("examples/spark-gangs").cluster
    greedy, best = gangproof.schedule(cluster).placement, gangproof.place(cluster)

The packages behind it (`model`, `specs`, `reference`, `solver_placement`) are loaded when a name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.language import Machine
    from model.simulation import Simulation
    from model.verdict import Verdict
    from reference.cluster import Cluster
    from reference.manifests import LoadResult
    from reference.schedulers import ScheduleResult
    from solver_placement import Solution


def check(spec: str | Machine | Callable[..., Machine], **parameters: Any) -> Verdict:
    """Explore every state of ``spec``: a shipped name, ``file.py:function``, a spec function, or a machine."""
    from model.explore import explore
    from model.language import Machine as _Machine
    from specs.loading import build_spec

    if isinstance(spec, _Machine):
        if parameters:
            raise TypeError("a machine is built already; give the parameters to its spec function")
        return explore(spec, coverage=True)
    return explore(build_spec(spec, parameters), coverage=True)


def simulate(
    spec: str | Machine | Callable[..., Machine],
    *,
    walks: int = 1_000,
    steps: int = 100,
    seed: int = 0,
    time_limit: float | None = None,
    **parameters: Any,
) -> Simulation:
    """Random walks over ``spec``, named as for `check`: see `model.explore.walks.simulate`."""
    from model.explore import simulate as _simulate
    from model.language import Machine as _Machine
    from specs.loading import build_spec

    if isinstance(spec, _Machine) and parameters:
        raise TypeError("a machine is built already; give the parameters to its spec function")
    machine = spec if isinstance(spec, _Machine) else build_spec(spec, parameters)
    return _simulate(machine, walks=walks, steps=steps, seed=seed, time_limit=time_limit)


def load(*paths: str) -> LoadResult:
    """Read manifests: see `reference.manifests.load`."""
    from reference.manifests import load as _load

    return _load(paths)


def schedule(cluster: Cluster, policy: str = "yunikorn") -> ScheduleResult:
    """Run a reference scheduler: see `reference.schedulers.schedule`."""
    from reference.schedulers import schedule as _schedule

    return _schedule(cluster, policy=policy)


def place(cluster: Cluster, time_limit: float = 60.0) -> Solution:
    """The optimal placement: see `solver_placement.solve`."""
    from solver_placement import solve

    return solve(cluster, time_limit=time_limit)


__all__ = ["check", "load", "place", "schedule", "simulate"]
