"""Every shipped spec, explored: states, time and answer, as a table: ``make bench-specs``.

    python bench/specs.py [--large] [SPEC...]

Each spec with its default parameters and in the scopes below; ``--large`` adds those that take minutes. Nothing is
compared: the figures tell what a check costs. Seconds are all in; compilation is told apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from model.explore import explore
from model.verdict import Verdict
from specs.loading import load_spec
from specs.registry import SHIPPED

Scopes = Mapping[str, Sequence[str]]
SCOPES: Scopes = MappingProxyType(
    {
        "gang": ("apps=4 size=3 nodes=2 capacity=4 quota=7", "apps=5 size=3 nodes=2 capacity=4 quota=8"),
        "yunikorn": (
            "queues=two_leaves",
            "policy=fair reject_fair=false",
            "apps=3 size=2",
            "edition=current",
            "edition=current timers=free",
            "edition=current preemptions=1 node_removals=1 restarts=1 repaired=true style=hard",
            "edition=current node_removals=1",
            "edition=current apps=2",
        ),
        "autoscaled_gang": ("policy=fair", "vanish=true"),
        "kubernetes": ("edition=seed", "pods=2 nodes=2 misfits=0 cycle=pod_by_pod"),
        "composite": (
            "pods=2,1 min_count=1 slots=1,0,2,0 busy=2 changes=0",
            "children=4 middles=2 middle_min=2 min_groups=1 pods=1 min_count=1 slots=1,2,1,2 busy=2",
        ),
        "coscheduling": ("gangs=3 size=3 slots=4", "gangs=2 size=2 slots=3 scales=1"),
        "kueue": (
            "nominal=4,3 queue=0,1,0,0 size=4,4,2,4 priority=1,1,0,0",
            "nominal=4,3 queue=0,1,0,0 size=4,4,2,4 priority=1,1,0,0 repaired=true",
        ),
        "volcano": (
            "edition=shipped",
            "edition=current",
            "edition=current scale_ups=1",
            "edition=current slow_ends=1",
            "quota_changes=1",
        ),
        "volcano_reclaim": ("repaired=true", "size=4 nodes=4 minimum=2"),
        "predicate_cache": (
            "edition=current",
            "annotation=none",
            "annotation=one_role edition=current",
            "workload=tfjob",
        ),
        "ray": ("edition=seed", "kuberay=true", "errors=true", "reconfigure=true repaired=true"),
    }
)
"""Of each spec, besides its default parameters: the editions, and what the READMEs speak of most."""
LARGE: Scopes = MappingProxyType(
    {
        "gang": ("apps=5 size=2 nodes=3 capacity=4 quota=8",),
        "yunikorn": (
            "apps=3 capacity=4 quota=7",
            "edition=current apps=2 preemptions=1 repaired=true style=hard",
        ),
        "autoscaled_gang": ("apps=4 instances=4 spare_rows=0 max_concurrent_launches=2",),
        "kubernetes": ("groups=3 misfits=0 failures=0",),
        "composite": ("children=3 blocks=3 slots=1,2,2,2,2,2 busy=3 failures=2 changes=2",),
        "coscheduling": ("gangs=6 slots=4 together=2", "gangs=7 slots=4"),
        "kueue": (
            "nominal=3,3,2 weight=2,1,1 queue=0,1,2,0,1,2,0,1,2,0,1,2 size=3,3,2,2,4,3,1,2,3,4,1,2 "
            "priority=0,0,0,0,0,0,0,0,0,0,0,0 strategy=final",
        ),
        "volcano": ("jobs=2",),
        "volcano_reclaim": ("jobs=2", "jobs=2 repaired=true"),
        "predicate_cache": ("workload=tfjob jobs=3 workers=3",),
        "ray": (
            "instances=3",
            "split=true",
            "types=2 instances=4 max_nodes=3 retries=0 crash=false vanish=false kuberay=true timers=off",
        ),
    }
)


def row(spec: str, scope: str) -> list[str]:
    """One line of the table."""
    before = time.perf_counter()
    verdict = explore(load_spec(spec, scope.split()))
    seconds = time.perf_counter() - before
    c = verdict.coverage
    return [
        f"{c.distinct_states:,}",
        f"{c.transitions:,}",
        f"{c.depth}",
        f"{seconds:.2f}",
        f"{c.compile_seconds:.2f}",
        _answer(verdict),
        f"{spec} {scope}".strip(),
    ]


def _answer(verdict: Verdict) -> str:
    told = verdict.first_violation
    return verdict.outcome.value if told is None else f"{told.name}, {len(told.trace or ())} steps"


def main() -> None:
    """Print the table line by line, as the answers come."""
    parser = argparse.ArgumentParser(description="Every shipped spec, explored: states, time and answer.")
    parser.add_argument("spec", nargs="*", help="only these")
    parser.add_argument("--large", action="store_true", help="also the scopes that take minutes")
    options = parser.parse_args()
    if unknown := [s for s in options.spec if s not in SHIPPED]:
        parser.error(f"no spec {unknown[0]!r} is shipped; there are {', '.join(SHIPPED)}")
    form = "{:>12} {:>13} {:>5} {:>7} {:>7}  {:<38} {}"
    print(form.format("states", "transitions", "depth", "s", "compile", "answer", "spec"))
    for spec in options.spec or SHIPPED:
        for scope in ("", *SCOPES.get(spec, ()), *(LARGE.get(spec, ()) if options.large else ())):
            print(form.format(*row(spec, scope)), flush=True)


if __name__ == "__main__":
    main()
