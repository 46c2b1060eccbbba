"""What a witness shows of where a pod may run."""

from __future__ import annotations

from gangproof.witness_rows import free, members, reasons
from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, TaskGroup
from reference.cluster.node import Constraints, Operator, Requirement, Taint, TaintEffect, Toleration
from reference.schedulers import schedule
from solver_placement import compare


def group(name: str, count: int, constraints: Constraints) -> TaskGroup:
    return TaskGroup(name, count, Resources(vcore=1000), constraints)


PICKY = Constraints(
    node_selector=(("zone", "a"),),
    tolerations=(Toleration("gpu", True), Toleration("team", False, "ml", TaintEffect.NO_SCHEDULE)),
    affinity_terms=((Requirement("disk", Operator.IN, ("ssd", "nvme")), Requirement("old", Operator.DOES_NOT_EXIST)),),
)


def test_members_and_nodes() -> None:
    app = Application("a", "root.q", (group("plain", 1, Constraints()), group("picky", 2, PICKY)))
    assert members(app) == (
        "plain: 1 x (vcore 1), picky: 2 x (vcore 1; only zone=a; only disk In (ssd, nvme) and old DoesNotExist; "
        "tolerates gpu, team=ml:NoSchedule)"
    )
    taints = (Taint("gpu", "", TaintEffect.NO_EXECUTE), Taint("soft", "x", TaintEffect.PREFER_NO_SCHEDULE))
    node = Node("n", Resources(vcore=2000), {"zone": "a", "disk": "ssd", "rack": "7"}, taints, schedulable=False)
    cluster = Cluster((node,), QueueTree(Queue("root", children=(Queue("root.q"),))), (app,))
    assert free(cluster, node) == "vcore 2; disk=ssd; zone=a; taint gpu:NoExecute; unschedulable"


def test_why_the_policy_leaves_a_gang_out() -> None:
    first = Application("first", "root.q", (group("w", 2, Constraints()),), 0)
    second = Application("second", "root.q", (group("w", 1, Constraints(node_selector=(("zone", "a"),))),), 1, weight=9)
    nodes = (Node("a", Resources(vcore=1000), {"zone": "a"}), Node("b", Resources(vcore=1000), {"zone": "b"}))
    cluster = Cluster(nodes, QueueTree(Queue("root", children=(Queue("root.q"),))), (first, second))
    found = compare(cluster, {"yunikorn": lambda c: schedule(c, policy="yunikorn").placement}, time_limit=20)
    assert found.witness is not None
    (reason,) = reasons(found.witness)
    assert reason.startswith("yunikorn leaves out second: ")
