"""Settings of a simulation as a JSON file; ``docs/simulation.md`` lists the keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from reference.manifests.document import Field, json_field
from reference.manifests.files import read_text
from reference.manifests.native import MARK, read_resources
from reference.manifests.quantity import INT64_MAX
from reference.manifests.queue_parts import only_keys
from reference.simulation.settings import ONE, AutoscalerSettings, NodeTypeSettings, Settings
from reference.simulation.traces.generate import GeneratorSettings

FORMAT = "simulation/v1"
_LONGEST = INT64_MAX // 10**6


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a file says: of the world, of generated workloads, of YuniKorn's shim."""

    settings: Settings
    generator: GeneratorSettings
    release_ms: int = 0


def read_settings(path: Path | str | None, seed: int) -> SettingsFile:
    """The settings in a file, the defaults without one. Raises InputError with file and field."""
    if path is None:
        return SettingsFile(Settings(seed), GeneratorSettings())
    root = json_field(read_text(Path(path)), str(path))
    only_keys(root, MARK, "failures", "prices", "type_label", "patience_ms", "autoscaler", "generator", "release_ms")
    version = root.need(MARK, f"{FORMAT!r}")
    if version.value != FORMAT:
        raise version.error(f"{FORMAT!r}, the format of settings")
    default = Settings()
    failures = root.get("failures")
    if failures is not None:
        only_keys(failures, "pod_mtbf_ms", "node_mtbf_ms", "node_repair_ms", "attempts")
    return SettingsFile(
        Settings(
            seed=seed,
            pod_mtbf_ms=failures.optional("pod_mtbf_ms", _mean, None) if failures else None,
            node_mtbf_ms=failures.optional("node_mtbf_ms", _mean, None) if failures else None,
            node_repair_ms=failures.optional("node_repair_ms", _time, default.node_repair_ms)
            if failures
            else default.node_repair_ms,
            attempts=failures.optional("attempts", lambda f: f.integer(1, 10**6), default.attempts)
            if failures
            else default.attempts,
            prices=root.optional("prices", _prices, {}),
            type_label=root.optional("type_label", Field.name, default.type_label),
            patience_ms=root.optional("patience_ms", _time, default.patience_ms),
            autoscaler=root.optional("autoscaler", _autoscaler, None),
        ),
        root.optional("generator", _generator, GeneratorSettings()),
        root.optional("release_ms", _time, 0),
    )


def _autoscaler(field: Field) -> AutoscalerSettings:
    only_keys(field, "node_types", "interval_ms", "idle_timeout_ms")
    kinds = tuple(_node_type(name, kind) for name, kind in field.need("node_types", "node types").members())
    default = AutoscalerSettings(kinds)
    return AutoscalerSettings(
        kinds,
        field.optional("interval_ms", _mean, default.interval_ms),
        field.optional("idle_timeout_ms", _time, default.idle_timeout_ms),
    )


def _node_type(name: str, field: Field) -> NodeTypeSettings:
    only_keys(field, "resources", "max", "min", "labels", "launch_ms")
    most = field.need("max", "how many nodes there may be").integer(0, 10**6)
    return NodeTypeSettings(
        name,
        read_resources(field.need("resources", "a mapping of resources to amounts")),
        most,
        field.optional("min", lambda f: f.integer(0, most, f"a whole number, at most max ({most})"), 0),
        field.optional("labels", Field.string_map, {}),
        field.optional("launch_ms", _mean, 60_000),
    )


def _generator(field: Field) -> GeneratorSettings:
    only_keys(field, "jobs", "interarrival_ms", "duration_ms")
    default = GeneratorSettings()
    return GeneratorSettings(
        field.optional("jobs", lambda f: f.integer(1, 10**6), None),
        field.optional("interarrival_ms", _mean, default.interarrival_ms),
        field.optional("duration_ms", _mean, default.duration_ms),
    )


def _prices(field: Field) -> Mapping[str, int]:
    return {name: _price(each) for name, each in field.members()}


def _price(field: Field) -> int:
    """A price per node-hour, in millionths: exact, from a number with at most six decimals."""
    value = field.value
    expected = "a price per node-hour: a number, 0 or more, with at most six decimals"
    if (type(value) is not int and not isinstance(value, Decimal)) or not 0 <= value <= 10**9:
        raise field.error(expected)
    millionths = value * ONE
    if millionths != int(millionths):
        raise field.error(expected)
    return int(millionths)


def _mean(field: Field) -> int:
    return field.integer(1, _LONGEST, "whole milliseconds, 1 or more")


def _time(field: Field) -> int:
    return field.integer(0, _LONGEST, "whole milliseconds, 0 or more")
