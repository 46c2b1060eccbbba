"""Logs of a simulated YuniKorn are runs of its spec; a log that was tampered with is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from gangproof import simulated_logs
from gangproof.cli import run as command
from model.conform import Ending, conform
from model.errors import FileError
from model.language import Machine
from reference.simulation import Job, Workload, simulate
from reference.simulation.log import lines
from reference.simulation.schedulers.yunikorn import YuniKornScheduler
from specs.loading import build_spec
from specs.yunikorn import Edition, Timers
from specs.yunikorn.binding import subject_for

SCOPE = {"apps": 3, "size": 2, "nodes": 2, "capacity": 2, "quota": 4, "timers": Timers.FREE}


def machine() -> Machine:
    return build_spec("yunikorn", SCOPE)


def log_of(seed: int) -> list[str]:
    """Three gangs that come, reserve, run and end."""
    random = Random(seed)
    subject = subject_for(machine())
    options = {
        name: getattr(subject.options, name) for name in ("sort_policy", "reject_fair", "gate", "node_order", "strict")
    }
    scheduler = YuniKornScheduler(subject.cluster, release_ms=random.choice((0, 100)), waiting_ms=2_000, **options)
    jobs, arrival = [], 0
    for app in subject.cluster.applications:
        arrival += random.choice((0, 300, 900))
        jobs.append(Job(replace(app, placeholder_timeout_seconds=1), arrival, (random.randint(1, 1_500),)))
    return list(lines({}, simulate(subject.cluster, Workload(tuple(jobs)), scheduler).log))


@pytest.mark.parametrize("seed", [0, 2])
def test_a_simulated_run_conforms(seed: int) -> None:
    found = conform(machine(), simulated_logs.read(machine(), log_of(seed), "log"))
    assert found.ending is Ending.CONFORMS, found.divergence
    assert found.matched > 20
    assert found.broken == ()


def test_a_lost_replacement_is_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_of(0)
    lost = next(i for i, line in enumerate(log) if json.loads(line).get("event") == "start_replacement")
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(log[:lost] + log[lost + 1 :]))
    words = [f"{k}={getattr(v, 'value', v)}" for k, v in SCOPE.items()]
    assert command(["conform", "yunikorn", *words, str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("DIVERGES from yunikorn at line ")
    assert "confirm_on_same_node" in out.splitlines()[0] or "finish_pod" in out.splitlines()[0]


def test_mistakes() -> None:
    head = '{"gangproof": "log/v1"}'
    for text, expected in (
        ("{}", "line 1: no event of a simulated core"),
        (f'{head}\n{{"by": "yunikorn", "event": "dance"}}', "line 2: no event of a simulated core: 'dance'"),
        (
            f'{head}\n{{"by": "yunikorn", "event": "ask_placeholders", "application": []}}',
            "submit of .*, expected a name",
        ),
    ):
        with pytest.raises(FileError, match=expected):
            simulated_logs.read(machine(), text.splitlines(), "log")
    with pytest.raises(FileError, match="edition=seed"):
        simulated_logs.read(build_spec("yunikorn", {"edition": Edition.CURRENT}), [head], "log")
