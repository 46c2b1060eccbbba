"""Where gangs compete: the quotas that cannot hold all gangs below them at once, and which gangs an instance holds.

Gangs that the scheduler rejects at submission (a leaf with FAIR sorting, an ask that is larger than a quota on its
path) compete for nothing and are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from reference.cluster import PODS, Application, Cluster, Queue, Resources, SortPolicy, total

MOST_GANGS = 3
"""Four gangs of size three take minutes; three take seconds."""
MOST_CONTESTS = 3
"""So many quotas are checked, the tightest first."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Gangs that share ``limit`` of one ``resource``: what a queue's maximum, or all nodes together, leave for them.

    ``gangs`` are those of the instance: by submission, or with ``hierarchy`` from one leaf and the other in turn.
    ``of`` counts all gangs that compete here. ``notes`` say what was left out, and why.
    """

    name: str
    resource: str
    limit: int
    gangs: tuple[Application, ...]
    of: int
    hierarchy: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Quota:
    """A limit with all gangs that count against it; ``pressure`` is what they ask of what is left."""

    name: str
    resource: str
    left: int
    gangs: tuple[Application, ...]
    in_use: bool
    is_leaf: bool

    @property
    def asked(self) -> int:
        return sum(_ask(a, self.resource) for a in self.gangs)

    @property
    def pressure(self) -> Fraction:
        return Fraction(self.asked, max(1, self.left))

    @property
    def contended(self) -> bool:
        return len(self.gangs) > 1 and self.asked > self.left


def contests(cluster: Cluster, stuck: Collection[str] = ()) -> list[Contest]:
    """The contests of ``cluster``, the tightest quota first; where none is contended, the one that is nearest to it.

    ``stuck``: gangs known to wait for each other; they are taken into an instance before others.
    """
    entering, rejected = _entering(cluster)
    quotas = list(_quotas(cluster, entering))
    contended = sorted((q for q in quotas if q.contended), key=lambda q: -q.pressure)
    if not contended and quotas:
        contended = [max(quotas, key=lambda q: (len(q.gangs) > 1, q.pressure))]
    if not contended:
        # every gang is rejected, or asks for nothing that is limited: the design is checked all the same
        gangs = entering or sorted(cluster.applications, key=lambda a: (a.submitted, a.name))
        contended = [_nodes(cluster, gangs)]
    more = [q.name for q in contended[MOST_CONTESTS:]]
    if more:
        rejected = [*rejected, f"quotas of {', '.join(more)}: only the {MOST_CONTESTS} tightest are checked"]
    return [_contest(quota, stuck, rejected) for quota in contended[:MOST_CONTESTS]]


def _ask(app: Application, resource: str) -> int:
    return app.placeholder_ask.amount(resource)


def _entering(cluster: Cluster) -> tuple[list[Application], list[str]]:
    """The gangs that are not rejected at submission, by submission, and why the others are."""
    entering: list[Application] = []
    notes: list[str] = []
    for app in sorted(cluster.applications, key=lambda a: (a.submitted, a.name)):
        queue = cluster.queues.find(app.queue)
        if queue is not None and queue.sort_policy is SortPolicy.FAIR:
            notes.append(f"gang {app.name}: rejected, its queue {app.queue} has sort policy fair")
        elif not app.placeholder_ask.fits_in_limit(cluster.queues.effective_maximum(app.queue)):
            notes.append(f"gang {app.name}: rejected, it asks for more than a maximum on the path of {app.queue}")
        else:
            entering.append(app)
    return entering, notes


def _quotas(cluster: Cluster, gangs: list[Application]) -> Iterator[_Quota]:
    """For each queue with a maximum and gangs below it, its tightest resource; the nodes where no queue has one."""
    found = False
    for queue in cluster.queues:
        below = [a for a in gangs if a.queue == queue.name or a.queue.startswith(queue.name + ".")]
        if queue.maximum and below:
            usage = cluster.queue_usage(queue.name)
            tightest = _tightest(queue, usage, below)
            if tightest is not None:
                found = True
                yield tightest
    if not found and gangs:
        yield _nodes(cluster, gangs)


def _tightest(queue: Queue, usage: Resources, below: list[Application]) -> _Quota | None:
    """The resource of ``queue`` that the gangs press on most; the count of pods only where nothing else is limited."""
    resources = [r for r in queue.maximum if r != PODS] or list(queue.maximum)
    quotas = [
        _Quota(
            queue.name,
            r,
            max(0, queue.maximum[r] - usage.amount(r)),
            tuple(a for a in below if _ask(a, r) > 0),
            usage.amount(r) > 0,
            queue.is_leaf,
        )
        for r in resources
    ]
    return max((q for q in quotas if q.gangs), key=lambda q: (q.contended, q.pressure), default=None)


def _nodes(cluster: Cluster, gangs: list[Application]) -> _Quota:
    """All nodes together, by the resource that ``gangs`` press on most."""
    free = total(cluster.free(n) for n in cluster.nodes if n.schedulable)
    asked = sorted({r for a in gangs for r, n in a.placeholder_ask.items() if n > 0 and r != PODS}) or [PODS]
    resource = max(asked, key=lambda r: Fraction(sum(_ask(a, r) for a in gangs), max(1, free.amount(r))))
    pressing = tuple(a for a in gangs if _ask(a, resource) > 0)
    return _Quota("all nodes together", resource, max(0, free.amount(resource)), pressing, False, False)


def _contest(quota: _Quota, stuck: Collection[str], notes: list[str]) -> Contest:
    def first(app: Application) -> tuple[bool, bool, int, int]:
        """Gangs that are stuck, then gangs before single pods, then large ones: these are what waits for each other."""
        return (app.name not in stuck, app.members == 1, -_ask(app, quota.resource), app.submitted)

    notes = list(notes)
    by_leaf: dict[str, list[Application]] = {}
    for app in sorted(quota.gangs, key=first):
        by_leaf.setdefault(app.queue, []).append(app)
    leaves = list(by_leaf)
    if len(leaves) > 1 and not quota.is_leaf:
        one, other = leaves[:2]
        if len(by_leaf[one]) == 1:
            one, other = other, one
        chosen = [_by_submission(by_leaf[one][: MOST_GANGS - 1]), by_leaf[other][:1]]
        gangs = [g for pair in zip(chosen[0], [*chosen[1], *[None] * MOST_GANGS], strict=False) for g in pair if g]
    else:
        one, other = leaves[0], ""
        gangs = _by_submission(by_leaf[one][:MOST_GANGS])
    left_out = [a.name for a in _by_submission(list(quota.gangs)) if a not in gangs]
    if left_out:
        notes.append(f"gangs {', '.join(left_out)}: an instance holds at most {MOST_GANGS}, of at most two leaf queues")
    if quota.in_use:
        notes.append(
            f"the pods that already run in {quota.name}: their use is taken off its quota, "
            "and a gang larger than the rest counts as rejected"
        )
    hierarchy = len({a.queue for a in gangs}) > 1
    return Contest(
        quota.name, quota.resource, quota.left, tuple(gangs), len(quota.gangs), hierarchy, tuple(dict.fromkeys(notes))
    )


def _by_submission(apps: list[Application]) -> list[Application]:
    return sorted(apps, key=lambda a: (a.submitted, a.name))
