"""What happens to the volcano spec from outside, each as often as its parameter says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Machine, choose, ite, require, sum_
from specs.volcano.parameters import HEAVIEST, Events
from specs.volcano.state import Job, Namespace, Phase, Queue, Quota, Session, State


def declare_events(m: Machine, s: State, events: Events) -> list[Callable[..., Any]]:
    """All that may happen in this scope. Returns the actions that bring units back."""
    back = []
    if events.quota_changes:
        _quotas(m, s)
    if events.drains:
        back.append(_drains(m, s))
    if events.scale_ups:
        _scale_ups(m, s)
    if events.bind_failures:
        _bind_failures(m, s)
    if events.slow_ends:
        back.append(_slow_ends(m, s))
    return back


def _quotas(m: Machine, s: State) -> None:
    @m.action
    def change_quota(n: Namespace, k: Quota) -> None:
        """A ResourceQuota comes, goes, or says another weight, 0 here for none or an invalid one. The cache follows;
        a session that is open does not (V1, V2, V3)."""
        require(s.left["quota_changes"] > 0)
        s.left["quota_changes"].next = s.left["quota_changes"] - 1
        s.quota[n, k] = choose(range(HEAVIEST + 1), "weight")


def _drains(m: Machine, s: State) -> Callable[..., Any]:
    @m.action
    def drain_node(q: Queue, n: Namespace, j: Job) -> None:
        """A node of one unit is taken away, and with it a task (volcano#5805)."""
        require(s.session == Session.CLOSED, s.left["drains"] > 0, s.bound[q, n, j] > 0)
        s.left["drains"].next = s.left["drains"] - 1
        s.down.next = s.down + 1
        s.forget(q, n, j, 1)

    @m.action
    def return_node() -> None:
        """A node is back (volcano#5805)."""
        require(s.session == Session.CLOSED, s.down > 0)
        s.down.next = s.down - 1

    return return_node


def _scale_ups(m: Machine, s: State) -> None:
    @m.action
    def policy_arrives(q: Queue, n: Namespace, j: Job) -> None:
        """A job grows by one task that it needs: the scheduler's cache hears of the new PodGroup (volcano#6010)."""
        require(s.session == Session.CLOSED, s.left["scale_ups"] > 0)
        require(s.phase[q, n, j] == Phase.INQUEUE, ~s.policy[q, n, j])
        s.left["scale_ups"].next = s.left["scale_ups"] - 1
        s.policy[q, n, j] = True

    @m.action
    def pod_arrives(q: Queue, n: Namespace, j: Job) -> None:
        """Then of the new pod; in the current edition perhaps of the pod first (volcano#6010)."""
        require(s.session == Session.CLOSED, ~s.pods[q, n, j])
        if s.is_today:
            early = sum_(ite(s.pods[p, k, i] & ~s.policy[p, k, i], 1, 0) for p in Queue for k in Namespace for i in Job)
            require(s.phase[q, n, j] == Phase.INQUEUE, s.policy[q, n, j] | (early < s.left["scale_ups"]))
        else:
            require(s.policy[q, n, j], s.phase[q, n, j] != Phase.DONE)
        s.pods[q, n, j] = True


def _bind_failures(m: Machine, s: State) -> None:
    @m.action
    def commit_fails(q: Queue, n: Namespace, j: Job) -> None:
        """The bind of one task fails at commit. The design says nothing of it; here all of the statement is undone. In
        the current edition only the failed operation is, and its task is on no list until the next session. The job is
        pushed back, there only if it has tasks on its list (V4, volcano#2462)."""
        require(s.left["bind_failures"] > 0)
        if s.slow:
            require(s.piped[q, n, j] == 0)
        require(s.turn[q, n, j], s.placed(q, n, j) == s.goal(q, n, j), s.tentative[q, n, j] > 0)
        s.left["bind_failures"].next = s.left["bind_failures"] - 1
        kept = s.tentative[q, n, j] - 1 if s.is_today else 0
        s.bound[q, n, j] += kept
        s.in_queue[q] -= s.tentative[q, n, j] - kept
        s.in_namespace[q, n] -= s.tentative[q, n, j] - kept
        s.tentative[q, n, j] = 0
        s.phase[q, n, j] = Phase.RUNNING if s.is_today else s.phase[q, n, j]
        if s.loses:
            s.lost[q, n, j] += 1
        s.turn[q, n, j] = False


def _slow_ends(m: Machine, s: State) -> Callable[..., Any]:
    @m.action
    def finish_slowly(q: Queue, n: Namespace, j: Job) -> None:
        """A ready job ends, but its tasks take their time to go: a session sees them as releasing
        (volcano#5044)."""
        require(s.session == Session.CLOSED, s.phase[q, n, j] == Phase.RUNNING, s.is_ready(q, n, j))
        require(s.left["slow_ends"] > 0)
        s.left["slow_ends"].next = s.left["slow_ends"] - 1
        s.phase[q, n, j] = Phase.DONE
        s.going.next = s.going + s.bound[q, n, j]
        s.forget(q, n, j, s.bound[q, n, j])

    @m.action
    def gone() -> None:
        """They are gone; the next session sees it (volcano#5044)."""
        require(s.session == Session.CLOSED, s.going > 0)
        s.going.next = 0

    @m.action
    def pipeline(q: Queue, n: Namespace, j: Job) -> None:
        """Nothing is free for a task, but something will be: the statement promises it that (V4, volcano#5044)."""
        require(s.turn[q, n, j], s.placed(q, n, j) < s.goal(q, n, j), ~s.fits(q, n), s.will_fit(q))
        s.piped[q, n, j] += 1
        s.in_queue[q] += 1
        s.in_namespace[q, n] += 1

    @m.action
    def end_pipelined(q: Queue, n: Namespace, j: Job) -> None:
        """The job would have minAvailable tasks, but some of them only later: nothing is bound, and the job is not
        pushed back. In the current edition the statement is neither committed nor discarded (V4, volcano#5044)."""
        require(s.turn[q, n, j], s.placed(q, n, j) == s.goal(q, n, j), s.piped[q, n, j] > 0)
        if not s.is_today:
            s.undo(q, n, j)
        s.tried[q, n, j] = True
        s.turn[q, n, j] = False

    return gone
