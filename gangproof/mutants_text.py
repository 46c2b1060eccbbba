"""Mutants and their trials as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from gangproof.output import paragraph, table
from gangproof.verdict_text import trace_text
from model.verdict import typed
from specs.mutant import Mutant
from specs.parameters import shown
from specs.trials import Fate, Trial


def trials_text(trials: Sequence[Trial]) -> str:
    """The number of those that are caught, and of each spec a table."""
    parts = [paragraph(_summary(trials), indent="  ")]
    for spec in dict.fromkeys(t.spec for t in trials):
        mine = [t for t in trials if t.spec == spec]
        rows = [(t.name, "-" if t.steps is None else t.steps, _breaks(t)) for t in mine]
        parts += ["", f"{spec}: {len(mine)}", "", table(["mutant", "steps", "breaks"], rows)]
    return "\n".join(parts)


def _summary(trials: Sequence[Trial]) -> str:
    caught = sum(t.fate is Fate.CAUGHT for t in trials)
    reports = len({t.report for t in trials if t.report})
    all_of_them = "all" if caught == len(trials) else f"{caught} of"
    survive = [t.name for t in trials if t.fate is Fate.SURVIVES]
    unknown = [t.name for t in trials if t.fate is Fate.UNKNOWN]
    words = [f"{all_of_them} {len(trials)} mutants are caught ({sum(t.seconds for t in trials):.0f} s of exploration)"]
    words += [f"real reports among them: {reports}"]
    words += [f"SURVIVE: {', '.join(survive)}"] if survive else []
    words += [f"UNKNOWN: {', '.join(unknown)}"] if unknown else []
    return f"{'; '.join(words)}."


def _breaks(trial: Trial) -> str:
    if trial.fate is not Fate.CAUGHT:
        return f"{trial.fate.value.upper()}: {trial.because}"
    return f"{trial.told.name} ({trial.report})" if trial.report else trial.told.name


def trial_text(mutant: Mutant, trial: Trial) -> str:
    """One mutant: where it comes from, what it changes, and the run that shows it."""
    scope = " ".join(f"{k}={typed(shown(v))}" for k, v in mutant.parameters.items())
    lines = [
        paragraph(f"{trial.spec} {scope}".strip(), indent="  "),
        paragraph(f"{trial.report + ': ' if trial.report else ''}{trial.source}", indent="  "),
        paragraph(f"fault: {trial.what}", indent="  "),
        paragraph(f"{trial.fate.value}: {trial.told.name}, {trial.told.how}", indent="  "),
    ]
    lines += [paragraph(f"{trial.because}.", indent="  ")] if trial.because else []
    lines += [paragraph(f"It also breaks {', '.join(trial.also)}.", indent="  ")] if trial.also else []
    return "\n".join([*lines, "", *trace_text(mutant.make(), trial.told)] if trial.told.trace is not None else lines)


def listed_text(pairs: Sequence[tuple[str, Mutant]]) -> str:
    """What there is: mutant, report, and where the fault comes from."""
    parts: list[str] = []
    for spec in dict.fromkeys(s for s, _ in pairs):
        rows = [(m.name, m.report or "-", f"{m.violated}: {m.source}") for s, m in pairs if s == spec]
        parts += [f"{spec}: {len(rows)}", "", table(["mutant", "report", "breaks"], rows), ""]
    return "\n".join(parts[:-1])


__all__ = ["listed_text", "trial_text", "trials_text"]
