"""Situations with the answer that Ray gives, most after its own tests of the scheduler; the numbers are theirs."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def cpu(amount: float, count: int = 1) -> Json:
    return {"resources": {"CPU": amount}, "count": count}


def gpu(amount: float, count: int = 1) -> Json:
    return {"resources": {"GPU": amount}, "count": count}


def gang(name: str, strategy: str, *bundles: Json) -> Json:
    return {"id": name, "strategy": strategy, "bundles": list(bundles)}


def pool(least: int, most: int, **resources: float) -> Json:
    return {"resources": dict(sorted(resources.items())), "min": least, "max": most}


def running(name: str, node_type: str = "type_1", **more: Any) -> Json:
    return {"id": name, "type": node_type, **more}


def waiting(name: str, status: str, node_type: str = "type_1") -> Json:
    return {"id": name, "type": node_type, "status": status}


def labelled(resources: Json, accelerator: str) -> Json:
    return {"resources": resources, "max": 5, "labels": {"accelerator": accelerator}}


def wants(*accelerators: str) -> Json:
    return {"resources": {"CPU": 1}, "label_selectors": [[["accelerator", "in", [a]]] for a in accelerators]}


MINIMA = {"type_1": pool(1, 10, CPU=1), "type_2": pool(0, 10, CPU=1), "type_3": pool(2, 10, CPU=1)}
LIMITED = {"type_1": pool(2, 2, CPU=2)}
FOUR = [
    waiting("i0", "ALLOCATED"),
    running("i1", available={"CPU": 2}, idle_ms=10),
    running("i2", available={"CPU": 1}),
    running("i3", available={"CPU": 0}),
]
ROOMY = {"type_1": pool(0, 10, CPU=2)}
ONE = {"type_1": pool(0, 10, CPU=1)}
PAIR = {"A": pool(0, 1, CPU=1, GPU=1), "B": pool(0, 1, CPU=3)}
SIZES = {"large": pool(0, 10, CPU=10), "small": pool(0, 5, CPU=5), "gpu": pool(0, 10, CPU=2, GPU=2)}
MULTI = {"gpu": pool(0, 10, CPU=1, GPU=2), "multi": pool(0, 10, CPU=2, XXX=2)}
IDLE_TYPES = {"cpu": pool(0, 5, CPU=1), "head": pool(0, 1, head=1)}
IDLE = [
    running("busy", "cpu", available={"CPU": 0}),
    running("idle", "cpu", idle_ms=5000),
    running("h", "head", idle_ms=999_000, head=True),
]
GANG_TYPES = {"cpu": pool(0, 5, CPU=2)}
EC2 = {
    "m4.large": pool(0, 10, CPU=2),
    "m4.4xlarge": pool(0, 8, CPU=16),
    "m4.16xlarge": pool(0, 4, CPU=64),
    "p2.xlarge": pool(0, 10, CPU=16, GPU=1),
    "p2.8xlarge": pool(0, 4, CPU=32, GPU=8),
}
EC2_MINIMUM = {"p2.8xlarge": pool(2, 4, CPU=32, GPU=8), "p2.xlarge": pool(0, 10, CPU=16, GPU=1)}
EC2_GANGS = {"m4.large": pool(0, 10, CPU=2), "p2.8xlarge": pool(0, 4, CPU=32, GPU=8)}
ACCELERATORS = {
    "cpu_node": {"resources": {"CPU": 1}, "max": 5},
    "gpu_node": labelled({"CPU": 1, "GPU": 1}, "A100"),
    "tpu_node": labelled({"CPU": 1, "TPU": 1}, "TPU"),
}


def existing(*types: str) -> list[Json]:
    return [running(f"i{n}", name) for n, name in enumerate(types)]


def case(types: Json, launch: Json, *, gone: Json | None = None, **more: Any) -> tuple[Json, Json]:
    """A problem and what is expected of its answer; ``gone`` are instances and why they go."""
    wanted = {
        "to_launch": launch,
        "gone": gone or {},
        "infeasible": more.pop("infeasible", 0),
        "infeasible_gangs": more.pop("infeasible_gangs", []),
        "infeasible_constraints": more.pop("infeasible_constraints", 0),
    }
    return {"node_types": types, **more}, wanted


def idle(timeout: float, goes: bool, launch: Json | None = None, types: Json = IDLE_TYPES, **more: Any) -> Any:
    gone = {"idle": "IDLE"} if goes else None
    return case(types, launch or {}, gone=gone, instances=IDLE, idle_timeout_s=timeout, **more)


def two(strategy: str, amount: float) -> list[Json]:
    return [gang("g", strategy, {"CPU": amount}, {"CPU": amount})]


SPREAD, PACKED = "STRICT_SPREAD", "STRICT_PACK"
TYPE_MAX, ALL_MAX = "MAX_NUM_NODE_PER_TYPE", "MAX_NUM_NODES"
CASES: dict[str, tuple[Json, Json]] = {
    "minima of an empty cluster": case(MINIMA, {"type_1": 1, "type_3": 2}),
    "running nodes count for a minimum": case(MINIMA, {"type_3": 2}, instances=existing("type_1", "type_1")),
    "so do launches, but not of a type that is gone": case(
        MINIMA,
        {"type_3": 2},
        gone={"i2": "OUTDATED"},
        disable_launch_config_check=False,
        instances=[waiting("i0", "REQUESTED"), waiting("i1", "ALLOCATED"), waiting("i2", "REQUESTED", "gone")],
    ),
    "which is passed over where configurations are not checked": case(
        MINIMA, {"type_1": 1, "type_3": 2}, instances=[waiting("i0", "REQUESTED", "gone")]
    ),
    "another launch configuration": case(
        {"type_1": {"resources": {"CPU": 1}, "max": 4, "launch_config_hash": "new"}},
        {},
        gone={"i0": "OUTDATED"},
        disable_launch_config_check=False,
        instances=[running("i0", launch_config_hash="old"), running("i1", launch_config_hash="new")],
    ),
    "beyond a type's maximum, what does not run yet goes": case(
        LIMITED, {}, gone={"i0": TYPE_MAX}, instances=[FOUR[0], FOUR[1], FOUR[2]]
    ),
    "a maximum that is kept": case(ROOMY, {}, instances=FOUR, max_num_nodes=4),
    "one node too many": case(ROOMY, {}, gone={"i0": ALL_MAX}, instances=FOUR, max_num_nodes=3),
    "two nodes too many": case(ROOMY, {}, gone={"i0": ALL_MAX, "i1": ALL_MAX}, instances=FOUR, max_num_nodes=2),
    "a fragment is of no use": case(
        ONE, {"type_1": 1}, instances=[running("i0", available={"CPU": 0.9})], requests=[cpu(1)]
    ),
    "a launch that is under way is": case(ONE, {}, instances=[waiting("i0", "REQUESTED")], requests=[cpu(1)]),
    "a GPU node is left to who needs it": case(
        PAIR, {"A": 1, "B": 1}, requests=[cpu(1, 3), {"resources": {"CPU": 1, "GPU": 1}}]
    ),
    "in any order": case(PAIR, {"A": 1, "B": 1}, requests=[{"resources": {"CPU": 1, "GPU": 1}}, cpu(1, 3)]),
    "the smaller node is fuller": case(SIZES, {"small": 1}, requests=[cpu(1)]),
    "also for two": case(SIZES, {"small": 1}, requests=[cpu(2)]),
    "rather another accelerator than a GPU": case(MULTI, {"multi": 1}, requests=[cpu(1)]),
    "idle for long enough": idle(1, True),
    "idle for longer than another time out": idle(2, True),
    "not idle for long enough": idle(10, False),
    "kept by a constraint": idle(1, False, constraints=[cpu(1, 2)]),
    "kept by demand": idle(1, False, {"cpu": 1}, requests=[cpu(1, 2)]),
    "kept by a gang": idle(1, False, {"cpu": 1}, gangs=two(SPREAD, 1)),
    "above the minimum": idle(1, True, types={**IDLE_TYPES, "cpu": pool(1, 5, CPU=1)}),
    "kept by the minimum": idle(1, False, types={**IDLE_TYPES, "cpu": pool(2, 5, CPU=1)}),
    "packed on one node": case(GANG_TYPES, {"cpu": 1}, gangs=two(PACKED, 1)),
    "spread over two": case(GANG_TYPES, {"cpu": 2}, gangs=two(SPREAD, 1)),
    "too large when packed": case(GANG_TYPES, {}, gangs=two(PACKED, 3), infeasible_gangs=["g:STRICT_PACK"]),
    "one node has room for one": case({"A": pool(0, 1, GPU=2)}, {"A": 1}, requests=[gpu(2, 2)], infeasible=1),
    "one node cannot hold a spread gang": case(
        {"A": pool(0, 1, GPU=3)},
        {},
        gangs=[gang("g", SPREAD, {"GPU": 1}, {"GPU": 1})],
        infeasible_gangs=["g:STRICT_SPREAD"],
    ),
    "one of each implicit resource": case(
        {"A": pool(0, 1, CPU=4)},
        {"A": 1},
        requests=[{"resources": {"node:__internal_implicit_resource_x": 0.5}, "count": 3}],
        infeasible=1,
    ),
    "six GPUs": case(EC2, {"p2.8xlarge": 1}, requests=[gpu(1, 6)]),
    "four GPUs": case(EC2, {"p2.xlarge": 4}, requests=[gpu(1, 4)]),
    "GPUs with many CPUs": case(EC2, {"p2.8xlarge": 3}, requests=[{"resources": {"CPU": 32, "GPU": 1}, "count": 3}]),
    "no node is so large": case(EC2, {}, requests=[{"resources": {"CPU": 64, "GPU": 1}, "count": 3}], infeasible=3),
    "large and small": case(EC2, {"m4.16xlarge": 1, "m4.4xlarge": 2}, requests=[cpu(64), cpu(9, 2)]),
    "a hundred CPUs": case(EC2, {"m4.16xlarge": 1, "m4.4xlarge": 2, "m4.large": 2}, requests=[cpu(1, 100)]),
    "eight GPUs apart": case(EC2, {"p2.xlarge": 8}, gangs=[gang("g", SPREAD, *[{"GPU": 1}] * 8)]),
    "up to the maximum": case(EC2_MINIMUM, {"p2.8xlarge": 4}, requests=[gpu(8, 8)], infeasible=4),
    "beside what runs": case(
        EC2_MINIMUM,
        {"p2.8xlarge": 1, "p2.xlarge": 1},
        instances=existing(*["p2.8xlarge"] * 3),
        requests=[gpu(8, 5), gpu(1)],
        infeasible=1,
    ),
    "sixteen CPUs twice, apart": case(EC2_GANGS, {"p2.8xlarge": 2}, gangs=two(SPREAD, 16)),
    "sixteen CPUs twice": case(EC2_GANGS, {"p2.8xlarge": 1}, gangs=two("PACK", 16)),
    "two CPUs twice, together": case(EC2_GANGS, {"p2.8xlarge": 1}, gangs=two(PACKED, 2)),
    "two CPUs twice": case(EC2_GANGS, {"m4.large": 2}, gangs=two("SPREAD", 2)),
    "more than any node, together": case(EC2_GANGS, {}, gangs=two(PACKED, 32), infeasible_gangs=["g:STRICT_PACK"]),
    "four gangs, each apart": case(
        EC2_GANGS, {"p2.8xlarge": 2}, gangs=[gang(f"g{n}", SPREAD, {"CPU": 4}, {"CPU": 4}) for n in range(4)]
    ),
    "gangs that share a node": case(
        EC2_GANGS,
        {"p2.8xlarge": 1},
        gangs=[gang("c", PACKED, {"CPU": 16}, {"CPU": 16}), gang("g", PACKED, {"GPU": 4}, {"GPU": 4})],
    ),
    "a label": case(ACCELERATORS, {"gpu_node": 1}, requests=[wants("A100")]),
    "the first of two labels": case(ACCELERATORS, {"tpu_node": 1}, requests=[wants("TPU", "A100")]),
    "the second where nothing has the first": case(ACCELERATORS, {"gpu_node": 1}, requests=[wants("B200", "A100")]),
    "a label that nothing has": case(ACCELERATORS, {}, requests=[wants("B200")], infeasible=1),
    "packed, but for another label each": case(
        ACCELERATORS,
        {"gpu_node": 1, "tpu_node": 1},
        gangs=[
            {
                **two(PACKED, 1)[0],
                "bundle_selectors": [[[["accelerator", "in", ["A100"]]]], [[["accelerator", "in", ["TPU"]]]]],
            }
        ],
    ),
    # Not in upstream's tests.
    "minima beyond the maximum: none of the new nodes is launched": case(
        {"A": pool(3, 3, CPU=1)}, {}, gone={"": ALL_MAX}, max_num_nodes=2
    ),
    "a node that goes still takes what waits": case(
        {"A": pool(0, 1, CPU=2)},
        {},
        gone={"i0": TYPE_MAX},
        instances=[waiting("i0", "ALLOCATED", "A"), running("i1", "A", available={"CPU": 0})],
        requests=[cpu(2)],
    ),
    "doubles drift: the third does not fit": case(
        {"A": pool(0, 1, CPU=0.6)}, {"A": 1}, requests=[cpu(0.2, 3)], infeasible=1
    ),
    "types that tie take turns": case(
        {"A": pool(0, 5, CPU=1), "B": pool(0, 5, CPU=1)}, {"A": 2, "B": 1}, requests=[cpu(1, 3)]
    ),
    "priority breaks ties": case(
        {"A": pool(0, 5, CPU=1), "B": {**pool(0, 5, CPU=1), "priority": 1}}, {"B": 3}, requests=[cpu(1, 3)]
    ),
    "a type that failed of late comes last": case(
        {"A": pool(0, 5, CPU=1), "B": pool(0, 5, CPU=1)},
        {"B": 3},
        requests=[cpu(1, 3)],
        recoverable_resource_availabilities={"A": 0.5},
    ),
    "the larger gang goes first": case(
        {"A": pool(0, 1, CPU=2)},
        {"A": 1},
        gangs=[gang("small", "PACK", {"CPU": 2}), gang("large", "PACK", {"CPU": 1}, {"CPU": 1})],
        infeasible_gangs=["small:PACK"],
    ),
    "of idle nodes the minimum is kept, not those idle for longest": case(
        {"A": pool(1, 3, CPU=1)},
        {},
        gone={"i1": "IDLE"},
        instances=[running("i0", "A", idle_ms=5000), running("i1", "A", idle_ms=9000)],
        idle_timeout_s=1,
    ),
    "the label of a running node": case(
        {"A": pool(0, 2, CPU=1)},
        {},
        instances=[
            running("i0", "A", labels={"accelerator": "B200"}),
            running("i1", "A", labels={"accelerator": "TPU"}),
        ],
        requests=[wants("TPU")],
    ),
    "of two alike, what was put on the first does not speak for the second": case(
        {"A": pool(0, 2, CPU=1, GPU=1), "C": pool(0, 1, CPU=1, XXX=1, YYY=1)},
        {},
        gone={"c": "IDLE"},
        instances=[waiting("a0", "ALLOCATED", "A"), running("c", "C", idle_ms=5000), waiting("a1", "ALLOCATED", "A")],
        gangs=[gang("g", "PACK", {"GPU": 0})],
        requests=[cpu(1)],
        idle_timeout_s=1,
    ),
    "and the second is a GPU node without a GPU request": case(
        {"A": pool(0, 2, CPU=1, GPU=1), "C": pool(0, 1, CPU=1, XXX=1, YYY=1)},
        {},
        instances=[waiting("a0", "ALLOCATED", "A"), running("c", "C", idle_ms=5000), waiting("a1", "ALLOCATED", "A")],
        gangs=[gang("g", "PACK", {"GPU": 0})],
        requests=[cpu(1, 2)],
        idle_timeout_s=1,
    ),
    "what was exhausted once comes last": case(
        {"A": pool(0, 2, CPU=1), "B": pool(0, 1, CPU=2)},
        {"B": 1},
        gone={"i0": "IDLE"},
        instances=[running("i0", "A", idle_ms=5000), waiting("i1", "ALLOCATED", "A")],
        gangs=[gang("g", "PACK", {"CPU": 2})],
        requests=[cpu(1)],
        idle_timeout_s=1,
    ),
    "a constraint that cannot be met asks for nothing": case(
        {"A": pool(0, 2, CPU=1)}, {}, constraints=[cpu(1, 3)], infeasible_constraints=1
    ),
    "a constraint is held against whole nodes": case(
        {"A": pool(0, 2, CPU=1)},
        {"A": 1},
        constraints=[cpu(1, 2)],
        instances=[running("i0", "A", available={"CPU": 0})],
    ),
}


def summary(answer: Json) -> Json:
    """What the table tells of an answer."""
    return {
        "to_launch": answer["to_launch"],
        "gone": {each["id"]: each["cause"] for each in answer["to_terminate"]},
        "infeasible": sum(each["count"] for each in answer["infeasible_requests"]),
        "infeasible_gangs": answer["infeasible_gangs"],
        "infeasible_constraints": answer["infeasible_constraints"],
    }
