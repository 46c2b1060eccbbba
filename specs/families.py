"""Specs at any size: a spec function with all its parameters, for `model.prove.any_size`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model.language import Machine
from specs.editions import of_edition
from specs.loading import SpecLoadError, build_spec, find_function, load_sliced
from specs.parameters import ParameterError, parameters_of, parse_assignments
from specs.registry import SLICED

if TYPE_CHECKING:
    from model.explore import Progress
    from model.prove.solving import Deadline
    from specs.slice_check import SliceReport
    from specs.slicing import Slice


@dataclass(frozen=True)
class SpecFamily:
    """``build`` makes the machine of all ``parameters``, and raises ValueError for sizes that make no sense.
    ``machine`` is the one asked for. If ``slice_`` is there, it is a slice of the spec, whose machine is ``full``."""

    build: Callable[..., Machine]
    parameters: Mapping[str, Any]
    machine: Machine
    slice_: Slice | None = None
    full: Machine | None = None

    def compare(
        self, progress: Callable[[Progress], None] | None = None, deadline: Deadline | None = None
    ) -> SliceReport | None:
        """Every step of ``full`` compared with the slice; None without one. GraphTooLarge for too many states,
        OutOfTime past ``deadline``, SliceError if a property of the spec does not follow from the slice's."""
        from specs.slice_check import compare

        if self.slice_ is None or self.full is None:
            return None
        return compare(self.slice_, self.full, self.machine, progress=progress, deadline=deadline)


def load_family(spec: str, assignments: Sequence[str] = ()) -> SpecFamily:
    """The family of ``spec``, or of its slice if it has one, around parameters given as ``name=value`` texts.
    SpecLoadError and SpecError say what is wrong."""
    if spec in SLICED:
        slice_, full, small = load_sliced(spec, assignments)
        given = slice_.parameters(parse_assignments(parameters_of(slice_.full), assignments))
        return SpecFamily(_builder(slice_.small), dict(slice_.scale(given)), small, slice_, full)
    function = find_function(spec)
    try:
        given = parse_assignments(parameters_of(function), assignments)
    except ParameterError as error:
        raise SpecLoadError(f"{spec}: {error}") from None
    machine = build_spec(function, given)
    defaults = {n: p.default for n, p in inspect.signature(function).parameters.items()}
    return SpecFamily(_builder(function), of_edition(function, {**defaults, **given}), machine)


def _builder(function: Callable[..., Machine]) -> Callable[..., Machine]:
    def build(**values: Any) -> Machine:
        try:
            return build_spec(function, values)
        except SpecLoadError as error:  # sizes that make no sense, or a fault of the spec at other sizes than asked for
            raise ValueError(str(error)) from error

    return build


__all__ = ["SpecFamily", "load_family"]
