"""Shows drained-twice.md on an installed Ray: see closed_loop.py."""

from __future__ import annotations

from closed_loop import Cluster, Config, Node

cluster = Cluster(Config(most=1))
cluster.add_instance("i1")
cluster.add_node("i1", Node.RUNNING)
cluster.loop("a node runs")
cluster.config.most = 0
cluster.loop("the maximum is lowered to 0")
cluster.loop("the GCS does not say DRAINING yet")
cluster.loop("nor now")
cluster.add_node("i1", Node.DRAINING)
cluster.loop("now it does")
