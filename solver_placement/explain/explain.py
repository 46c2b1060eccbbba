"""``explain_pending``: why one gang is pending, beside the pods that run.

The gang is asked about alone. Where it fits alone, no constraint blocks it: that it waits is a matter of order, of
gangs that a scheduler serves first. ``settled`` turns what a scheduler did with those into running pods, and then they
are among what may block.

Every answer is tried again on the cluster itself, apart from the tables that the search works on: lifted are all
constraints but the blocking ones, and the gang must not fit; lifted is a correction, and ``reference.validate`` must
accept the placement.
"""

# float: seconds only
from __future__ import annotations

import enum
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from reference.cluster import Application, Assignment, Cluster, Placement
from reference.cluster.features import Feature, refuse
from reference.errors import InputError, sample
from reference.schedulers.amounts import show
from reference.validate import validate
from solver_placement.engine import Effort
from solver_placement.explain.constraints import Constraint, Kind, constraints
from solver_placement.explain.edits import settled_pods
from solver_placement.explain.fit import Answer, Counts, Fit, decide
from solver_placement.explain.ground import Ground
from solver_placement.explain.minimal import Found, Memory, Numbers, explore
from solver_placement.problem import Unsound

KNOWS = frozenset(
    {Feature.TOPOLOGY, Feature.ELASTIC, Feature.MIN_MEMBERS, Feature.COMPOSITE, Feature.RESERVED}
    | {Feature.PREFERRED_TOPOLOGY, Feature.PRIORITY, Feature.SHARES}
)
"""What an explanation knows of a cluster beyond plain gangs. What only steers blocks nothing: it is known in that."""

MOST_SETS = 16


