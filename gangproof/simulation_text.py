"""What random walks saw, as text for a terminal of 80 columns."""

from __future__ import annotations

from gangproof.coverage_text import never_taken
from gangproof.output import paragraph, table
from gangproof.verdict_text import also_violated, trace_text
from model.language import Machine
from model.simulation import Simulation
from model.verdict import Outcome, typed


def simulation_text(machine: Machine, answer: Simulation, shown: str | None = None) -> str:
    """The answer first, then each property, the actions, values never taken, and the violation (or ``shown``'s
    trace)."""
    parameters = " ".join(f"{k}={typed(v)}" for k, v in answer.parameters.items())
    seen = answer.seen
    parts = [
        paragraph(f"{answer.spec} {parameters}".strip(), indent="  "),
        paragraph(_headline(answer), indent="  "),
        "",
        table(
            ["property", "kind", "verdict", "because"],
            [(p.name, p.kind, _verdict(p.kind, p.outcome), p.how) for p in answer.properties],
        ),
        "",
        table(["action", "taken"], [(name, f"{n:,}") for name, n in seen.actions.items()]),
    ]
    never = never_taken(seen.values)
    if never:
        parts += ["", paragraph(f"Values that no walk came to: {never}.", indent="  ")]
    trace_of = answer[shown] if shown else answer.first_violation
    if trace_of is not None:
        parts += ["", *trace_text(machine, trace_of)]
        if trace_of.trace is not None:
            parts += ["", "The trace was shortened; there may be a shorter one."]
    return "\n".join([*parts, *also_violated(answer.properties, trace_of)])


def _verdict(kind: str, outcome: Outcome) -> str:
    if kind == "sometimes":
        return "reached" if outcome is Outcome.HOLDS else "not reached"
    return outcome.value


def _headline(answer: Simulation) -> str:
    seen = answer.seen
    violation = answer.first_violation
    verdict = f"UNKNOWN: no violation in {seen.walks:,} walk{'' if seen.walks == 1 else 's'}"
    if violation is not None:
        verdict = f"VIOLATED: {violation.name}, seen in {seen.walks:,} walk{'' if seen.walks == 1 else 's'}"
    why = f" ({answer.stopped}, {answer.walks:,} were asked for)" if answer.stopped else ""
    states = f"{seen.distinct_states:,} distinct states" if seen.exact else f"about {seen.distinct_states:,} states"
    return (
        f"{verdict}{why}, seed {answer.seed}. {seen.steps:,} steps, the longest walk {seen.depth:,}, {states}, "
        f"{seen.dead_ends:,} walks came to an end ({seen.seconds:.2f} s, compiled in {seen.compile_seconds:.2f} s)."
    )


__all__ = ["simulation_text"]
