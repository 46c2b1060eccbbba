"""What other model checkers must find of a machine, by the interpreter, and whether they did."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from model.export.peers import Found
from model.language import Machine, PropertyKind
from model.lowering.lower import lower
from model.prove.bounded import bounded
from model.prove.claims import claims
from model.prove.encoding import Encoding
from model.prove.solving import Deadline
from model.semantics import Fault, Semantics, State
from model.verdict import Outcome, Verdict
from specs.registry import SHIPPED, mutants

_SAFETY = ("always", "step", "deadlock", "range", "write")
# Every shipped spec, at a size of at most some thousand states.
SIZES = (
    "gang",
    "yunikorn edition=seed",
    "yunikorn edition=current",
    "autoscaled_gang",
    "kubernetes groups=1 nodes=2",
    "composite",
    "coscheduling",
    "kueue",
    "volcano",
    "volcano_reclaim",
    "predicate_cache",
    "ray instances=1 max_workers=1 jobs=1",
)
MUTANTS = {f"{spec}-{m.name}": m for spec in SHIPPED for m in mutants(spec)}


BOUNDED_SECONDS = 240


@dataclass
class Expected:
    """Distinct states, and of each claim of states and steps that is violated the length of a shortest trace.

    ``kinds`` of the machine's own claims. ``idle``: violated by steps that change nothing, which TLA+ cannot see.
    """

    states: int
    violated: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, PropertyKind] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """The length of the shortest of all traces."""
        return min(self.violated.values())


def expected(machine: Machine, *, idle_steps: bool = True, most: int = 20_000) -> Expected:
    """Breadth first, by `Semantics`. Without ``idle_steps`` a step that changes nothing violates nothing."""
    s = Semantics(machine)
    found = Expected(0, kinds={p.name: p.kind for p in machine.properties})
    always = [p for p in machine.properties if p.kind is PropertyKind.ALWAYS]
    steps = [p for p in machine.properties if p.kind is PropertyKind.STEP]
    distance: dict[State, int] = {}
    queue: deque[State] = deque()

    def visit(state: State, length: int) -> None:
        if state not in distance:
            assert len(distance) < most, "too large for this test"
            distance[state] = length
            queue.append(state)
            for p in always:
                if not s.evaluate(p.condition, state, {}):
                    found.violated.setdefault(p.name, length)

    for state in s.initial_states():
        visit(state, 0)
    while queue:
        state = queue.popleft()
        length = distance[state] + 1
        enabled = [i for i in s.instances if s.is_enabled(i, state)]
        if not enabled and not s.is_terminal(state):
            found.violated.setdefault("deadlock_free", length - 1)
        for instance in enabled:
            new = s.fire(instance, state)
            if isinstance(new, Fault):
                found.violated.setdefault(new.kind.value, length)
                continue
            for p in steps:
                if (idle_steps or new != state) and not s.evaluate(p.condition, state, {}, new):
                    found.violated.setdefault(p.name, length)
            visit(new, length)
    found.states = len(distance)
    return found


def expected_of(verdict: Verdict) -> Expected:
    """The same by what the explorer found, which has seen all states."""
    assert verdict.coverage.complete
    violated = {
        p.name: len(p.trace)
        for p in verdict.properties
        if p.outcome is Outcome.VIOLATED and p.trace is not None and p.kind in _SAFETY
    }
    kinds = {p.name: PropertyKind(p.kind) for p in verdict.properties if p.kind in ("always", "step")}
    return Expected(verdict.coverage.distinct_states, violated, kinds)


def disagreement_of_bounded(machine: Machine, names: Collection[str], wanted: Expected, most: int) -> str | None:
    """What bounded model checking says otherwise of the claims in ``names`` and runs of up to ``most`` steps; None if
    it agrees. OutOfTime is no agreement either: what was not looked at is told."""
    program = lower(machine)
    asked = [c for c in claims(program) if c.name in names]
    found = bounded(Encoding(program), asked, most, Deadline(BOUNDED_SECONDS))
    if found.why is not None:
        return f"after {found.length} steps: {found.why}"
    lengths = {name: len(trace) for name, trace in found.traces.items()}
    expected_ = {name: steps for name, steps in wanted.violated.items() if name in names and steps <= most}
    return None if lengths == expected_ else f"bounded search found {lengths}; violated are {expected_}"


def _of_verdicts(peer: str, found: Found, wanted: Expected) -> str | None:
    """How ``peer`` disagrees on whether anything is violated, or on the number of states where nothing is."""
    if wanted.violated:
        return None if found.violated is not None else f"{peer} found nothing violated; violated are {wanted.violated}"
    if found.violated is not None:
        return f"{peer} found {found.violated} violated, nothing is"
    return None if found.states == wanted.states else f"{peer} found {found.states} states, there are {wanted.states}"


def disagreement_of_tlc(found: Found, wanted: Expected) -> str | None:
    """What TLC says otherwise than ``wanted``, which knows no idle steps; None if it agrees."""
    if (told := _of_verdicts("TLC", found, wanted)) is not None or found.violated is None:
        return told
    if wanted.violated.get(found.violated) != wanted.least or found.steps != wanted.least:
        return f"TLC found {found.violated} violated after {found.steps} steps; violated are {wanted.violated}"
    return None


def disagreement_of_spin(found: Found, wanted: Expected) -> str | None:
    """What Spin says otherwise; None if it agrees.

    That a state violates a claim it tells when it leaves the state, as late as a step of the next length: so of claims
    on states and steps together, the one that it tells is one of the shortest, or one step longer.
    """
    if (told := _of_verdicts("Spin", found, wanted)) is not None or found.violated is None:
        return told
    steps = found.steps - (wanted.kinds.get(found.violated) is PropertyKind.ALWAYS)
    if wanted.violated.get(found.violated) != steps or steps > wanted.least + 1:
        return f"Spin found {found.violated} violated after {steps} steps; violated are {wanted.violated}"
    return None
