"""The review of one cluster: check its abstraction, run both placements, and write it all on one page."""
