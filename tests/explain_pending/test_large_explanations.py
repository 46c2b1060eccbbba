"""1,200 nodes, explained within seconds."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from large_cluster import large_cluster

from reference.validate import validate
from solver_placement.explain import Status, explain_pending

SECONDS = 5.0


@pytest.mark.parametrize(
    ("seed", "gangs"),
    [
        (1, ["quota", "levels"]),
        *(
            pytest.param(s, ["rack", "quota", "roles", "levels", "many", "tight"], marks=pytest.mark.slow)
            for s in range(2, 6)
        ),
    ],
)
def test_gangs_of_a_large_cluster_are_explained_in_time(seed: int, gangs: list[str]) -> None:
    cluster = large_cluster(seed)
    assert cluster.problems() == []
    for gang in gangs:
        began = time.process_time()
        answer = explain_pending(cluster, gang, time_limit=60.0)
        assert time.process_time() - began < SECONDS, gang
        assert answer.in_time
        if answer.status is Status.FITS:
            continue
        assert answer.complete
        for correction in answer.corrections:
            edited = cluster
            for constraint in correction.constraints:
                assert constraint.lift is not None
                edited = constraint.lift(edited)
            (app,) = [a for a in edited.applications if a.name == gang]
            faults = validate(replace(edited, applications=(app,)), correction.placement)
            assert faults == []
