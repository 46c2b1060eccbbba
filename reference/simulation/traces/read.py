"""The front door for traces: a file in, a workload and warnings out. The format is told by the content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reference.cluster import Cluster
from reference.errors import InputError, InputWarning
from reference.manifests.document import Field, ManifestError, json_field
from reference.manifests.files import read_text
from reference.manifests.openb import recognise
from reference.simulation.traces.gavel import is_gavel, read_gavel
from reference.simulation.traces.native import read_native_trace
from reference.simulation.traces.tables import is_table, read_openb, read_table
from reference.simulation.workload import Problem, Workload

STEPS_PER_SECOND = 10


@dataclass(frozen=True, slots=True)
class Trace:
    """What a file says, and what was assumed on the way. ``root``: the document, of our own JSON; ``rows``: of a table
    those of the jobs."""

    workload: Workload
    warnings: tuple[InputWarning, ...] = ()
    root: Field | None = None
    rows: tuple[Field, ...] = ()

    def error(self, problem: Problem, file: str) -> InputError:
        """The error to raise about ``problem``, at its place in the file."""
        if self.root is not None:
            place = self.root.list_of(problem.part)[problem.number]
            for key in problem.path:
                place = place.child(key, place.mapping().get(key))
            return place.error(problem.EXPECTED, problem.text)
        if self.rows and problem.part == "jobs":
            return self.rows[problem.number].child(problem.path[-1], None).error(problem.EXPECTED, problem.text)
        return InputError(problem.text, problem.EXPECTED, file, where=problem.where)


def read_trace(path: Path | str, cluster: Cluster, steps_per_second: int = STEPS_PER_SECOND) -> Trace:
    """The jobs of a trace for ``cluster``: Gavel's, openb's pod list, CSV or JSON of our own (``docs/simulation.md``).

    Raises InputError, with file, line and field, for what cannot be used.
    """
    file = str(path)
    text = read_text(Path(path))
    trace = _read(file, text, cluster, steps_per_second)
    for problem in trace.workload.problems(cluster):
        raise trace.error(problem, file)
    return trace


def _read(file: str, text: str, cluster: Cluster, steps_per_second: int) -> Trace:
    if text.lstrip()[:1] == "{":
        root = json_field(text, file)
        return Trace(read_native_trace(root), root=root)
    if is_gavel(text):
        assumed = f"every job is taken to make {steps_per_second} steps a second, whatever its type"
        return Trace(read_gavel(file, text, cluster, steps_per_second), (InputWarning(assumed, file),))
    table = recognise(file, text, True)
    if table is not None and not table.is_nodes:
        return Trace(*read_openb(table, cluster))
    if is_table(text):
        workload, rows = read_table(file, text, cluster)
        return Trace(workload, rows=rows)
    expected = "a trace: Gavel's four columns, openb's pod list, or CSV or JSON as docs/simulation.md has it"
    raise ManifestError(f"a first line {text.partition(chr(10))[0][:60]!r}", expected, file, 1)
