"""Topology constraints as schedulers can say them: one set of labels for the pods that have to be together."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from reference.cluster import Node, TopologyConstraint

Keys = tuple[str, ...]
"""Node labels; () for no constraint."""


def together(constraints: Iterable[TopologyConstraint]) -> Keys:
    """The labels on which pods have to agree that keep every required one of ``constraints``: those of all of them."""
    return tuple(dict.fromkeys(key for each in constraints if each.required for key in each.keys))


def label_of(keys: Keys) -> str:
    """One label that says what ``keys`` say together; "" for none."""
    return keys[0] if len(keys) == 1 else "+".join(keys)


def labelled(node: Node, wanted: Iterable[Keys]) -> Node:
    """``node`` with ``label_of`` each of ``wanted``, where it has all of the labels."""
    more = {
        label_of(keys): json.dumps([node.labels[key] for key in keys])
        for keys in wanted
        if len(keys) > 1 and all(key in node.labels for key in keys)
    }
    return replace(node, labels={**node.labels, **more}) if more else node
