"""A restart of the scheduler: core and shim are one process, and what is left of both are the pods.

Source: apache/yunikorn-k8shim at 23b6b47f, pkg/cache/context.go (InitializeState): nodes first, drained; then pods by
their age, those that run as allocations; then nodes are schedulable.
"""

from __future__ import annotations

from dataclasses import replace

from reference.schedulers.yunikorn.current.partition import Partition
from reference.schedulers.yunikorn.current.queue import ROOT
from reference.schedulers.yunikorn.current.shim.shim import Shim
from reference.schedulers.yunikorn.current.shim.states import TaskState
from reference.schedulers.yunikorn.current.shim.task import ShimApplication


def restart(old: Shim) -> Shim:
    """A new shim beside a new partition, that know what the pods say and nothing else.

    The time that placeholders had is not given again: it counts from the first pod of the application.
    """
    pods = sorted(old.pods.there.values(), key=lambda task: task.created)
    before = old.partition
    from_nodes = before.options.root_maximum_from_nodes
    configs = [replace(q.config, maximum=None) if from_nodes and q.name == ROOT else q.config
               for q in before.queues.values()]  # fmt: skip
    partition = Partition(configs, before.options)
    partition.now, partition.predicates = before.now, before.predicates
    cordoned = set(before.nodes.cordoned)
    for i in before.nodes.index.values():
        partition.add_node(replace(before.nodes.nodes[i], schedulable=False))
    shim = Shim(partition, old.pods)
    for task in pods:
        app = old.applications[task.application]
        if app.id not in shim.applications:
            shim.add_application(_anew(app, task.created))
    shim.schedule()
    shim.hear()
    shim.settle()
    for task in pods:
        node = task.node if task.state is TaskState.BOUND else ""
        copy = replace(task, state=TaskState.NEW, node=node)
        old.pods.there[task.key] = copy
        shim.add_pod(copy)
    for name in partition.nodes.index:
        if name not in cordoned:
            partition.drain_node(name, schedulable=True)
    shim.settle()
    return shim


def _anew(app: ShimApplication, created: int) -> ShimApplication:
    return ShimApplication(app.id, app.queue, app.task_groups, app.style, app.timeout_ms, app.user, app.groups, created)
