"""The question as integers for CP-SAT: pods of each task group on each node, no objective.

Of nodes that look alike only as many are kept as the gang has pods. Where there is one task group, or one node of a
look, a whole look is one count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from ortools.sat.python import cp_model

from reference.cluster import Application
from solver_placement.engine import Effort, Outcome, run
from solver_placement.explain.edits import groups_below
from solver_placement.explain.ground import Question

LinearExpr = cp_model.LinearExpr


def solve_counts(question: Question, effort: Effort) -> tuple[bool | None, npt.NDArray[np.int64] | None]:
    """Whether there are counts (groups x nodes) that place the gang, and such counts; None where the time ran out."""
    model = cp_model.CpModel()
    app = question.app
    pods = _members(model, app)
    nodes = _useful_nodes(question)
    cells: dict[tuple[int, int], cp_model.IntVar] = {}
    for n in nodes:
        for g, request in enumerate(question.requests):
            if question.admits[g, n]:
                asked = request > 0
                most = min(int((question.free[n, asked] // request[asked]).min()), app.task_groups[g].most)
                if most:
                    cells[g, n] = model.new_int_var(0, most, f"pods{g},{n}")
    _capacities(model, question, nodes, cells)
    for g, count in enumerate(pods):
        model.add(LinearExpr.sum([v for (h, _), v in cells.items() if h == g]) == count)
    for r, most in enumerate(question.ask.tolist()):
        unit = math.gcd(*question.requests[:, r].tolist())
        model.add(LinearExpr.weighted_sum(pods, (question.requests[:, r] // unit).tolist()) <= most // unit)
    _domains(model, question, cells)
    found = run(model, effort, maximise=False)
    if found.outcome is Outcome.IMPOSSIBLE:
        return False, None
    if not found.values:
        return None, None
    counts = np.zeros(question.admits.shape, np.int64)
    for (g, n), variable in cells.items():
        counts[g, n] = found.values[variable.index]
    return True, counts


def _members(model: cp_model.CpModel, app: Application) -> list[cp_model.IntVar]:
    """Pods of each group, such that the gang is whole: groups and composites outside of composites are."""
    inside = {child for each in app.composites for child in each.children}
    pods, whole = [], {}
    for group in app.task_groups:
        count = model.new_int_var(0, group.most, f"members {group.name}")
        is_whole = whole[group.name] = model.new_bool_var(f"whole {group.name}")
        if group.name not in inside or group.min_member == 0:
            model.add(is_whole == 1)  # with a minimum of 0, no pod is enough
        model.add(count >= group.min_member * is_whole)
        model.add(count <= group.most * is_whole)
        pods.append(count)
    for composite in app.composites:
        whole[composite.name] = model.new_bool_var(f"whole {composite.name}")
    index = {group.name: g for g, group in enumerate(app.task_groups)}
    for composite in app.composites:
        is_whole = whole[composite.name]
        if composite.name not in inside:
            model.add(is_whole == 1)
        model.add(LinearExpr.sum([whole[child] for child in composite.children]) >= composite.min_children * is_whole)
        for name in groups_below(app, composite.name):
            g = index[name]
            model.add(pods[g] <= app.task_groups[g].most * is_whole)
    if app.min_members is not None:
        model.add(LinearExpr.sum(pods) >= app.min_members)
    return pods


def _useful_nodes(question: Question) -> list[int]:
    """Nodes that admit some pod; of those that look alike, no more than the gang has pods."""
    most = sum(group.most for group in question.app.task_groups)
    looks: dict[tuple[bytes, ...], int] = {}
    kept: list[int] = []
    for n in range(question.free.shape[0]):
        if not question.admits[:, n].any():
            continue
        domains = np.array([near.domain[n] for near in question.near], np.int64)
        look = (question.free[n].tobytes(), question.admits[:, n].tobytes(), domains.tobytes())
        looks[look] = looks.get(look, 0) + 1
        if looks[look] <= most:
            kept.append(n)
    return kept


def _capacities(
    model: cp_model.CpModel, question: Question, nodes: Sequence[int], cells: dict[tuple[int, int], cp_model.IntVar]
) -> None:
    units = [math.gcd(*column) or 1 for column in question.requests.T.tolist()]
    for n in nodes:
        here = [g for g in range(len(question.requests)) if (g, n) in cells]
        if len(here) < 2:
            continue  # the count's own limit says it
        for r, unit in enumerate(units):
            uses = {g: int(question.requests[g, r]) // unit for g in here if question.requests[g, r]}
            if uses:
                row = LinearExpr.weighted_sum([cells[g, n] for g in uses], list(uses.values()))
                model.add(row <= int(question.free[n, r]) // unit)


def _domains(model: cp_model.CpModel, question: Question, cells: dict[tuple[int, int], cp_model.IntVar]) -> None:
    for t, near in enumerate(question.near):
        chosen = [model.new_bool_var(f"domain {t},{d}") for d in range(near.domains)]
        model.add_at_most_one(chosen)
        for (g, n), variable in cells.items():
            if g in near.groups:
                d = int(near.domain[n])
                if d < 0:
                    model.add(variable == 0)
                else:
                    model.add(variable == 0).only_enforce_if(chosen[d].negated())
