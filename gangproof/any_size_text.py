"""A proof for any size as text for a terminal of 80 columns: what it is about, what it rests on, what blocks it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gangproof.output import WIDTH, paragraph, table
from gangproof.proof_text import blocked_text, lemmas_text
from gangproof.verdict_text import also_violated, trace_text
from model.proof import AnySize, Claimed, Proof
from model.verdict import Outcome, typed

if TYPE_CHECKING:
    from specs.families import SpecFamily
    from specs.slice_check import SliceReport


def without_slice(proof: Proof, why: str = "the spec has a step that is none of it") -> Proof:
    """``proof`` of a machine that is no slice, or not known to be one: nothing is shown of the spec by what holds of
    it, and ``why`` is told."""
    return replace(proof, claimed=tuple(_nothing_shown(c, f"holds of the slice, and {why}") for c in proof.claimed))


def _nothing_shown(claimed: Claimed, why: str) -> Claimed:
    if claimed.verdict.outcome is not Outcome.HOLDS:
        return claimed
    return Claimed(replace(claimed.verdict, outcome=Outcome.UNKNOWN, how=why), seconds=claimed.seconds)


def slice_json(family: SpecFamily, report: SliceReport | None) -> dict[str, Any] | None:
    """Which spec the proof is about where it goes through a slice, and what was compared: the spec at ``parameters``,
    and no others. Counts and ``is_slice`` are null where time ran out before that. Null where it goes through none."""
    if family.slice_ is None or family.full is None:
        return None
    return {
        "of": family.full.name,
        "parameters": dict(family.full.parameters),
        "is_slice": None if report is None else report.is_slice,
        "states": None if report is None else report.states,
        "steps": None if report is None else report.steps,
        "stutters": None if report is None else report.stutters,
        "removed": dict(family.slice_.removed),
    }


def any_size_text(family: SpecFamily, report: SliceReport | None, proof: Proof) -> str:
    """The answer first, then each property, what the proof rests on, the lemmas, and what blocks or violates."""
    parameters = " ".join(f"{k}={typed(v)}" for k, v in proof.parameters.items())
    same = _same_reason(proof)
    rows = [(c.verdict.name, c.verdict.kind, c.verdict.outcome.value, same or c.verdict.how) for c in proof.claimed]
    parts = [
        paragraph(f"{proof.spec} {parameters}".strip(), indent="  "),
        paragraph(_headline(family, report, proof), indent="  "),
        *([paragraph(f"Nothing can be proved: {proof.claimed[0].verdict.how}", indent="  ")] if same else []),
        "",
        table(["property", "kind", "verdict", "because"], rows),
    ]
    if proof.left_out:
        left = f"Left out, which `gangproof check` decides: {', '.join(proof.left_out)}."
        parts += ["", paragraph(left, indent="  ")]
    parts += [*_sliced(family, report), *_rests_on(proof), *lemmas_text(proof), *blocked_text(proof)]
    violated = proof.first_violation
    if violated is not None:
        parts += ["", *trace_text(family.machine, violated)]
    return "\n".join([*parts, *also_violated(proof.properties, violated)])


def _same_reason(proof: Proof) -> str:
    """What the table says where all claims are unknown for one reason, which is told above it; else nothing."""
    unknown = all(c.verdict.outcome is Outcome.UNKNOWN for c in proof.claimed)
    return "as told above" if unknown and len(proof.claimed) > 1 == len({c.verdict.how for c in proof.claimed}) else ""


def _headline(family: SpecFamily, report: SliceReport | None, proof: Proof) -> str:
    holding = sum(c.verdict.outcome is Outcome.HOLDS for c in proof.claimed)
    match proof.outcome:
        case Outcome.HOLDS:
            count = len(proof.claimed)
            what = f"{count} {'property' if count == 1 else 'properties'} {_any_number(proof.any_size)}"
            if report is not None and family.full is not None:
                what = f"of the slice of {family.full.name}, {what}; the spec's own steps were compared with the slice"
                what += " at the sizes told below only"
        case Outcome.VIOLATED:
            first = proof.first_violation
            assert first is not None
            what = f"{first.name}, {first.how}"
        case _:
            what = f"{len(proof.claimed) - holding} of {len(proof.claimed)} properties could not be proved for any size"
    return f"{proof.outcome.value.upper()}: {what} ({proof.seconds:.2f} s)."


def _any_number(found: AnySize | None) -> str:
    """For any number of what."""
    assert found is not None
    names = [f"{sort} ({', '.join(by)})" for sort, by in found.sorts.items() if by]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    how_many = f"for any number of {listed}" if names else "at the sizes given, which no parameter changes alone"
    return f"{how_many}, in runs of any length"


def _sliced(family: SpecFamily, report: SliceReport | None) -> Iterator[str]:
    """What was proved in the place of the spec, and what it leaves out."""
    if family.slice_ is None or family.full is None:
        return
    given = " ".join(f"{k}={typed(v)}" for k, v in family.full.parameters.items())
    yield ""
    if report is None:
        yield paragraph(f"That it is a slice of {family.full.name} {given} was not seen in time.", indent="  ")
        return
    if report.first_bad is not None:
        yield paragraph(f"It is no slice of {family.full.name} {given}, so this shows nothing of that:", indent="  ")
        yield report.first_bad.text
        return
    yield paragraph(
        f"What is proved is a slice of {family.full.name}. At {given} all {report.steps:,} steps of"
        f" {report.states:,} states are steps of the slice, or ({report.stutters:,}) change nothing that it sees.",
        indent="  ",
    )
    names = [*(v.name for v in family.full.variables), *(a.name for a in family.full.actions)]
    removed = family.slice_.removed
    yield ""
    yield table(("left out", "because"), [(n, removed[n]) for n in names if n in removed], WIDTH)


def _rests_on(proof: Proof) -> Iterator[str]:
    """What was looked at: sizes, and sums."""
    found = proof.any_size
    if found is None:
        return
    yield ""
    fewer = f" (at {', '.join(found.fewer)} with fewer actions)" if found.fewer else ""
    deciding = {name for by in found.sorts.values() for name in by}
    others = " ".join(f"{k}={typed(v)}" for k, v in proof.parameters.items() if k not in deciding)
    given = f" The rest is as given: {others}." if others and deciding else ""
    states = "; ".join(f"{count:,} with {size}" for size, count in found.explored.items())
    sums = "1 sum is a counter" if found.counters == 1 else f"{found.counters} sums are counters"
    yield paragraph(
        f"The spec says the same at all {found.compared} sizes that were tried{fewer}. {sums}; what becomes of a sum"
        f" was computed {found.changes} times, and each is proved. States looked at for violations and lemmas:"
        f" {states}.{given}",
        indent="  ",
    )


__all__ = ["any_size_text", "slice_json", "without_slice"]
