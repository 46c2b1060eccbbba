"""What of the PodGroup cycle decides nodes and gangs: a small machine, meant for any number of groups and nodes.

A cycle proposes nodes for pods of one group, one by one, and takes them on the nodes at once; it ends with a decision
for all of them, or gives all of them back.
"""

from __future__ import annotations

from model.language import Expr, Machine, after, all_, any_, implies, require, sum_
from specs.kubernetes.state import Node, PodGroup
from specs.parameters import check_size


def kubernetes_slice(
    groups: int = 2, pods: int = 3, min_count: int = 2, nodes: int = 2, capacity: int = 2, failures: int = 1
) -> Machine:
    """The PodGroup cycle's nodes and gangs, for proofs about any number of groups and nodes.

    ``groups`` gangs of ``pods`` pods, of which ``min_count`` have to be placed; ``nodes`` nodes for ``capacity`` pods
    each; ``failures`` bindings may fail. ValueError for sizes that make no sense.
    """
    for name, value in (("groups", groups), ("pods", pods), ("nodes", nodes), ("capacity", capacity)):
        check_size(name, value)
    check_size("min_count", min_count, most=pods)
    check_size("failures", failures, least=0)
    m = Machine("kubernetes_slice", doc="What of the PodGroup cycle decides nodes and gangs")
    m.sort(PodGroup, groups, symmetric=True)
    m.sort(Node, nodes, symmetric=True)
    count = range(pods + 1)
    cycle = m.variable("cycle", PodGroup, bool, init=False)
    scheduled = m.variable("scheduled", PodGroup, count, init=0)
    proposed = m.variable("proposed", (PodGroup, Node), count, init=0)
    assumed = m.variable("assumed", (PodGroup, Node), count, init=0)
    bound = m.variable("bound", (PodGroup, Node), count, init=0)
    node_used = m.variable("node_used", Node, range(capacity + 1), init=0)
    failed = m.scalar("failed", range(failures + 1), init=0)

    def proposals(g: PodGroup) -> Expr:
        return sum_(proposed[g, n] for n in Node)

    def placed(g: PodGroup) -> Expr:
        return sum_(assumed[g, n] + bound[g, n] for n in Node)

    @m.action
    def pop(g: PodGroup) -> None:
        """A cycle begins, if none runs (K4)."""
        require(all_(~cycle[b] for b in PodGroup))
        cycle[g] = True

    @m.action
    def place_pod(g: PodGroup, n: Node) -> None:
        """The cycle proposes n, which has room, for one more pod (K9)."""
        require(cycle[g], scheduled[g] + proposals(g) < pods, node_used[n] < capacity)
        proposed[g, n] += 1
        node_used[n] += 1

    @m.action
    def decide_success(g: PodGroup) -> None:
        """minCount is met: all proposed pods are assumed, at once (K5, K10)."""
        require(cycle[g], proposals(g) > 0, scheduled[g] + proposals(g) >= min_count)
        cycle[g] = False
        scheduled[g] += proposals(g)
        for n in Node:
            assumed[g, n] += proposed[g, n]
            proposed[g, n] = 0

    @m.action
    def give_up(g: PodGroup) -> None:
        """No success: nothing that was proposed is kept (K7, K8)."""
        require(cycle[g])
        cycle[g] = False
        for n in Node:
            node_used[n] -= proposed[g, n]
            proposed[g, n] = 0

    @m.action
    def bind(g: PodGroup, n: Node) -> None:
        """One assumed pod is bound, on its own (K5)."""
        require(assumed[g, n] > 0)
        assumed[g, n] -= 1
        bound[g, n] += 1

    if failures:

        @m.action
        def bind_fails(g: PodGroup, n: Node) -> None:
            """The binding of one pod fails: it is forgotten (K5)."""
            require(assumed[g, n] > 0, failed < failures)
            assumed[g, n] -= 1
            scheduled[g] -= 1
            node_used[n] -= 1
            failed.next += 1

    @m.action
    def leave(g: PodGroup) -> None:
        """All pods of g are gone: its workload is done, or they were evicted (K1, K7)."""
        require(placed(g) > 0, all_(assumed[g, n] == 0 for n in Node))
        scheduled[g] = 0
        for n in Node:
            node_used[n] -= bound[g, n]
            bound[g, n] = 0

    @m.always
    def node_capacity() -> Expr:
        """No node has more pods than it has room for, proposed ones too (K9)."""
        return all_(sum_(proposed[g, n] + assumed[g, n] + bound[g, n] for g in PodGroup) <= capacity for n in Node)

    @m.always
    def no_partial_gang_runs() -> Expr:
        """Of a group of which some pods have a node at least minCount have one, but for bindings that failed (K5, K7,
        K10)."""
        return all_(implies(placed(g) > 0, placed(g) + failed >= min_count) for g in PodGroup)

    @m.step
    def decision_is_atomic() -> Expr:
        """Whenever pods of a group are given nodes, at least minCount have one afterwards (K5, K7, K10)."""
        return all_(implies(after(placed(g)) > placed(g), after(placed(g)) >= min_count) for g in PodGroup)

    @m.always
    def only_a_cycle_proposes() -> Expr:
        """One cycle runs at a time, and where none runs nothing is proposed (K4)."""
        return all_(implies(cycle[g] & cycle[b], g == b) for g in PodGroup for b in PodGroup) & all_(
            implies(~cycle[g], proposed[g, n] == 0) for g in PodGroup for n in Node
        )

    @m.always
    def groups_do_not_grow() -> Expr:
        """No group has more pods placed and proposed than it has (K3)."""
        return all_(scheduled[g] + proposals(g) <= pods for g in PodGroup)

    @m.always
    def node_usage_is_conserved() -> Expr:
        """What a node counts as used is what is proposed, assumed or bound there (K9)."""
        return all_(node_used[n] == sum_(proposed[g, n] + assumed[g, n] + bound[g, n] for g in PodGroup) for n in Node)

    @m.always
    def scheduled_count_is_true() -> Expr:
        """The number of scheduled pods that the cache keeps is that of assumed and bound ones (kubernetes#140306)."""
        return all_(scheduled[g] == placed(g) for g in PodGroup)

    @m.sometimes
    def a_whole_group_is_bound() -> Expr:
        """All pods of some group are bound (K1)."""
        return any_(sum_(bound[g, n] for n in Node) == pods for g in PodGroup)

    return m
