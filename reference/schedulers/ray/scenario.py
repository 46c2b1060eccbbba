"""Runs one scenario: what Ray's own tests say, as data. ::

    {"id": "a fragment is of no use", "upstream": "which test says so", "edition": "2.60",
     "cluster": {"node_types": {"A": {"resources": {"CPU": 1}, "max": 10}}},
     "steps": [{"op": "schedule", "instances": [{"type": "A", "available": {"CPU": 0.9}}],
                "requests": [{"resources": {"CPU": 1}}]},
               {"op": "expect", "to_launch": {"A": 1}}]}

``schedule`` is one decision on what ``read.py`` reads, the configuration being that of ``cluster``; ``score`` is what
one node of a type scores with ``requests`` on it; every other operation is that of a script (``script.py``). ``expect``
is about the last decision, score or loop. Of a decision all is compared, and what is not named has to be empty; of a
loop what is named, and that it went through, where ``ended_early`` does not say otherwise.
"""

# float: scores, which Ray compares as doubles, and expected numbers

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from reference.manifests.document import Field, value_field
from reference.manifests.queue_parts import only_keys
from reference.schedulers.ray.arithmetic import DOUBLES
from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.node import Need, NodeStatus, Rules, SchedulingNode, Source, try_schedule
from reference.schedulers.ray.read import Reader
from reference.schedulers.ray.reply import reply_json
from reference.schedulers.ray.scheduler import schedule
from reference.schedulers.ray.script import World

Json = dict[str, Any]
_SHARED: Final = ("node_types", "max_num_nodes", "idle_timeout_s", "pending_idle_timeout_s")
_CHECK: Final = "disable_launch_config_check"
_NOTHING: Final[Json] = {
    "to_launch": {},
    "to_terminate": {},
    "infeasible_requests": 0,
    "infeasible_gangs": [],
    "infeasible_constraints": 0,
}
_OF_A_LOOP: Final = (
    *("events", "instances", "details", "launches", "terminations", "drains", "installs", "counts", "ended_early"),
)


def run(scenario: Mapping[str, object]) -> tuple[str, ...]:
    """The differences between what the scenario expects and what is found, one line each; none where it passes. Raises
    InputError for a scenario that cannot be read."""
    root = value_field(dict(scenario))
    only_keys(root, "id", "upstream", "edition", "cluster", "steps")
    edition = root.optional("edition", lambda field: field.choice(Edition), Edition.CURRENT)
    player = _Player(root.need("cluster", "the configuration"), edition)
    differences: list[str] = []
    for step in root.need("steps", "a list of steps").elements():
        differences += player.do(step)
    return tuple(differences)


class _Player:
    """``found`` is what the next expectation is about; of a loop, a decision and a score, each has its own keys."""

    def __init__(self, cluster: Field, edition: Edition) -> None:
        self._cluster, self._edition = cluster, edition
        self._world = World(cluster, edition)
        self._found: Json | None = None

    def do(self, step: Field) -> list[str]:
        """One step; the differences that it shows."""
        operation = step.need("op", "what happens in this step").name()
        match operation:
            case "expect":
                return self._compare(step)
            case "schedule":
                self._found = self._decision(step)
            case "score":
                self._found = _score(step, self._edition)
            case _:
                self._world.do(step)
                if operation == "loop":
                    self._found = self._world.loops[-1]
        return []

    def _decision(self, step: Field) -> Json:
        own = {key: value for key, value in step.mapping().items() if key != "op"}
        shared = {k: v for k, v in self._cluster.mapping().items() if k in (*_SHARED, _CHECK)}
        problem = Field(step.document, step.path, {**shared, **own})
        found = reply_json(schedule(Reader(DOUBLES).problem(problem), self._edition))
        return {
            **{key: found[key] for key in _NOTHING},
            "to_terminate": {each["id"]: each["cause"] for each in found["to_terminate"]},
            "infeasible_requests": sum(each["count"] for each in found["infeasible_requests"]),
        }

    def _compare(self, step: Field) -> list[str]:
        found = self._found
        if found is None:
            raise step.error("a decision, a score or a loop before it", "an expectation of nothing")
        is_loop = "ended_early" in found
        known = _OF_A_LOOP if is_loop else tuple(found)
        only_keys(step, "op", *known)
        named = {key: _plain(value) for key, value in step.mapping().items() if key != "op"}
        if is_loop and not named:
            raise step.error(f"what is expected: {', '.join(known)}", "nothing")
        wanted = {"ended_early": False, **named} if is_loop else {**{k: _NOTHING.get(k) for k in found}, **named}
        if "counts" in named:
            found = {**found, "counts": _counts(found)}
        return [
            f"{step.where}.{key}: found {found[key]}, expected {value}"
            for key, value in wanted.items()
            if not _same(found[key], value)
        ]


def _same(found: object, wanted: object) -> bool:
    """Equal, and alike: to Python true is 1."""
    match found, wanted:
        case dict(), dict():
            return found.keys() == wanted.keys() and all(_same(found[key], wanted[key]) for key in found)
        case list(), list():
            return len(found) == len(wanted) and all(map(_same, found, wanted))
        case _:
            return isinstance(found, bool) == isinstance(wanted, bool) and found == wanted


def _counts(loop: Json) -> Json:
    """How many instances of each type are in each state."""
    counts: dict[str, Counter[str]] = {}
    for name, status in loop["instances"].items():
        counts.setdefault(loop["details"][name][0], Counter())[status] += 1
    return {node_type: dict(statuses) for node_type, statuses in counts.items()}


def _score(step: Field, edition: Edition) -> Json:
    """How a node with ``total`` scores, and how many ``requests`` are left: score is null where it takes none."""
    only_keys(step, "op", "total", "requests")
    reader = Reader(DOUBLES)
    total = dict(reader.bundle(step.need("total", "the node's resources")))
    node = SchedulingNode("", NodeStatus.SCHEDULABLE, total=total, available=(total, total), labels={})
    counted = [reader.counted(each) for each in step.list_of("requests")]
    needs = [Need.of(request, DOUBLES.unit) for request, _ in counted]
    counts = [count for _, count in counted]
    rules = Rules(edition.has_labels, DOUBLES.unit)
    fill = try_schedule(node, Source.PENDING_DEMAND, needs, counts, range(len(needs)), rules)
    left = sum(counts) - sum(count for _, count in fill.took) if fill else sum(counts)
    return {"score": list(fill.score) if fill else None, "left": left}


def _plain(value: object) -> Any:
    """JSON with doubles for decimals, as what is found has."""
    match value:
        case Decimal():
            return float(value)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
    return value
