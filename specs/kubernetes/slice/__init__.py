"""The slice of the PodGroup cycle for proofs about any number of groups and nodes."""

from specs.kubernetes.slice.machine import kubernetes_slice
from specs.kubernetes.slice.view import SLICE

__all__ = ["SLICE", "kubernetes_slice"]
