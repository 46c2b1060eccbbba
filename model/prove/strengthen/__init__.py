"""Lemmas that make claims inductive, found from states that runs come to and from those that block an induction."""
