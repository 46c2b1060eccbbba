"""Traces in tables: openb's pod list with its times, and a CSV of our own.

openb: each pod is a gang of one that comes when the pod was created and has work for as long as the pod was on a node;
one that never was, until its deletion. Times are in seconds.

Our own: a line for each job, with the columns ``name, arrival_ms, duration_ms`` and, optional, ``members`` (1),
``queue``, ``weight`` (1). Every other column is a resource that a member asks for, in its base unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reference.cluster import Application, Cluster, Resources, TaskGroup
from reference.errors import InputWarning
from reference.manifests.document import Field, ManifestError, row_field
from reference.manifests.openb import Table, read_timed_pods, records
from reference.manifests.quantity import INT64_MAX
from reference.simulation.clock import MS_PER_SECOND
from reference.simulation.traces.queues import dealt
from reference.simulation.workload import Job, Workload

NEEDED = ("name", "arrival_ms", "duration_ms")
OPTIONAL = ("members", "queue", "weight")


def read_openb(table: Table, cluster: Cluster) -> tuple[Workload, tuple[InputWarning, ...]]:
    """The pods as jobs, in order of creation, and a warning about those that never ran."""
    pods = sorted(read_timed_pods(table), key=lambda pod: pod.created)
    queues = dealt(cluster)
    jobs = tuple(
        Job(
            Application(pod.name, next(queues), (pod.group,), submitted=number),
            pod.created * MS_PER_SECOND,
            (max(pod.deleted - (pod.created if pod.scheduled is None else pod.scheduled), 1) * MS_PER_SECOND,),
        )
        for number, pod in enumerate(pods)
    )
    never = sum(pod.scheduled is None for pod in pods)
    text = f"{never} pods never ran; they are taken to have had work from their creation to their deletion"
    return Workload(jobs), (InputWarning(text, table.file),) if never else ()


def is_table(text: str) -> bool:
    """Whether the first line is the head of a CSV of our own."""
    head = text.partition("\n")[0]
    return set(NEEDED) <= {cell.strip() for cell in head.split(",")}


def read_table(file: str, text: str, cluster: Cluster) -> tuple[Workload, tuple[Field, ...]]:
    """The jobs, in file order, and the row of each. Raises ManifestError."""
    queues = dealt(cluster)
    jobs: list[Job] = []
    rows = tuple(_rows(file, text))
    for number, row in enumerate(rows):
        cells = row.string_map()
        asked = {name: _whole(row, name, 0) for name in cells if name not in (*NEEDED, *OPTIONAL)}
        group = TaskGroup("members", _whole(row, "members", 1, 1), Resources(asked))
        queue = cells.get("queue") or next(queues)
        name = row.need("name", "a name").name("the job's name")
        application = Application(name, queue, (group,), submitted=number, weight=_whole(row, "weight", 0, 1))
        jobs.append(Job(application, _whole(row, "arrival_ms", 0), (_whole(row, "duration_ms", 1),)))
    return Workload(tuple(jobs)), rows


def _whole(row: Field, column: str, least: int, default: int | None = None) -> int:
    text = row.string_map().get(column, "")
    if not text and default is not None:
        return default
    if not re.fullmatch(r"[0-9]{1,19}", text) or not least <= int(text) <= INT64_MAX:
        raise row.child(column, text).error(f"a whole number, {least} or more")
    return int(text)


def _rows(file: str, text: str) -> Iterator[Field]:
    lines = records(file, text)
    header = next(lines)[1]
    for column in header:
        if not column or header.count(column) > 1:
            raise ManifestError(f"the column {column!r}", "columns with a name each, each once", file, 1)
    for line, cells in lines:
        if not cells:
            continue
        if len(cells) != len(header):
            raise ManifestError(f"{len(cells)} values", f"{len(header)} values, one for each column", file, line)
        yield row_field(file, line, dict(zip(header, cells, strict=True)))
