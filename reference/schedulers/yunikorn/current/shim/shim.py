"""The shim: it submits applications and pods to a partition, and does with pods what the partition says.

Source: apache/yunikorn-k8shim at 23b6b47f, pkg/cache (application.go, task.go, context.go, scheduler_callback.go). Its
dispatcher is a queue of events here, handled one after the other: ``step`` handles one, ``settle`` all. Nothing happens
by itself: ``schedule`` is what upstream does once a second, ``hear`` takes what the core has told.

Left out: volumes, the restart of pods whose bind failed, and the operators that end an application from outside.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from reference.cluster import GangStyle
from reference.schedulers.yunikorn.current.messages import (
    AcceptedApplication,
    AddApplication,
    Allocation,
    AllocationRelease,
    AllocationResponse,
    Message,
    RejectedAllocation,
    RejectedApplication,
    TerminationType,
    UpdatedApplication,
)
from reference.schedulers.yunikorn.current.partition import Partition
from reference.schedulers.yunikorn.current.shim.pods import PlaceholderManager, Pods
from reference.schedulers.yunikorn.current.shim.states import TERMINATED, ShimEvent, ShimState, TaskEvent, TaskState
from reference.schedulers.yunikorn.current.shim.task import ShimApplication, Task
from reference.schedulers.yunikorn.current.states import ApplicationState

_E, _S, _V, _T = ShimEvent, ShimState, TaskEvent, TaskState
_ENDED = (_S.COMPLETED, _S.FAILED, _S.KILLED)


class Shim:
    """One shim beside one partition."""

    def __init__(self, partition: Partition, pods: Pods | None = None) -> None:
        self.partition = partition
        self.pods = pods or Pods()
        self.applications: dict[str, ShimApplication] = {}
        self.manager = PlaceholderManager(self.pods, self.pod_gone)
        self._queue: deque[Callable[[], None]] = deque()

    # --- from the API server ---

    def add_application(self, app: ShimApplication) -> None:
        """The first pod of an application says what its gang is. One of a name that is in use is none."""
        known = self.applications.get(app.id)
        if known is None or known.state in _ENDED:
            self.applications[app.id] = app

    def add_pod(self, task: Task) -> bool:
        """A pod comes; one that is bound already (recovery) is an allocation. False for an unknown application."""
        app = self.applications.get(task.application)
        if app is None or task.key in app.tasks:
            return False
        self.pods.there.setdefault(task.key, task)
        app.tasks[task.key] = task
        if task.node:
            task.state = _T.BOUND
            self._tell_core(task)
            if task.placeholder:
                self._dispatch(app, _E.UPDATE_RESERVATION)
        return True

    def pod_gone(self, key: str) -> None:
        """A pod has ended, or was deleted: its task is completed, and the core hears why, once the core has the
        application."""
        self.pods.there.pop(key, None)
        task = self._task(key)
        if task is not None:
            self._queue.append(lambda: self._complete(task))

    def kill(self, name: str) -> None:
        """An application is deleted: with it go its pods, and what the core has of it."""
        app = self.applications[name]
        if app.handle(_E.KILL) is None:
            return
        for task in app.tasks.values():
            if task.state not in TERMINATED and self.pods.delete(task.key):
                task.state = _T.COMPLETED
        self.partition.remove_application(name)
        app.handle(_E.KILLED)

    # --- once a second ---

    def schedule(self) -> None:
        """Each application takes its next step: it is submitted, reserves, or submits pods.

        While it reserves those are placeholders only, and no others while it runs.
        """
        for app in list(self.applications.values()):
            if app.state is _S.NEW:
                self._submit(app)
            elif app.state is _S.ACCEPTED:
                self._dispatch(app, _E.RUN if app.skips_reservation() else _E.RESERVE)
            elif app.state in (_S.RESERVING, _S.RUNNING):
                for task in list(app.tasks.values()):
                    if task.state is _T.NEW and task.placeholder == (app.state is _S.RESERVING):
                        task.handle(_V.INIT)
                        task.handle(_V.SUBMIT)
                        self._tell_core(task)

    def _submit(self, app: ShimApplication) -> None:
        app.handle(_E.SUBMIT)
        ask, timeout, groups = app.placeholder_ask, app.timeout_ms, app.groups
        message = AddApplication(app.id, app.queue, ask, app.style, timeout, app.user, groups, app.created)
        self.partition.add_application(message)

    def _tell_core(self, task: Task) -> None:
        self.partition.update_allocation(
            Allocation(
                task.key,
                task.application,
                task.resources,
                task.node,
                task.task_group,
                task.placeholder,
                created=task.created,
                constraints=task.constraints,
            )
        )

    # --- from the core ---

    def hear(self, messages: Iterable[Message] | None = None) -> None:
        """What the core has told, or these messages: each becomes events."""
        for message in self.partition.drain_outbox() if messages is None else messages:
            match message:
                case AcceptedApplication(name):
                    self._dispatch_to(name, _E.ACCEPT)
                case RejectedApplication(name):
                    self._dispatch_to(name, _E.REJECT)
                case UpdatedApplication(name, state):
                    self._hear_state(name, state)
                case RejectedAllocation(_, key):
                    self._queue.append(lambda key=key: self._rejected(key))  # type: ignore[misc]  # bound now
                case AllocationResponse(new, released):
                    for allocation in new:
                        self._queue.append(lambda a=allocation: self._allocated(a))  # type: ignore[misc]
                    for release in released:
                        # what the shim itself has stopped is an echo
                        if release.type is not TerminationType.STOPPED_BY_RM:
                            self._queue.append(lambda r=release: self._release(r))  # type: ignore[misc]

    def _hear_state(self, name: str, state: ApplicationState) -> None:
        app = self.applications.get(name)
        if app is None:
            return
        if state is ApplicationState.COMPLETED:
            self._dispatch(app, _E.COMPLETE)
        elif state is ApplicationState.RESUMING and app.state is _S.RESERVING:
            self._dispatch(app, _E.RESUME)
        elif state in (ApplicationState.FAILING, ApplicationState.FAILED):
            self._dispatch(app, _E.FAIL)

    def _allocated(self, allocation: Allocation) -> None:
        """A pod has a node: it is bound there. One that is gone by now gives the allocation back."""
        task = self._task(allocation.key)
        if task is None:
            return
        gone = task.state is _T.COMPLETED
        if not task.handle(_V.ALLOCATED):
            return
        task.node = allocation.node
        if gone:
            self._tell_gone(task)
        elif task.key in self.pods.unbindable:
            self._fail(task)
        else:
            self._queue.append(lambda: self._bound(task))

    def _bound(self, task: Task) -> None:
        if task.handle(_V.BOUND) and task.placeholder:
            self._dispatch_to(task.application, _E.UPDATE_RESERVATION)

    def _release(self, release: AllocationRelease) -> None:
        """The core wants a pod back: it is deleted, with the core's reason. A reservation goes on without the rest."""
        app = self.applications.get(release.application)
        if app is None or app.handle(_E.RELEASE) is None:
            return
        task = app.tasks.get(release.key)
        if task is not None and task.state not in TERMINATED:
            task.termination = release.type
            if self.pods.delete(task.key):
                self.pod_gone(task.key)

    def _rejected(self, key: str) -> None:
        task = self._task(key)
        if task is not None and task.handle(_V.REJECTED):
            self._fail(task)

    def _fail(self, task: Task) -> None:
        """The pod cannot be scheduled or bound; the core takes back what it has of it."""
        if task.handle(_V.FAIL):
            self.pods.there.pop(task.key, None)
            self._tell_gone(task)

    # --- events ---

    def step(self) -> bool:
        """Handles the next event; False where there is none."""
        if not self._queue:
            return False
        self._queue.popleft()()
        return True

    def settle(self) -> None:
        """Handles all events, those that follow from them too."""
        while self.step():
            pass

    def run(self, most: int = 10_000) -> None:
        """Shim and core by turns, until neither has anything to do; timers do not fire."""
        for _ in range(most):
            self.schedule()
            self.hear()
            self.settle()
            if self.partition.schedule() is None and not self.partition.outbox and not self._has_work():
                return

    def _has_work(self) -> bool:
        return bool(self._queue) or any(
            app.state in (_S.NEW, _S.ACCEPTED)
            or any(
                t.state is _T.NEW and app.state is (_S.RESERVING if t.placeholder else _S.RUNNING)
                for t in app.tasks.values()
            )
            for app in self.applications.values()
        )

    def _dispatch(self, app: ShimApplication, event: ShimEvent) -> None:
        self._queue.append(lambda: self._happen(app, event))

    def _dispatch_to(self, name: str, event: ShimEvent) -> None:
        app = self.applications.get(name)
        if app is not None:
            self._dispatch(app, event)

    def _happen(self, app: ShimApplication, event: ShimEvent) -> None:
        """An event of an application, and what upstream does when it has moved."""
        old = app.handle(event)
        if old is None:
            return
        match event:
            case ShimEvent.ACCEPT:
                self._flush(app)
            case ShimEvent.RESERVE:
                self._reserve(app)
            case ShimEvent.UPDATE_RESERVATION if app.is_reserved():
                self._dispatch(app, _E.RUN)
            case ShimEvent.REJECT:
                app.late.clear()
                self._dispatch(app, _E.FAIL)
            case ShimEvent.TASK_COMPLETED if all(t.state is _T.COMPLETED for t in app.placeholders()):
                self._dispatch(app, _E.RUN)
            case ShimEvent.COMPLETE:
                self.manager.clean_up(app)
            case ShimEvent.FAIL:
                self.manager.clean_up(app)
                app.late.clear()
                for task in app.tasks.values():
                    if task.state in (_T.NEW, _T.PENDING, _T.SCHEDULING) and not task.placeholder:
                        self.pods.there.pop(task.key, None)
                        self._queue.append(lambda task=task: self._complete(task))  # type: ignore[misc]

    def _reserve(self, app: ShimApplication) -> None:
        """Placeholders are created, but for those that there are; none, where their time was over at a restart. If one
        cannot be created all go, and the application runs without a reservation."""
        if app.placeholders():
            self._dispatch(app, _E.UPDATE_RESERVATION)
        elif app.created is not None and 0 < app.timeout_ms <= self.partition.now - app.created:
            self._dispatch(app, _E.FAIL if app.style is GangStyle.HARD else _E.RUN)
            return
        if not self.manager.create(app, self.partition.now, lambda task: app.tasks.setdefault(task.key, task)):
            self.manager.clean_up(app)
            self._dispatch(app, _E.RUN)

    def _complete(self, task: Task) -> None:
        """A pod is gone: the core is told, but for an application that it has not accepted yet."""
        app = self.applications.get(task.application)
        again = task.state is _T.COMPLETED
        if app is None or not task.handle(_V.COMPLETE):
            return
        if app.state in (_S.NEW, _S.SUBMITTED):
            app.late += [task.key] if task.key not in app.late else []
        else:
            self._tell_gone(task)
        if app.state is _S.RESUMING and not again:
            self._dispatch(app, _E.TASK_COMPLETED)

    def _flush(self, app: ShimApplication) -> None:
        """Releases that had to wait until the core knew the application; if nothing is left it goes at once."""
        late = [app.tasks[key] for key in app.late]
        app.late.clear()
        if late and all(task.state in TERMINATED for task in app.tasks.values()):
            self.partition.remove_application(app.id)
            del self.applications[app.id]
            return
        for task in late:
            self._tell_gone(task)

    def _tell_gone(self, task: Task) -> None:
        self.partition.release(AllocationRelease(task.application, task.key, task.termination))

    def _task(self, key: str) -> Task | None:
        return next((app.tasks[key] for app in self.applications.values() if key in app.tasks), None)
