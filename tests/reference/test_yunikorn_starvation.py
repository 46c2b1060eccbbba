"""When gangs starve each other: the reason for rejecting FAIR, and where FIFO is not enough."""

from __future__ import annotations

import pytest
from tiny_clusters import cluster, gang, leaf, tree

from reference.cluster import Cluster, SortPolicy
from reference.schedulers.yunikorn import Core, Environment, Gate, Options, Timers


def held_when_stuck(made: Cluster, options: Options) -> dict[str, int]:
    """Placeholders per gang after submitting all and running cycles until nothing happens."""
    core = Core(made, options)
    for app in made.applications:
        core.submit(app.name)
        core.ask_placeholders(app.name, "g0")
    while (event := core.next_decision()) is not None:
        core.apply(event)
    assert core.check_invariants() == []
    held = {name: len(app.placeholders) for name, app in core.applications.items()}
    others = [event.name.value for event in core.enabled_events(Environment(timers=Timers.OFF))]
    assert (others == []) == all(0 < count < 3 for count in held.values())  # stuck, but for timers
    return held


@pytest.mark.parametrize(
    ("policy", "gate", "held"),
    [
        (SortPolicy.FAIR, Gate.NONE, {"x": 2, "y": 2}),
        (SortPolicy.FAIR, Gate.FITS, {"x": 2, "y": 2}),
        (SortPolicy.FAIR, Gate.RESERVES, {"x": 3, "y": 0}),
        (SortPolicy.FIFO, Gate.NONE, {"x": 3, "y": 1}),
        (SortPolicy.FIFO, Gate.FITS, {"x": 3, "y": 0}),
        (SortPolicy.STATE_AWARE, Gate.NONE, {"x": 3, "y": 0}),
    ],
)
def test_one_leaf(policy: SortPolicy, gate: Gate, held: dict[str, int]) -> None:
    made = cluster((2, 2), tree(leaf("root.a", 4)), gang("x", "root.a", 3), gang("y", "root.a", 3, submitted=1))
    assert held_when_stuck(made, Options(sort_policy=policy, gate=gate, reject_fair=False)) == held


@pytest.mark.parametrize(
    ("gate", "held"),
    [(Gate.NONE, {"x": 2, "y": 2}), (Gate.FITS, {"x": 2, "y": 2}), (Gate.RESERVES, {"x": 3, "y": 0})],
)
def test_two_leaves_under_one_quota_starve_even_with_fifo(gate: Gate, held: dict[str, int]) -> None:
    queues = tree(leaf("root.a"), leaf("root.b"), quota=4)
    made = cluster((2, 2), queues, gang("x", "root.a", 3), gang("y", "root.b", 3))
    assert held_when_stuck(made, Options(gate=gate)) == held
