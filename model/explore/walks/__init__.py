"""Random walks, for machines that are too big to explore."""
