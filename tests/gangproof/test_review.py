"""The review: what it finds on the bundled example, that names cannot inject HTML, that the abstraction keeps what it
says."""

from __future__ import annotations

import itertools
import json
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangproof.cli import run
from gangproof.review.abstraction import _scale, abstractions
from gangproof.review.build import Budget, build
from gangproof.review.contests import contests
from gangproof.review.page import render
from gangproof.review.pictures import node_pictures, show_amount
from gangproof.review.summary import review_text
from model.semantics import Semantics
from model.verdict import Outcome
from reference.cluster import Application, Cluster, Node, Placement, Queue, QueueTree, Resources, SortPolicy, TaskGroup
from reference.strategies import clusters

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "spark-gangs"
HOSTILE = '<script>alert("x")</script>'


class Tags(HTMLParser):
    """Collects the tags, and addresses that a browser would load from."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]


def cluster(**changes: object) -> Cluster:
    """Three gangs of three on nodes of three cores; the quota lets two of them run."""
    gangs = tuple(
        Application(f"gang-{i}", "root.batch", (TaskGroup("workers", 3, Resources(vcore=1000)),), submitted=i)
        for i in range(3)
    )
    queue = Queue("root.batch", maximum=Resources(vcore=6000))
    values: dict[str, object] = {
        "nodes": tuple(Node(f"node-{i}", Resources(vcore=3000, memory=1 << 33)) for i in range(3)),
        "queues": QueueTree(Queue("root", children=(queue,))),
        "applications": gangs,
    }
    return Cluster(**{**values, **changes})  # type: ignore[arg-type]


def test_review_of_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    assert run(["review", str(EXAMPLE), "-o", str(page), "--json"]) == 0
    parsed = json.loads(capsys.readouterr().out)
    jsonschema.validate(parsed, json.loads((files("gangproof") / "schemas" / "review.json").read_text()))
    assert parsed["gap"] > 0
    assert [c["verdict"] for c in parsed["checks"]] == ["violated"]
    assert parsed["checks"][0]["trace_property"] == "no_starving_gangs"
    html = page.read_text()
    tags = Tags()
    tags.feed(html)
    assert {"table", "h1", "style"} <= set(tags.tags)
    assert tags.loads == []  # self-contained
    assert "no_starving_gangs" in html


def test_a_check_in_a_review_is_what_check_answers() -> None:
    schemas = files("gangproof") / "schemas"
    check, review = (json.loads((schemas / f"{name}.json").read_text()) for name in ("check", "review"))
    inside = review["properties"]["checks"]["items"]
    own = {"title", "mapping", "dropped"}
    assert {k: v for k, v in inside["properties"].items() if k not in own} == {
        k: v for k, v in check["properties"].items() if k != "checkpoint"
    }
    assert set(inside["required"]) == own | set(check["required"]) - {"checkpoint"}


def test_names_are_escaped() -> None:
    gang = Application(HOSTILE, "root.batch", (TaskGroup(HOSTILE, 2, Resources(vcore=1000)),))
    hostile = cluster(
        applications=(gang,), nodes=(Node(HOSTILE, Resources(vcore=4000)), Node("&<b>", Resources(vcore=1)))
    )
    page = render(build(hostile, HOSTILE, [HOSTILE], [HOSTILE], "yunikorn", Budget(place_seconds=10)))
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.tags
    assert "b>" not in tags.tags
    assert HOSTILE not in page


def test_a_counterexample_on_the_page_replays() -> None:
    leaves = tuple(Queue(f"root.batch.{x}") for x in "ab")
    parent = Queue("root.batch", maximum=Resources(vcore=4000), children=leaves)
    gangs = tuple(
        Application(f"gang-{x}", f"root.batch.{x}", (TaskGroup("w", 3, Resources(vcore=1000)),), submitted=i)
        for i, x in enumerate("ab")
    )
    two = cluster(queues=QueueTree(Queue("root", children=(parent,))), applications=gangs)
    review = build(two, "two", [], [], "yunikorn", Budget())
    (check,) = review.checks
    violated = check.verdict["no_starving_gangs"]
    assert violated.trace is not None
    assert Semantics(check.abstraction.machine).replay(violated.trace) is None
    assert any("gang-a" in row.call for row in check.counterexample.rows) if check.counterexample else False


def app(name: str, members: int, submitted: int, queue: str = "root.batch", **each: int) -> Application:
    return Application(name, queue, (TaskGroup("w", members, Resources(**each)),), submitted=submitted)


def test_a_single_pod_does_not_push_the_gangs_out_that_wait_for_each_other() -> None:
    leaves = tuple(Queue(f"root.batch.{x}") for x in "ab")
    parent = Queue("root.batch", maximum=Resources(vcore=4000), children=leaves)
    apps = (
        app("probe", 1, 0, "root.batch.a", vcore=100),
        app("gang-a", 3, 1, "root.batch.a", vcore=1000),
        app("gang-b", 3, 2, "root.batch.b", vcore=1000),
        app("late", 1, 3, "root.batch.b", vcore=100),
    )
    trap = cluster(queues=QueueTree(Queue("root", children=(parent,))), applications=apps)
    review = build(trap, "trap", [], [], "yunikorn", Budget())
    (check,) = review.checks
    assert {"gang-a", "gang-b"} < set(check.abstraction.gangs)
    assert check.verdict["no_starving_gangs"].outcome is Outcome.VIOLATED
    assert check.abstraction.covers == "3 of 4 gangs"
    assert any("late" in note or "probe" in note for note in check.abstraction.dropped)
    assert review.cautions == ()


def test_gangs_that_are_rejected_compete_for_nothing() -> None:
    leaves = (Queue("root.batch.plain"), Queue("root.batch.fair", sort_policy=SortPolicy.FAIR))
    parent = Queue("root.batch", maximum=Resources(vcore=4000), children=leaves)
    apps = (
        app("early", 3, 0, "root.batch.fair", vcore=1000),
        app("large", 5, 1, "root.batch.plain", vcore=1000),
        app("one", 3, 2, "root.batch.plain", vcore=1000),
        app("two", 2, 3, "root.batch.plain", vcore=1000),
    )
    found = contests(cluster(queues=QueueTree(Queue("root", children=(parent,))), applications=apps))
    (contest,) = found
    assert [a.name for a in contest.gangs] == ["one", "two"]
    assert [n for n in contest.notes if "rejected" in n] == [
        "gang early: rejected, its queue root.batch.fair has sort policy fair",
        "gang large: rejected, it asks for more than a maximum on the path of root.batch.plain",
    ]


def test_each_contended_quota_is_checked_by_its_tightest_resource() -> None:
    first = Queue("root.first", maximum=Resources(vcore=40_000, memory=4 << 30))
    second = Queue("root.second", maximum=Resources(vcore=5000, memory=40 << 30))
    third = Queue("root.third", maximum=Resources(vcore=40_000))
    apps = [
        app(f"{queue}-{i}", 3, i, f"root.{queue}", vcore=1000, memory=1 << 30)
        for i, queue in enumerate(("first", "first", "second", "second", "third", "third"))
    ]
    tree = QueueTree(Queue("root", children=(first, second, third)))
    found = contests(cluster(queues=tree, applications=tuple(apps)))
    assert [(c.name, c.resource, c.of) for c in found] == [("root.first", "memory", 2), ("root.second", "vcore", 2)]


def test_a_gang_that_is_stuck_is_taken_before_larger_ones() -> None:
    apps = tuple(app(f"gang-{i}", 6 - i, i, vcore=1000) for i in range(5))
    whole = cluster(applications=apps)
    assert [a.name for a in contests(whole)[0].gangs] == ["gang-0", "gang-1", "gang-2"]
    assert "gang-4" in [a.name for a in contests(whole, stuck=["gang-4"])[0].gangs]


def test_a_timeout_that_no_violation_explains_is_a_caution() -> None:
    """Six cores are free, but a node of one and a half holds one pod: the instance says too much of the nodes."""
    apart = tuple(Node(f"node-{i}", Resources(vcore=1500)) for i in range(4))
    apps = (app("one", 3, 0, vcore=1000), app("two", 3, 1, vcore=1000))
    review = build(cluster(nodes=apart, applications=apps), "apart", [], [], "yunikorn", Budget())
    assert [c.verdict.outcome for c in review.checks] == [Outcome.HOLDS]
    (caution,) = review.cautions
    assert caution.startswith(
        "gang two ended in a placeholder timeout in the greedy schedule, but its instance shows no "
    )
    assert "caution: gang two ended" in review_text(review)
    assert f"Caution: {caution}" in render(review)


def test_two_gangs_that_starve_each_other_only_in_their_own_proportions() -> None:
    """Three and four members under a quota of five: the second gang fits beside one member of the first."""
    assert _scale([600, 800], 1000) == ((3, 4), 5, True)
    leaves = tuple(Queue(f"root.batch.{x}") for x in "ab")
    parent = Queue("root.batch", maximum=Resources(vcore=1000), children=leaves)
    apps = (app("one", 3, 0, "root.batch.a", vcore=200), app("two", 4, 1, "root.batch.b", vcore=200))
    both = cluster(queues=QueueTree(Queue("root", children=(parent,))), applications=apps)
    review = build(both, "both", [], [], "yunikorn", Budget())
    (check,) = review.checks
    assert check.verdict["no_starving_gangs"].outcome is Outcome.VIOLATED
    assert review.cautions == ()


@settings(max_examples=60)
@given(st.lists(st.integers(1, 64), min_size=1, max_size=3), st.integers(1, 200))
def test_the_scale_keeps_which_gangs_fit_together(asks: list[int], limit: int) -> None:
    sizes, quota, exact = _scale(asks, limit)
    if exact:
        for n in range(1, len(asks) + 1):
            for chosen in itertools.combinations(range(len(asks)), n):
                assert (sum(asks[i] for i in chosen) <= limit) == (sum(sizes[i] for i in chosen) <= quota)
    assert all(1 <= s <= 4 for s in sizes)
    assert quota >= 1


@settings(max_examples=15)
@given(clusters())
def test_every_cluster_becomes_small_instances(any_cluster: Cluster) -> None:
    for abstraction in abstractions(any_cluster):
        machine = abstraction.machine.finish()
        assert len(machine.cells()) < 200
        assert abstraction.mapping
        assert abstraction.dropped


@settings(max_examples=40)
@given(clusters())
def test_pictures_show_every_node_once(any_cluster: Cluster) -> None:
    colours = {a.name: "g0" for a in any_cluster.applications}
    pictures = node_pictures(any_cluster, Placement((), ()), colours)
    assert sorted(n for p in pictures for n in p.names) == sorted(n.name for n in any_cluster.nodes)


@pytest.mark.parametrize(
    ("resource", "amount", "shown"),
    [
        ("vcore", 4000, "4"),
        ("vcore", 1500, "1500m"),
        ("memory", 8 << 30, "8Gi"),
        ("memory", 512 << 20, "512Mi"),
        ("memory", 2 * 10**9, "2G"),
        ("nvidia.com/gpu", 2000, "2"),
        ("pods", 3, "3"),
    ],
)
def test_amounts_read_as_people_write_them(resource: str, amount: int, shown: str) -> None:
    assert show_amount(resource, amount) == shown
