"""What the editions of a spec answer differently, and what only one of them has: a page beside each spec that has
editions; as a script it writes them anew."""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from model.explore import explore
from model.language import Machine, PropertyKind
from model.language.machine import Action
from model.verdict import Outcome, PropertyVerdict, Verdict
from specs.editions import editions
from specs.loading import load_spec
from specs.registry import SHIPPED, spec_function

CITED = re.compile(r"\b(?:[YRVTK]\d+|YUNIKORN-\d+|[a-z][a-z-]*#\d+)\b")
"""A rule of a design or a report."""

LONGEST: Final = 90
"""Characters of a formula that is shown."""


@dataclass(frozen=True)
class Scope:
    """Parameters that mean the same in every edition: ``common``, and what an edition needs besides."""

    what: str
    common: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    def of(self, edition: str) -> str:
        """The parameters, as one types them after ``edition=...``."""
        return f"{self.common} {self.own.get(edition, '')}".strip()


SCOPES: Final[Mapping[str, tuple[Scope, ...]]] = MappingProxyType(
    {
        "yunikorn": (
            Scope("One gang of two, for which there is room", "apps=1 size=2"),
            Scope(
                "Two gangs, a quota for one of them, no timeout",
                "apps=2 size=2 quota=2 timers=off",
                {"current": "leaf_quota=2"},
            ),
            Scope("A gang of three, and nodes for two pods", "apps=1 size=3 capacity=1"),
            Scope("A gang that is larger than the quota", "apps=1 size=5"),
        ),
        "kubernetes": (
            Scope("Two gangs on two nodes", "pods=2 nodes=2 misfits=0"),
            Scope("A group may lose pods while its cycle runs", "pods=2 nodes=3 misfits=0 late=true"),
        ),
        "volcano": (
            Scope("The default parameters"),
            Scope("A gang that needs more than its queue deserves", "capacity=3"),
            Scope("A bind fails", "bind_failures=1"),
            Scope("A job asks for one pod more", "scale_ups=1"),
            Scope("Pods end one by one", "slow_ends=1"),
        ),
        "predicate_cache": (
            Scope("Master and workers say their replica type"),
            Scope("They say nothing", "annotation=none"),
            Scope("They say the same", "annotation=one_role"),
        ),
        "ray": (
            Scope("One job, two rows", "jobs=1"),
            Scope("The maximum is changed meanwhile", "instances=1 max_workers=1 jobs=1 reconfigure=true"),
            Scope("Nodes are drained by somebody else", "instances=1 max_workers=1 jobs=1 drains=true"),
            Scope("One worker at least", "instances=2 max_workers=1 jobs=1 min_workers=1"),
            Scope("Ray may start late", "instances=1 max_workers=1 jobs=1 late_start=true"),
        ),
    }
)
"""For each spec what is asked of all of its editions."""

NAMES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        ("yunikorn", "seed"): ("", "policy=fair", "size=3,5", "queues=two_leaves"),
        ("yunikorn", "current"): (
            "duplicates=1 deletions=1 bind_failures=1 preemptions=1 node_removals=1",
            "app_removals=1 restarts=1 max_apps=1",
            "style=hard real=2 capacity=4",
            "size=5",
            "split_timeout=true user_limit=2 config_updates=1 autoscaler=true async_asks=true",
        ),
    }
)
"""Scopes that together have every action and property of an edition, where those above do not."""


def page(spec: str) -> Path:
    """Where the page is."""
    return Path(str(importlib.import_module(SHIPPED[spec]).__file__)).parent / "editions.md"


def written(spec: str) -> str:
    """The page."""
    names = editions(spec_function(spec))
    machines: dict[str, list[Machine]] = {e: [_load(spec, e, more) for more in NAMES.get((spec, e), ())] for e in names}
    parts = [
        f"# {spec}: what differs by edition",
        "Written by `python tests/specs/edition_pages.py`; a test holds it. An answer is that of `gangproof check "
        f"{spec}` with the edition and the parameters named. Listed are properties with different answers, and those "
        "that only some editions state, where they do not hold; a number is the length of the shortest run into the "
        "violation, or to what must be reached.",
    ]
    made_in: list[dict[str, Machine]] = []
    for scope in SCOPES[spec]:
        made = {e: _load(spec, e, scope.of(e)) for e in names}
        for e in names:
            machines[e].append(made[e])
        made_in.append(made)
        parts.append(_answers(scope, {e: explore(made[e]) for e in names}, made))
    parts += _changed(made_in)
    parts.append(_cited({e: _documented(machines[e]) for e in names}))
    return "\n\n".join(parts) + "\n"


def _load(spec: str, edition: str, parameters: str) -> Machine:
    return load_spec(spec, [f"edition={edition}", *parameters.split()])


