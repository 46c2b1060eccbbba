"""The parameters of the predicate_cache spec, and the cluster and the pods that they stand for."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from specs.parameters import check_size
from specs.predicate_cache.selectors import Labels, Operator, Requirement, Selection

MOST_JOBS = 4
MOST_PODS = 8


class Workload(enum.Enum):
    """What the pods of a job are."""

    TRAINING = "training"
    """A master that needs CPU only, and workers that need a GPU each."""
    TFJOB = "tfjob"
    """Parameter server, worker and chief: the first on CPU nodes, the chief where GPUs have much memory."""
    DAEMONSET = "daemonset"
    """A pod for each node, pinned to it by affinity."""


class Constraint(enum.Enum):
    """How the master of a training job is kept on CPU nodes."""

    SELECTOR = "selector"
    """nodeSelector resType=CPU."""
    AFFINITY = "affinity"
    """Required node affinity: nvidia-device-enable NotIn (enable)."""
    BOTH = "both"
    """Both of them."""
    NONE = "none"
    """Not at all."""


class Annotation(enum.Enum):
    """What the pods say in volcano.sh/task-spec; since 2024 it is called the role."""

    REPLICA_TYPE = "replica_type"
    """Their replica type: master, worker."""
    NONE = "none"
    """Nothing."""
    ONE_ROLE = "one_role"
    """The same for all pods of a job, although their constraints differ."""


class Edition(enum.Enum):
    """Whose rule for pods without a role."""

    SEED = "seed"
    """They share errors with all others of their job that have none."""
    CURRENT = "current"
    """Since August 2024: nothing is cached for them."""


class First(enum.Enum):
    """Which task of a job is tried first."""

    ANY = "any"
    MASTER = "master"
    WORKER = "worker"


@dataclass(frozen=True)
class Machines:
    """A node: its name, labels and how many GPUs it has."""

    name: str
    labels: Labels
    gpus: int = 0


@dataclass(frozen=True)
class Template:
    """A pod template of a job: how many pods it makes, what they demand."""

    name: str
    pods: int
    selection: Selection
    gpus: int = 0


@dataclass(frozen=True)
class Scope:
    """Checked parameters. ``group_of``: the number of the cache's key, for each template;
    ``may_fail``: whether a task can be left without a node."""

    nodes: tuple[Machines, ...]
    templates: tuple[Template, ...]
    group_of: tuple[int, ...]
    cached: bool
    may_fail: bool

    @property
    def groups(self) -> int:
        """How many keys a job has."""
        return max(self.group_of) + 1

    @property
    def some_error_is_read(self) -> bool:
        """Whether a task can meet the error of an earlier one: two pods with one key, and a node that refuses one."""
        pods = [0] * self.groups
        for template, group in zip(self.templates, self.group_of, strict=True):
            pods[group] += template.pods
        return self.cached and max(pods) > 1

    def fits(self, template: Template, node: Machines) -> bool:
        """Whether a pod of the template may ever run on the node: labels and GPUs."""
        return template.selection.matches(node.labels) and template.gpus <= node.gpus


_CPU: Labels = {"resType": "CPU"}
_GPU: Labels = {"nvidia-device-enable": "enable", "gpu-memory": "16"}
_BIG: Labels = {**_GPU, "gpu-memory": "80"}
_ON_CPU = (("resType", "CPU"),)
_OFF_GPU = ((Requirement("nvidia-device-enable", Operator.NOT_IN, ("enable",)),),)
_ON_BIG = ((Requirement("gpu-memory", Operator.GT, ("16",)),),)

_MASTER = {
    Constraint.SELECTOR: Selection(_ON_CPU),
    Constraint.AFFINITY: Selection(terms=_OFF_GPU),
    Constraint.BOTH: Selection(_ON_CPU, _OFF_GPU),
    Constraint.NONE: Selection(),
}


def scope(
    workload: Workload,
    constraint: Constraint,
    annotation: Annotation,
    edition: Edition,
    cache: bool,
    jobs: int,
    workers: int,
    room: int,
    first: First = First.ANY,
    repaired: bool = False,
) -> Scope:
    """The scope of a spec, or ValueError that names the parameter, what was found and what is possible."""
    check_size("jobs", jobs, most=MOST_JOBS)
    check_size("workers", workers, most=MOST_PODS)
    check_size("room", room, most=MOST_PODS)
    if workload is not Workload.TRAINING:
        for name, value, usual in (("constraint", constraint, Constraint.SELECTOR), ("first", first, First.ANY)):
            if value is not usual:
                raise ValueError(
                    f"{name} is for workload=training: expected {usual.value} with workload={workload.value}, "
                    f"found {value.value}"
                )
    cpu, big = Machines("cpu1", _CPU), Machines("big1", _BIG, gpus=1)
    gpus = tuple(Machines(f"gpu{i + 1}", _GPU, gpus=1) for i in range(workers))
    nodes: tuple[Machines, ...] = (cpu, *gpus)
    workers_template = Template("worker", workers, Selection(), gpus=1)
    if workload is Workload.TRAINING:
        templates: tuple[Template, ...] = (Template("master", 1, _MASTER[constraint]), workers_template)
    elif workload is Workload.TFJOB:
        nodes = (cpu, *gpus, big)
        small = ((Requirement("gpu-memory", Operator.LT, ("80",)),),)
        templates = (
            Template("ps", 1, Selection(_ON_CPU)),
            Template("worker", workers, Selection(terms=small), gpus=1),
            Template("chief", 1, Selection(terms=_ON_BIG)),
        )
    else:
        nodes = tuple(Machines(n.name, {**n.labels, "metadata.name": n.name}, n.gpus) for n in nodes)
        templates = tuple(
            Template(f"pod_{n.name}", 1, Selection(terms=((Requirement("metadata.name", Operator.IN, (n.name,)),),)))
            for n in nodes
        )
    apart = annotation is Annotation.REPLICA_TYPE or repaired
    off = annotation is Annotation.NONE and edition is Edition.CURRENT and not repaired
    cached = cache and not off
    stray = workload is Workload.TRAINING and constraint is Constraint.NONE
    return Scope(
        nodes,
        templates,
        tuple(i if apart else 0 for i in range(len(templates))),
        cached,
        may_fail=jobs > room or (cached and not apart) or (stray and jobs >= room),
    )
