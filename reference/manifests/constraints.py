"""Where a pod may run, as pod specs and task groups say it: nodeSelector, tolerations, node affinity. What they say of
other pods is read in ``neighbours``.

Field names and validation follow the Kubernetes API (core/v1 Toleration, NodeAffinity). Hard constraints that
``Constraints`` cannot express are dropped with a warning that names them; soft ones (preferred, ScheduleAnyway) never
forbid a node and are passed over.
"""

from __future__ import annotations

from reference.cluster.node import Constraints, Operator, Requirement, TaintEffect, Toleration
from reference.manifests.document import Field
from reference.manifests.notices import Notices


def read_constraints(owner: Field, notices: Notices, get: dict[str, Field] | None = None) -> Constraints:
    """The constraints in ``owner``, a pod spec or a task group.

    ``get`` gives its members by name where the caller has looked them up by rules of its own.
    """
    members = dict(owner.members()) if get is None else get
    selector = members.get("nodeSelector")
    tolerations = members.get("tolerations")
    affinity = members.get("affinity")
    return Constraints(
        node_selector=tuple(sorted(selector.string_map().items())) if selector else (),
        tolerations=tuple(read_toleration(t) for t in tolerations.elements()) if tolerations else (),
        affinity_terms=_affinity(affinity, notices) if affinity else (),
    )


def read_effect(field: Field) -> TaintEffect:
    """A taint effect by name."""
    names = {effect.value: effect for effect in TaintEffect}
    text = field.string()
    if text not in names:
        raise field.error("NoSchedule, PreferNoSchedule or NoExecute")
    return names[text]


def read_toleration(field: Field) -> Toleration:
    """One element of ``tolerations``."""
    key, value, effect, operator = (field.get(k) for k in ("key", "value", "effect", "operator"))
    kind = operator.string() if operator else ""
    if operator and kind not in ("", "Equal", "Exists"):
        raise operator.error("Equal or Exists")
    name = key.string() if key else ""
    if not name and kind != "Exists":
        raise field.error("a key, or the operator Exists, which tolerates every key", "a toleration without a key")
    text = value.string() if value else ""
    if kind == "Exists" and value and text:
        raise value.error("no value, since the operator is Exists")
    return Toleration(
        key=name,
        exists=kind == "Exists",
        value=text,
        effect=read_effect(effect) if effect and effect.value != "" else None,
    )


def _affinity(affinity: Field, notices: Notices) -> tuple[tuple[Requirement, ...], ...]:
    nodes = affinity.get("nodeAffinity")
    required = nodes.get("requiredDuringSchedulingIgnoredDuringExecution") if nodes else None
    if required is None:
        return ()
    terms = required.need("nodeSelectorTerms", "a list of at least one term")
    result: list[tuple[Requirement, ...]] = []
    for term in terms.elements():
        expressions = [read_requirement(e) for e in term.list_of("matchExpressions")]
        fields = term.list_of("matchFields")
        if fields:
            notices.add(fields[0], "matchFields of node affinity are not modelled: dropped", "matchFields")
            if not expressions:
                return ()  # this alternative alone would now allow every node
        result.append(tuple(expressions))
    if not result:
        raise terms.error("a list of at least one term")
    return tuple(result)


def read_requirement(field: Field) -> Requirement:
    """One element of ``matchExpressions``."""
    key = field.need("key", "a label").name("a label")
    operator = field.need("operator", "In, NotIn, Exists, DoesNotExist, Gt or Lt")
    names = {o.value: o for o in Operator}
    kind = names.get(operator.string())
    if kind is None:
        raise operator.error("In, NotIn, Exists, DoesNotExist, Gt or Lt")
    values = tuple(v.string() for v in field.list_of("values"))
    listed = field.get("values") or field
    match kind:
        case Operator.IN | Operator.NOT_IN if not values:
            raise listed.error(f"at least one value for {kind.value}", "no values")
        case Operator.EXISTS | Operator.DOES_NOT_EXIST if values:
            raise listed.error(f"no values for {kind.value}")
        case Operator.GT | Operator.LT if len(values) != 1 or not _is_integer(values[0]):
            raise listed.error(f"one whole number for {kind.value}")
    return Requirement(key, kind, values)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19
