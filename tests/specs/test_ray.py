"""The ray spec: what it claims in which scope, its findings, its life cycle beside the published table, and sizes that
make no sense."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from samples import one_in
from tables import assert_same_counts, found, load, rows, told, vacuous, violated

import specs.ray
from model.explore import explore
from model.export.graph import merged_graphs
from model.query import read_query
from model.semantics import Semantics
from specs.loading import SpecLoadError, load_spec
from specs.ray import Edition, Status
from specs.ray.life_cycle import published

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

README = (Path(specs.ray.__file__).parent / "README.md").read_text(encoding="utf-8")
ROWS = rows(README)
SMALL = [name for name, row in ROWS.items() if int(row["states"].replace(",", "")) < 100_000]


def test_the_table_is_read() -> None:
    assert {"(default)", "edition=seed", "reconfigure=true"} < set(SMALL)
    assert len(SMALL) >= 18


@pytest.mark.parametrize(
    "parameters", [*one_in(6, SMALL), *(pytest.param(p, marks=pytest.mark.slow) for p in ROWS if p not in SMALL)]
)
def test_the_table_tells_what_is_found(parameters: str) -> None:
    verdict = explore(load("ray", parameters))
    assert found(verdict) == told(ROWS[parameters])
    assert verdict.never_fired == ()
    assert vacuous(verdict) == []


@pytest.mark.slow
def test_the_golden_interpreter_agrees() -> None:
    machine = load("ray", "instances=1 max_workers=1 jobs=1")
    slow, fast = assert_same_counts(machine)
    assert slow.violated == violated(fast)


# ---- the life cycle beside the published table

# The table of InstanceUtil.get_valid_transitions of Ray 2.48 and 2.60, written anew: `editions` that have the edge,
# and those in which the spec does not show it, with the reason.
with (Path(__file__).parent / "data" / "ray-transitions.csv").open(encoding="utf-8") as file:
    EDGES = list(csv.DictReader(file))

SCOPES = {
    Edition.CURRENT: (
        "timers=free late_launches=1 max_workers=1",
        "errors=true timers=free",
        "drains=true repaired=true",
        "drains=true repaired=true kuberay=true",
        "reconfigure=true repaired=true",
    ),
    Edition.SEED: (
        "edition=seed timers=free late_launches=1 max_workers=1",
        "edition=seed drains=true repaired=true kuberay=true",
        "edition=seed",
    ),
}


def shown(parameters: str) -> set[tuple[str, str]]:
    """The transitions of a row that runs show."""
    machine = load("ray", parameters)
    (graph,) = merged_graphs(machine, [[read_query(machine, "status[instance1]")]])
    names = [str(node.values[0]) for node in graph.nodes]
    return {(names[e.source], names[e.target]) for e in graph.edges if e.source != e.target}


@pytest.mark.parametrize("edition", Edition)
def test_the_table_is_the_published_one(edition: Edition) -> None:
    ours = {(source.name, target.name) for source, targets in published(edition).items() for target in targets}
    assert ours == {(e["from"], e["to"]) for e in EDGES if edition.value in e["editions"].split()}
    assert len(ours) == {Edition.CURRENT: 39, Edition.SEED: 34}[edition]


@pytest.mark.parametrize("edition", Edition)
def test_every_transition_is_in_the_table_and_every_edge_is_shown_or_excused(edition: Edition) -> None:
    found = set().union(*(shown(parameters) for parameters in SCOPES[edition]))
    places = {pair for pair in found if Status.ABSENT.name in pair}
    assert places == {
        ("ABSENT", "ALLOCATED"),
        ("ABSENT", "QUEUED"),
        ("ALLOCATION_FAILED", "ABSENT"),
        ("TERMINATED", "ABSENT"),
    }
    table = {(e["from"], e["to"]): e for e in EDGES if edition.value in e["editions"].split()}
    assert found - places <= table.keys()
    missing = table.keys() - found
    assert missing == {pair for pair, e in table.items() if edition.value in e["not_shown_in"].split()}
    assert all(len(table[pair]["why"]) > 20 for pair in missing)


# ---- findings of the current edition, and the museum


@pytest.mark.parametrize(
    ("parameters", "name", "last"),
    [
        ("reconfigure=true", "requested_is_left_as_published", "drain_unstarted"),
        ("reconfigure=true", "every_choice_moves_a_row", "drain_again"),
        ("drains=true", "ray_installing_is_left_as_published", "ray_stopping"),
        ("min_workers=1", "idle_termination_keeps_minimum", "terminate_idle"),
        ("timers=free late_start=true errors=true", "allocation_timeout_is_left_as_published", "ray_running"),
        ("timers=free late_start=true errors=true", "ray_install_failed_is_left_as_published", "ray_running"),
        ("timers=free late_start=true", "terminated_instances_are_idle", "place_job"),
    ],
)
def test_a_finding_is_shown_by_its_parameters(parameters: str, name: str, last: str) -> None:
    machine = load("ray", parameters)
    trace = explore(machine)[name].trace
    assert trace is not None
    assert trace.steps[-1].action.startswith(last)
    assert Semantics(machine).replay(trace) is None


# ---- bad parameters


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["instances=0"], "ray: instances is an integer from 1 to 6, found 0"),
        (["max_workers=3"], "ray: max_workers is an integer from 1 to 2, found 3"),
        (["min_workers=3"], "ray: min_workers is an integer from 0 to 2, found 3"),
        (["types=3"], "ray: types is an integer from 1 to 2, found 3"),
        (["types=2"], "ray: max_workers is an integer from 1 to 1, found 2"),
        (["types=2", "max_workers=1", "max_nodes=3"], "ray: max_nodes is an integer from 0 to 2, found 3"),
        (
            ["types=2", "max_workers=1", "min_workers=1", "max_nodes=1"],
            "max_nodes is at least types x min_workers, which is 2; found 1",
        ),
        (["types=2", "max_workers=1", "reconfigure=true"], "types=2 is for late_launches=0, reconfigure=false"),
        (["max_nodes=1"], "max_nodes is for types=2"),
        (["retries=-1"], "ray: retries is an integer from 0 to 9, found -1"),
        (["late_launches=1"], "late_launches is for timers=free"),
        (["split=true", "timers=free"], "split is for timers=off or slow"),
        (["edition=2.48"], "ray: edition: expected seed|current, found '2.48'"),
    ],
)
def test_a_bad_parameter_is_told(assignments: list[str], message: str) -> None:
    with pytest.raises(SpecLoadError, match=re.escape(message)):
        load_spec("ray", assignments)


@pytest.mark.parametrize("edition", Edition)
def test_the_page_of_life_cycles_shows_every_state(edition: Edition) -> None:
    page = (Path(specs.ray.__file__).parent / f"ray.{edition.value}.life_cycle.md").read_text(encoding="utf-8")
    missing = {status for status in Status if f"status[instance1] = {status.name}" not in page}
    # 2.48 knows no instance on which Ray does not start in time.
    assert missing == ({Status.ALLOCATION_TIMEOUT} if edition is Edition.SEED else set())
