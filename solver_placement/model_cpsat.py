"""The exact model over single nodes: how many pods of each class on each node, how many gangs of each class.

Nodes of one class are alike, so within a class they are ordered by what they hold. The same model over a few nodes,
with the pods on all others fixed, is the neighbourhood of ``search``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from ortools.sat.python import cp_model

from solver_placement.devices import device_rows
from solver_placement.engine import set_hint
from solver_placement.problem import Packing, Problem, packing_of

LinearExpr = cp_model.LinearExpr


class Formulation(Protocol):
    """A CP-SAT model of a problem: what the two phases of ``exact`` need from it."""

    model: cp_model.CpModel
    gangs: list[cp_model.IntVar]

    def nodes_of(self, c: int) -> cp_model.LinearExprT:
        """Nodes of class ``c`` in use, as ``nodes_used``."""

    def weight(self) -> cp_model.LinearExprT:
        """The weight of the admitted gangs."""

    def nodes_used(self) -> cp_model.LinearExprT:
        """Nodes in use; adds what it takes to count them when first called."""

    def hint(self, packing: Packing) -> None:
        """Make ``packing`` the hint."""

    def read(self, values: Sequence[int]) -> Packing:
        """The packing that a solution stands for."""


def add_gangs(model: cp_model.CpModel, problem: Problem) -> list[cp_model.IntVar]:
    """One count per gang class, under every queue row."""
    gangs = [model.new_int_var(0, g.count, f"gangs{i}") for i, g in enumerate(problem.gangs)]
    for row in problem.limits:
        model.add(LinearExpr.weighted_sum([gangs[g] for g in row.uses], list(row.uses.values())) <= row.limit)
    return gangs


def weight_of(problem: Problem, gangs: Sequence[cp_model.IntVar]) -> cp_model.LinearExprT:
    """The objective of the first phase."""
    return LinearExpr.weighted_sum(list(gangs), [g.weight for g in problem.gangs])


def demand_of(problem: Problem, gangs: Sequence[cp_model.IntVar]) -> list[cp_model.LinearExprT]:
    """Pods needed per pod class."""
    terms: list[tuple[list[cp_model.IntVar], list[int]]] = [([], []) for _ in problem.pods]
    for gang, count in zip(problem.gangs, gangs, strict=True):
        for t, k in gang.pods:
            terms[t][0].append(count)
            terms[t][1].append(k)
    return [LinearExpr.weighted_sum(*each) for each in terms]


class NodeModel:
    """``slots[s]`` is the node class of the s-th node in the model.

    ``elsewhere[t]`` pods of class t are on nodes outside the model. All nodes are in it where ``slots`` is None.
    """

    def __init__(self, problem: Problem, slots: Sequence[int] | None = None, elsewhere: Sequence[int] = ()) -> None:
        self.problem = problem
        every = [c for c, n in enumerate(problem.nodes) for _ in range(n.count)]
        self.slots = every if slots is None else sorted(slots)
        self.model = cp_model.CpModel()
        self.gangs = add_gangs(self.model, problem)
        self.pods: list[dict[int, cp_model.IntVar]] = []
        self._flags: list[cp_model.IntVar] = []
        self._rows: dict[int, list[tuple[dict[int, int], int]]] = {}
        placed: list[list[cp_model.IntVar]] = [[] for _ in problem.pods]
        for s, c in enumerate(self.slots):
            here = {
                t: self.model.new_int_var(0, fit, f"pods{s},{t}") for t, fit in enumerate(problem.nodes[c].fits) if fit
            }
            for t, count in here.items():
                placed[t].append(count)
            self._capacity(c, here)
            self._devices(c, here)
            self.pods.append(here)
        fixed = list(elsewhere) or [0] * len(problem.pods)
        for t, need in enumerate(demand_of(problem, self.gangs)):
            # surplus is harmless and is trimmed: the inequality is the easier row
            self.model.add(LinearExpr.sum(placed[t]) + fixed[t] >= need)
        for (a, one), (b, two) in pairwise(zip(self.slots, self.pods, strict=True)):
            if a == b:
                first = max(one, key=lambda t: problem.pods[t].request)
                self.model.add(one[first] >= two[first])

    def _capacity(self, c: int, here: dict[int, cp_model.IntVar], flag: cp_model.IntVar | None = None) -> None:
        node = self.problem.nodes[c]
        for r, free in enumerate(node.free):
            asked = {t: self.problem.pods[t].request[r] for t in here if self.problem.pods[t].request[r]}
            if sum(a * node.fits[t] for t, a in asked.items()) > free:
                used = LinearExpr.weighted_sum([here[t] for t in asked], list(asked.values()))
                self.model.add(used <= (free if flag is None else free * flag))

    def _devices(self, c: int, here: dict[int, cp_model.IntVar]) -> None:
        """A count of each sharing class on each device, beside the rows that hold for all devices together."""
        node = self.problem.nodes[c]
        if c not in self._rows:
            self._rows[c] = list(device_rows(self.problem, node))
        for uses, most in self._rows[c]:
            row = {t: n for t, n in uses.items() if t in here}
            if sum(n * node.fits[t] for t, n in row.items()) > most:
                self.model.add(LinearExpr.weighted_sum([here[t] for t in row], list(row.values())) <= most)
        for r, devices in enumerate(node.devices):
            if devices is None:
                continue
            asked = {t: a for t in here if (a := self.problem.pods[t].request[r])}
            shares: list[tuple[cp_model.LinearExprT, int, int]] = [
                *((here[t], a, node.fits[t]) for t, a in asked.items() if a < devices.size),
                *((n, a, n) for a, n in Counter(devices.held).items()),
            ]
            whole = [here[t] * (a // devices.size) for t, a in asked.items() if a >= devices.size]
            flags = [self.model.new_bool_var("") for _ in range(devices.count)]
            loads: list[list[cp_model.LinearExprT]] = [[] for _ in flags]
            for count, a, most in shares:
                each = [self.model.new_int_var(0, min(most, devices.size // a), "") for _ in flags]
                self.model.add(LinearExpr.sum(each) == count)
                for load, k in zip(loads, each, strict=True):
                    load.append(k * a)
            for load, flag in zip(loads, flags, strict=True):
                self.model.add(LinearExpr.sum(load) <= devices.size * flag)
            for one, two in pairwise(flags):
                self.model.add_implication(two, one)
            self.model.add(LinearExpr.sum(whole) + LinearExpr.sum(flags) <= devices.count)

    def weight(self) -> cp_model.LinearExprT:
        """The weight of the admitted gangs."""
        return weight_of(self.problem, self.gangs)

    def nodes_used(self) -> cp_model.LinearExprT:
        """The sum of one flag per node, 1 where it holds a pod."""
        if not self._flags:
            for s, (c, here) in enumerate(zip(self.slots, self.pods, strict=True)):
                flag = self.model.new_bool_var(f"used{s}")
                for t, count in here.items():
                    self.model.add(count <= self.problem.nodes[c].fits[t] * flag)
                self._capacity(c, here, flag)
                self._flags.append(flag)
            for (a, one), (b, two) in pairwise(zip(self.slots, self._flags, strict=True)):
                if a == b:
                    self.model.add_implication(two, one)
        return LinearExpr.sum(self._flags)

    def nodes_of(self, c: int) -> cp_model.LinearExprT:
        """The flags of the nodes of one class."""
        self.nodes_used()
        return LinearExpr.sum([flag for slot, flag in zip(self.slots, self._flags, strict=True) if slot == c])

    def hint(self, packing: Packing) -> None:
        """Patterns go to the slots of their class, most of the ordering pod class first."""
        values = dict(zip(self.gangs, packing.gangs, strict=True))
        queues = [[dict(p) for p in patterns] for patterns in packing.nodes]
        for s, (c, here) in enumerate(zip(self.slots, self.pods, strict=True)):
            first = max(here, key=lambda t: self.problem.pods[t].request)
            rest = sorted(queues[c], key=lambda p: (p.get(first, 0), sum(p.values())))
            pattern = rest.pop() if rest else {}
            queues[c] = rest
            for t, count in here.items():
                values[count] = pattern.get(t, 0)
            if self._flags:
                values[self._flags[s]] = int(bool(pattern))
        set_hint(self.model, values)

    def counts(self, values: Sequence[int]) -> tuple[list[int], list[dict[int, int]]]:
        """Gangs per class and pods per slot of a solution, surplus included."""
        gangs = [values[v.index] for v in self.gangs]
        return gangs, [{t: values[v.index] for t, v in here.items()} for here in self.pods]

    def read(self, values: Sequence[int]) -> Packing:
        """The packing of a solution, trimmed. Only for a model of all nodes."""
        gangs, pods = self.counts(values)
        slots: list[list[dict[int, int]]] = [[] for _ in self.problem.nodes]
        for c, here in zip(self.slots, pods, strict=True):
            slots[c].append(here)
        return self.problem.trim(packing_of(gangs, slots))
