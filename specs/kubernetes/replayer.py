"""Every run of the kubernetes spec, made by the reference; the composite spec's replayer is built on the same.

The spec goes pod by pod through a cycle, and anything may happen in between; the scheduler decides at one instant. So
the steps of a cycle are kept, each compared with what the scheduler would decide as things are, and made when the cycle
ends. PreEnqueue is no event of the scheduler: it has let in at once whom the spec lets in when it comes to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from model.language import Machine
from model.semantics import State
from model.trace import NamedState, Value
from specs.kubernetes.binding import Subject
from specs.replaying import Excused
from specs.walking import Call, Divergence, walked


class Code(Protocol):
    """The code under test for one machine, as a binding has it."""

    def copy(self) -> Self: ...

    def events(self) -> list[Call]: ...

    def apply(self, event: Call) -> list[Call]: ...

    def observed(self) -> dict[str, Value]: ...


C = TypeVar("C", bound=Code)
DECIDE: Call = ("decide", ())


class Decision(Generic[C]):
    """What the cycle that runs comes to as things are, asked when it is needed: the steps that it tells, the last one
    its end, and the code afterwards."""

    def __init__(self, before: C) -> None:
        self.before = before

    @cached_property
    def after(self) -> tuple[Sequence[Call], C]:
        """The steps, and the code."""
        made = self.before.copy()
        return made.apply(DECIDE), made


@dataclass(frozen=True)
class Rerun(Generic[C]):
    """The code in a state of the spec, and the steps of the running cycle that the spec has taken so far. ``is_late``:
    since the first of them something has happened with which the scheduler would have come to another decision."""

    decision: Decision[C]
    state: State
    cycle: tuple[Call, ...] = ()
    is_late: bool = False

    @property
    def code(self) -> C:
        """The code, which has yet to decide where a cycle runs."""
        return self.decision.before


class CycleReplayer(Generic[C]):
    """What the replayers of both specs have in common.

    ``steps`` of a cycle come before one of its ``ends``; those that are ``free`` are among equals, by an excuse.
    ``gates`` are the actions that the scheduler takes at once, by the cell that shows them; ``hidden`` the variables
    that show a cycle half way.
    """

    code: ClassVar[str] = "scheduler"
    excuses: ClassVar[Mapping[str, str]] = {}
    steps: ClassVar[frozenset[str]]
    ends: ClassVar[frozenset[str]]
    free: ClassVar[Mapping[str, str]]
    hidden: ClassVar[frozenset[str]]

    def __init__(self, machine: Machine, code: C, gates: Mapping[str, Call]) -> None:
        self.spec = walked(machine)
        self.first = code
        self.gates = gates

    def start(self) -> Rerun[C]:
        """The code in the spec's initial state."""
        return Rerun(Decision(self.first), self.spec.initial)

    def perform(self, subject: Rerun[C], call: Call, before: NamedState, after: NamedState) -> Rerun[C] | Excused:
        """A copy of ``subject`` that has made ``call``. Divergence if the scheduler cannot make it."""
        there = replace(subject, state=self.spec.step(subject.state, call))
        if call in self.gates.values() or self.is_done_already(subject, call, before):
            return there
        if call[0] in self.steps or call[0] in self.ends:
            return self._in_cycle(there, subject.state, call)
        if call not in subject.code.events():
            return self.refused(subject, call)
        made = subject.code.copy()
        if made.apply(call)[0] != call:
            raise Divergence(f"the scheduler does not make {_shown(call)} of it")
        done = replace(there, decision=Decision(made))
        if there.cycle and done.decision.after[0] != subject.decision.after[0]:
            done = replace(done, is_late=True)
        return Excused("gate_at_once") if self._is_passed(subject, done, after) else done

    def _in_cycle(self, there: Rerun[C], state: State, call: Call) -> Rerun[C] | Excused:
        """A step of a cycle has to be the next one of those that the scheduler comes to, and its end the last."""
        calls, decided = there.decision.after
        cycle = (*there.cycle, call)
        told = self.told(cycle, calls)
        differing = next((i for i, (a, b) in enumerate(zip(told, calls, strict=False)) if a != b), None)
        if differing is None:
            if call[0] not in self.ends:
                return replace(there, cycle=cycle)
            if len(told) == len(calls):
                return Rerun(Decision(decided), there.state)
            differing = len(told)
        instead = calls[differing]
        if there.is_late:
            return Excused("one_instant")
        if call[0] in self.free and instead[0] == call[0] and self.spec.after(state, instead) is not None:
            return Excused(self.free[call[0]])
        raise Divergence(f"the scheduler goes on with {_shown(instead)}")

    def told(self, cycle: tuple[Call, ...], calls: Sequence[Call]) -> tuple[Call, ...]:
        """Of the spec's steps those that the scheduler would tell, if it comes to ``calls``."""
        raise NotImplementedError

    def refused(self, subject: Rerun[C], call: Call) -> Excused:
        """The excuse for what the scheduler's world does not let happen now. Divergence if there is none."""
        raise Divergence("the scheduler's world does not let it happen")

    def is_done_already(self, subject: Rerun[C], call: Call, before: NamedState) -> bool:
        """Whether the code has done ``call`` with something before it."""
        return False

    def _ahead(self, rerun: Rerun[C], shown: NamedState) -> Iterator[str]:
        """The cells of the roots that the scheduler has let in and the spec has not."""
        seen = rerun.code.observed()
        for cell, gate in self.gates.items():
            due = self.spec.after(rerun.state, gate) is not None
            if due and (shown[cell], seen[cell]) == ("OUTSIDE", "ACTIVE"):
                yield cell

    def _is_passed(self, subject: Rerun[C], done: Rerun[C], after: NamedState) -> bool:
        """Whether the two are in different places now, for a root that the scheduler had let in and the spec not."""
        before = self.spec.shown(subject.state)
        seen, still = done.code.observed(), set(self._ahead(done, after))
        return any(seen[cell] != after[cell] and cell not in still for cell in self._ahead(subject, before))

    def observed(self, subject: Rerun[C], shown: NamedState) -> Mapping[str, Value]:
        """What the scheduler shows; without what it shows of a cycle, where the spec is half way through it, and
        without the place of a root that it has let in already."""
        ahead = set(self._ahead(subject, shown))
        return {
            cell: value
            for cell, value in subject.code.observed().items()
            if cell not in ahead and not (subject.cycle and cell.partition("[")[0] in self.hidden)
        }


