"""What an installed Ray logs is a run of the spec: its autoscaler, driven through the world that the spec describes.

Skipped where Ray is absent: ``make peer-ray`` installs it apart, or GANGPROOF_RAY names a Python that has it
(GANGPROOF_RAY_SEED one with release 2.48).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.conform import Ending, conform
from model.language import Machine
from reference.schedulers.ray import AutoscalingConfig
from reference.schedulers.ray.autoscaler import Loop
from specs.loading import build_spec
from specs.ray import Edition
from specs.ray.following import Follower, NoRowLeft
from specs.ray.log import read

ROOT = Path(__file__).resolve().parents[2]
PLACES = {Edition.CURRENT: ("GANGPROOF_RAY", "peer-ray"), Edition.SEED: ("GANGPROOF_RAY_SEED", "peer-ray-2.48")}
SCOPES: dict[Edition, dict[str, Any]] = {
    Edition.CURRENT: {"instances": 3},
    Edition.SEED: {"edition": Edition.SEED, "crash": False, "instances": 3},
}
Json = dict[str, Any]


def python_of(edition: Edition) -> str:
    variable, folder = PLACES[edition]
    python = os.environ.get(variable) or str(ROOT / ".venv" / folder / "bin" / "python")
    if not Path(python).exists():
        if variable in os.environ:
            pytest.fail(f"{variable} is {python!r}, which is not there")
        pytest.skip("Ray is not installed: make peer-ray")
    return python


def script_of(machine: Machine, chance: random.Random, steps: int) -> Json:
    """A random run of the reference's autoscaler, as events for Ray's: before each loop all that is new or gone. The
    cloud and the GCS report no errors in it."""
    follower = Follower(machine)
    told: list[Json] = []
    known: dict[str, Json] = {}

    real = follower.world.autoscaler.loop

    def loop(config: AutoscalingConfig, now_ms: int) -> Loop:
        seen: dict[str, Json] = {}
        for each in follower.world.cloud.instances.values():
            kind = "HEAD" if each.id == "head" else "WORKER"
            seen[f"cloud_instance {each.id}"] = {"id": each.id, "type": each.type, "kind": kind}
        for node in follower.world.gcs.nodes.values():
            head = node.id == "head"
            about = {"head": True} if head else {"total": dict(node.total), "available": dict(node.available)}
            about |= {"cloud_instance": node.cloud_instance, "type": node.type, "idle_ms": node.idle_ms}
            seen[f"ray_node {node.id}"] = {"id": node.id, "status": node.status.value, **about}
        for key in known.keys() - seen.keys():
            told.append({"op": f"{key.split()[0]}_gone", "id": key.split()[1]})
        told.extend({"op": key.split()[0], **each} for key, each in seen.items() if known.get(key) != each)
        known.clear()
        known.update(seen)
        cluster = follower.world.gcs.cluster
        counted = [
            [{"resources": {"CPU": 1}, "count": count} for _, count in some if count]
            for some in (cluster.requests, cluster.constraints)
        ]
        told.append({"op": "demand", "requests": counted[0], "constraints": counted[1]})
        told.append({"op": "loop", "after_s": (now_ms - at[0]) / 1000})
        at[0] = now_ms
        return real(config, now_ms)

    at = [0]
    follower.world.autoscaler.loop = loop  # type: ignore[method-assign]
    try:
        follower.loop()
        for _ in range(steps):
            around = [c for c in follower.around() if c[0].split("_")[0] not in ("fail", "refuse")]
            if around and chance.random() < 0.6:
                calm = [call for call in around if call[0].split("_")[0] not in ("lose", "kill")]
                follower.happen(chance.choice(around if chance.random() < 0.2 or not calm else calm))
            else:
                follower.loop(jumps=chance.random() < 0.2 and follower.may_jump(), idle=chance.random() < 0.5)
    except NoRowLeft:  # the last loop needs one row more than the spec has
        while told and told[-1]["op"] != "loop":
            told.pop()
        told.pop()
    config = follower.world.config
    types = {
        name: {"resources": dict(each.resources) or {"CPU": 0}, "min": each.min_workers, "max": each.max_workers}
        for name, each in config.node_types.items()
    }
    reconcile = {
        name: getattr(config.reconcile, name)
        for name in config.reconcile.__dataclass_fields__
        if name.endswith("_s") or name == "max_num_retry_request_to_allocate"
    }
    cluster = {
        "node_types": types,
        "upscaling_speed": config.upscaling_speed,
        "max_concurrent_launches": config.max_concurrent_launches,
        "idle_timeout_s": config.idle_timeout_s,
        "disable_node_updaters": config.disable_node_updaters,
        "reconcile": reconcile,
    }
    return {"cluster": cluster, "steps": told, "log": True}


@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_what_ray_logs_is_a_run_of_the_spec(edition: Edition) -> None:
    machine = build_spec("ray", SCOPES[edition])
    scripts = [script_of(machine, random.Random(seed), 50) for seed in range(6)]
    done = subprocess.run(
        [python_of(edition), str(ROOT / "bench" / "ray_loop_peer.py")],
        input="".join(json.dumps(each) + "\n" for each in scripts),
        capture_output=True,
        text=True,
        check=True,
    )
    told = 0
    for number, answer in enumerate(map(json.loads, done.stdout.splitlines())):
        found = conform(machine, read(machine, answer["log"], "monitor.log"))
        assert found.ending is Ending.CONFORMS, (number, found.divergence)
        told += found.matched
    assert told > 60
