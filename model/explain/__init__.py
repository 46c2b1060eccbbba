"""Answers to why: why is this state reachable, why is this action not enabled here."""
