"""What large clusters are searched with, on small ones: never worse than the start, never above the bound."""

from __future__ import annotations

import functools
import importlib.util
import random
import time
from pathlib import Path
from types import ModuleType

import pytest

from reference.cluster import Cluster
from reference.validate import validate
from solver_placement import solve
from solver_placement.columns import Columns, Master
from solver_placement.dive import Diver
from solver_placement.engine import Effort
from solver_placement.greedy_start import greedy_start
from solver_placement.integer_master import integer_master
from solver_placement.reduction import reduce_cluster

pytestmark = pytest.mark.no_cover

FILE = Path(__file__).resolve().parents[2] / "bench" / "placement_inputs.py"


@functools.cache
def inputs() -> ModuleType:
    """The generators of the bench. Its folder stays off the path: it has modules that are called as packages are."""
    spec = importlib.util.spec_from_file_location("bench_placement_inputs", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mixed(seed: int) -> Cluster:
    made: Cluster = inputs().mixed(120, 24, 8)(Path(), seed)
    return made


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dives_and_the_integer_master_come_near_the_bound(seed: int) -> None:
    problem = reduce_cluster(mixed(seed))
    effort = Effort(time.monotonic() + 60, workers=1)
    columns = Columns(problem)
    start = greedy_start(problem)
    columns.add_packing(start)
    master = Master(columns, None)
    bound = master.generate(effort)
    assert bound is not None
    diver, best = Diver(master, seed), start
    for _ in range(4):
        after = diver.improve(best, effort)
        problem.check(after)
        assert problem.weight(best) <= problem.weight(after) <= bound
        best = after
    whole = integer_master(master, best, bound, effort)
    problem.check(whole)
    assert problem.weight(best) <= problem.weight(whole) <= bound
    # on inputs of this size a dive leaves a few of a hundred at most
    assert problem.weight(whole) * 100 >= bound * 97


def test_a_dive_keeps_what_is_fixed_and_leaves_no_bound_behind() -> None:
    problem = reduce_cluster(mixed(1))
    effort = Effort(time.monotonic() + 60, workers=1)
    columns = Columns(problem)
    columns.add_packing(greedy_start(problem))
    master = Master(columns, None)
    before = master.generate(effort)
    diver, best = Diver(master, 0), greedy_start(problem)
    for _ in range(3):
        best = diver.improve(best, effort)
    assert all(use.lb() == 0 for _, _, use in master.used)
    assert master.generate(effort) == before


def test_the_inputs_follow_their_seed_and_are_more_than_fits() -> None:
    assert mixed(1) == mixed(1) != mixed(2)
    for seed in (1, 2):
        cluster = mixed(seed)
        assert cluster.problems() == []
        assert sum(app.members for app in cluster.applications) == 120
        answer = solve(cluster, method="search", time_limit=5, fewest_nodes=False)
        assert validate(cluster, answer.placement) == []
        assert sum(app.weight for app in cluster.applications) * 10 >= 11 * answer.bound


@pytest.mark.slow
@pytest.mark.large_data
def test_openb_with_shares_and_racks(large_data: Path) -> None:
    chance = random.Random(1)
    for make in (inputs().shared, inputs().racks):
        cluster = make(large_data, chance.randrange(100))
        answer = solve(cluster, time_limit=120, fewest_nodes=False)
        assert validate(cluster, answer.placement) == []
        assert answer.gap.numerator * 50 <= answer.gap.denominator
