"""Every run of a spec, made by running code: the direction of a binding that `specs.walking` does not have.

There the code goes first, and what it did must be a step of the spec. Here the spec goes first: each step that it
enables must be one that the code can make, and both must show the same afterwards. `replay` tries all runs up to a
depth. The code may be deterministic where the spec is free; then the binding excuses a step, for a reason that it has
declared, and the run ends there. An excuse is for one step, never for an action: they are counted, and a reason that no
step needed is told with the outcome, for the test to refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from model.language import Machine
from model.semantics import State
from model.trace import NamedState, Value
from specs.walking import Call, Divergence, walked

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Excused:
    """A step that the code does not make; ``reason`` is a key of the binding's `Replayer.excuses`."""

    reason: str


class Replayer(Protocol[Subject]):
    """What a binding says of its code. A subject is the code in one state, and is never changed.

    ``code`` is what complaints call the code, ``excuses`` are the reasons for which steps are excused, by a short name.
    """

    @property
    def code(self) -> str: ...

    @property
    def excuses(self) -> Mapping[str, str]: ...

    def start(self) -> Subject:
        """The code in the spec's initial state."""
        ...

    def perform(self, subject: Subject, call: Call, before: NamedState, after: NamedState) -> Subject | Excused:
        """A copy of ``subject`` that has made ``call``, a step of the spec from ``before`` to ``after``. A step that
        the code does not see is the same subject. Divergence if the code cannot make the step."""
        ...

    def observed(self, subject: Subject, shown: NamedState) -> Mapping[str, Value]:
        """What the code shows, by the spec's cells. ``shown`` is where the spec is, for what the two have at different
        times: what the code has done at once and the spec has begun, is left out or taken back."""
        ...

    def key(self, subject: Subject) -> Hashable:
        """Equal for subjects that cannot be told apart by anything that will happen to them."""
        ...


@dataclass(slots=True)
class Replayed:
    """What `replay` did: pairs of a state and a subject, and steps by the name of their action, or of their excuse.

    ``unused`` are excuses that no step needed, ``never_made`` actions that were enabled and excused each time.
    """

    depth: int
    pairs: int = 0
    made: Counter[str] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    unused: frozenset[str] = frozenset()
    never_made: frozenset[str] = frozenset()


Path: TypeAlias = "tuple[Path, Call] | None"
"""The calls that led somewhere, the last one outermost."""


def replay(machine: Machine, replayer: Replayer[Subject], depth: int) -> Replayed:
    """All runs of ``machine`` of at most ``depth`` steps, breadth first, each pair of a state and a subject once.

    Divergence, with the calls that led there, at the first step that the code cannot make or after which it shows
    something else. So of the runs that fail the shortest is told.
    """
    spec, done = walked(machine), Replayed(depth)
    if depth < 0:
        raise ValueError(f"depth {depth}: expected 0 or more")
    subject = replayer.start()
    _compare(replayer, subject, spec.shown(spec.initial), None)
    level: list[tuple[State, Subject, Path]] = [(spec.initial, subject, None)]
    seen: set[tuple[State, Hashable]] = {(spec.initial, replayer.key(subject))}
    enabled: set[str] = set()
    for _ in range(depth):
        following: list[tuple[State, Subject, Path]] = []
        for state, subject, path in level:
            for call in spec.instances:
                if spec.after(state, call) is None:
                    continue
                enabled.add(call[0])
                after = _stepped(machine, state, call, path)
                made = _performed(replayer, subject, (path, call), spec.shown(state), spec.shown(after))
                if isinstance(made, Excused):
                    done.excused[_declared(replayer, made)] += 1
                    continue
                done.made[call[0]] += 1
                pair = (after, replayer.key(made))
                if pair not in seen:
                    seen.add(pair)
                    following.append((after, made, (path, call)))
        level = following
    done.pairs = len(seen)
    done.unused = frozenset(replayer.excuses) - frozenset(done.excused)
    done.never_made = frozenset(enabled) - frozenset(done.made)
    return done


def _stepped(machine: Machine, state: State, call: Call, path: Path) -> State:
    try:
        return walked(machine).step(state, call)
    except Divergence as error:
        raise Divergence(f"{_text(path)}; {error}" if path else str(error)) from None


def _performed(
    replayer: Replayer[Subject], subject: Subject, path: tuple[Path, Call], before: NamedState, after: NamedState
) -> Subject | Excused:
    try:
        made = replayer.perform(subject, path[1], before, after)
    except Divergence as error:
        raise Divergence(f"{_text(path)}: {error}") from None
    if not isinstance(made, Excused):
        _compare(replayer, made, after, path)
    return made


def _declared(replayer: Replayer[Subject], excused: Excused) -> str:
    if excused.reason not in replayer.excuses:
        raise ValueError(f"{excused.reason}: no excuse of that name is declared, only {', '.join(replayer.excuses)}")
    return excused.reason


def _compare(replayer: Replayer[Subject], subject: Subject, shown: NamedState, path: Path) -> None:
    differing = [
        f"{cell}: spec {shown[cell]}, {replayer.code} {value}"
        for cell, value in replayer.observed(subject, shown).items()
        if shown[cell] != value
    ]
    if differing:
        raise Divergence(f"{_text(path)}: {', '.join(differing)}")


def _text(path: Path) -> str:
    return "; ".join(f"{name}({', '.join(arguments)})" for name, arguments in reversed(list(_calls(path)))) or "start"


def _calls(path: Path) -> Iterator[Call]:
    while path is not None:
        path, call = path
        yield call
