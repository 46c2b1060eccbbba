"""Maps of quantities in manifests, read into ``Resources``."""

from __future__ import annotations

from reference.cluster.resources import Resources
from reference.manifests.document import Field
from reference.manifests.quantity import QuantityError, base_name, kubernetes_amount


def amount_of(field: Field, name: str) -> int:
    """The Kubernetes quantity in ``field``, of resource ``name``, in its integer unit."""
    text = field.scalar("a quantity such as 500m, 1.5 or 2Gi")
    if isinstance(field.value, bool):
        raise field.error("a quantity such as 500m, 1.5 or 2Gi")
    try:
        return kubernetes_amount(text, name)
    except QuantityError as error:
        raise field.error(error.expected, error.problem) from None


def kubernetes_resources(field: Field | None) -> Resources:
    """A Kubernetes resource list (``{cpu: 500m, memory: 1Gi}``); ``cpu`` becomes ``vcore``, absent is nothing."""
    amounts: dict[str, int] = {}
    for name, quantity in field.members("a mapping of resources to quantities") if field else ():
        base = base_name(name)
        if base in amounts:
            raise quantity.error("either cpu or vcore", "both cpu and vcore", of_key=True)
        amounts[base] = amount_of(quantity, name)
    return Resources(amounts)


def largest(first: Resources, second: Resources) -> Resources:
    """The larger amount of each type."""
    return Resources({name: max(first.amount(name), second.amount(name)) for name in {*first, *second}})
