"""Exhaustive exploration, compiled: every reachable state of a machine, and a verdict with shortest traces.

The way of a machine through here, file by file: `grounding` unrolls its expressions into `ground` nodes, `lower`
makes instances and events of them, `layout` packs its states into words, `decide` orders the guards, `emit` writes
the successor function as LLVM text (values placed by `blocks`), `table` and `rounds` are the search, `native` compiles
both, `search` runs them level by level within budgets, `possible` follows steps backwards, `recover` turns state
numbers into traces, and `explorer` says what all that means. For `liveness`, `steps` looks steps up again, `core` finds
cycles (`components`), `fair` those of fair runs, `region` the nearest, and `lasso` a loop in it.

`unseen` tells from the table of states what was not seen (`blocked`, `patterns`: why an action never fired; `values`),
`vacuity` which properties no mutant breaks. `simulate` walks at random instead of searching: `stepper` computes steps
of any states, `walks` takes them, `distinct` counts states, `shorten` makes traces shorter.

Symmetric sorts are explored like others, each permutation of a state as a state of its own, unless `symmetry` is asked
for. `saving` and `checkpoint` keep a search that was interrupted, `spill` moves old states to disk.
"""

from model.explore.checkpoint import CheckpointError
from model.explore.explorer import Exploration, explore
from model.explore.saving import Saving
from model.explore.search import INTERRUPTED, Progress
from model.explore.simulate import simulate
from model.explore.spill import SpillError

__all__ = ["INTERRUPTED", "CheckpointError", "Exploration", "Progress", "Saving", "SpillError", "explore", "simulate"]
