"""ElasticQuotas of scheduler-plugins' capacity scheduling (scheduling.x-k8s.io/v1alpha1): a queue for each namespace.

A namespace may use ``max``, and claim back its ``min``; all namespaces together may use the sum of their ``min``: what
one borrows another leaves unused. Gangs of namespaces without a quota are not limited by any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from reference.cluster.queue import Queue, QueueTree
from reference.cluster.resources import total
from reference.manifests.amounts import kubernetes_resources
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, unread
from reference.manifests.queue_tree import segment
from reference.manifests.queues import DEFAULT_QUEUE, ROOT

PARENT: Final = f"{ROOT}.elastic"


def read_quotas(objects: Iterable[Object], notices: Notices) -> tuple[QueueTree, Mapping[str, str]]:
    """The tree, and the queue of each namespace that has a quota. Raises ManifestError."""
    queues: dict[str, Queue] = {}
    for each in objects:
        unread(each.spec, notices, "an ElasticQuota", "min", "max")
        namespace = each.namespace
        if namespace in queues:
            found = f"the namespace {namespace!r} has another one"
            raise each.name_field().error("one ElasticQuota for each namespace", found)
        least, most = (kubernetes_resources(each.spec.get(key)) for key in ("min", "max"))
        if not least.fits_in_limit(most):
            raise each.spec.need("min", "amounts").error("no more than max", "more than max")
        queues[namespace] = Queue(f"{PARENT}.{segment(namespace)}", most, deserved=least)
    ordered = tuple(queue for _, queue in sorted(queues.items()))
    together = Queue(PARENT, total(queue.deserved for queue in ordered), children=ordered, is_parent=True)
    root = Queue(ROOT, children=(Queue(DEFAULT_QUEUE), together), is_parent=True)
    return QueueTree(root), {namespace: queue.name for namespace, queue in queues.items()}
