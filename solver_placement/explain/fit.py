"""Does one gang fit? Counted, not named: so many pods of a task group on so many nodes that look alike.

What arithmetic decides is decided at once: sums that cannot be enough, or a first fit that is. The rest goes to CP-SAT
as a question without objective. A required domain of topology is tried one by one.
"""

# float: seconds only
from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reference.cluster import Application
from solver_placement.engine import Effort
from solver_placement.explain.fit_model import solve_counts
from solver_placement.explain.ground import Mask, Near, Question

Counts = npt.NDArray[np.int64]


class Fit(enum.Enum):
    """Whether it fits; UNKNOWN where the time ran out."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """``counts``: groups x nodes, where it fits."""

    fit: Fit
    counts: Counts | None = None


_NO = Answer(Fit.NO)
LEAVES = 1000
"""Domains of several topologies, one inside the other, that are looked at one by one."""

SHARE = 4
"""One undecided question may use one part in this many of the time that is left."""


def decide(question: Question, effort: Effort) -> Answer:
    """Whether the gang of ``question`` can be placed whole, with a placement; exact unless the time runs out."""
    if not question.applications:
        return _NO
    fixed = _least(question.app)
    if (question.requests.T @ fixed > question.ask).any():
        return _NO
    open_questions = []
    for each in _by_domain(question, _refuted(question, fixed)):
        answer = _at_once(each, fixed, LEAVES)
        if answer.fit is Fit.YES:
            return answer
        if answer.fit is Fit.UNKNOWN:
            open_questions.append(each)
    # those that arithmetic cannot decide wait until all others have been looked at
    fit = Fit.NO
    for each in open_questions:
        answer = _ask(each, effort)
        if answer.fit is Fit.YES:
            return answer
        fit = Fit.UNKNOWN if answer.fit is Fit.UNKNOWN else fit
    return Answer(fit)


def _at_once(question: Question, fixed: Counts, leaves: int) -> Answer:
    """What arithmetic says, in each domain of the topology for itself while these are at most ``leaves`` in all."""
    possible = _refuted(question, fixed)
    if possible is None:
        return _NO
    if not question.near:
        counts = first_fit(question) if _is_plain(question.app) else None
        return Answer(Fit.UNKNOWN if counts is None else Fit.YES, counts)
    inside = _by_domain(question, possible)
    if len(inside) > leaves:
        return Answer(Fit.UNKNOWN)
    fit = Fit.NO
    for each in inside:
        answer = _at_once(each, fixed, leaves // len(inside))
        if answer.fit is Fit.YES:
            return answer
        fit = Fit.UNKNOWN if answer.fit is Fit.UNKNOWN else fit
    return Answer(fit)


def _by_domain(question: Question, possible: Sequence[Sequence[int]] | None) -> list[Question]:
    """The question in each possible domain of its first topology; itself where it has none, nothing for None."""
    if possible is None:
        return []
    if not question.near:
        return [question]
    near, *rest = question.near
    # a domain that does not exist: the pods may still be none
    return [
        replace(question, admits=_inside(question.admits, near, near.domain == d), near=tuple(rest))
        for d in (possible[0] or [near.domains])
    ]


def _inside(admits: Mask, near: Near, nodes: Mask) -> Mask:
    """``admits`` with the pods that ``near`` speaks of on ``nodes`` only."""
    narrowed = admits.copy()
    narrowed[list(near.groups)] &= nodes
    return narrowed


def _ask(question: Question, effort: Effort) -> Answer:
    if effort.left() <= 0:
        return Answer(Fit.UNKNOWN)
    # a floor, so that the last questions are still asked in earnest
    outcome, counts = solve_counts(question, effort.until(max(effort.left() / SHARE, min(effort.left(), 0.5))))
    return Answer({True: Fit.YES, False: Fit.NO, None: Fit.UNKNOWN}[outcome], counts)


def _least(app: Application) -> Counts:
    """The pods that have to run in any case: the minimum of groups outside of composites, 0 inside."""
    inside = {child for each in app.composites for child in each.children}
    return np.array([0 if group.name in inside else group.min_member for group in app.task_groups], np.int64)


def _is_plain(app: Application) -> bool:
    return not app.composites and (app.min_members is None or app.min_members <= app.members)


def fits_per_node(question: Question) -> Counts:
    """Groups x nodes: the most pods of a group that a node holds alone."""
    room = np.zeros(question.admits.shape, np.int64)
    for g, request in enumerate(question.requests):
        asked = request > 0
        room[g] = (question.free[:, asked] // request[asked]).min(axis=1) if len(question.free) else 0
    return np.where(question.admits, room, 0)


def _refuted(question: Question, fixed: Counts) -> list[list[int]] | None:
    """The domains of each topology that sums alone leave; None where they say that the gang does not fit."""
    fits = fits_per_node(question)
    possible: list[list[int]] = []
    if (fits.sum(axis=1) < fixed).any() or _short(question, fixed, question.admits):
        return None
    for near in question.near:
        here = np.zeros_like(fixed)
        here[list(near.groups)] = fixed[list(near.groups)]
        rows = np.stack(
            [np.bincount(near.domain[near.domain >= 0], row[near.domain >= 0], near.domains) for row in fits]
        )
        left = [
            d
            for d in np.flatnonzero((rows >= here[:, None]).all(axis=0)).tolist()
            if not _short(question, here, question.admits & (near.domain == d))
        ]
        if not left and here.any():
            return None
        possible.append(left)
    return possible


def _short(question: Question, need: Counts, admits: Mask) -> bool:
    """Whether, of some resource, the nodes that take any of the pods have less than all of them ask."""
    for r in range(question.requests.shape[1]):
        askers = (question.requests[:, r] > 0) & (need > 0)
        nodes = admits[askers].any(axis=0)
        if int(question.free[nodes, r].sum()) < int(question.requests[:, r] @ need):
            return True
    return False


def first_fit(question: Question) -> Counts | None:
    """The minimum of every group, those with the least room first, each on the fullest nodes; None where that fails."""
    fits = fits_per_node(question)
    free = question.free.copy()
    counts = np.zeros_like(fits)
    for g in np.argsort(fits.sum(axis=1), kind="stable").tolist():
        request, left = question.requests[g], question.app.task_groups[g].min_member
        asked = request > 0
        room = np.where(question.admits[g], (free[:, asked] // request[asked]).min(axis=1), 0)
        for n in np.argsort(room, kind="stable").tolist():
            if left and room[n]:
                take = min(left, int(room[n]))
                counts[g, n] += take
                free[n] -= take * request
                left -= take
        if left:
            return None
    return counts