class Status(enum.Enum):
    """FITS: the gang can be placed now. BLOCKED: it cannot. UNKNOWN: the time ran out before either was known."""

    FITS = "FITS"
    BLOCKED = "BLOCKED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Correction:
    """Lift all of ``constraints`` and the gang fits, as ``placement`` shows; ``steps`` say how, one for each."""

    constraints: tuple[Constraint, ...]
    steps: tuple[str, ...]
    placement: Placement


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why ``gang`` is pending.

    ``blocking`` is a minimal set that blocks it: with everything else lifted it does not fit, and without any one of
    the set it does. ``other_blocking`` are more such sets, each for itself enough to block. ``corrections`` come
    smallest first. ``minimal``: each set is proved minimal; ``complete``: there are no others; ``in_time``: what they
    are not is not for lack of time. Where the gang fits, ``placement`` shows how, and all else is empty. ``questions``
    is how many subsets were decided.
    """

    gang: str
    status: Status
    placement: Placement | None
    blocking: tuple[Constraint, ...]
    other_blocking: tuple[tuple[Constraint, ...], ...]
    corrections: tuple[Correction, ...]
    minimal: bool
    complete: bool
    in_time: bool
    questions: int
    seconds: float


def explain_pending(
    cluster: Cluster, gang: str, *, time_limit: float = 10.0, most: int = MOST_SETS, seed: int = 0
) -> Explanation:
    """Explain why the gang named ``gang`` is pending.

    Up to ``most`` blocking sets and corrections are listed; ``time_limit`` is in seconds.

    Raises InputError for a gang that does not wait in ``cluster``, and for rules that are not in ``KNOWS``;
    ProblemTooLarge for amounts beyond 64-bit sums.
    """
    refuse(cluster, KNOWS, "explain-pending")
    app = waiting_gang(cluster, gang)
    began = time.monotonic()
    return _Search(replace(cluster, applications=(app,)), app, began, time_limit, seed).explain(most)


def waiting_gang(cluster: Cluster, gang: str) -> Application:
    """The waiting gang of that name; InputError where there is none."""
    names = {app.name: app for app in cluster.applications}
    if gang in names:
        return names[gang]
    if any(pod.application == gang for pod in cluster.running):
        raise InputError(f"{gang!r}, which runs", "a gang that waits", where="GANG")
    raise InputError(repr(gang), f"a gang that waits: {sample(sorted(names))}", where="GANG")


def settled(cluster: Cluster, placement: Placement, gang: str) -> Cluster:
    """``cluster`` after ``placement`` of all gangs but ``gang``: what is admitted runs, and counts as an application
    of its queues; gangs that wait elsewhere are gone."""
    apps = {app.name: app for app in cluster.applications}
    groups = {(app.name, group.name): group for app in cluster.applications for group in app.task_groups}
    pods = tuple(
        pod
        for a in placement.assignments
        if a.application != gang
        for pod in settled_pods(apps[a.application], groups[a.application, a.task_group], a.node, a.count)
    )
    return replace(cluster, applications=(apps[gang],), running=(*cluster.running, *pods))


class _Search:
    """The tables, the clock, and what is known of one gang."""

    def __init__(self, cluster: Cluster, app: Application, began: float, time_limit: float, seed: int) -> None:
        self.cluster, self.app, self.began = cluster, app, began
        self.effort = Effort(began + time_limit, workers=2, seed=seed)
        self.constraints = constraints(cluster, app)
        self.ground = Ground(cluster, app, self.constraints)
        self.answers: dict[Numbers, Answer] = {}
        self.memory = Memory(self._fit)

    def _fit(self, lifted: Numbers) -> Fit:
        self.answers[lifted] = answer = decide(self.ground.question(lifted), self.effort)
        return answer.fit

    def explain(self, most: int) -> Explanation:
        everything: Numbers = frozenset(range(len(self.constraints)))
        fit = self.memory(frozenset())
        if fit is Fit.YES:
            return self._answer(Status.FITS, Found(complete=True), self._placed(frozenset()))
        if fit is Fit.UNKNOWN:
            return self._answer(Status.UNKNOWN, Found(minimal=False, in_time=False))
        if self.constraints[0].kind is Kind.NO_NODES:
            return self._answer(Status.BLOCKED, Found([everything], complete=True))
        with_all = self.memory(everything)
        if with_all is Fit.NO:
            raise Unsound(f"gang {self.app.name} does not fit with every constraint lifted")
        found = Found([everything], minimal=False, in_time=False)
        if with_all is Fit.YES:
            found = explore(everything, self.memory, most, lambda: self.effort.left() > 0)
        for blocking in found.blocking:
            self._recheck(everything, blocking)
        return self._answer(Status.BLOCKED, found)

    def _recheck(self, everything: Numbers, blocking: Numbers) -> None:
        """The blocking set alone blocks, on the cluster with all else lifted."""
        edited = self._lifted(everything - blocking)
        app = edited.applications[0]
        question = Ground(edited, app, constraints(edited, app)).question(frozenset())
        if decide(question, self.effort).fit is Fit.YES:
            raise Unsound(f"gang {app.name} fits where only {self._named(blocking)} should block it")

    def _named(self, numbers: Iterable[int]) -> list[Constraint]:
        return [self.constraints[i] for i in sorted(numbers)]

    def _lifted(self, lifted: Iterable[int]) -> Cluster:
        edited = self.cluster
        for i in sorted(lifted):
            lift = self.constraints[i].lift
            if lift is not None:
                edited = lift(edited)
        return edited

    def _placed(self, lifted: Numbers) -> Placement:
        """The placement found with ``lifted``, which the judge accepts on the cluster without them."""
        # what was remembered of a smaller lifting serves a larger one
        known = next(each for each in (lifted, *self.answers) if each <= lifted and self._counts(each) is not None)
        counts = self._counts(known)
        assert counts is not None
        placement = _placement(self.app, [node.name for node in self.cluster.nodes], counts)
        faults = validate(self._lifted(lifted), placement)
        if faults:
            raise Unsound(
                f"the judge refuses the placement of {self.app.name} without {self._named(lifted)}: {faults[0]}"
            )
        return placement

    def _counts(self, lifted: Numbers) -> Counts | None:
        answer = self.answers.get(lifted)
        return None if answer is None else answer.counts

    def _correction(self, lifted: Numbers) -> Correction:
        placement = self._placed(lifted)
        steps = tuple(self._step(i, lifted, placement) for i in sorted(lifted))
        return Correction(tuple(self._named(lifted)), steps, placement)

    def _step(self, number: int, lifted: Numbers, placement: Placement) -> str:
        """How one constraint of a correction is lifted; for a maximum, how far."""
        constraint = self.constraints[number]
        if constraint.kind is not Kind.QUEUE_MAXIMUM:
            return constraint.relax
        groups = {group.name: group for group in self.app.task_groups}
        ask = sum(groups[a.task_group].pod_resource.amount(constraint.what) * a.count for a in placement.assignments)
        needed = self.ground.needed_maximum(constraint.where, constraint.what, ask, lifted)
        queue = self.cluster.queues.path(constraint.where)[-1]
        amounts = [show(constraint.what, n) for n in (queue.maximum[constraint.what], needed)]
        return f"{constraint.relax} from {amounts[0]} to {amounts[1]}"

    def _answer(self, status: Status, found: Found, placement: Placement | None = None) -> Explanation:
        # the smallest set says most
        blocking = sorted(found.blocking, key=lambda s: (len(s), sorted(s)))
        return Explanation(
            self.app.name,
            status,
            placement,
            tuple(self._named(blocking[0])) if blocking else (),
            tuple(tuple(self._named(each)) for each in blocking[1:]),
            tuple(self._correction(each) for each in found.corrections),
            found.minimal,
            found.complete,
            found.in_time,
            self.memory.asked,
            time.monotonic() - self.began,
        )


def _placement(app: Application, nodes: Sequence[str], counts: Counts) -> Placement:
    assignments = [
        Assignment(app.name, group.name, nodes[n], int(counts[g, n]))
        for g, group in enumerate(app.task_groups)
        for n in counts[g].nonzero()[0].tolist()
    ]
    return Placement(tuple(sorted(assignments)), (app.name,))
