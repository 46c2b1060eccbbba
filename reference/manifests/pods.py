"""Pods, and workloads that carry a pod template, as YuniKorn's k8shim sees them.

Source: k8shim constants and pod utilities for labels and annotations; the Kubernetes documentation ("Resource
Management for Pods", "Init Containers", "Sidecar Containers", "Pod Overhead") for what a pod asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from reference.cluster.resources import NOTHING, PODS, Resources
from reference.manifests.amounts import kubernetes_resources, largest
from reference.manifests.document import Field

DOMAIN: Final = "yunikorn.apache.org/"
APPLICATION_LABELS: Final = (DOMAIN + "app-id", "spark-app-selector", "applicationId")
QUEUE_LABELS: Final = (DOMAIN + "queue", "queue")
TASK_GROUP_NAME: Final = DOMAIN + "task-group-name"
TASK_GROUPS: Final = DOMAIN + "task-groups"
POLICY: Final = DOMAIN + "schedulingPolicyParameters"
PLACEHOLDER: Final = "internal." + DOMAIN + "placeholder"
WEIGHT: Final = "gangproof.dev/weight"
"""Annotation: what admitting this pod's gang is worth, a whole number of at least 1 (default 1)."""

SCHEDULER: Final = "yunikorn"
TEMPLATES: Final[dict[str, tuple[str, ...]]] = {
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pod:
    """What matters of a pod, or of a pod template (``is_template``), each piece with its place in the file.

    ``application`` is None for pods that no YuniKorn application owns. ``created`` is in microseconds since 1970;
    ``number`` is the place in reading order. Labels and annotations are those that are not empty.
    """

    source: Field
    namespace: str
    name: str
    application: str | None
    queue: Field | None
    task_group: Field | None
    task_groups: Field | None
    policy: Field | None
    weight: Field | None
    node: Field | None
    spec: Field | None
    created: int | None
    is_finished: bool
    is_placeholder: bool
    is_foreign: bool
    is_template: bool
    number: int
    labels: Mapping[str, Field]
    annotations: Mapping[str, Field]

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_bound(self) -> bool:
        """Whether it holds resources of a node."""
        return self.node is not None and not self.is_finished

    def request(self) -> Resources:
        """What it asks for, one of ``pods`` included. Raises ManifestError where it has no containers."""
        spec = self.source.need("spec", "the pod's spec")
        return effective_request(spec) + Resources({PODS: 1})


def read_pod(obj: Field, number: int) -> Pod:
    """A Pod object; ``number`` makes a name where only ``generateName`` is given."""
    metadata = obj.need("metadata", "metadata with a name")
    status = obj.get("status")
    phase = status.get("phase") if status else None
    return _read(
        obj,
        name=object_name(metadata, number),
        namespace=namespace_of(metadata),
        labelled=metadata,
        created=created_at(metadata),
        is_finished=phase is not None and phase.string() in ("Succeeded", "Failed"),
        is_template=False,
        number=number,
    )


def read_template(obj: Field, kind: str, number: int) -> Pod:
    """The pod template of a workload object, as if it were a pod."""
    metadata = obj.need("metadata", "metadata with a name")
    template = obj
    for step in TEMPLATES[kind]:
        template = template.need(step, "a pod template")
    return _read(
        template,
        name=object_name(metadata, number),
        namespace=namespace_of(metadata),
        labelled=template.get("metadata"),
        created=created_at(metadata),
        is_finished=False,
        is_template=True,
        number=number,
    )


def _read(
    obj: Field,
    name: str,
    namespace: str,
    labelled: Field | None,
    created: int | None,
    is_finished: bool,
    is_template: bool,
    number: int,
) -> Pod:
    labels = texts(labelled, "labels")
    annotations = texts(labelled, "annotations")
    spec = obj.get("spec")
    if spec is not None:
        spec.mapping()
    scheduler = spec.get("schedulerName") if spec else None
    node = spec.get("nodeName") if spec and not is_template else None
    foreign = scheduler is not None and scheduler.string() not in ("", SCHEDULER)
    application = _first(labels, APPLICATION_LABELS) or annotations.get(APPLICATION_LABELS[0])
    owner = application.string() if application else None
    if owner is None and scheduler is not None and scheduler.value == SCHEDULER:
        owner = f"yunikorn-{namespace}-autogen"  # what the k8shim gives to pods without an application
    placeholder = annotations.get(PLACEHOLDER)
    return Pod(
        source=obj,
        namespace=namespace,
        name=name,
        application=None if foreign else owner,
        queue=_first(labels, QUEUE_LABELS) or annotations.get(QUEUE_LABELS[0]),
        task_group=annotations.get(TASK_GROUP_NAME),
        task_groups=annotations.get(TASK_GROUPS),
        policy=annotations.get(POLICY),
        weight=annotations.get(WEIGHT),
        node=node if node and node.string() else None,
        spec=spec,
        created=created,
        is_finished=is_finished,
        is_placeholder=placeholder is not None and placeholder.string() in ("1", "t", "T", "true", "TRUE", "True"),
        is_foreign=foreign,
        is_template=is_template,
        number=number,
        labels=labels,
        annotations=annotations,
    )


def object_name(metadata: Field, number: int) -> str:
    """``name``, or ``generateName`` and the object's number."""
    generated = metadata.get("generateName")
    if metadata.get("name") is None and generated:
        return f"{generated.name()}{number}"
    return metadata.need("name", "the object's name").name("the object's name")


def namespace_of(metadata: Field) -> str:
    """The namespace; ``default`` where none is named."""
    namespace = metadata.get("namespace")
    return (namespace.string() if namespace else "") or "default"


def texts(metadata: Field | None, kind: str) -> dict[str, Field]:
    """Labels or annotations that are not empty."""
    found = metadata.get(kind) if metadata else None
    if found is None:
        return {}
    return {key: found.child(key, text) for key, text in found.string_map().items() if text}


def _first(fields: dict[str, Field], keys: tuple[str, ...]) -> Field | None:
    return next((fields[key] for key in keys if key in fields), None)


def created_at(metadata: Field) -> int | None:
    """``creationTimestamp`` in microseconds since 1970."""
    field = metadata.get("creationTimestamp")
    if field is None:
        return None
    expected = "a time such as 2026-01-31T12:00:00Z"
    try:
        time = datetime.fromisoformat(field.string(expected))
        if time.tzinfo is None:
            raise field.error(expected)
        return (time - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        raise field.error(expected) from None


def effective_request(spec: Field) -> Resources:
    """What the scheduler reserves for a pod, without the pod count.

    The larger of the sum over containers and each init container in turn, where init containers that restart always
    (sidecars) keep running beside all that follow; requests of the pod as a whole replace that sum; overhead is added.
    """
    main = NOTHING
    for container in spec.need("containers", "a list of containers").elements():
        main += _requests(container.get("resources"))
    sidecars, peak = NOTHING, NOTHING
    for container in spec.list_of("initContainers"):
        request = _requests(container.get("resources"))
        restart = container.get("restartPolicy")
        if restart is not None and restart.string() == "Always":
            sidecars += request
            peak = largest(peak, sidecars)
        else:
            peak = largest(peak, sidecars + request)
    result = largest(main + sidecars, peak)
    whole = _requests(spec.get("resources"))
    return Resources({**result, **whole}) + kubernetes_resources(spec.get("overhead"))


def _requests(resources: Field | None) -> Resources:
    """Requests, and limits for the types that have no request (the API server's default)."""
    if resources is None:
        return NOTHING
    limits = kubernetes_resources(resources.get("limits"))
    return Resources({**limits, **kubernetes_resources(resources.get("requests"))})
