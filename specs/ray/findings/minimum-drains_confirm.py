"""Shows minimum-drains.md on an installed Ray: see closed_loop.py."""

from __future__ import annotations

from closed_loop import Cluster, Config, Node

cluster = Cluster(Config(least=1, most=2))
for name in ("i1", "i2"):
    cluster.add_instance(name)
    cluster.add_node(name, Node.RUNNING)
cluster.loop("two nodes run, and the minimum is 1")
cluster.add_node("i1", Node.IDLE, idle_seconds=61)
cluster.loop("the first is idle for 61 s")
cluster.add_node("i2", Node.IDLE, idle_seconds=61)
cluster.loop("the second is idle for 61 s, and the GCS does not say DRAINING yet")
for name in ("i1", "i2"):
    cluster.add_node(name, Node.DRAINING)
cluster.loop("both drain")
