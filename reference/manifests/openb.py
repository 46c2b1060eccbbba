"""openb, the production GPU cluster of Alibaba's cluster-trace-gpu-v2023: a node list and a pod list as CSV.

Columns: nodes ``sn, cpu_milli, memory_mib, gpu, model``; pods ``name, cpu_milli, memory_mib, num_gpu, gpu_milli,
gpu_spec, qos, pod_phase, creation_time, deletion_time, scheduled_time``. A pod takes ``gpu_milli``
thousandths of each of ``num_gpu`` GPUs (less than 1000 only with one). ``gpu_spec`` lists the models it accepts
(``V100M16|V100M32``).

What is made of it: the ``gpu`` of a node is an amount in thousandths. A pod that shares a GPU takes a whole one, unless
``shared_gpus`` asks for the shares as they are; nodes then hand out the GPU by device (``Node.devices``). A node's
model is its label ``gpu-model``. The trace has no gangs: pods of one class (same request, same models) are grouped into
gangs by a seeded draw, in order of creation; their sizes are drawn as those of real jobs (``SIZES``).
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reference.cluster.gang import Application, TaskGroup
from reference.cluster.node import Constraints, Node, Operator, Requirement
from reference.cluster.resources import MEMORY, VCORE, Resources
from reference.manifests.document import Field, ManifestError, row_field
from reference.manifests.notices import Notices

NODE_COLUMNS: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS: Final = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "creation_time")
MODEL_LABEL: Final = "gpu-model"
GPU: Final = "gpu"
SIZES: Final = {1: 1411, 2: 273, 4: 772, 7: 2, 8: 611, 16: 106, 20: 1, 32: 5}
"""How many jobs use so many GPUs, of the 3181 of two virtual clusters of Microsoft's Philly trace (the scale factors in
stanford-futuredata/gavel, traces philly_vc_0e4a51 and philly_vc_ee9e8c). Gang sizes are drawn from it."""

LEAST_WORTH: Final = 3
"""A gang is worth 3 to 5 for each member and GPU: near enough to each other that a full cluster leaves weight out."""

_MIB: Final = 2**20
_MOST: Final = 10**12


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file whose header is that of openb's nodes or pods; ``is_named`` if the user named it itself."""

    file: str
    text: str
    is_nodes: bool
    is_named: bool


@dataclass(frozen=True, slots=True)
class PodClass:
    """Pods that are alike: what they ask for and which GPU models they accept (any where empty)."""

    request: Resources
    models: tuple[str, ...]


def recognise(file: str, text: str, is_named: bool) -> Table | None:
    """The table in ``text``, or None where its header is not one of openb's."""
    header = next(_records(file, text.partition("\n")[0]), (0, []))[1]
    for columns in (NODE_COLUMNS, POD_COLUMNS):
        if set(columns) <= set(header):
            return Table(file, text, columns is NODE_COLUMNS, is_named)
    return None


def choose(tables: list[Table], preferred: str, notices: Notices) -> Table | None:
    """The one table to read: a named one before those found in a directory, of several the one named ``preferred``."""
    candidates = [t for t in tables if t.is_named] or tables
    if len(candidates) > 1 and not candidates[0].is_named:
        matching = [t for t in candidates if preferred in t.file.rpartition("/")[2]]
        if len(matching) == 1:
            others = ", ".join(sorted(t.file.rpartition("/")[2] for t in candidates if t is not matching[0]))
            notices.add_general(f"of several lists this one is taken, not {others}", matching[0].file)
            candidates = matching
    if len(candidates) > 1:
        kind = "node list" if candidates[0].is_nodes else "pod list"
        found = f"several {kind}s ({', '.join(t.file for t in candidates)})"
        raise ManifestError(found, f"one {kind}; name the file", candidates[0].file)
    return candidates[0] if candidates else None


def read_nodes(table: Table, shared_gpus: bool = False) -> list[tuple[Node, Field]]:
    """The nodes of a node list, and their rows; with ``shared_gpus`` they hand out GPUs by device."""
    result: list[tuple[Node, Field]] = []
    for row in _rows(table, NODE_COLUMNS):
        gpus = _number(row, "gpu")
        capacity = {VCORE: _number(row, "cpu_milli"), MEMORY: _number(row, "memory_mib") * _MIB}
        if gpus:
            capacity[GPU] = gpus * 1000
        model = row.need("model", "a GPU model").string()
        name = row.need("sn", "a name").name("the node's name")
        devices = (GPU,) if gpus and shared_gpus else ()
        result.append((Node(name, Resources(capacity), {MODEL_LABEL: model} if model else {}, devices=devices), row))
    return result


