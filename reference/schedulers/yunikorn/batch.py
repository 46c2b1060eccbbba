"""One run over a whole cluster: submit everything, run cycles until nothing moves, time out what is stuck.

Nothing ends in a snapshot: a gang that is placed stays. So ``strict`` is off unless asked for; with it, one gang that
can never start holds up its leaf for good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reference.cluster import Assignment, Cluster, Placement
from reference.errors import InputError, one_line
from reference.schedulers.result import ScheduleResult
from reference.schedulers.yunikorn.core import Core
from reference.schedulers.yunikorn.events import EventName, Record
from reference.schedulers.yunikorn.options import Options
from reference.schedulers.yunikorn.reasons import why_pending, why_timed_out
from reference.schedulers.yunikorn.state import ApplicationState, TrackedApplication

MOST_PODS = 2_000_000
"""Each pod is an object of its own here; memory lasts for these."""


def schedule(cluster: Cluster, **options: object) -> ScheduleResult:
    """Place the gangs of ``cluster`` in submission order; ``options`` as in ``Options``, ``strict`` False by default.

    A gang that is reserved whole has its placeholders replaced by real pods and is admitted. When no cycle can do
    anything, the half-reserved gang that began first times out; the room it frees goes to those behind it.

    Raises InputError for a bad option, and for more than ``MOST_PODS`` pods in all: each is followed on its own.
    """
    pods = sum(app.members for app in cluster.applications)
    if pods > MOST_PODS:
        raise InputError(
            f"{pods:,} pods in all gangs", f"at most {MOST_PODS:,} for a reference scheduler", where="gangs"
        )
    core = Core(cluster, Options.parse(**{"strict": False, **options}))
    log = list(_run(core))
    admitted = {name for name, app in core.applications.items() if app.state is ApplicationState.RUNNING}
    cells = Counter(
        (name, pod.task_group, pod.node) for name in admitted for pod in core.applications[name].reals.values()
    )
    pending = {
        name: one_line(app.reason or why_pending(core, app))
        for name, app in sorted(core.applications.items())
        if name not in admitted
    }
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(cells.items()))
    return ScheduleResult("yunikorn", Placement(assignments, tuple(sorted(admitted)), pending), tuple(log))


def _run(core: Core) -> Iterator[Record]:
    for application in sorted(core.cluster.applications, key=lambda app: (app.submitted, app.name)):
        yield core.submit(application.name)
        if not core.applications[application.name].state.is_terminal:
            for group in application.task_groups:
                yield core.ask_placeholders(application.name, group.name)
    begun: list[TrackedApplication] = []  # half-reserved gangs, the one whose timer runs longest first
    while True:
        event = core.next_decision()
        if event is not None:
            record = core.apply(event)
            yield record
            app = core.applications[event.application]
            if event.name is EventName.ALLOCATE_PLACEHOLDER:
                if len(app.placeholders) == 1:
                    begun.append(app)
                if app.whole:
                    begun.remove(app)
                    yield from _real_pods(core, app)
            for key in record.releases:
                yield core.confirm_release(app.name, key)
        elif begun:
            yield from _time_out(core, begun.pop(0))
        else:
            return


def _real_pods(core: Core, app: TrackedApplication) -> Iterator[Record]:
    """The shim asks for the real pods of a whole gang."""
    for group in app.application.task_groups:
        for _ in range(group.min_member):
            yield core.ask_real(app.name, group.name)


def _time_out(core: Core, app: TrackedApplication) -> Iterator[Record]:
    """The placeholder timer fires, and the shim confirms every release."""
    app.reason = one_line(why_timed_out(core, app))
    record = core.placeholder_timeout(app.name)
    yield record
    for key in record.ask_releases:
        yield core.confirm_ask_release(app.name, key)
    for key in record.releases:
        yield core.confirm_release(app.name, key)
