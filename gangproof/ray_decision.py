"""``gangproof schedule --policy ray``: one decision of Ray's autoscaler, as JSON or as text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

import click

from gangproof.output import paragraph, print_json, warn
from gangproof.placement_text import cut
from reference.schedulers.ray import NodeStatus, SchedulingReply, Source, load_files, reply_json, schedule
from reference.schedulers.ray.request import Counted, ResourceRequest


def decide(paths: tuple[str, ...], as_json: bool) -> None:
    """Reads the files, decides, prints. Raises InputError."""
    request, told = load_files(paths)
    warnings = [str(each) for each in told]
    warn(warnings)
    started = time.monotonic()
    reply = schedule(request)
    seconds = time.monotonic() - started
    if as_json:
        print_json({"policy": "ray", **reply_json(reply), "seconds": round(seconds, 3), "warnings": warnings})
    else:
        click.echo(_text(reply, seconds))


def _text(reply: SchedulingReply, seconds: float) -> str:
    launched = sum(reply.to_launch.values())
    head = f"ray: {launched} to launch, {len(reply.to_terminate)} to terminate ({seconds:.2f} s)"
    rows = [
        (node.instance or NAMES[node.status], node.node_type, _listed(node.scheduled[Source.PENDING_DEMAND], reply))
        for node in reply.nodes
        if any(node.scheduled) or node.status is NodeStatus.TO_LAUNCH
    ]
    alike = [(f"{count} {name}" if name == "new" else name, *rest) for (name, *rest), count in Counter(rows).items()]
    parts = [paragraph(head)]
    if alike:
        parts += ["", cut(["node", "type", "demand"], alike)]
    if reply.to_terminate:
        gone = [(n.instance or "not launched", n.node_type, n.cause.value) for n in reply.to_terminate if n.cause]
        parts += ["", cut(["terminated", "type", "because"], gone)]
    infeasible = [("request", _listed([counted], reply)) for counted in reply.infeasible_requests]
    infeasible += [("gang", gang.details) for gang in reply.infeasible_gangs]
    if not reply.constraint_is_met:
        infeasible.append(("constraint", "what request_resources asked for"))
    if infeasible:
        parts += ["", cut(["infeasible", "what"], infeasible)]
    return "\n".join(parts)


NAMES = {NodeStatus.TO_LAUNCH: "new", NodeStatus.SCHEDULABLE: "there", NodeStatus.TO_TERMINATE: "not launched"}


def _listed(scheduled: Iterable[Counted], reply: SchedulingReply) -> str:
    counts: Counter[ResourceRequest] = Counter()
    for request, count in scheduled:
        counts[request] += count
    shown = reply.arithmetic.shown
    return ", ".join(
        f"{count} x {{{', '.join(f'{name}: {shown(amount):g}' for name, amount in request.bundle)}}}"
        for request, count in counts.items()
    )
