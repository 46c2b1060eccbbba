"""What pods demand of where other pods are: required podAffinity and podAntiAffinity, hard topologySpreadConstraints.

Of pods' labels only those stay that some selector of the input looks at, so that pods that differ in others stay alike.
Selectors look at the pods of their own namespace, which is kept as a label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from reference.cluster.neighbours import ALONE, Neighbours, PodAffinityTerm, Selector, SpreadConstraint
from reference.cluster.node import Operator, Requirement
from reference.manifests.constraints import read_requirement
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.objects import unread
from reference.manifests.pods import Pod, texts

NAMESPACE: Final = "kubernetes.io/metadata.namespace"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_WHERE: Final = ("podaffinity", "podantiaffinity", "topologyspreadconstraints")
"""Keys, in small letters: those of a task group may be written in any."""
_KEY_LISTS: Final = ("matchLabelKeys", "mismatchLabelKeys")
_LARGEST: Final = 2**31 - 1
_NOBODY: Final = Requirement(NAMESPACE, Operator.IN, ())


def selected_keys(value: object) -> Iterator[str]:
    """The keys of pod labels that selectors anywhere in ``value``, which is plain JSON, look at; what only wishes left
    out. Annotations may be JSON themselves."""
    if isinstance(value, list):
        for each in value:
            yield from selected_keys(each)
    elif isinstance(value, str) and any(word in value.lower() for word in _WHERE):
        try:
            yield from selected_keys(json.loads(value))
        except ValueError:  # who reads the annotation says what is wrong with it
            return
    elif isinstance(value, dict):
        for key, inner in value.items():
            terms = inner
            if key.lower() not in _WHERE:
                yield from selected_keys(inner)
                continue
            if key.lower() != _WHERE[-1]:
                terms = inner.get(_REQUIRED) if isinstance(inner, dict) else None
            for term in terms if isinstance(terms, list) else ():
                if isinstance(term, dict) and term.get("whenUnsatisfiable") != "ScheduleAnyway":
                    yield from _keys_of_term(term)


def _keys_of_term(term: Mapping[str, object]) -> Iterator[str]:
    """Of what is not yet known to be well-formed."""
    yield NAMESPACE
    selector = term.get("labelSelector")
    labels = selector.get("matchLabels") if isinstance(selector, dict) else None
    expressions = selector.get("matchExpressions") if isinstance(selector, dict) else None
    yield from labels if isinstance(labels, dict) else ()
    for each in expressions if isinstance(expressions, list) else ():
        if isinstance(each, dict) and isinstance(each.get("key"), str):
            yield each["key"]
    for key in _KEY_LISTS:
        listed = term.get(key)
        yield from (name for name in (listed if isinstance(listed, list) else ()) if isinstance(name, str))


def neighbours_of(pod: Pod, notices: Notices) -> Neighbours:
    """Those of a pod, or of the pods of a template."""
    if pod.spec is None:
        return ALONE
    return read_neighbours(dict(pod.spec.members()), pod.labels, pod.namespace, notices)


def template_neighbours(template: Field, namespace: str, notices: Notices) -> Neighbours:
    """Those of the pods of a pod template."""
    labels = texts(template.get("metadata"), "labels")
    return read_neighbours(dict(template.need("spec", "the spec of the pods").members()), labels, namespace, notices)


def read_neighbours(
    members: Mapping[str, Field], labels: Mapping[str, Field], namespace: str, notices: Notices
) -> Neighbours:
    """What ``members`` of a pod spec or a task group say; ``labels`` are the pods' own. Raises ManifestError."""
    if not notices.selected_labels:
        return ALONE
    own = {key: field.string() for key, field in labels.items() if key in notices.selected_labels}
    own[NAMESPACE] = namespace
    affinity, spread = members.get("affinity"), members.get("topologySpreadConstraints")
    return Neighbours(
        tuple(sorted(own.items())),
        tuple(_terms(affinity.get("podAffinity") if affinity else None, own, notices)),
        tuple(_terms(affinity.get("podAntiAffinity") if affinity else None, own, notices)),
        tuple(_spread(spread, own, notices)) if spread else (),
    )


def _terms(kind: Field | None, own: Mapping[str, str], notices: Notices) -> Iterator[PodAffinityTerm]:
    for term in kind.list_of(_REQUIRED) if kind else ():
        unread(term, notices, "a pod affinity term", "labelSelector", "topologyKey", "namespaces", "namespaceSelector",
               *_KEY_LISTS)  # fmt: skip
        named = [each.string() for each in term.list_of("namespaces")]
        chosen = term.get("namespaceSelector")
        if chosen is not None and chosen.mapping():
            text = "a namespaceSelector is not looked at: the term is about its own namespace, and those it names"
            notices.add(chosen, text, "namespaceSelector")
        everywhere = chosen is not None and not chosen.mapping()
        inside = None if everywhere else tuple(sorted({*(named or [own[NAMESPACE]])}))
        yield PodAffinityTerm(_topology_key(term), _selector(term, own, inside))


def _spread(constraints: Field, own: Mapping[str, str], notices: Notices) -> Iterator[SpreadConstraint]:
    for each in constraints.elements():
        when = each.get("whenUnsatisfiable")
        if when is not None and when.string() == "ScheduleAnyway":
            continue
        unread(each, notices, "a topology spread constraint", "labelSelector", "topologyKey", "maxSkew", "minDomains",
               "whenUnsatisfiable", "matchLabelKeys")  # fmt: skip
        skew, least = each.need("maxSkew", "a whole number, 1 or more"), each.get("minDomains")
        yield SpreadConstraint(
            _topology_key(each),
            skew.integer(1, _LARGEST, "a whole number, 1 or more"),
            _selector(each, own, (own[NAMESPACE],)),
            1 if least is None else least.integer(1, _LARGEST, "a whole number, 1 or more"),
        )


def _topology_key(term: Field) -> str:
    return term.need("topologyKey", "a node label").name("a node label")


def _selector(term: Field, own: Mapping[str, str], namespaces: tuple[str, ...] | None) -> Selector:
    """Without a ``labelSelector`` nobody is selected, with an empty one everybody."""
    selector = term.get("labelSelector")
    if selector is None:
        return (_NOBODY,)
    labels = selector.get("matchLabels")
    pairs = sorted(labels.string_map().items()) if labels else []
    found = [Requirement(key, Operator.IN, (value,)) for key, value in pairs]
    found += [read_requirement(each) for each in selector.list_of("matchExpressions")]
    for keys, operator in zip(_KEY_LISTS, (Operator.IN, Operator.NOT_IN), strict=True):
        for each in term.list_of(keys):
            if each.name("a label") in own:
                found.append(Requirement(each.name(), operator, (own[each.name()],)))
    return (*found, *([Requirement(NAMESPACE, Operator.IN, namespaces)] if namespaces is not None else ()))
