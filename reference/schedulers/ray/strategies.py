"""A Hypothesis strategy for the JSON that ``read_problem`` takes: small clusters that use every feature, often at once.

``problems()`` draws only what Ray's scheduler survives. Names and amounts are few, so that nodes and requests tie
often, which is where schedulers differ, and parts of problems are about one feature, so that each decides often
enough (``features.py`` says what that means). Amounts are whole numbers, halves and quarters, which doubles add without
drift; with ``decimals`` tenths as well. Resources are in the order of their names, as Ray's sums depend on it.
"""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
IMPLICIT = "node:__internal_implicit_resource_x"
_RESOURCES = ("CPU", "GPU", "TPU", "memory")
_WHOLE = (0, 1, 1, 2, 2, 3, 4, 4, 6, 8, 0.5, 0.25, 1.5)
_TENTHS = (0.1, 0.2, 0.3, 0.6, 0.7, 0.9)
_GANGS = ("g0", "g1", "g2")
_STATUSES = (
    *("RAY_RUNNING",) * 8,
    *("QUEUED", "REQUESTED", "ALLOCATED", "RAY_INSTALLING", "RAY_STOP_REQUESTED") * 2,
    *("RAY_STOPPING", "RAY_STOPPED", "TERMINATING", "TERMINATED", "ALLOCATION_FAILED", "RAY_INSTALL_FAILED"),
    *("TERMINATION_FAILED", "ALLOCATION_TIMEOUT"),
)


