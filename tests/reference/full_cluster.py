"""A small cluster that is full to the last unit, and what may be said differently of it: one change breaks a rule."""

from __future__ import annotations

from reference.cluster import (
    ANYWHERE,
    PODS,
    VCORE,
    Application,
    Assignment,
    Cluster,
    Constraints,
    Node,
    Placement,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    Taint,
    TaintEffect,
    TaskGroup,
)

POD = Resources({VCORE: 2})


def example(
    *,
    capacity: int = 4,
    pods: int = 2,
    maximum: dict[str, dict[str, int]] | None = None,
    reserved: dict[str, dict[str, int]] | None = None,
    most: dict[str, int] | None = None,
    constraint: Constraints = ANYWHERE,
    running: tuple[RunningPod, ...] = (),
    **node: object,
) -> Cluster:
    """Two nodes of 4 and two gangs of 2 pods of 2 each, in two leaves under root.p: full to the last unit."""
    limits = {name: Resources(amounts) for name, amounts in (maximum or {}).items()}
    kept = {name: Resources(amounts) for name, amounts in (reserved or {}).items()}

    def queue(name: str, *children: Queue) -> Queue:
        return Queue(
            name,
            limits.get(name, Resources()),
            max_applications=(most or {}).get(name),
            children=children,
            reserved=kept.get(name, Resources()),
        )

    both = tuple(Node(name, Resources({VCORE: capacity, PODS: pods}), **node) for name in ("n0", "n1"))  # type: ignore[arg-type]
    tree = QueueTree(queue("root", queue("root.p", queue("root.p.a"), queue("root.p.b"))))
    gangs = tuple(
        Application(name, leaf, (TaskGroup("g", 2, POD, constraint),))
        for name, leaf in (("one", "root.p.a"), ("two", "root.p.b"))
    )
    made = Cluster(both, tree, gangs, running)
    assert made.problems() == []
    return made


TAINT = Taint("k", "v", TaintEffect.NO_SCHEDULE)
GOOD = Placement(
    (Assignment("one", "g", "n0", 1), Assignment("one", "g", "n1", 1), Assignment("two", "g", "n0", 1),
     Assignment("two", "g", "n1", 1)),
    ("one", "two"),
)  # fmt: skip
