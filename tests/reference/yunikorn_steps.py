"""The register of YuniKorn's rules and their tests, and steps that the tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiny_clusters import cluster, gang, leaf, tree

from reference.schedulers.yunikorn import Core, Options, Record

LEFT_OUT = {
    "Y2": "concerns the shim: the core is not told whether the application came with a first pod",
    "Y10": "assumptions on the user's side; the core works without them (several levels, a cluster smaller than quota)",
    "Y11": "a warning; test_yunikorn_starvation.py shows the live lock",
}
TESTED: set[str] = set()


def rule(*ids: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Enter the test under the rules that it shows."""
    TESTED.update(ids)
    return lambda test: test


def reserve(core: Core, name: str, count: int | None = None) -> None:
    """Submit ``name``, ask for all its placeholders and allocate ``count`` of them (all) where the core puts them."""
    core.submit(name)
    groups = [group.name for group in core.applications[name].application.task_groups]
    for group in groups:
        core.ask_placeholders(name, group)
    wanted = core.applications[name].application.members if count is None else count
    for _ in range(wanted):
        event = core.next_decision()
        assert event is not None
        assert event.application == name
        core.apply(event)
    assert core.check_invariants() == []


def run(core: Core, name: str, group: str = "g0", count: int = 1) -> list[Record]:
    """Ask for ``count`` real pods and let each replace a placeholder."""
    confirmed = []
    for _ in range(count):
        started = core.start_replacement(name, core.ask_real(name, group).event.key)
        confirmed.append(core.confirm_release(name, started.placeholder))
    return confirmed


def one(size: int = 2, *, nodes: tuple[int, ...] = (4,), quota: int | None = None, **options: Any) -> Core:
    return Core(cluster(nodes, tree(leaf("root.a", quota)), gang("x", "root.a", size)), Options(**options))
