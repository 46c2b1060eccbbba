"""A proof as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.output import paragraph, table
from gangproof.verdict_text import also_violated, trace_text
from model.language import Machine, PropertyKind
from model.proof import Claimed, Proof
from model.trace import in_steps
from model.verdict import Outcome, typed

_MOST_LEMMAS = 20
_MOST_CELLS = 30


def proof_text(machine: Machine, proof: Proof) -> str:
    """The answer first, then each property, the lemmas, what blocks a proof, and a violation."""
    parameters = " ".join(f"{k}={typed(v)}" for k, v in proof.parameters.items())
    rows = [(c.verdict.name, c.verdict.kind, c.verdict.outcome.value, c.verdict.how) for c in proof.claimed]
    parts = [
        paragraph(f"{proof.spec} {parameters}".strip(), indent="  "),
        paragraph(_headline(proof), indent="  "),
        "",
        table(["property", "kind", "verdict", "because"], rows),
    ]
    if proof.left_out:
        about = "about runs, or goals, which `gangproof check` decides"
        parts += ["", paragraph(f"Left out, {about}: {', '.join(proof.left_out)}.", indent="  ")]
    parts += [*lemmas_text(proof), *blocked_text(proof)]
    violated = proof.first_violation
    if violated is not None:
        parts += ["", *trace_text(machine, violated)]
    return "\n".join([*parts, *also_violated(proof.properties, violated)])


def _headline(proof: Proof) -> str:
    holding = sum(c.verdict.outcome is Outcome.HOLDS for c in proof.claimed)
    looked = f"runs of up to {in_steps(proof.length)} looked at" if proof.length >= 0 else "no runs looked at"
    match proof.outcome:
        case Outcome.HOLDS:
            what = _holding(proof)
            what += f"; {len(proof.left_out)} left out" if proof.left_out else ""
        case Outcome.VIOLATED:
            first = proof.first_violation
            assert first is not None
            assert first.trace is not None
            what = f"{first.name}, shortest trace {in_steps(len(first.trace))}"
        case Outcome.VACUOUS:
            vacuous = [c.verdict.name for c in proof.claimed if c.verdict.outcome is Outcome.VACUOUS]
            what = f"nothing is violated, but {', '.join(vacuous)} says nothing: its premise is never true"
        case _:
            holding += sum(c.verdict.outcome is Outcome.VACUOUS for c in proof.claimed)
            what = f"{len(proof.claimed) - holding} of {len(proof.claimed)} properties could not be proved"
    return f"{proof.outcome.value.upper()}: {what}. {looked.capitalize()} ({proof.seconds:.2f} s)."


def _holding(proof: Proof) -> str:
    """What is proved of all runs, and what one run shows."""
    goals = [c for c in proof.claimed if c.verdict.kind == PropertyKind.SOMETIMES.value]
    count = len(proof.claimed) - len(goals)
    told = [f"{count} {'property' if count == 1 else 'properties'} of states and steps, in runs of any length"]
    reached = [f"{', '.join(c.verdict.name for c in goals)}: a run that comes there was found"]
    return "; ".join([*(told if count else []), *(reached if goals else [])])


def lemmas_text(proof: Proof) -> Iterator[str]:
    """The lemmas that any of the proofs rests on, as far as they are not too many."""
    found = list(dict.fromkeys(lemma.text for c in proof.claimed for lemma in c.lemmas))
    if not found:
        return
    yield ""
    yield paragraph(
        "Lemmas: each holds in every state that can be reached, and all are inductive together.", indent="  "
    )
    yield ""
    for text in found[:_MOST_LEMMAS]:
        yield paragraph(f"  {text}", indent="      ")
    if len(found) > _MOST_LEMMAS:
        yield f"  and {len(found) - _MOST_LEMMAS} more, which --json has"


def blocked_text(proof: Proof) -> Iterator[str]:
    """The state that blocks the first property that is blocked."""
    blocked = [c for c in proof.claimed if c.blocked is not None]
    for claimed in blocked[:1]:
        yield from _what_blocks(claimed)
    if len(blocked) > 1:
        others = ", ".join(c.verdict.name for c in blocked[1:])
        yield paragraph(f"Something blocks also: {others}; --property NAME shows it.", indent="  ")


def _what_blocks(claimed: Claimed) -> Iterator[str]:
    blocked = claimed.blocked
    assert blocked is not None
    does = f", from which {blocked.call} violates it" if blocked.call is not None else ""
    known = "a state that no known run comes to"
    yield ""
    yield paragraph(
        f"What blocks {claimed.verdict.name} at k = {blocked.k}: {known}{does}. If none does, a property"
        " that excludes it is missing.",
        indent="  ",
    )
    yield ""
    cells = [
        f"{name} = {str(value).lower() if isinstance(value, bool) else value}" for name, value in blocked.state.items()
    ]
    shown = "; ".join(cells[:_MOST_CELLS]) + (
        f"; and {len(cells) - _MOST_CELLS} more" if len(cells) > _MOST_CELLS else ""
    )
    yield paragraph(f"  {shown}", indent="    ")


__all__ = ["blocked_text", "lemmas_text", "proof_text"]
