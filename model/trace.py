"""The one trace type: a run in the spec's own words, as a table for people and as JSON for programs."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from model.language import Machine
from model.language.data.shown import in_json
from model.language.types import BOOL, INT, domain_type

Value: TypeAlias = int | bool | str
NamedState: TypeAlias = Mapping[str, Value]
"""Cell name (``placeholders[app1, node2]``) to value; enum members by name."""


def named_state(machine: Machine, raw: Sequence[int]) -> NamedState:
    """A raw state (one integer per cell, in the order of ``machine.cells()``) in the spec's words.

    A set or a channel has one value, ``{app1, app2}``, in the place of its first cell.
    """
    cells = machine.cells()
    named: dict[str, Value] = {}
    views = {id(variable): view for view in machine.views for variable in view.variables}
    values = {(c.variable.name, c.indices): v for c, v in zip(cells, raw, strict=True)} if views else {}
    shown: set[int] = set()
    for cell, value in zip(cells, raw, strict=True):
        view = views.get(id(cell.variable))
        if view is None:
            named[machine.show_cell(cell)] = _value(machine, cell.variable.domain, value)
        elif id(view) not in shown:
            shown.add(id(view))
            named.update(view.show(values))
    return named


def _value(machine: Machine, domain: Any, raw: int) -> Value:
    kind = domain_type(domain)
    if kind == BOOL:
        return bool(raw)
    return raw if kind == INT else machine.show(domain, raw)


_START = "initial state"
_LOOP = "      --- the loop:"
_BACK = "      --- back to step {}, and round again forever"
_STAYS = "      --- and stays so forever"


@dataclass(frozen=True, slots=True)
class Step:
    """One action instance and the state after it. A faulty step has no state after it: ``state`` is the one before."""

    action: str
    arguments: tuple[tuple[str, str], ...]
    state: NamedState
    fault: str | None = None

    @property
    def call(self) -> str:
        """``allocate(app1, node2)``."""
        return f"{self.action}({', '.join(value for _, value in self.arguments)})"


@dataclass(frozen=True, slots=True)
class Trace:
    """A run from an initial state. Its length is its number of steps.

    With ``loop_start`` it goes on forever: after the last step it is again in the state after step ``loop_start`` (0:
    the initial state), and goes round from there. If that is the last step, the run stays in its last state.
    """

    initial: NamedState
    steps: tuple[Step, ...]
    loop_start: int | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def __bool__(self) -> bool:
        return True  # a trace without steps is a trace: the initial state is the evidence

    @property
    def last(self) -> NamedState:
        """The state at the end."""
        return self.steps[-1].state if self.steps else self.initial

    def sound(self) -> Trace:
        """The run without its last step if that is a faulty one."""
        faulty = bool(self.steps) and self.steps[-1].fault is not None
        return replace(self, steps=self.steps[:-1]) if faulty else self

    def changes(self) -> list[dict[str, tuple[Value, Value]]]:
        """For each step the cells that changed, with the value before and after."""
        states = [self.initial, *(s.state for s in self.steps)]
        return [
            {name: (before[name], value) for name, value in after.items() if before[name] != value}
            for before, after in itertools.pairwise(states)
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """One object per state: step, action, arguments, changed, state; the first has no action. Sets and channels are
        lists, messages are objects."""
        rows: list[dict[str, Any]] = [
            {"step": 0, "action": None, "arguments": {}, "changed": {}, "state": _json(self.initial)}
        ]
        for number, (step, changed) in enumerate(zip(self.steps, self.changes(), strict=True), 1):
            row = {
                "step": number,
                "action": step.action,
                "arguments": dict(step.arguments),
                "changed": _json({name: after for name, (_, after) in changed.items()}),
                "state": _json(step.state),
            }
            if step.fault is not None:
                row["fault"] = step.fault
            rows.append(row)
        return rows

    def table(self, width: int = 80) -> str:
        """Step, action and what changed, within ``width`` columns."""
        calls = [s.call for s in self.steps]
        left = min(max([len(_START), *map(len, calls)]), max(12, width // 2 - 6))
        right = max(20, width - left - 8)
        lines = [f"{'step':>4}  {'action':<{left}}  what changed", f"{'-' * 4}  {'-' * left}  {'-' * right}"]
        lines += _row("0", _START, summary(self.initial), left, right)
        for number, (step, changed) in enumerate(zip(self.steps, self.changes(), strict=True), 1):
            if number - 1 == self.loop_start:
                lines.append(_LOOP)
            words = [f"{name}: {show(before)} -> {show(after)}" for name, (before, after) in changed.items()]
            if step.fault is not None:
                words.append(f"FAULT: {step.fault}")
            lines += _row(str(number), step.call, words or ["nothing"], left, right)
        if self.loop_start is not None:
            lines.append(_STAYS if self.loop_start == len(self) else _BACK.format(self.loop_start))
        return "\n".join(lines)


def in_steps(count: int) -> str:
    """``1 step``, ``7 steps``."""
    return "1 step" if count == 1 else f"{count} steps"


def show(value: Value) -> str:
    """``value`` as it is written in a spec's text: ``true``, ``3``, ``RUNNING``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def summary(state: NamedState) -> list[str]:
    """The state variable by variable; a variable whose cells are all equal takes one entry."""
    by_variable: dict[str, dict[str, Value]] = {}
    for name, value in state.items():
        by_variable.setdefault(name.split("[")[0], {})[name] = value
    words: list[str] = []
    for variable, cells in by_variable.items():
        values = set(map(show, cells.values()))
        if len(values) == 1:
            words.append(f"{variable} = {values.pop()}")
        else:
            words += [f"{name} = {show(value)}" for name, value in cells.items()]
    return words


def _json(state: NamedState) -> dict[str, Any]:
    return {name: in_json(value) for name, value in state.items()}


def _row(number: str, call: str, words: list[str], left: int, right: int) -> list[str]:
    """The lines of one table row: each entry on lines of its own, except that short summaries share them."""
    texts = ["; ".join(words)] if number == "0" else words
    cells = [line for text in texts for line in textwrap.wrap(text, right, subsequent_indent="  ") or [""]]
    calls = textwrap.wrap(call, left, subsequent_indent="  ") or [""]
    height = max(len(cells), len(calls))
    cells += [""] * (height - len(cells))
    calls += [""] * (height - len(calls))
    return [f"{number if i == 0 else '':>4}  {calls[i]:<{left}}  {cells[i]}".rstrip() for i in range(height)]
