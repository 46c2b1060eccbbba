"""Steps of a YuniKorn scenario that are about the shim, beside the same partition.

``submit`` (an application with its task groups), ``pod`` (a real pod, or with ``placeholder`` one that is there
already), ``run`` (shim and core by turns until nothing is to be done), ``shim_schedule`` and ``hear`` (one round of the
shim alone), ``pod_gone``, ``kill``, ``restart``, ``clean_orphans``; ``unbindable``, ``undeletable`` and ``deletable``
(pods by key), ``creations`` (how many pods can still be created). Expected of the shim: ``shim`` and ``shim_log``
(states of applications), ``tasks`` (states by key), ``placeholder_pods`` (how many an application has), ``bound`` (how
many real pods of it are bound), ``orphans``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference.cluster import GangStyle, Resources, TaskGroup
from reference.manifests.document import Field
from reference.manifests.queue_parts import only_keys
from reference.schedulers.yunikorn.current import Partition
from reference.schedulers.yunikorn.current.shim import Shim, ShimApplication, Task, TaskState
from reference.schedulers.yunikorn.current.shim.restart import restart
from reference.schedulers.yunikorn.scenario_expect import Found, Reader, each_of, resources

_MOST = 2**53


class ShimSteps:
    """The shim, made with the first step that needs it."""

    def __init__(self, partition: Callable[[], Partition], restarted: Callable[[Partition], None]) -> None:
        self._partition = partition
        self._restarted = restarted
        self._made: Shim | None = None
        self.ops: dict[str, Callable[[Field], Found]] = {
            "submit": self._submit,
            "pod": self._pod,
            "run": lambda step: _done(step, self.shim.run),
            "expire": self._expire,
            "shim_schedule": lambda step: _done(step, self.shim.schedule),
            "hear": lambda step: _done(step, self._hear),
            "pod_gone": self._pod_gone,
            "kill": self._kill,
            "restart": lambda step: _done(step, self._restart),
            "clean_orphans": lambda step: _done(step, self.shim.manager.clean_orphans),
            "unbindable": lambda step: _keys(step, self.shim.pods.unbindable.update),
            "undeletable": lambda step: _keys(step, self.shim.pods.undeletable.update),
            "deletable": lambda step: _keys(step, self.shim.pods.undeletable.difference_update),
            "creations": self._creations,
        }

    @property
    def shim(self) -> Shim:
        if self._made is None:
            self._made = Shim(self._partition())
        return self._made

    def _expire(self, step: Field) -> Found:
        only_keys(step, "op", "to")
        self._partition().advance(step.need("to", "milliseconds").integer(0, _MOST))
        self.shim.run()
        return []

    def _hear(self) -> None:
        self.shim.hear()
        self.shim.settle()

    def _submit(self, step: Field) -> Found:
        only_keys(step, "op", "app", "queue", "groups", "style", "timeout")
        self.shim.add_application(
            ShimApplication(
                step.need("app", "a name").name(),
                step.need("queue", "a leaf queue").name(),
                tuple(_group(each) for each in step.list_of("groups")),
                step.optional("style", lambda f: f.choice(GangStyle), GangStyle.SOFT),
                step.optional("timeout", lambda f: f.integer(0, _MOST), 0),
                "testuser",
                ("testgroup",),
            )
        )
        return []

    def _pod(self, step: Field) -> Found:
        only_keys(step, "op", "app", "key", "tg", "res", "placeholder", "node", "created")
        app = step.need("app", "a name")
        if app.name() not in self.shim.applications:
            raise app.error("an application that was submitted")
        task = Task(
            step.need("key", "a name").name(),
            app.name(),
            resources(step.need("res", "amounts")),
            step.optional("tg", Field.string, ""),
            step.optional("placeholder", Field.boolean, False),
            created=step.optional("created", lambda f: f.integer(0, _MOST), self._partition().now),
            node=step.optional("node", Field.name, ""),
        )
        return [("added", True, self.shim.add_pod(task))]

    def _pod_gone(self, step: Field) -> Found:
        only_keys(step, "op", "key", "ignored")
        key = step.need("key", "a name").name()
        tasks = (task for app in self.shim.applications.values() for task in app.tasks.values())
        known = key in self.shim.pods.there or any(task.key == key for task in tasks)
        self.shim.pod_gone(key)
        self.shim.settle()
        return [("ignored, as unknown", step.optional("ignored", Field.boolean, False), not known)]

    def _kill(self, step: Field) -> Found:
        only_keys(step, "op", "app")
        app = step.need("app", "a name")
        if app.name() not in self.shim.applications:
            raise app.error("an application that was submitted")
        self.shim.kill(app.name())
        return []

    def _restart(self) -> None:
        self._made = restart(self.shim)
        self._restarted(self._made.partition)

    def _creations(self, step: Field) -> Found:
        only_keys(step, "op", "left")
        self.shim.pods.creations_left = step.optional("left", lambda f: f.integer(0, _MOST), None)
        return []

    @property
    def readers(self) -> Mapping[str, Reader]:
        """Readers of what is expected of the shim."""

        def of_app(read: Callable[[ShimApplication], object], expected: Callable[[Field], object]) -> Reader:
            return lambda name, field: each_of(name, field, lambda key: read(self._app(key)), expected)

        def count(app: ShimApplication, placeholder: bool, bound: bool) -> int:
            there = [t for t in app.tasks.values() if t.key in self.shim.pods.there and t.placeholder == placeholder]
            return sum(t.state is TaskState.BOUND or not bound for t in there)

        return {
            "shim": of_app(lambda app: app.state.value, Field.string),
            "shim_log": of_app(
                lambda app: [state.value for state in app.log], lambda f: [e.name() for e in f.elements()]
            ),
            "tasks": lambda name, field: each_of(name, field, self._task_state, Field.string),
            "placeholder_pods": of_app(lambda app: count(app, True, False), lambda f: f.integer(0, _MOST)),
            "bound": of_app(lambda app: count(app, False, True), lambda f: f.integer(0, _MOST)),
            "orphans": lambda name, field: [
                (name, sorted(e.name() for e in field.elements()), sorted(self.shim.manager.orphans))
            ],
        }

    def _app(self, key: Field) -> ShimApplication:
        if key.string() not in self.shim.applications:
            raise key.error("an application that was submitted")
        return self.shim.applications[key.string()]

    def _task_state(self, key: Field) -> str:
        tasks = {t.key: t for app in self.shim.applications.values() for t in app.tasks.values()}
        if key.string() not in tasks:
            raise key.error(f"one of {', '.join(tasks)}")
        return tasks[key.string()].state.value


def _group(field: Field) -> TaskGroup:
    only_keys(field, "name", "min", "res")
    return TaskGroup(
        field.need("name", "a name").name(),
        field.need("min", "minMember").integer(0, _MOST),
        Resources(dict(resources(field.need("res", "minResource")))),
    )


def _done(step: Field, call: Callable[[], object]) -> Found:
    only_keys(step, "op")
    call()
    return []


def _keys(step: Field, use: Callable[[list[str]], object]) -> Found:
    only_keys(step, "op", "keys")
    use([each.name() for each in step.list_of("keys")])
    return []