def _answers(scope: Scope, verdicts: Mapping[str, Verdict], machines: Mapping[str, Machine]) -> str:
    docs: dict[str, str] = defaultdict(str)
    for m in machines.values():
        for p in m.properties:
            docs[p.name] += p.doc + " "
    stated = {e: {p.name: p for p in v.properties} for e, v in verdicts.items()}
    rows = [["distinct states", "", *(f"{v.coverage.distinct_states:,}" for v in verdicts.values())]]
    same = 0
    for name in dict.fromkeys(n for own in stated.values() for n in own):
        told = [_answer(own.get(name)) for own in stated.values()]
        given = {t for t in told if t}
        if len(given) > 1 or (not all(told) and not all(t.startswith(("holds", "reached")) for t in given)):
            rows.append([f"`{name}`", ", ".join(_rules(docs[name])), *(t or "not stated" for t in told)])
        elif all(told):
            same += 1
    asked = [f"`{scope.of(e)}`" if scope.of(e) else "the default parameters" for e in verdicts]
    how = asked[0] if len(set(asked)) == 1 else "; ".join(f"{e}: {a}" for e, a in zip(verdicts, asked, strict=True))
    return "\n\n".join(
        [
            f"## {scope.what}",
            f"{how[0].upper()}{how[1:]}. Stated by every edition and answered alike: {same}.",
            _table(["property", "rules, reports", *verdicts], rows),
        ]
    )


def _answer(p: PropertyVerdict | None) -> str:
    if p is None:
        return ""
    if p.outcome is Outcome.VIOLATED:
        return f"violated {len(p.trace)}" if p.trace is not None else "violated"
    if p.outcome is Outcome.HOLDS and p.kind == PropertyKind.SOMETIMES.value and p.trace is not None:
        return f"reached {len(p.trace)}"
    return p.outcome.value


def _changed(made_in: Sequence[Mapping[str, Machine]]) -> list[str]:
    """The actions that editions have in common and that are not the same in them, where their variables are."""
    rows: dict[str, list[str]] = {}
    names: Sequence[str] = ()
    for made in made_in:
        names = list(made)
        if len({tuple(v.name for v in m.variables) for m in made.values()}) > 1:
            continue
        found = {e: {a.name: a for a in m.actions} for e, m in made.items()}
        for name in found[names[0]]:
            own = [_parts(actions[name]) for actions in found.values() if name in actions]
            if name in rows or len(own) < len(names) or len(set(map(tuple, own))) == 1:
                continue
            common = set(own[0]).intersection(*own)
            cells = [
                "; ".join(dict.fromkeys(_short(*p) for p in parts if p not in common)) or "nothing" for parts in own
            ]
            rows[name] = [f"`{name}`", ", ".join(_rules(found[names[0]][name].doc)), *cells]
    if not rows:
        return []
    head = ["action", "rules, reports", *names]
    title = "## Actions that all editions have, and that differ"
    return [
        title,
        "What an edition has of its own, in the first scope above that shows it.",
        _table(head, [*rows.values()]),
    ]


def _parts(action: Action) -> list[tuple[str, str]]:
    """The conjuncts of its guard and the values that it writes, as text, each after what it is."""
    guards = [("guard", str(g.condition)) for g in action.guards]
    return guards + [(u.variable.name, str(u.value)) for u in action.updates]


def _short(what: str, text: str) -> str:
    text = text.removeprefix("(").removesuffix(")") if text.startswith("(") else text
    shown = f"`{text}`".replace("|", r"\|") if len(text) <= LONGEST else ""
    if what == "guard":
        return shown or "another guard"
    return f"`{what}` becomes {shown or 'another value'}"


def _documented(machines: Sequence[Machine]) -> dict[str, tuple[str, ...]]:
    """Every action and property of an edition with what it cites."""
    found: dict[str, tuple[str, ...]] = {}
    for m in machines:
        found.update({a.name: _rules(a.doc) for a in m.actions})
        found.update({p.name: _rules(p.doc) for p in m.properties})
    return found


def _cited(documented: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """For each rule and report whose followers differ: the names in each edition; and the names that cite none."""
    following: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for edition, names in documented.items():
        for name, rules in names.items():
            for rule in rules or ("",):
                following[rule][edition].add(name)
    rows = []
    for rule in sorted(following, key=_order):
        told = [", ".join(f"`{n}`" for n in sorted(following[rule][e])) for e in documented]
        if len(set(told)) > 1:
            rows.append([rule or "none", *(t or "none" for t in told)])
    title = "## Actions and properties by the rule or report that they cite"
    if not rows:
        return f"{title}\n\nEvery edition has the same."
    return "\n\n".join([title, "Where the editions have other names for it.", _table(["cited", *documented], rows)])


def _rules(doc: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(CITED.findall(doc)))


def _order(rule: str) -> tuple[bool, str, int]:
    """Rules before reports, each by its number; what cites nothing is last."""
    number = re.search(r"\d+$", rule)
    word = rule[: number.start()] if number else rule
    return (len(word) != 1, word or "~", int(number[0]) if number else 0)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    for each in SCOPES:
        page(each).write_text(written(each), encoding="utf-8")
