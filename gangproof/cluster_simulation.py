"""``gangproof simulate INPUT --policy P``: a run of a trace on a cluster, as text or JSON."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from gangproof.answers import fraction_json, percent
from gangproof.output import paragraph, print_json, table, warn
from gangproof.placement_text import cut
from reference.cluster import Cluster
from reference.cluster.features import reduce_to
from reference.errors import InputError
from reference.manifests import load
from reference.simulation import Metrics, Run, Settings, Workload, make, simulate
from reference.simulation.log import lines
from reference.simulation.metrics import Times
from reference.simulation.ray_autoscaler import RayAutoscaler
from reference.simulation.settings_file import read_settings
from reference.simulation.traces import generate, read_trace

_MS = {"h": 3_600_000, "min": 60_000, "s": 1_000}


def run_trace(
    paths: Sequence[str],
    *,
    policy: str,
    trace: str | None,
    order: str,
    strict: bool,
    seed: int,
    settings_path: str | None,
    steps_per_second: int,
    log: str | None,
    as_json: bool,
) -> int:
    """Reads cluster, trace and settings, runs, prints; the exit status. Raises InputError."""
    settings_file = read_settings(settings_path, seed)
    loaded = load(list(paths), require_applications=False)
    cluster, reduced = reduce_to(loaded.cluster, frozenset(), "the simulation")
    warnings = [*map(str, loaded.warnings), *reduced]
    if trace is None:
        workload = generate(cluster, settings_file.generator, seed)
    else:
        found = read_trace(trace, cluster, steps_per_second)
        workload = found.workload
        warnings += [str(each) for each in found.warnings]
    settings = settings_file.settings
    scheduler = make(policy, cluster, order, strict=strict, release_ms=settings_file.release_ms)
    autoscaler = RayAutoscaler(settings.autoscaler) if settings.autoscaler else None
    started = time.monotonic()
    run = simulate(cluster, workload, scheduler, settings, autoscaler)
    seconds = time.monotonic() - started
    warn(warnings)  # not beside an error, which is the whole answer
    if log is not None:
        _write(log, {"policy": policy, "order": order, "strict": strict, "seed": seed}, run)
    if as_json:
        print_json(
            {
                "policy": policy,
                "order": order,
                "strict": strict,
                "seed": seed,
                **metrics_json(run.metrics),
                "jobs": _jobs_json(run),
                "log_entries": len(run.log),
                "seconds": round(seconds, 3),
                "warnings": warnings,
            }
        )
    else:
        print_text(cluster, workload, settings, run, seconds)
    return 0


def _write(path: str, head: dict[str, Any], run: Run) -> None:
    try:
        with Path(path).open("w", encoding="utf-8") as stream:
            stream.writelines(line + "\n" for line in lines(head, run.log))
    except OSError as error:
        raise InputError(f"that it cannot be written ({error.strerror})", "a file to write", path) from None


# --- JSON ---


def metrics_json(metrics: Metrics) -> dict[str, Any]:
    """The metrics; times in ms, fractions rounded to six digits, None where a metric is not defined."""
    fragmentation = metrics.fragmentation
    return {
        **{name: getattr(metrics, name) for name in _COUNTS},
        "admission_rate": fraction_json(metrics.admission_rate),
        "weighted_admission_rate": _maybe(metrics.weighted_admission_rate),
        "wait_ms": _times_json(metrics.wait),
        "completion_ms": _times_json(metrics.completion),
        "makespan_ms": metrics.makespan,
        "window_ms": list(metrics.window),
        "utilisation": {name: fraction_json(share) for name, share in metrics.utilisation.items()},
        "allocation": {name: fraction_json(share) for name, share in metrics.allocation.items()},
        "cost": fraction_json(metrics.cost),
        "node_hours": {name: fraction_json(hours) for name, hours in metrics.node_hours.items()},
        "fragmentation": None
        if fragmentation is None
        else {"mean": fraction_json(fragmentation.mean), "of_idle": _maybe(fragmentation.of_idle)},
        "queues": [
            {
                "name": queue.name,
                "submitted": queue.submitted,
                "admitted": queue.admitted,
                "dominant_share": fraction_json(queue.dominant_share),
                "wait_ms": _times_json(queue.wait),
            }
            for queue in metrics.queues
        ],
        "jain": _maybe(metrics.jain),
    }


_COUNTS = ("submitted", "admitted", "finished", "failed", "rejected", "killed", "waiting", "restarts")


def _times_json(times: Times | None) -> dict[str, Any] | None:
    if times is None:
        return None
    return {
        "count": times.count,
        "mean": fraction_json(times.mean),
        "median": fraction_json(times.median),
        **{f"p{percent_}": value for percent_, value in times.percentiles.items()},
        "max": times.largest,
    }


def _maybe(value: Fraction | None) -> float | None:
    return None if value is None else fraction_json(value)


def _jobs_json(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "name": job.name,
            "queue": job.application.queue,
            "state": job.state.value,
            "arrival": job.job.arrival,
            "start": job.started,
            "end": job.ended,
            "attempts": job.attempt,
            "reason": job.reason,
        }
        for job in run.jobs
    ]


# --- text ---


def print_text(cluster: Cluster, workload: Workload, settings: Settings, run: Run, seconds: float) -> None:
    """The metrics as tables of 80 columns."""
    import click

    m = run.metrics
    nodes = f"{len(cluster.nodes):,} node{'s' if len(cluster.nodes) != 1 else ''}"
    head = (
        f"{run.policy}: {m.admitted:,} of {m.submitted:,} gangs admitted, {m.finished:,} finished, on {nodes}, "
        f"seed {settings.seed} ({seconds:.2f} s)"
    )
    others = [
        f"{getattr(m, name):,} {name}" for name in ("failed", "rejected", "killed", "waiting") if getattr(m, name)
    ]
    if m.restarts:
        others.append(f"{m.restarts:,} restarts")
    rows: list[tuple[str, str]] = [("admission rate", percent(m.admission_rate))]
    if m.weighted_admission_rate is not None:
        rows.append(("weighted", percent(m.weighted_admission_rate)))
    rows.append(("makespan", "none finished" if m.makespan is None else span(m.makespan)))
    rows += [
        (f"utilisation, {name}", f"{percent(share)} (allocated {percent(m.allocation[name])})")
        for name, share in m.utilisation.items()
    ]
    if m.fragmentation is not None:
        idle = m.fragmentation.of_idle
        of_idle = f", {percent(idle)} of what is idle" if idle is not None else ""
        rows.append(("fragmentation", f"{float(m.fragmentation.mean) / 1000:,.2f} GPUs{of_idle}"))
    hours = sum(m.node_hours.values(), Fraction(0))
    rows.append(("cost", f"{float(m.cost):,.2f} for {float(hours):,.2f} node-hours"))
    if m.jain is not None:
        rows.append(("Jain's index", f"{float(m.jain):.3f} of {len(m.queues)} queue{'s' * (len(m.queues) != 1)}"))
    parts = [paragraph(head, indent="  ")]
    if others:
        parts.append(paragraph(", ".join(others)))
    parts += ["", table(["metric", "value"], rows), "", _times_text(m)]
    if len(m.queues) > 1:
        shown = [
            (q.name, f"{q.admitted:,} of {q.submitted:,}", percent(q.dominant_share), _mean(q.wait)) for q in m.queues
        ]
        parts += ["", cut(["queue", "admitted", "dominant share", "mean wait"], shown)]
    lost = [(job.name, f"{job.state.value}: {job.reason}") for job in run.jobs if job.state.is_over and job.reason]
    lost += [(job.name, "waits for ever") for job in run.jobs if not job.state.is_over]
    if lost:
        parts += ["", cut(["gang", "not finished because"], lost)]
    click.echo("\n".join(parts))


def _times_text(m: Metrics) -> str:
    head = ["time", "mean", "median", "p90", "p99", "max"]
    rows = [
        (
            name,
            span(times.mean),
            span(times.median),
            *map(span, (times.percentiles[90], times.percentiles[99], times.largest)),
        )
        for name, times in (("wait", m.wait), ("completion", m.completion))
        if times is not None
    ]
    return table(head, rows) if rows else "No gang was admitted."


def _mean(times: Times | None) -> str:
    return "none admitted" if times is None else span(times.mean)


def span(ms: int | Fraction) -> str:
    """A time as people read it: ``1.5 h``, ``90.0 s``, ``0 s``."""
    for unit, size in _MS.items():
        if ms >= 2 * size:
            return f"{float(Fraction(ms, size)):,.1f} {unit}"
    return f"{float(ms):,.0f} ms" if ms else "0"
