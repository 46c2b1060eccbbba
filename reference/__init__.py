"""The cluster, what users' files say about it, the readable schedulers, and the independent judge of a placement."""
