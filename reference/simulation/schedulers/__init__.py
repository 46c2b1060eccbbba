"""Schedulers on the virtual clock, by policy name."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from reference.cluster import Cluster
from reference.errors import InputError
from reference.simulation.scheduler import OnlineScheduler
from reference.simulation.schedulers.heuristic import HeuristicScheduler, Order
from reference.simulation.schedulers.kubernetes import KubernetesScheduler
from reference.simulation.schedulers.room import NodeRule
from reference.simulation.schedulers.volcano import VolcanoScheduler
from reference.simulation.schedulers.yunikorn import YuniKornScheduler


def _heuristic(rule: NodeRule) -> Callable[[Cluster, Order, bool, int], OnlineScheduler]:
    return lambda cluster, order, strict, _: HeuristicScheduler(cluster, rule, order, strict=strict)


def _yunikorn(cluster: Cluster, order: Order, strict: bool, release_ms: int) -> OnlineScheduler:
    if order is not Order.FIFO:
        raise InputError(order.value, "fifo: YuniKorn's queues have sort policies of their own", where="order")
    return YuniKornScheduler(cluster, strict=strict, release_ms=release_ms)


def _volcano(cluster: Cluster, order: Order, strict: bool, _: int) -> OnlineScheduler:
    _has_its_own_order("Volcano", order, strict)
    return VolcanoScheduler(cluster)


def _kubernetes(cluster: Cluster, order: Order, strict: bool, _: int) -> OnlineScheduler:
    _has_its_own_order("kube-scheduler", order, strict)
    return KubernetesScheduler(cluster)


def _has_its_own_order(who: str, order: Order, strict: bool) -> None:
    if order is not Order.FIFO:
        raise InputError(order.value, f"fifo: {who} orders gangs by rules of its own", where="order")
    if strict:
        raise InputError("strict", f"no such option: in {who} a gang that waits lets others pass", where="strict")


POLICIES: Final = MappingProxyType(
    {
        "yunikorn": _yunikorn,
        "volcano": _volcano,
        "kubernetes": _kubernetes,
        **{rule.value: _heuristic(rule) for rule in NodeRule},
    }
)
"""By name, what makes a scheduler of (cluster, order of gangs, whether a gang that waits holds up those behind it, time
in ms that a placeholder takes to go)."""


def make(
    policy: str, cluster: Cluster, order: str = "fifo", *, strict: bool = False, release_ms: int = 0
) -> OnlineScheduler:
    """A new scheduler for ``cluster``, of which it takes the queues. Raises InputError for unknown names."""
    if policy not in POLICIES:
        raise InputError(repr(policy), f"one of {', '.join(POLICIES)}", where="policy")
    try:
        chosen = Order(order)
    except ValueError:
        raise InputError(repr(order), f"one of {', '.join(each.value for each in Order)}", where="order") from None
    return POLICIES[policy](cluster, chosen, strict, release_ms)
