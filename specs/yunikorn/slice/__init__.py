"""The slice of YuniKorn for proofs about any number of applications, nodes and queues."""

from specs.yunikorn.slice.machine import yunikorn_slice
from specs.yunikorn.slice.view import SLICE

__all__ = ["SLICE", "yunikorn_slice"]
