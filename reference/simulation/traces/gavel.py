"""Traces of Gavel (OSDI 2020): lines of job type, steps, arrival in seconds and scale factor, with tabs between them.

A job is a gang of ``scale_factor`` workers with a GPU each. Steps become time at one rate for all job types, which the
trace does not say: ``steps_per_second``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from reference.cluster import Application, Cluster, Resources, TaskGroup
from reference.errors import InputError
from reference.manifests.document import Field, row_field
from reference.simulation.clock import MS_PER_SECOND
from reference.simulation.fragmentation import DEVICE, gpu_resource
from reference.simulation.traces.queues import dealt
from reference.simulation.workload import Job, Workload

COLUMNS = ("job_type", "steps", "arrival", "scale_factor")
_MOST = 10**15


def is_gavel(text: str) -> bool:
    """Whether the first line has the columns of such a trace."""
    return text.partition("\n")[0].count("\t") == len(COLUMNS) - 1


def read_gavel(file: str, text: str, cluster: Cluster, steps_per_second: int) -> Workload:
    """The jobs, in file order. Raises InputError with file and line; also where no node has a GPU."""
    gpu = gpu_resource(cluster.nodes)
    if gpu is None:
        raise InputError("no node with a GPU", "GPUs for the workers of a Gavel trace", file)
    rows = list(_rows(file, text))
    queues = dealt(cluster)
    digits = len(str(len(rows)))
    jobs: list[Job] = []
    for number, row in enumerate(rows):
        steps, workers = _whole(row, "steps"), _whole(row, "scale_factor")
        group = TaskGroup("workers", workers, Resources({gpu: DEVICE}))
        application = Application(f"gavel-{number:0{digits}}", next(queues), (group,), submitted=number)
        jobs.append(Job(application, _milliseconds(row), (max(steps * MS_PER_SECOND // steps_per_second, 1),)))
    return Workload(tuple(jobs))


def _rows(file: str, text: str) -> Iterator[Field]:
    for line, content in enumerate(text.split("\n"), 1):
        cells = content.split("\t")
        if not content.strip() or (line == 1 and tuple(cells) == COLUMNS):
            continue
        if len(cells) != len(COLUMNS):
            expected = f"{len(COLUMNS)} values with tabs between them: {', '.join(COLUMNS)}"
            raise InputError(f"{len(cells)} values", expected, file, line)
        yield row_field(file, line, dict(zip(COLUMNS, cells, strict=True)))


def _whole(row: Field, column: str) -> int:
    cell = row.need(column, "a number")
    text = cell.string()
    if not re.fullmatch(r"[0-9]{1,15}", text) or not 1 <= int(text) <= _MOST:
        raise cell.error("a whole number, 1 or more")
    return int(text)


def _milliseconds(row: Field) -> int:
    cell = row.need("arrival", "seconds")
    text = cell.string()
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", text):
        raise cell.error("seconds, 0 or more")
    return int(Decimal(text) * MS_PER_SECOND)
