"""The prover: proofs for every depth, and the traces of mutants by bounded search: ``make bench-prove``.

    python bench/prove.py [--time-limit SECONDS] [SPEC-MUTANT...]

CPU seconds, as the solver works on one core, beside what they should stay below; of each proof the largest k and the
most atoms that a claim needs. The explorer finds the same traces in the same run, and the ratio to it is told.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from model.explore import explore
from model.lowering.lower import lower
from model.prove import prove
from model.prove.bounded import bounded
from model.prove.claims import claims
from model.prove.encoding import Encoding
from model.prove.solving import Deadline
from model.verdict import Outcome
from specs.loading import load_spec
from specs.registry import mutants

PROOFS = {"gang": 60, "yunikorn": 60, "predicate_cache": None, "composite": None, "yunikorn edition=current": None}
"""Specs, and the seconds in which all that one claims of states and steps is to be proved; None where none are said."""
TRACE_SECONDS = 30
"""A trace of up to 12 steps is to be found in less."""
DEEP = (
    "gang-no_quota",
    "yunikorn-no_quota",
    "yunikorn-head_room_used_twice",
    "yunikorn-runs_over_the_limit",
    "yunikorn-reserves_when_time_is_up",
    "kubernetes-scheduled_pods_are_not_counted",
    "gang-runs_one_early",
    "autoscaled_gang-starts_without_gang",
    "composite-no_quorum",
    "coscheduling-min_member_is_stale",
    "kueue-targets_are_not_given_back",
    "predicate_cache-cache_outlives_session",
    "volcano-commits_early",
    "volcano_reclaim-binds_before_termination",
)
"""Mutants whose traces of up to 12 steps take the bounded search longest, and one of each of some other specs."""


def proof(call: str, bound: int | None, limit: float) -> str:
    """One line about the proof of a spec, called by its name and parameters."""
    spec, *given = call.split()
    before = time.process_time()
    found = prove(load_spec(spec, given), time_limit=limit)
    seconds = time.process_time() - before
    proved = [c for c in found.claimed if c.verdict.outcome is Outcome.HOLDS]
    k, atoms = max((c.k or 0 for c in proved), default=0), max((c.atoms for c in proved), default=0)
    told = f"{len(proved)} of {len(found.claimed)} proved, k <= {k}, {atoms} atoms at most"
    unknown = [c for c in found.claimed if c.verdict.outcome is Outcome.UNKNOWN]
    if unknown:
        # What is shown by more than a proof may have is known to hold, but not by what anybody reads.
        longer = [c.atoms for c in unknown if c.atoms]
        told += f"; {len(unknown)} unknown" + (
            f", {len(longer)} by {min(longer)} to {max(longer)} atoms" if longer else ""
        )
    return f"  {call:<42}{_bounded(seconds, bound)}   {told}"


def _bounded(seconds: float, bound: int | None) -> str:
    """``seconds`` beside what they should stay below."""
    if bound is None:
        return f"{seconds:8.1f}      "
    return f"{seconds:8.1f} of {bound}{'' if seconds < bound else ', TOO LONG'}"


def trace(name: str, limit: float) -> str:
    """One line about the shortest trace of a mutant."""
    spec, _, of = name.partition("-")
    mutant = next(m for m in mutants(spec) if m.name == of)
    machine = mutant.make()
    before = time.process_time()
    known = explore(machine, threads=1)[mutant.violated].trace
    explorer = time.process_time() - before
    before = time.process_time()
    program = lower(machine)
    asked = [c for c in claims(program) if c.name == mutant.violated]
    found = bounded(Encoding(program), asked, len(known or ()), Deadline(limit))
    seconds = time.process_time() - before
    result = found.traces.get(mutant.violated)
    told = f"{len(result)} steps" if result is not None else f"not found: {found.length} steps looked at"
    of_explorer = f"{seconds / explorer:.1f} times the explorer's {explorer:.2f}"
    return f"  {name:<42}{_bounded(seconds, TRACE_SECONDS)}   {told}; {of_explorer}"


def main() -> None:
    """Print line by line, as the answers come."""
    parser = argparse.ArgumentParser(description="The prover: proofs for every depth, and traces by bounded search.")
    parser.add_argument("mutant", nargs="*", help="only the traces of these")
    parser.add_argument("--time-limit", type=float, default=600.0, help="wall seconds for each line")
    options = parser.parse_args()
    if not options.mutant:
        print("proofs for every depth, CPU seconds")
        for call, bound in PROOFS.items():
            print(proof(call, bound, options.time_limit), flush=True)
    print(f"traces of mutants by bounded search, CPU seconds, of at most {TRACE_SECONDS}")
    for name in options.mutant or DEEP:
        print(trace(name, options.time_limit), flush=True)


if __name__ == "__main__":
    main()
