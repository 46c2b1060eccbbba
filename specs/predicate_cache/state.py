"""What a state of the predicate_cache spec consists of."""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Sort, all_, any_, sum_
from specs.predicate_cache.parameters import Scope


class Job(Sort):
    """A Volcano job; all of its pods are needed."""


class Replica(Sort):
    """A pod template of a job; its pods are alike."""


class TaskGroup(Sort):
    """Together with the job: the key under which node errors are kept."""


class Node(Sort):
    """A node."""


class Phase(enum.Enum):
    """Where a job is."""

    PENDING = 0
    """It has no pod bound, and its turn in this session is to come."""
    TRIED = 1
    """Its statement was discarded in this session."""
    BOUND = 2
    """All of its pods are bound."""
    DONE = 3


class Checked(enum.Enum):
    """What is known of a node for the task that is being placed."""

    NOT_YET = 0
    FITS = 1
    FAILED = 2
    """The predicate said no."""
    REFUSED = 3
    """The cache has an error, and the predicate was not asked."""


class State:
    """The variables.

    ``session``: a scheduling session is open; ``turn``: the job whose statement is being made; ``task``: the template
    of the task that is being placed. ``placed``: what the statement, or once committed the cluster, has on a node.
    ``error``: the cache of this session.
    """

    def __init__(self, m: Machine, scope: Scope, jobs: int) -> None:
        m.sort(Job, jobs, symmetric=True)
        m.sort(Replica, names=[t.name for t in scope.templates])
        m.sort(TaskGroup, scope.groups)
        m.sort(Node, names=[n.name for n in scope.nodes])
        pods = [t.pods for t in scope.templates]
        self.pods = m.constant("pods", Replica, pods)
        self.suits = m.constant(
            "suits", (Replica, Node), [[int(scope.fits(t, n)) for n in scope.nodes] for t in scope.templates]
        )
        self.has_gpu = m.constant("has_gpu", Node, [int(n.gpus > 0) for n in scope.nodes])
        self.needs_gpu = m.constant("needs_gpu", Replica, [t.gpus for t in scope.templates])
        self.key = m.constant(
            "key", (Replica, TaskGroup), [[int(g == k) for k in range(scope.groups)] for g in scope.group_of]
        )
        self.session = m.scalar("session", bool, init=False)
        self.phase = m.variable("phase", Job, Phase, init=Phase.PENDING)
        self.turn = m.element("turn", Job)
        self.task = m.element("task", Replica)
        self.placed = m.variable("placed", (Job, Replica, Node), range(max(pods) + 1), init=0)
        self.checked = m.variable("checked", Node, Checked, init=Checked.NOT_YET)
        self.error = m.variable("error", (Job, TaskGroup, Node), bool, init=False)

    def used(self, n: Node) -> Expr:
        """Pods on a node, of statements and bound."""
        return sum_(self.placed[j, r, n] for j in Job for r in Replica)

    def waiting(self, j: Job, r: Replica) -> Expr:
        """Pods of a template that are not placed yet."""
        return self.pods[r] - sum_(self.placed[j, r, n] for n in Node)

    def is_whole(self, j: Job) -> Expr:
        """Whether every pod of the job has a node."""
        return all_(self.waiting(j, r) == 0 for r in Replica)

    def all_checked(self) -> Expr:
        """Whether every node was looked at for the task."""
        return all_(self.checked[n] != Checked.NOT_YET for n in Node)

    def has_error(self, j: Job, r: Replica, n: Node) -> Expr:
        """Whether the cache has an error of the node under the key of the template's pods."""
        return any_((self.key[r, g] == 1) & self.error[j, g, n] for g in TaskGroup)
