"""What happens to the volcano spec from outside, each as often as its parameter says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Machine, choose, require
from specs.volcano.parameters import HEAVIEST, Edition, Events
from specs.volcano.state import Job, Namespace, Phase, Queue, Quota, Session, State


def declare_events(m: Machine, s: State, events: Events) -> Callable[..., Any] | None:
    """All that may happen in this scope. Returns the action that brings nodes back, if any go."""
    return_node = None
    if events.quota_changes:
        _quotas(m, s)
    if events.drains:
        return_node = _drains(m, s)
    if events.scale_ups:
        _scale_ups(m, s)
    if events.bind_failures:
        _bind_failures(m, s)
    return return_node


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
        """A node of one unit is taken away, and with it a task (V3)."""
        require(s.session == Session.CLOSED, s.left["drains"] > 0, s.bound[q, n, j] > 0)
        s.left["drains"].next = s.left["drains"] - 1
        s.down.next = s.down + 1
        s.forget(q, n, j, 1)

    @m.action
    def return_node() -> None:
        """A node is back (V3)."""
        require(s.session == Session.CLOSED, s.down > 0)
        s.down.next = s.down - 1

    return return_node


def _scale_ups(m: Machine, s: State) -> None:
    @m.action
    def policy_arrives(q: Queue, n: Namespace, j: Job) -> None:
        """A job grows by one task that it needs: the scheduler's cache hears of the new PodGroup (V3)."""
        require(s.session == Session.CLOSED, s.left["scale_ups"] > 0)
        require(s.phase[q, n, j] == Phase.INQUEUE, ~s.policy[q, n, j])
        s.left["scale_ups"].next = s.left["scale_ups"] - 1
        s.policy[q, n, j] = True

    @m.action
    def pod_arrives(q: Queue, n: Namespace, j: Job) -> None:
        """Then of the new pod (V3)."""
        require(s.session == Session.CLOSED, s.policy[q, n, j], ~s.pods[q, n, j])
        s.pods[q, n, j] = True


def _bind_failures(m: Machine, s: State) -> None:
    @m.action
    def commit_fails(q: Queue, n: Namespace, j: Job) -> None:
        """The bind of one task fails at commit. The design says nothing of it; here all of the statement is undone. In
        the current edition only the failed operation is (V4). The job is pushed back."""
        require(s.left["bind_failures"] > 0)
        require(s.turn[q, n, j], s.placed(q, n, j) == s.goal(q, n, j), s.tentative[q, n, j] > 0)
        s.left["bind_failures"].next = s.left["bind_failures"] - 1
        kept = s.tentative[q, n, j] - 1 if s.edition is Edition.CURRENT else 0
        s.bound[q, n, j] += kept
        s.in_queue[q] -= s.tentative[q, n, j] - kept
        s.in_namespace[q, n] -= s.tentative[q, n, j] - kept
        s.tentative[q, n, j] = 0
        s.phase[q, n, j] = Phase.RUNNING if s.edition is Edition.CURRENT else s.phase[q, n, j]
        s.turn[q, n, j] = False
