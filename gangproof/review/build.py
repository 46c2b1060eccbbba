"""Everything a review says, put together: the checks, both placements, what waits, and the smallest difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from gangproof.review.abstraction import Abstraction, abstractions
from gangproof.review.pictures import NodePicture, gang_colours, node_pictures, show_resources
from gangproof.witness_rows import reasons
from model.explore import explore
from model.verdict import Outcome, Verdict
from reference.cluster import Application, Cluster, Placement
from reference.schedulers import schedule
from solver_placement import Solution, Status
from solver_placement.compare import compare
from solver_placement.witness import Witness

PICTURES = 40
ROWS = 60
"""A page shows so many pictures and rows, and counts the rest."""
TIMED_OUT = "placeholder timeout"
"""How the reference begins the reason of a gang that waited for others until its placeholders timed out."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds for each check and for the solver, states for each check."""

    check_seconds: float = 30.0
    max_states: int = 20_000_000
    place_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Change:
    """One cell of a trace step."""

    cell: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One step of the counterexample."""

    number: int
    call: str
    changes: tuple[Change, ...]
    fault: str | None


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The shortest one."""

    name: str
    about: str
    rows: tuple[TraceRow, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One instance of the spec, explored."""

    abstraction: Abstraction
    verdict: Verdict
    headline: str
    covered: str
    counterexample: Counterexample | None


@dataclass(frozen=True, slots=True)
class Side:
    """One placement, as pictures."""

    title: str
    pictures: tuple[NodePicture, ...]
    left_out: str


@dataclass(frozen=True, slots=True)
class Greedy:
    """What the reference scheduler did, and what that is worth."""

    placement: Placement
    weight: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A gang that at least one of the two leaves out."""

    gang: str
    asks: str
    queue: str
    greedy: str
    optimal: str


@dataclass(frozen=True, slots=True)
class Review:
    """The whole page as data."""

    title: str
    inputs: tuple[str, ...]
    warnings: tuple[str, ...]
    cluster: Cluster
    policy: str
    checks: tuple[Check, ...]
    greedy: Greedy
    solution: Solution
    greedy_gap: Fraction
    gap_sentence: str
    refusals: tuple[str, ...]
    cautions: tuple[str, ...]
    gangs: tuple[Application, ...]
    sides: tuple[Side, ...]
    waiting: tuple[Waiting, ...]
    waiting_left_out: str
    witness: Witness | None = None
    witness_reasons: tuple[str, ...] = ()
    colours: dict[str, str] = field(default_factory=dict)

    @property
    def decided(self) -> bool:
        """Whether every check has an answer and the best weight is proved."""
        return self.solution.weight_proven and all(c.verdict.outcome is not Outcome.UNKNOWN for c in self.checks)


def build(
    cluster: Cluster, title: str, inputs: Sequence[str], warnings: Sequence[str], policy: str, budget: Budget
) -> Review:
    """Check, schedule, solve and compare one cluster."""
    colours = gang_colours(cluster)
    comparison = compare(
        cluster, {policy: lambda c: schedule(c, policy=policy).placement}, time_limit=budget.place_seconds
    )
    (row,) = comparison.policies
    stuck = [gang for gang, reason in row.placement.pending.items() if reason.startswith(TIMED_OUT)]
    checks = tuple(_check(a, budget) for a in abstractions(cluster, stuck))
    solution = comparison.solution
    greedy = Greedy(row.placement, row.objective.weight)
    refusals = [f"{policy}: {v}" for v in row.refusals] + [f"optimal: {v}" for v in comparison.solution_refusals]
    waiting = _waiting(cluster, greedy.placement, solution.placement)
    witness = comparison.witness
    proved = "proved" if solution.status is Status.OPTIMAL else "best found, not proved"
    return Review(
        title=title,
        inputs=tuple(inputs),
        warnings=tuple(warnings),
        cluster=cluster,
        policy=policy,
        checks=checks,
        greedy=greedy,
        solution=solution,
        greedy_gap=row.gap,
        gap_sentence=_gap_sentence(greedy.weight, solution),
        refusals=tuple(refusals),
        cautions=tuple(_cautions(stuck, checks)),
        gangs=tuple(sorted(cluster.applications, key=lambda a: (a.submitted, a.name))[:ROWS]),
        sides=(
            _side(f"Greedy ({policy})", cluster, greedy.placement, colours),
            _side(f"Optimal ({proved})", cluster, solution.placement, colours),
        ),
        waiting=tuple(waiting[:ROWS]),
        waiting_left_out=_left_out(len(waiting), ROWS, "gangs"),
        witness=witness,
        witness_reasons=tuple(reasons(witness)) if witness else (),
        colours=colours,
    )


def _check(abstraction: Abstraction, budget: Budget) -> Check:
    verdict = explore(abstraction.machine, max_states=budget.max_states, time_limit=budget.check_seconds)
    c = verdict.coverage
    covered = f"{c.distinct_states:,} distinct states, {c.transitions:,} transitions, depth {c.depth}."
    if not c.complete:
        covered += f" Not every state was covered: {c.budget}."
    worst = verdict.first_violation
    found = f"{worst.name} is violated" if worst else f"{len(verdict.properties)} properties"
    headline = f"{found}; {abstraction.covers}, {c.distinct_states:,} states"
    return Check(abstraction, verdict, headline, covered, _counterexample(abstraction, verdict))


def _cautions(stuck: Sequence[str], checks: Sequence[Check]) -> Iterator[str]:
    """Gangs that timed out in the schedule although no violation explains it: evidence against a check that holds."""
    explained = {g for c in checks if c.verdict.outcome is Outcome.VIOLATED for g in c.abstraction.gangs}
    for gang in stuck:
        if gang not in explained:
            among = any(gang in c.abstraction.gangs for c in checks)
            why = "its instance shows no violation" if among else "no instance holds it"
            yield (
                f"gang {gang} ended in a placeholder timeout in the greedy schedule, but {why}: "
                "what was left out of the instances may matter here"
            )


def _counterexample(abstraction: Abstraction, verdict: Verdict) -> Counterexample | None:
    worst = verdict.first_violation
    if worst is None or worst.trace is None:
        return None
    declared = next((p for p in abstraction.machine.properties if p.name == worst.name), None)
    rows = tuple(
        TraceRow(
            number, step.call, tuple(Change(cell, _text(a), _text(b)) for cell, (a, b) in changed.items()), step.fault
        )
        for number, (step, changed) in enumerate(zip(worst.trace.steps, worst.trace.changes(), strict=True), 1)
    )
    return Counterexample(worst.name, declared.doc if declared else worst.how, rows)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _gap_sentence(weight: int, solution: Solution) -> str:
    if weight == solution.bound:
        return "Greedy is optimal here."
    if solution.weight_proven:
        return f"The best placement is worth {solution.bound}, greedy reaches {weight}."
    return f"No placement is worth more than {solution.bound}; the best found is worth {solution.objective.weight}."


def _side(title: str, cluster: Cluster, placement: Placement, colours: dict[str, str]) -> Side:
    pictures = node_pictures(cluster, placement, colours)
    return Side(title, tuple(pictures[:PICTURES]), _left_out(len(pictures), PICTURES, "pictures"))


def _left_out(count: int, limit: int, what: str) -> str:
    return (
        f"{count - limit:,} more {what} are not shown; the JSON of gangproof compare has them." if count > limit else ""
    )


def _waiting(cluster: Cluster, greedy: Placement, optimal: Placement) -> list[Waiting]:
    return [
        Waiting(
            app.name,
            show_resources(app.placeholder_ask) + f", {app.members} pods",
            app.queue,
            greedy.pending.get(app.name, "admitted"),
            optimal.pending.get(app.name, "admitted"),
        )
        for app in sorted(cluster.applications, key=lambda a: (a.submitted, a.name))
        if app.name in greedy.pending or app.name in optimal.pending
    ]


__all__ = ["Budget", "Review", "build"]
