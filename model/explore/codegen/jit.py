"""From LLVM text to functions that Python can call, through llvmlite: no C compiler is needed on the user's machine."""

from __future__ import annotations

import ctypes
import enum
import functools
import hashlib
import weakref
from collections.abc import Callable
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm

from model.explore.codegen import cache


class Level(enum.IntEnum):
    """How well to compile: at once, or for speed, which takes several times longer."""

    QUICK = 0
    FAST = 2


class Code:
    """Compiled functions of one module; it must outlive them. ``problem``: why the code could not be kept, in words."""

    def __init__(self, engine: Any, problem: str | None = None) -> None:
        self._engine: Final = engine
        self.problem: Final = problem
        # Of what refers to each other Python frees whatever it comes to first, and the context of a module must not go
        # before the engine that owns it. What the finalizer holds is alive until the engine is closed.
        weakref.finalize(self, engine.close).atexit = False

    def address(self, name: str) -> int:
        """Where the function ``name`` lies."""
        return int(self._engine.get_function_address(name))

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """The function ``name``, with ctypes of its result and arguments. Calls release Python's global lock."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))


def quick(text: str) -> Code:
    """The module ``text``, compiled at once."""
    module, machine = _lowered(text, Level.QUICK)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return Code(engine)


def fast(text: str) -> Code:
    """The module ``text``, compiled well, or loaded if an earlier run did."""
    return kept(text) or _compiled_well(text)


def kept(text: str) -> Code | None:
    """The module ``text``, compiled well by an earlier run, if its code was kept."""
    object_code = cache.load(_key(text))
    return None if object_code is None else Code(_linked(object_code))


def _compiled_well(text: str) -> Code:
    module, machine = _lowered(text, Level.FAST)
    # Not by an engine's object cache: the two refer to each other, and which is freed first is left to chance.
    object_code = machine.emit_object(module)
    return Code(_linked(object_code), cache.keep(_key(text), object_code))


def _linked(object_code: bytes) -> Any:
    """An engine that holds ``object_code``."""
    _initialize()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly("", llvm.create_context()), _machine(Level.FAST))
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    return engine


def compiled(text: str, name: str, result: Any, *arguments: Any, level: Level = Level.FAST) -> Callable[..., Any]:
    """The function ``name`` of the module ``text``."""
    code = quick(text) if level is Level.QUICK else fast(text)
    found = code.function(name, result, *arguments)
    found.code = code
    return found  # type: ignore[no-any-return]


def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@functools.cache
def _processor() -> tuple[str, str]:
    """Name and features of the processor: to ask takes as long as to compile a small function."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _machine(level: Level) -> Any:
    name, features = _processor()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=int(level))


def _lowered(text: str, level: Level) -> tuple[Any, Any]:
    """The module after its passes, and the target machine."""
    _initialize()
    # A context of its own: threads that compile at the same time share nothing.
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    machine = _machine(level)
    # Few passes: ground expressions are already folded and shared when they get here.
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    if level is Level.FAST:
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2)))
    return module, machine


def _key(text: str) -> str:
    """What the code depends on: the text, LLVM, the processor, and how this file compiles (raise the number then)."""
    parts = ["1", llvmlite.__version__, *map(str, llvm.llvm_version_info), *_processor(), text]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


__all__ = ["Code", "Level", "compiled", "fast", "kept", "quick"]
