"""Exhaustive exploration, compiled: every reachable state of a machine, and a verdict with shortest traces.

The way of a machine through here, folder by folder:

- `packing`: a layout packs a state into words; `model.lowering` made the machine ground before.
- `codegen`: guards are ordered, the successor function is written as LLVM text, and so are the table and the rounds of
  the search; `native` compiles both.
- `search` runs them level by level within budgets, in shards that threads share; it can be kept and resumed.
- `symmetry`: of states that differ by an exchange of equals, the one that stands for all.
- `explorer` says what all that means, property by property: with `possible`, which follows steps backwards, `liveness`,
  which looks for fair runs, and `traces`, which makes runs in the spec's words of numbers of states.
- `coverage` tells what was not seen, and which properties no mutant breaks.
- `walks` goes at random instead, where a machine is too big.
"""

from model.explore.explorer import Exploration, explore
from model.explore.search.checkpoint import CheckpointError
from model.explore.search.limits import Progress
from model.explore.search.saving import Saving
from model.explore.search.search import INTERRUPTED
from model.explore.search.spill import SpillError
from model.explore.walks.simulate import simulate

__all__ = ["INTERRUPTED", "CheckpointError", "Exploration", "Progress", "Saving", "SpillError", "explore", "simulate"]
