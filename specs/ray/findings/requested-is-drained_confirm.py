"""Shows requested-is-drained.md on an installed Ray: see closed_loop.py."""

from __future__ import annotations

from closed_loop import Cluster, Config

cluster = Cluster(Config(most=1))
cluster.jobs = 1
cluster.loop("a job waits")
cluster.config.most = 0
cluster.loop("the maximum is lowered to 0")
cluster.loop("the launch is still under way")
cluster.add_instance("i1")
cluster.loop("the instance has come")
