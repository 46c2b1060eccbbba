"""The slice of Volcano's allocate action for proofs about any number of queues and jobs."""

from specs.volcano.slice.machine import volcano_slice
from specs.volcano.slice.view import SLICE

__all__ = ["SLICE", "volcano_slice"]
