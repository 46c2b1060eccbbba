"""The face of gangproof: the command line (`gangproof.cli`), the HTML review (`gangproof.review`), and this module.

    import gangproof

    verdict = gangproof.check("gang", apps=4, size=3, capacity=4, quota=7)
    verdict = gangproof.check(gangproof.machine("gang", apps=5), symmetry=True, time_limit=60)
    cluster = gangproof.load("examples/spark-gangs").cluster
    greedy, best = gangproof.schedule(cluster).placement, gangproof.place(cluster)

The packages behind it (`model`, `specs`, `reference`, `solver_placement`) are loaded when a name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from model.language import Machine
    from model.proof import Proof
    from model.simulation import Simulation
    from model.verdict import Verdict
    from reference.cluster import Cluster
    from reference.manifests import LoadResult
    from reference.schedulers import ScheduleResult
    from solver_placement import Solution


Spec: TypeAlias = "str | Callable[..., Machine]"


def machine(spec: Spec, /, **parameters: Any) -> Machine:
    """The machine of ``spec`` (a shipped name, ``file.py:function``, or a spec function) with these parameters."""
    from specs.loading import build_spec

    return build_spec(spec, parameters)


def check(spec: Spec | Machine, /, **keywords: Any) -> Verdict:
    """Explore every state of ``spec``: one that `machine` knows, or a machine.

    ``keywords`` are the parameters of a spec. With a machine, which has them already, they are budgets and other
    options of `model.explore.explore`: ``check(machine("gang", apps=5), symmetry=True, max_states=10_000_000)``.
    """
    from model.explore import explore
    from model.language import Machine as _Machine

    if isinstance(spec, _Machine):
        return explore(spec, **{"coverage": True, **keywords})
    return explore(machine(spec, **keywords), coverage=True)


def simulate(spec: Spec | Machine, /, **keywords: Any) -> Simulation:
    """Random walks over ``spec``; ``keywords`` as for `check`, options those of `model.explore.simulate`."""
    from model.explore import simulate as _simulate
    from model.language import Machine as _Machine

    if isinstance(spec, _Machine):
        return _simulate(spec, **keywords)
    return _simulate(machine(spec, **keywords))


def prove(spec: Spec | Machine, /, **keywords: Any) -> Proof:
    """What holds of ``spec`` in runs of any length; ``keywords`` as for `check`, options of `model.prove.prove`."""
    from model.language import Machine as _Machine
    from model.prove import prove as _prove

    if isinstance(spec, _Machine):
        return _prove(spec, **keywords)
    return _prove(machine(spec, **keywords))


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


__all__ = ["check", "load", "machine", "place", "prove", "schedule", "simulate"]
