"""The table of small worlds: its truth against the solver, its data against a sample played again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solver_placement import solve
from solver_placement.small_scope.play import POD_GROUPS, cluster_of, pod_groups
from solver_placement.small_scope.report import RESULTS, page, words
from solver_placement.small_scope.scopes import NESTED, ONE, RACKS, SCOPES, SWAP, ZONES, machines
from solver_placement.small_scope.table import count, outcome
from solver_placement.small_scope.truth import fits, most_gangs
from solver_placement.small_scope.world import Gang, Group, Machine, Member, World

ROWS: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))
PLAIN = [name for name, scope in SCOPES.items() if "yunikorn" in scope.plays]
QUICK = ["topology, two kinds of pods", "affinity of equal pods", "anti-affinity to another role"]


def row(name: str) -> dict[str, Any]:
    return next(row for row in ROWS if row["name"] == name)


def witnesses() -> Iterator[tuple[str, str, str, World]]:
    for each in ROWS:
        for policy, counts in each["policies"].items():
            for kind in ("sometimes", "never"):
                assert (f"witness_{kind}" in counts) == (counts[kind] > 0)
                if f"witness_{kind}" in counts:
                    yield each["name"], policy, kind, World.of_json(counts[f"witness_{kind}"])


def test_the_data_are_of_these_scopes_and_the_page_is_of_the_data() -> None:
    assert [(each["name"], each["about"]) for each in ROWS] == [(s.name, s.about) for s in SCOPES.values()]
    assert [list(each["policies"]) for each in ROWS] == [list(s.plays) for s in SCOPES.values()]
    for each in ROWS:
        for counts in each["policies"].values():
            assert counts["always"] + counts["sometimes"] + counts["never"] == each["feasible"] <= each["worlds"]
    docs = Path(__file__).resolve().parents[2] / "docs" / "small-scope.md"
    assert docs.read_text(encoding="utf-8") == page(ROWS)


def test_equal_pods_are_found_and_unequal_ones_may_not_be() -> None:
    """What the documentation of the PodGroup cycle expects, and where it ends."""
    found = {name: {p: c["sometimes"] + c["never"] for p, c in row(name)["policies"].items()} for name in SCOPES}
    for name in ("equal pods", "topology, equal pods", "composite of equal groups"):
        assert all(n == 0 for p, n in found[name].items()), name
    for name in ("anti-affinity of equal pods, by node", "spread of equal pods"):
        assert not any(found[name].values()), name
    for name in ("two kinds of pods, one resource", "selectors"):
        assert all(found[name].values()), name
    for name in (
        "topology, two kinds of pods",
        "affinity of equal pods",
        "affinity to another role",
        "anti-affinity to another role",
        "composite of equal pods",
        "composite in one rack",
    ):
        assert all(found[name].values()), name


def test_every_witness_is_missed_as_it_is_told() -> None:
    told = list(witnesses())
    assert len(told) > 60
    for scope, policy, kind, world in told:
        play, most = SCOPES[scope].plays[policy], most_gangs(world)
        assert play(world) < most, (scope, policy, words(world))
        reached, _ = outcome(play, [world, *world.arrangements()], most)
        assert reached == (kind == "sometimes"), (scope, policy, words(world))


def test_no_smaller_world_of_a_sample_is_missed() -> None:
    first = {(scope, policy): min(w.size for s, p, _, w in witnesses() if (s, p) == (scope, policy))
             for scope, policy, _, _ in witnesses()}  # fmt: skip
    for (scope, policy), size in list(first.items())[::4]:
        smaller = [world for world in SCOPES[scope].worlds() if world.size < size]
        for world in smaller[:: len(smaller) // 8 + 1]:
            assert outcome(SCOPES[scope].plays[policy], world.arrangements(), most_gangs(world))[1] is None


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in SCOPES if n not in QUICK)])
def test_a_scope_counted_again_is_the_row_of_the_data(name: str) -> None:
    assert json.loads(json.dumps(count(SCOPES[name]).to_json())) == row(name)


@pytest.mark.parametrize("name", PLAIN)
def test_the_truth_is_the_optimum_of_the_solver(name: str) -> None:
    worlds = SCOPES[name].worlds()
    for world in worlds[:: len(worlds) // 12]:
        assert most_gangs(world) == solve(cluster_of(world)).objective.weight, words(world)


@pytest.mark.parametrize("name", sorted(SCOPES))
def test_no_policy_places_more_than_the_truth(name: str) -> None:
    worlds = SCOPES[name].worlds()
    for world in worlds[:: len(worlds) // 12]:
        most = most_gangs(world)
        for arranged in itertools.islice(world.arrangements(), 3):
            assert World.of_json(json.loads(json.dumps(arranged.to_json()))) == arranged
            assert arranged.size == world.size
            for policy, play in SCOPES[name].plays.items():
                assert play(arranged) <= most, (policy, words(arranged))


@pytest.mark.parametrize(("kinds", "most", "renamings"), [(RACKS, 3, SWAP), (ZONES, 2, NESTED), (ONE, 3, ())])
def test_of_nodes_that_only_names_tell_apart_one_is_enumerated(
    kinds: list[Machine], most: int, renamings: tuple[dict[str, str], ...]
) -> None:
    found = machines(kinds, most, renamings)
    seen: dict[tuple[Machine, ...], tuple[Machine, ...]] = {}
    for chosen in found:
        for names in ({}, *renamings):
            renamed = tuple(
                sorted(replace(m, rack=names.get(m.rack, m.rack), zone=names.get(m.zone, m.zone)) for m in chosen)
            )
            assert seen.setdefault(renamed, chosen) == chosen
    every = [c for n in range(1, most + 1) for c in itertools.combinations_with_replacement(sorted(kinds), n)]
    assert seen.keys() == set(every)


def pods(*members: Member) -> tuple[Gang]:
    return (Gang((Group(members, len(members)),)),)


HERE = Member((1,), role="a", near=(("rack", "a"),))
AWAY = Member((1,), role="a", apart=(("rack", "a"),))
EVEN = Member((1,), role="a", spread=(("rack", 1),))


@pytest.mark.parametrize(
    ("rooms", "members", "expected"),
    [
        ("2", [HERE, HERE], True),
        ("1 1", [HERE, HERE], False),  # one in each rack
        ("1 1", [AWAY, AWAY], True),
        ("2", [AWAY, AWAY], False),
        ("3 1", [EVEN] * 4, False),
        ("3 1", [EVEN] * 3, True),
        ("2", [Member((1,), role="a", near=(("rack", "b"),)), Member((1,), role="b")], True),
        ("1 1", [Member((1,), role="a", near=(("rack", "b"),)), Member((1,), role="b")], False),
        ("2", [Member((1,), role="a", apart=(("rack", "b"),)), Member((1,), role="b")], False),
        # each waits for the other: no order places them
        ("2", [Member((1,), role="a", near=(("rack", "b"),)), Member((1,), role="b", near=(("rack", "a"),))], False),
    ],
)
def test_the_truth_about_pods_that_mind_each_other(rooms: str, members: list[Member], expected: bool) -> None:
    nodes = [Machine((int(room),), rack=f"r{i}") for i, room in enumerate(rooms.split())]
    assert fits(nodes, pods(*members)) is expected


def test_the_truth_about_groups() -> None:
    one = Member((1,))
    pair, single = Group((one, one), 2), Group((one,), 1)
    nodes = [Machine((1,), rack="r1", zone="a"), Machine((2,), rack="r2", zone="b")]
    assert fits(nodes, (Gang((pair, single), 2),))
    assert not fits(nodes, (Gang((pair, single), 2, "zone"),))
    assert fits(nodes, (Gang((pair, single), 1, "zone"),))
    assert not fits(nodes, (Gang((Group((one,) * 3, 3, "rack"),)),))
    assert fits(nodes, (Gang((Group((one,) * 3, 2, "rack"),)),))
    assert not fits([Machine((2,))], (Gang((replace(single, within="rack"),)),))


def test_what_a_cluster_cannot_say_is_refused() -> None:
    with pytest.raises(ValueError, match="plain"):
        cluster_of(World((Machine((2,)),), pods(HERE, HERE)))
    assert pod_groups(World((Machine((2,), rack="r1"),), pods(HERE, HERE)), next(iter_strategies())) == 1


def iter_strategies() -> Iterator[Any]:
    from reference.schedulers.kubernetes import ScoringStrategy

    assert len(POD_GROUPS) == len(ScoringStrategy)
    return iter(ScoringStrategy)
