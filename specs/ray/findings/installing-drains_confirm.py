"""Shows installing-drains.md on an installed Ray: see closed_loop.py."""

from __future__ import annotations

from closed_loop import Cluster, Config, Node

cluster = Cluster(Config(most=1, installs=True))
cluster.add_instance("i1")
cluster.jobs = 1
cluster.loop("an instance is there")
cluster.add_node("i1", Node.DRAINING)
cluster.loop("Ray has started, and the node drains already")
cluster.loop("it still drains")
cluster.add_node("i1", Node.DEAD)
cluster.loop("the node is dead")