def read_gangs(table: Table, queue: str, seed: int, notices: Notices, shared_gpus: bool = False) -> list[Application]:
    """Applications made of a pod list, in order of submission, the same for the same ``seed``.

    Without ``shared_gpus`` a pod that asks for a part of a GPU gets a whole one.
    """
    classes: dict[PodClass, list[int]] = {}
    names: set[str] = set()
    shared = 0
    for row in _rows(table, POD_COLUMNS):
        name = row.need("name", "a name").name("the pod's name")
        if name in names:
            raise row.error("each pod once", f"the pod {name!r} a second time")
        names.add(name)
        pods, is_shared = _pod_class(row, shared_gpus)
        shared += is_shared
        classes.setdefault(pods, []).append(_number(row, "creation_time"))
    gangs = _draw_gangs(classes, random.Random(seed))
    text = f"openb has no gangs: {len(names)} pods are grouped into {len(gangs)} by seed {seed}"
    notices.add_general(text, table.file)
    if shared and not shared_gpus:
        text = f"whole GPUs: each of the {shared} pods that share a GPU takes one for itself"
        notices.add_general(text, table.file)
    digits = len(str(len(gangs)))
    return [
        Application(
            name=f"openb-gang-{number:0{digits}}",
            queue=queue,
            task_groups=(TaskGroup("pods", members, pods.request, _constraints(pods)),),
            submitted=number,
            weight=weight,
        )
        for number, (_, members, weight, pods) in enumerate(gangs)
    ]


@dataclass(frozen=True, slots=True)
class TimedPod:
    """A pod of the trace, as a task group of one, with the seconds at which it was created, put on a node (None where
    it never was) and deleted."""

    name: str
    group: TaskGroup
    created: int
    scheduled: int | None
    deleted: int


def read_timed_pods(table: Table) -> list[TimedPod]:
    """The pods of a pod list that also has the columns ``deletion_time`` and ``scheduled_time``, in file order."""
    pods: list[TimedPod] = []
    names: set[str] = set()
    for row in _rows(table, POD_COLUMNS):
        name = row.need("name", "a name").name("the pod's name")
        if name in names:
            raise row.error("each pod once", f"the pod {name!r} a second time")
        names.add(name)
        kind, _ = _pod_class(row, shared_gpus=True)
        created, deleted = _number(row, "creation_time"), _number(row, "deletion_time")
        scheduled = _number(row, "scheduled_time") if row.need("scheduled_time", "a time").string() else None
        if deleted < max(created, scheduled or 0):
            raise row.child("deletion_time", str(deleted)).error("a time that is not before the others")
        pods.append(TimedPod(name, TaskGroup("pods", 1, kind.request, _constraints(kind)), created, scheduled, deleted))
    return pods


def _draw_gangs(classes: dict[PodClass, list[int]], draw: random.Random) -> list[tuple[int, int, int, PodClass]]:
    """Gangs as (time of the first pod, members, weight, class), sorted by time, ties in order of drawing.

    The weight is 3 to 5 for each member and whole GPU.
    """
    sizes = [size for size, times in SIZES.items() for _ in range(times)]
    gangs: list[tuple[int, int, int, PodClass]] = []
    for pods, times in sorted(classes.items(), key=lambda item: (tuple(item[0].request.items()), item[0].models)):
        times.sort()
        while times:
            members = min(len(times), sizes[draw.randrange(len(sizes))])
            weight = (LEAST_WORTH + draw.randrange(3)) * members * max(1, pods.request.amount(GPU) // 1000)
            gangs.append((times[0], members, weight, pods))
            del times[:members]
    return sorted(gangs, key=lambda gang: gang[0])


def _pod_class(row: Field, shared_gpus: bool) -> tuple[PodClass, bool]:
    request = {VCORE: _number(row, "cpu_milli"), MEMORY: _number(row, "memory_mib") * _MIB}
    count, share = _number(row, "num_gpu"), _number(row, "gpu_milli")
    if count and not 1 <= share <= 1000:
        raise row.child("gpu_milli", str(share)).error("thousandths of each GPU, 1 to 1000")
    is_shared = count > 0 and share < 1000
    if is_shared and count > 1 and shared_gpus:
        raise row.child("gpu_milli", str(share)).error("1000, whole GPUs, where a pod takes more than one")
    if count:
        request[GPU] = count * (share if shared_gpus else 1000)
    spec = row.need("gpu_spec", "GPU models").string()
    return PodClass(Resources(request), tuple(sorted(set(filter(None, spec.split("|")))))), is_shared


def _constraints(pods: PodClass) -> Constraints:
    if not pods.models:
        return Constraints()
    return Constraints(affinity_terms=((Requirement(MODEL_LABEL, Operator.IN, pods.models),),))


def records(file: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a CSV text, with their numbers. Raises ManifestError."""
    return _records(file, text)


def _number(row: Field, column: str) -> int:
    cell = row.need(column, "a number")
    text = cell.string()
    if not (text.isascii() and text.isdigit() and len(text) < 15 and int(text) <= _MOST):
        raise cell.error("a whole number, 0 or more")
    return int(text)


def _rows(table: Table, columns: tuple[str, ...]) -> Iterator[Field]:
    records = _records(table.file, table.text)
    header = next(records)[1]
    for column in columns:
        if header.count(column) > 1:
            raise ManifestError(f"the column {column!r} twice", "each column once", table.file, 1)
    for line, cells in records:
        if not cells:
            continue
        if len(cells) != len(header):
            expected = f"{len(header)} values, one for each column"
            raise ManifestError(f"{len(cells)} values", expected, table.file, line)
        yield row_field(table.file, line, dict(zip(header, cells, strict=True)))


def _records(file: str, text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text.removesuffix("\n").split("\n"), strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ManifestError(f"bad CSV ({error})", "well-formed CSV", file, reader.line_num) from None
        yield reader.line_num, [cell.strip() for cell in cells]
