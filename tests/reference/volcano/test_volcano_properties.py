"""What holds of Volcano's reference whatever happens to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from volcano_cases import Case, as_placement, cases, picture

from reference.schedulers import schedule
from reference.schedulers.volcano import Edition, Scheduler, Statement, Step, StepKind, TaskStatus
from reference.schedulers.volcano.plugins.shares import Claim, deserved_shares
from reference.strategies import clusters
from reference.validate import validate
from specs.volcano.shares import deserved


@settings(max_examples=60)
@given(cases())
def test_what_runs_passes_the_judge_after_every_event(case: Case) -> None:
    """Counts are what is there after every event and every step of a session; no node and no queue holds too much; and
    what is bound is at least minAvailable of its job, unless a bind failed."""
    scheduler = case.scheduler()
    scheduler.observer = lambda step: _nothing_is_broken(scheduler, step)
    for event in case.events:
        record = case.apply(scheduler, event)
        assert scheduler.check_invariants() == []
        # before 2020 a queue's deserved share is no limit for a task, only for the next turn
        if case.configuration.edition is Edition.CURRENT or not any(
            "proportion" in str(t) for t in case.configuration.tiers
        ):
            assert validate(*as_placement(scheduler)) == []
        failed = {step.job for step in record.steps if step.kind is StepKind.BIND_FAILED}
        for name in {scheduler.tasks[task].job.name for task, _ in record.bound} - failed:
            job = scheduler.jobs[name]
            gone = sum(scheduler.tasks[t].job is job for t in record.evicted)
            assert job.ready_task_num + gone + job.best_effort_pending >= job.min_available


def _nothing_is_broken(scheduler: Scheduler, step: Step) -> None:
    if step.kind not in (StepKind.OPEN, StepKind.POP):
        assert scheduler.check_invariants() == [], step


@settings(max_examples=40)
@given(cases(), st.data())
def test_a_discarded_statement_leaves_no_trace(case: Case, data: st.DataObject) -> None:
    """Whatever it allocated, pipelined and evicted: nodes, jobs, tasks and what the plugins count are as before."""
    scheduler = case.scheduler()
    for event in case.events:
        case.apply(scheduler, event)
    session = scheduler.open_session()
    before, orders = picture(scheduler), _orders(session)
    statement = Statement(session)
    for _ in range(data.draw(st.integers(0, 6))):
        pending = [t for t in scheduler.tasks.values() if t.status is TaskStatus.PENDING and t.job.name in session.jobs]
        running = [t for t in scheduler.tasks.values() if t.status is TaskStatus.RUNNING and t.job.name in session.jobs]
        nodes = list(session.nodes.values())
        if pending and nodes and data.draw(st.booleans()):
            task, node = data.draw(st.sampled_from(pending)), data.draw(st.sampled_from(nodes))
            (statement.allocate if data.draw(st.booleans()) else statement.pipeline)(task, node)
        elif running:
            statement.evict(data.draw(st.sampled_from(running)))
    made = list(statement.operations)
    statement.discard()
    assert (picture(scheduler), _orders(session)) == (before, orders)
    statement.recover(made)
    assert [(op.kind, op.task, op.node) for op in statement.operations] == [(op.kind, op.task, op.node) for op in made]
    statement.discard()
    assert (picture(scheduler), _orders(session)) == (before, orders)


def _orders(session: object) -> object:
    assert hasattr(session, "job_key")
    return (
        [session.job_key(job) for job in session.jobs.values()],
        [session.overused(q) for q in session.queues if _has_jobs(session, q)],
        [session.queue_key(q) for q in session.queues if _has_jobs(session, q)],
        [session.namespace_key(n, None) for n in ("ns0", "ns1")],
    )


def _has_jobs(session: object, queue: str) -> bool:
    return any(job.queue == queue for job in session.jobs.values())  # type: ignore[attr-defined]


@settings(max_examples=40)
@given(cases(), st.randoms(use_true_random=False))
def test_neither_the_index_nor_any_order_changes_an_answer(case: Case, rng: random.Random) -> None:
    """With nodes, queues and HyperNodes in another order, and with every node tried for every task, all is the same."""
    plain = replace(
        case,
        configuration=replace(case.configuration, index=False),
        nodes=_shuffled(case.nodes, rng),
        queues=(case.queues[0], *_shuffled(case.queues[1:], rng)),
        hyper_nodes=_shuffled(case.hyper_nodes, rng),
    )
    first, second = case.scheduler(), plain.scheduler()
    for event in case.events:
        assert case.apply(first, event) == plain.apply(second, event)
    assert _where(first) == _where(second)


def _shuffled(items: tuple, rng: random.Random) -> tuple:  # type: ignore[type-arg]
    return tuple(rng.sample(items, len(items)))


def _where(scheduler: Scheduler) -> dict[str, tuple[TaskStatus, str]]:
    return {name: (task.status, task.node) for name, task in scheduler.tasks.items()}


@settings(max_examples=40)
@given(clusters(), st.sampled_from(["seed", "shipped", "current"]), st.randoms(use_true_random=False))
def test_a_placement_of_a_cluster_passes_the_judge(cluster, edition: str, rng: random.Random) -> None:  # type: ignore[no-untyped-def]
    """Whole gangs, within nodes and queues; and neither index nor file order changes it."""
    placement = schedule(cluster, "volcano", edition=edition).placement
    assert validate(cluster, placement) == []
    other = replace(cluster, nodes=_shuffled(cluster.nodes, rng), applications=_shuffled(cluster.applications, rng))
    assert schedule(other, "volcano", edition=edition, index=False).placement.assignments == placement.assignments


amounts = st.integers(0, 30)
weights = st.integers(1, 5)


@given(st.integers(0, 40), st.lists(st.tuples(weights, amounts), min_size=1, max_size=5))
def test_deserved_is_water_filling(total: int, queues: list[tuple[int, int]]) -> None:
    """Without guarantees and capabilities, as the spec's own loop has it, which shares no code with this."""
    claims = [Claim(weight, {"vcore": request}, {}, {}) for weight, request in queues]
    found = [share["vcore"] for share in deserved_shares({"vcore": total}, claims)]
    assert found == deserved(total, [w for w, _ in queues], [r for _, r in queues])


