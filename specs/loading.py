"""From SPEC on a command line to a machine: a shipped name, one's slice, or ``FILE.py:FUNCTION`` of the user's own.

Whatever is wrong in the user's file is told with its file and line; their exceptions do not pass as ours.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from model.language import Machine, SpecError
from model.language.errors import explained
from specs.editions import of_edition
from specs.parameters import ParameterError, check_known, parameters_of, parse_assignments, shown
from specs.registry import SHIPPED, SLICED, slice_of, spec_function

if TYPE_CHECKING:
    from specs.slicing import Slice


_SLICE: Final = ":slice"
"""After the name of a shipped spec: its slice."""


class SpecLoadError(Exception):
    """A spec that cannot be had: no such name, file or function, a fault in the user's file, a bad parameter."""


def load_spec(spec: str, assignments: Sequence[str] = ()) -> Machine:
    """The machine of ``spec`` with parameters given as ``name=value`` texts. SpecLoadError and SpecError say what is
    wrong."""
    return spec_builder(spec, assignments)()


def spec_builder(spec: str, assignments: Sequence[str] = ()) -> Callable[[], Machine]:
    """A function that builds the machine of ``spec`` anew at each call, from a file that is read once."""
    function = find_function(spec)
    try:
        values = parse_assignments(parameters_of(function), assignments)
    except ParameterError as error:
        raise SpecLoadError(f"{spec}: {error}") from None
    return functools.partial(_call, spec, function, values)


def build_spec(spec: str | Callable[..., Machine], values: Mapping[str, Any]) -> Machine:
    """The machine of ``spec`` with parameters given as Python values."""
    function = find_function(spec) if isinstance(spec, str) else spec
    name = spec if isinstance(spec, str) else function.__name__
    try:
        known = {p.name: p for p in parameters_of(function)}
        for given in values:
            check_known(known, given)
    except ParameterError as error:
        raise SpecLoadError(f"{name}: {error}") from None
    return _call(name, function, values)


def find_function(spec: str) -> Callable[..., Machine]:
    """The function that ``spec`` names."""
    if spec in SHIPPED:
        return spec_function(spec)
    sliced = spec.removesuffix(_SLICE)
    if spec != sliced and sliced in SHIPPED:
        return _slice(sliced).small
    path, colon, name = spec.rpartition(":")
    if not colon and spec.endswith(".py"):
        path, name = spec, ""
    if not path.endswith(".py"):
        raise SpecLoadError(f"no spec is named {spec!r}: expected one of {', '.join(SHIPPED)}, or FILE.py:FUNCTION")
    module = _load_file(Path(path))
    candidates = _functions(module)
    if not name and len(candidates) == 1:
        return next(iter(candidates.values()))
    offered = ", ".join(f"{path}:{n}" for n in candidates) or "none: a spec function is annotated '-> Machine'"
    if not name:
        raise SpecLoadError(f"{path}: say which function: {offered}")
    found = getattr(module, name, None)
    if not inspect.isfunction(found):
        raise SpecLoadError(f"{path} has no function {name!r}; it has {offered}")
    return found


def load_sliced(spec: str, assignments: Sequence[str] = ()) -> tuple[Slice, Machine, Machine]:
    """The slice of the shipped ``spec``, the machine of ``spec`` in this scope, and that of the slice."""
    found = _slice(spec)
    full = load_spec(spec, assignments)
    given = parse_assignments(parameters_of(found.full), assignments)
    try:
        scaled = found.scale(found.parameters(given))
    except ValueError as error:
        raise SpecLoadError(f"{spec}: {error}") from None
    return found, full, build_spec(spec + _SLICE, scaled)


def _slice(spec: str) -> Slice:
    if spec not in SLICED:
        raise SpecLoadError(f"{spec} has no slice: there are slices of {', '.join(SLICED)}")
    return slice_of(spec)


def _functions(module: ModuleType) -> dict[str, Callable[..., Machine]]:
    """The module's own functions that say that they return a Machine."""
    found: dict[str, Callable[..., Machine]] = {}
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            annotation = value.__annotations__.get("return")
            if annotation is Machine or annotation == "Machine":
                found[name] = value
    return found


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise SpecLoadError(f"{path}: there is no such file")
    name = f"gangproof_user_spec_{path.stem}"
    loader = importlib.util.spec_from_file_location(name, path)
    if loader is None or loader.loader is None:
        raise SpecLoadError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(loader)
    sys.modules[name] = module  # type hints are resolved through it
    before = list(sys.path)
    sys.path.insert(0, str(path.resolve().parent))  # a spec may import its neighbours
    try:
        with redirect_stdout(sys.stderr):  # stdout is for the answer
            loader.loader.exec_module(module)
    except (SpecError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - the user's file may raise anything
        sys.modules.pop(name, None)
        raise SpecLoadError(_told(error, str(path))) from None
    finally:
        sys.path[:] = before
    return module


def _call(spec: str, function: Callable[..., Machine], values: Mapping[str, Any]) -> Machine:
    try:
        with redirect_stdout(sys.stderr):  # stdout is for the answer
            machine = function(**values)
    except (SpecError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if not function.__module__.startswith("specs."):  # the user's function may raise anything
            raise SpecLoadError(_told(error, inspect.getsourcefile(function) or spec)) from None
        if isinstance(error, ValueError):  # so a shipped spec refuses sizes that make no sense
            raise SpecLoadError(f"{spec}: {error}") from None
        raise
    if not isinstance(machine, Machine):
        raise SpecLoadError(
            f"{spec}: the function returns {type(machine).__name__}, expected a Machine (is 'return m' missing?)"
        )
    machine.parameters = {n: shown(v) for n, v in of_edition(function, values).items()}
    return machine.finish()


def _told(error: BaseException, file: str) -> str:
    """``file:line: Kind: message`` at the innermost line of ``file`` in the traceback; no line where it has none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f":{f.lineno}" for f in frames if Path(f.filename).name == Path(file).name]
    return f"{file}{lines[-1] if lines else ''}: {explained(error)}"


__all__ = ["SpecLoadError", "build_spec", "find_function", "load_sliced", "load_spec", "spec_builder"]
