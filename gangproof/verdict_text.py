"""A verdict as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from gangproof.coverage_text import unseen_text, vacuity_text
from gangproof.output import WIDTH, paragraph, table
from model.language import Machine
from model.trace import Trace, in_steps
from model.verdict import Outcome, PropertyVerdict, Verdict, typed

WORTH_BYTES = 10_000
"""With fewer states the tables are mostly empty, and bytes a state say nothing."""


def verdict_text(machine: Machine, verdict: Verdict, shown: str | None = None) -> str:
    """The answer first, then each property, the actions, and the shortest counterexample (or ``shown``'s trace)."""
    parameters = " ".join(f"{k}={typed(v)}" for k, v in verdict.parameters.items())
    parts = [
        paragraph(f"{verdict.spec} {parameters}".strip(), indent="  "),
        paragraph(headline(verdict), indent="  "),
        "",
        table(
            ["property", "kind", "verdict", "because"],
            [(p.name, p.kind, p.outcome.value, p.how) for p in verdict.properties],
        ),
        "",
        table(["action", "fired"], [(name, f"{fired:,}") for name, fired in verdict.coverage.actions.items()]),
    ]
    parts += unseen_text(verdict.unseen) if verdict.unseen is not None else []
    parts += vacuity_text(verdict.vacuity) if verdict.vacuity is not None else []
    parts += ["", *(paragraph(f"warning: {w}", indent="  ") for w in verdict.warnings)] if verdict.warnings else []
    trace_of = verdict[shown] if shown else verdict.first_violation
    if trace_of is not None:
        parts += ["", *trace_text(machine, trace_of)]
    return "\n".join([*parts, *also_violated(verdict.properties, trace_of)])


def also_violated(properties: Sequence[PropertyVerdict], told: PropertyVerdict | None) -> list[str]:
    """Which properties are violated besides the one that is ``told`` of, and how to see them."""
    others = [p.name for p in properties if p.outcome is Outcome.VIOLATED and (told is None or p.name != told.name)]
    return ["", paragraph(f"Also violated: {', '.join(others)}; --property NAME shows the trace.")] if others else []


def headline(verdict: Verdict) -> str:
    """The outcome with its reason, what was covered, and what it cost."""
    c = verdict.coverage
    up_to = f" up to symmetry of {c.symmetry}" if c.symmetry else ""
    states = "1 distinct state" if c.distinct_states == 1 else f"{c.distinct_states:,} distinct states"
    transitions = "1 transition" if c.transitions == 1 else f"{c.transitions:,} transitions"
    covered = f"{states}{up_to}, {transitions}, depth {c.depth}"
    cost = f"{c.seconds:.2f} s, compiled in {c.compile_seconds:.2f} s"
    if c.distinct_states >= WORTH_BYTES:
        cost += f", {c.bytes_per_state:.0f} bytes a state"
    outcome = verdict.outcome
    reason = ""
    if (
        outcome is Outcome.VIOLATED
        and verdict.first_violation is not None
        and verdict.first_violation.trace is not None
    ):
        reason = f" {verdict.first_violation.name}, {_length(verdict.first_violation.trace)}"
    elif outcome is Outcome.UNKNOWN:
        undecided = verdict.vacuity.budget if verdict.vacuity is not None else None
        reason = f" {c.budget or undecided or 'see below'}"
    elif outcome is Outcome.VACUOUS:
        vacuous = [p for p in verdict.properties if p.outcome is Outcome.VACUOUS]
        unreached = [p.name for p in vacuous if p.kind == "sometimes"]
        silent = [p.name for p in vacuous if p.kind != "sometimes"]
        words = [f"never fired: {', '.join(verdict.never_fired)}"] if verdict.never_fired else []
        words += [f"never reached: {', '.join(unreached)}"] if unreached else []
        words += verdict.loose_ends
        words += [f"says nothing: {', '.join(silent)}"] if silent else []
        reason = " " + "; ".join(words)
    return f"{outcome.value.upper()}:{reason or ' every property'}. {covered} ({cost})."


def _length(trace: Trace) -> str:
    """What is shortest about ``trace``: all of it, or the way into its loop."""
    if trace.loop_start is None:
        return f"shortest trace {in_steps(len(trace))}"
    return f"shortest way into a loop {in_steps(trace.loop_start)}, the loop {in_steps(len(trace) - trace.loop_start)}"


def trace_text(machine: Machine, of: PropertyVerdict) -> list[str]:
    """What a property's trace shows, and the trace."""
    declared = next((p for p in machine.properties if p.name == of.name), None)
    claim = "" if declared is None else " ".join(declared.doc.partition("\n\n")[0].split())
    about = f": {claim}" if claim else ""
    if of.trace is None:
        return [paragraph(f"{of.name}: there is no trace; {of.how}")]
    verb = "violates" if of.outcome is Outcome.VIOLATED else "reaches"
    note = [] if of.note is None else ["", paragraph(f"Of the shortest runs: {of.note}.")]
    return [paragraph(f"This run {verb} {of.name}{about}"), "", of.trace.table(WIDTH), *note]