@given(
    st.fixed_dictionaries({"vcore": st.integers(1, 40), "memory": st.integers(1, 40)}),
    st.lists(st.tuples(weights, amounts, amounts, amounts, st.integers(0, 4)), min_size=1, max_size=4),
)
def test_deserved_is_where_upstreams_loop_goes(
    total: dict[str, int], rows: list[tuple[int, int, int, int, int]]
) -> None:
    """Upstream's loop, with all its caps and floors, over both resources at once, in fractions: after enough rounds it
    is as near as wanted. With guarantees it may give out more than there is; the reference does the same."""
    claims = [
        Claim(w, {"vcore": a, "memory": b}, {"vcore": max(cap, least)}, {"vcore": least})
        for w, a, b, cap, least in rows
    ]
    for share, loop in zip(deserved_shares(total, claims), _upstream(total, claims), strict=True):
        for name in total:
            assert abs(share[name] - loop[name]) < Fraction(1, 1000), (name, share, loop)


def _upstream(total: dict[str, int], claims: Sequence[Claim]) -> list[dict[str, Fraction]]:
    share = [dict.fromkeys(total, Fraction(0)) for _ in claims]
    remaining = {n: Fraction(a) for n, a in total.items()}
    met: set[int] = set()
    for _ in range(400):
        everyone = sum(c.weight for i, c in enumerate(claims) if i not in met)
        if everyone == 0 or all(a < Fraction(1, 10**6) for a in remaining.values()):
            break
        increased, decreased = dict.fromkeys(total, Fraction(0)), dict.fromkeys(total, Fraction(0))
        for i, claim in enumerate(claims):
            if i in met:
                continue
            old = dict(share[i])
            for n in total:
                value = old[n] + remaining[n] * claim.weight / everyone
                if n in claim.real_capability:
                    value = min(value, Fraction(claim.real_capability[n]))
                value = max(min(value, Fraction(claim.request[n])), Fraction(claim.guarantee.get(n, 0)))
                share[i][n] = value.limit_denominator(10**9)
                increased[n] += max(share[i][n] - old[n], Fraction(0))
                decreased[n] += max(old[n] - share[i][n], Fraction(0))
            if all(claim.request[n] <= share[i][n] for n in total) or share[i] == old:
                met.add(i)
        after = {n: max(remaining[n] + decreased[n] - increased[n], Fraction(0)) for n in total}
        if after == remaining:
            break
        remaining = after
    return share
