"""Runs of the reference's autoscaler as the text that Ray's instance manager logs."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from model.language import Machine
from reference.schedulers.ray import AutoscalingConfig
from reference.schedulers.ray.autoscaler import Loop
from reference.schedulers.ray.request import NodeKind
from specs.ray.following import Follower, NoRowLeft

LINE = "{at},{number:03d}\tINFO instance_manager.py:{code} -- {what} (id={id}, type=w, cloud_instance_id=, ray_id=): x"


def lines_of(machine: Machine, chance: random.Random, steps: int) -> list[str]:
    """The lines of a random run: loops every five seconds, and what happens between them, now and then a fault."""
    follower = Follower(machine)
    lines: list[str] = []
    status: dict[str, str] = {}
    before, at = 0, datetime(2026, 1, 1)

    def loop(*, jumps: bool = False, idle: bool = True) -> None:
        nonlocal before, at
        before, at = len(lines), at + timedelta(seconds=5)
        follower.loop(jumps=jumps, idle=idle)

    real = follower.world.autoscaler.loop

    def told(config: AutoscalingConfig, now_ms: int) -> Loop:
        done = real(config, now_ms)
        for event in done.events:
            instance = follower.world.autoscaler.manager.get(event.instance)
            if instance is not None and instance.kind is NodeKind.HEAD:
                continue
            old, new = status.get(event.instance), event.status.value
            status[event.instance] = new
            what, code = (f"New instance {new}", 247) if old is None else (f"Update instance {old}->{new}", 263)
            when, name = f"{at:%Y-%m-%d %H:%M:%S}", event.instance
            lines.append(LINE.format(at=when, number=len(lines) % 1000, code=code, what=what, id=name))
        return done

    follower.world.autoscaler.loop = told  # type: ignore[method-assign]
    try:
        loop()
        for _ in range(steps):
            around = follower.around() if chance.random() < 0.6 else []
            if around:
                calm = [call for call in around if call[0].split("_")[0] not in ("fail", "lose", "kill")]
                follower.happen(chance.choice(around if chance.random() < 0.2 or not calm else calm))
            else:
                loop(jumps=chance.random() < 0.3 and follower.may_jump(), idle=chance.random() < 0.5)
    except NoRowLeft:  # the spec has too few rows for what this loop did
        del lines[before:]
    return lines