class KubernetesReplayer(CycleReplayer[Subject]):
    """The spec of single PodGroups. Of a preemption that is tried in vain the scheduler tells nothing: any of its steps
    are taken for it, and it has to end in vain."""

    excuses: ClassVar[Mapping[str, str]] = {
        "another_node": "the spec leaves Score free; the scheduler takes the best node, or the first by name",
        "another_victim": "any less important group may be evicted in the spec; the scheduler spares the greater",
        "older_first": "ties in activeQ are free in the spec; the scheduler pops who has been there for longest",
        "gate_at_once": "PreEnqueue is a step of the spec; the scheduler has let in at once who may enter",
        "one_instant": "of what comes amid a cycle some of its steps know; the scheduler decides at one instant",
        "alone": "a pod with another schedulerName is odd next to others only, of which there are none",
        "seed_priority": "by the documentation pods of one group are judged by priority, and may have several",
    }
    steps: ClassVar[frozenset[str]] = frozenset(("place_pod", "fail_pod", "post_filter"))
    ends: ClassVar[frozenset[str]] = frozenset(("decide_success", "decide_unschedulable", "preempt"))
    free: ClassVar[Mapping[str, str]] = {"place_pod": "another_node", "post_filter": "another_victim"}
    hidden: ClassVar[frozenset[str]] = frozenset(("proposed", "todo", "candidate", "snapshot", "memory_snapshot"))

    def __init__(self, machine: Machine) -> None:
        code = Subject(machine)
        super().__init__(machine, code, {f"queue[{g}]": ("pre_enqueue", (g,)) for g in code.groups})

    def told(self, cycle: tuple[Call, ...], calls: Sequence[Call]) -> tuple[Call, ...]:
        """Without a preemption that comes to nothing."""
        last = len(calls) - 1
        if calls[last][0] != "decide_unschedulable" or len(cycle) <= last or cycle[last][0] != "post_filter":
            return cycle
        return (*cycle[:last], *(call for call in cycle[-1:] if call[0] in self.ends))

    def refused(self, subject: Rerun[Subject], call: Call) -> Excused:
        """The scheduler pops another root, or a pod cannot be odd."""
        name, arguments = call
        if name in ("pop", "reject_invalid"):
            for instead in subject.code.events():
                if instead[0] in ("pop", "reject_invalid") and instead[1] != arguments:
                    tied = self.spec.after(subject.state, instead) is not None
                    due = self.spec.after(subject.state, ("pre_enqueue", instead[1])) is not None
                    if tied or due:
                        return Excused("older_first" if tied else "gate_at_once")
        if name == "create_misfit":
            return Excused("alone" if arguments[1] == "SCHEDULER_NAME" else "seed_priority")
        if name == "victims_leave" and subject.code.is_alone(arguments[0]):
            return Excused("alone")
        return super().refused(subject, call)

    def is_done_already(self, subject: Rerun[Subject], call: Call, before: NamedState) -> bool:
        """The odd pod is gone with the others of a group that is done."""
        return call[0] == "replace_misfit" and before[f"done[{call[1][0]}]"] is True

    def observed(self, subject: Rerun[Subject], shown: NamedState) -> Mapping[str, Value]:
        """Without what is wrong with a group that is done."""
        done = {f"misfit[{g}]" for g in subject.code.groups if shown[f"done[{g}]"] is True}
        return {cell: value for cell, value in super().observed(subject, shown).items() if cell not in done}

    def key(self, subject: Rerun[Subject]) -> Hashable:
        """Pods are alike but for the nodes that they are nominated for; of the queue the order counts."""
        return subject.is_late, *subject.code.key()


def _shown(call: Call) -> str:
    return f"{call[0]}({', '.join(call[1])})"