@functools.lru_cache(maxsize=None, typed=True)  # typed: 0 is not False here
def _of(*choices: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(choices)


@functools.cache
def _bundles(amounts: tuple[float, ...], least: int, names: tuple[str, ...] = _RESOURCES) -> st.SearchStrategy[Json]:
    """Resources in the order of their names: CPU nearly always, others now and then."""
    some = st.dictionaries(_of(*names, "CPU", "CPU", "CPU"), _of(*amounts), min_size=least, max_size=3)
    return some.map(lambda drawn: dict(sorted(drawn.items())))


_LABELS: tuple[Json, ...] = (
    *({}, {"zone": "a"}, {"zone": "b"}, {"acc": "a", "zone": "a"}),
    *({"acc": "b", "zone": "a"}, {"acc": "a", "zone": "b"}, {"acc": "b"}),
)
_IN_A, _IN_B = ["zone", "in", ["a"]], ["zone", "in", ["b"]]
_SELECTORS: tuple[list[Any], ...] = (
    *([[_IN_A]], [[_IN_B]], [[_IN_A]], [[_IN_B]], [[_IN_B], [_IN_A]], [[_IN_A], [["zone", "not_in", ["a"]]]]),
    *(
        [[["acc", "in", ["a", "c"]]]],
        [[["zone", "in", ["b", "a"]], ["acc", "in", ["a"]]]],
        [[["acc", "not_in", ["a"]]]],
    ),
    *([[["acc", "in", ["b"]]], []], [[]], [], [[["zone", "in", []]]], [[["zone", "not_in", []], ["acc", "in", ["b"]]]]),
)


@st.composite
def _node_type(draw: st.DrawFn, amounts: tuple[float, ...]) -> Json:
    most = draw(_of(0, 1, 2, 3, 5, 8))
    made: Json = {"resources": draw(_bundles(amounts, 1)), "max": most}
    if draw(_of(False, False, True)):
        made["min"] = draw(st.integers(0, min(most, 3)))
    if draw(_of(False, True, True)):
        made["labels"] = dict(draw(st.sampled_from(_LABELS)))
    if draw(_of(False, True, True)):
        made["priority"] = draw(_of(0, 1, 5, -1))
    if draw(_of(False, True)):
        made["idle_timeout_s"] = draw(_of(0, 1, 2.5, 10))
    if draw(_of(False, False, True)):
        made["launch_config_hash"] = draw(_of("", "h1"))
    return made


@st.composite
def _instance(draw: st.DrawFn, name: str, types: Json, unchecked: bool, amounts: tuple[float, ...]) -> Json:
    made: Json = {"id": name, "type": draw(_of(*types)), "status": draw(_of(*_STATUSES))}
    runs = made["status"] == "RAY_RUNNING"
    if draw(_of(*[False] * 7, True)) and (not runs or not unchecked):
        made["type"] = "gone"
    if not runs:
        return made
    total = types[made["type"]]["resources"] if made["type"] in types else {"CPU": 2}
    if made["type"] == "gone" or draw(_of(False, False, False, True)):
        total = made["total"] = draw(_bundles(amounts, 1))
    if draw(_of(False, True, True)):
        left = {key: draw(_of(value, value / 2, 0, min(value, 1))) for key, value in total.items()}
        if draw(_of(*[False] * 9, True)):
            left.pop(next(iter(left)))
        made["available"] = left
    made["idle_ms"] = draw(_of(0, 0, 1000, 2000, 2500, 5000, 20_000))
    if draw(_of(False, True)):
        made["labels"] = dict(draw(st.sampled_from(_LABELS)))
    if draw(_of(False, True)):
        made["dynamic_labels"] = {"_PG_" + draw(_of(*_GANGS)): ""}
    if draw(_of(False, False, True)):
        made["launch_config_hash"] = draw(_of("h1", "h2"))
    return made


@st.composite
def _gang(draw: st.DrawFn, name: str, amounts: tuple[float, ...]) -> Json:
    strategy = draw(_of("STRICT_SPREAD", "STRICT_PACK", "PACK", "SPREAD"))
    bundles = draw(st.lists(_bundles(amounts, 0), min_size=1, max_size=4))
    made: Json = {"id": name, "strategy": strategy, "bundles": bundles}
    if draw(_of(False, False, True)):
        made["bundle_selectors"] = [draw(st.none() | st.sampled_from(_SELECTORS)) for _ in bundles]
    return made


@st.composite
def _request(draw: st.DrawFn, amounts: tuple[float, ...], selectors: bool = True) -> Json:
    names = (*_RESOURCES, IMPLICIT) if draw(_of(*[False] * 7, True)) else _RESOURCES
    made: Json = {"resources": draw(_bundles(amounts, 0, names)), "count": draw(_of(1, 1, 2, 3, 6, 0, 12))}
    if selectors and draw(_of(False, True)):
        made["label_selectors"] = draw(st.sampled_from(_SELECTORS))
    return made


_CLOUD, _RECOVERABLE = "cloud_resource_availabilities", "recoverable_resource_availabilities"
_DECIDERS = (
    *("priority", "selectors", "labels of nodes", "idle", "in use", "implicit", "STRICT_SPREAD", "hash"),
    *(_CLOUD, _RECOVERABLE, "GPU") * 2,
)
"""Features that chance alone makes decide too rarely."""


@st.composite
def _decided_by(draw: st.DrawFn, problem: Json, feature: str, number: int) -> None:
    """Adds two node types, and requests that only these have the resource for, so that ``feature`` is likely to
    decide."""
    own, types = f"own{number}", problem["node_types"]
    one, two = f"E{number}", f"F{number}"
    types[one] = {"resources": {own: 1}, "max": 3}
    types[two] = {"resources": {own: 1}, "max": 3}
    request: Json = {"resources": {own: 1}, "count": draw(_of(1, 1, 2))}
    running: list[Json] = [{"id": f"{name}n", "type": name} for name in (one, two)]
    match feature:
        case "priority":
            types[one]["priority"], types[two]["priority"] = draw(_of(0, 0, 1)), draw(_of(1, 5))
        case "cloud_resource_availabilities" | "recoverable_resource_availabilities":
            problem.setdefault(feature, {}).update({one: draw(_of(0, 0.5)), two: draw(_of(0.5, 1, 1))})
        case "selectors":
            types[draw(_of(one, two))]["labels"] = {"zone": "a"}
            request["label_selectors"] = draw(st.sampled_from(([[_IN_B], [_IN_A]], [[_IN_B], [_IN_A]], [[_IN_A]])))
        case "labels of nodes":
            request["label_selectors"] = [[_IN_A]]
            running[draw(_of(0, 1))]["labels"] = {"zone": draw(_of("a", "a", "b"))}
            problem["instances"] += running
        case "idle":
            types[one]["idle_timeout_s"] = draw(_of(1, 2.5, 30))
            for each in running:
                each["idle_ms"] = draw(_of(2000, 5000, 20_000))
            problem["instances"] += running
            return
        case "in use":
            running[0]["available"] = {own: draw(_of(0, 0.5, 1))}
            problem["instances"].append(running[0])
        case "GPU":
            types[one]["resources"] = {"GPU": draw(_of(1, 2)), own: 1}
            types[two]["resources"] = {"memory": 4, own: draw(_of(2, 4))}
        case "implicit":
            request = {"resources": {IMPLICIT: draw(_of(0.5, 1, 1)), own: 0.25}, "count": draw(_of(3, 4))}
        case "STRICT_SPREAD":
            types[one]["resources"] = {own: 2}
            problem.setdefault("gangs", []).append(
                {"id": f"s{number}", "strategy": feature, "bundles": [{own: 1}, {own: 1}]}
            )
            return
        case _:
            types[one]["launch_config_hash"] = "h1"
            running[0]["launch_config_hash"] = draw(_of("h1", "h2", "h2"))
            problem["instances"].append(running[0])
    problem["requests"].append(request)


@st.composite
def problems(draw: st.DrawFn, *, decimals: bool = False) -> Json:
    """A problem as JSON; it shrinks towards one node type and nothing to do."""
    amounts = (*_WHOLE, *_TENTHS) if decimals else _WHOLE
    types = {name: draw(_node_type(amounts)) for name in ("A", "B", "C", "D")[: draw(st.integers(1, 4))]}
    if draw(_of(False, True, True)):  # types that only labels, priority or availability tell apart
        for each in types.values():
            each["resources"] = types["A"]["resources"]
    unchecked = draw(_of(True, True, False))
    instances = [draw(_instance(f"i{n}", types, unchecked, amounts)) for n in range(draw(st.integers(0, 6)))]
    workers = [each for each in instances if each["type"] in types]
    if workers and draw(_of(False, True)):
        workers[draw(st.integers(0, len(workers) - 1))]["head"] = True
    made: Json = {"node_types": types, "disable_launch_config_check": unchecked, "instances": instances}
    made["requests"] = draw(st.lists(_request(amounts), max_size=5))
    if draw(_of(False, True)):
        made["gangs"] = [draw(_gang(name, amounts)) for name in _GANGS[: draw(st.integers(1, 3))]]
    if draw(_of(False, False, True)):
        made["constraints"] = draw(st.lists(_request(amounts, selectors=False), max_size=3))
    made["max_num_nodes"] = draw(_of(None, None, 0, 1, 2, 3, 4, 6, 8))
    made["idle_timeout_s"] = draw(_of(None, 0, 1, 2.5, 10))
    if draw(_of(False, True)):
        made["cloud_resource_availabilities"] = {name: draw(_of(0, 0.5, 1)) for name in types}
    if draw(_of(False, True)):
        made["recoverable_resource_availabilities"] = {name: draw(_of(0, 0.5, 1)) for name in types}
    if draw(_of(False, False, True)):
        made["conserve_gpu_nodes"] = draw(st.booleans())
    for number, feature in enumerate(draw(st.lists(_of(*_DECIDERS), max_size=4, unique=True))):
        draw(_decided_by(made, feature, number))
        if made["max_num_nodes"]:
            made["max_num_nodes"] += draw(_of(0, 1, 2, 2))
    return made
