"""Shows late-start.md on an installed Ray: see closed_loop.py. An error is put into one loop."""

from __future__ import annotations

from closed_loop import Cluster, Config, Node

HOUR = 3600

print("With an allocation that takes too long:")
cluster = Cluster(Config(most=1))
cluster.add_instance("i1")
cluster.loop("an instance is there")
cluster.loop("Ray has not started there for more than an hour, and the loop is aborted", seconds=HOUR + 5, fails=True)
cluster.add_node("i1", Node.RUNNING)
cluster.loop("Ray starts after all")
cluster.loop("later", seconds=HOUR)
cluster.add_node("i1", Node.DEAD)
cluster.loop("the node is dead")

print("With an installation that takes too long:")
cluster = Cluster(Config(most=1, installs=True))
cluster.add_instance("i1")
cluster.loop("an instance is there")
cluster.loop("Ray has not started there for half an hour, and the loop is aborted", seconds=HOUR // 2 + 5, fails=True)
cluster.add_node("i1", Node.RUNNING)
cluster.loop("Ray starts after all")
cluster.loop("later", seconds=HOUR)
